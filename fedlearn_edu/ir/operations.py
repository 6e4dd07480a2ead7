# SPDX-License-Identifier: Apache-2.0
"""The few tensor operations every runtime knows: leaf code for `ANY_RUNTIME`.

Intrinsics expand into these, so that `federated_mean` runs on NumPy and on TensorFlow
alike. The table below is their meaning; a runtime may run them in its own way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import EmptyGroupError, InputRangeError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FunctionType, StructType, TensorType, Type


@final
@dataclass(frozen=True)
class Operation:
    """One operation; `dtype` names the result's NumPy dtype where it matters."""

    name: str
    dtype: str = ""
    is_pure = True

    @property
    def digest(self) -> str:
        """The name: operations are equal when their names are."""
        return f"{self.name}{self.dtype}"

    def __call__(self, argument: Any) -> Any:
        """Applies the operation to plain operands."""
        operands = argument if isinstance(argument, Struct) else (argument,)
        return OPERATION_TABLE[self.name](self, *operands)


def operation(
    name: str, parameters: tuple[Type, ...], result: Type, dtype: str = ""
) -> ir.Leaf:
    """Leaf code of type `(<parameters> -> result)`, or `(parameter -> result)`."""
    whole = StructType([(None, parameter) for parameter in parameters])
    type_ = FunctionType(whole if len(parameters) > 1 else parameters[0], result)
    return ir.Leaf(ir.ANY_RUNTIME, Operation(name, dtype), type_)


def cast(source: TensorType, target: TensorType) -> ir.Leaf:
    """Converts numbers to another dtype, shape unchanged."""
    return operation("cast", (source,), target, target.dtype.name)


def _reciprocal(op: Operation, count: Any) -> Any:
    _nonempty(op, count, count)
    return np.dtype(op.dtype).type(1.0 / int(count))


def _nonempty(op: Operation, value: Any, count: Any) -> Any:
    if int(count) == 0:
        raise EmptyGroupError(
            "the mean over no clients does not exist",
            expected="at least one client",
            found="0 clients",
            where="federated_mean",
            do="pass at least one client's value; "
            "without any argument, default_num_clients says how many clients there are",
        )
    return value


def _at_most(op: Operation, value: Any, limit: Any) -> Any:
    if np.any(value > limit) or np.any(value < 0):
        raise InputRangeError(
            "a client's value is outside the range it promised",
            expected=f"0 to {limit}",
            found=f"{value}"
            if not np.shape(value)
            else f"values from {np.min(value)} to {np.max(value)}",
            where="a secure sum",
            do="raise the limit, or clip the values at the clients",
        )
    return value


def _parameter(least: int, what: str) -> Callable[[Operation, Any], Any]:
    # It has to fit into `dtype`.
    def check(op: Operation, number: Any) -> Any:
        most = np.iinfo(op.dtype).max
        if not least <= number <= most:
            raise InputRangeError(
                f"the {what} of a secure sum is out of range",
                expected=f"{least} to {most}",
                found=number,
                where="a secure sum",
                do=f"pass a {what} in this range"
                if number < least
                else "let the clients convert their values to a wider dtype first",
            )
        return number

    return check


def _wrapping(fn: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    # Integers wrap around silently, in every runtime; the masks of secure sums need it.
    def run(op: Operation, left: Any, right: Any) -> Any:
        with np.errstate(all="ignore"):
            return fn(left, right)

    return run


OPERATION_TABLE: dict[str, Callable[..., Any]] = {
    "add": _wrapping(np.add),
    "subtract": _wrapping(np.subtract),
    "multiply": _wrapping(np.multiply),
    "divide": _wrapping(np.divide),
    "modulo": _wrapping(np.mod),
    "minimum": _wrapping(np.minimum),
    "maximum": _wrapping(np.maximum),
    "cast": lambda op, value: np.asarray(value).astype(op.dtype)[()],
    "reciprocal": _reciprocal,
    "nonempty": _nonempty,
    "at_most": _at_most,
    "check_limit": _parameter(0, "limit"),
    "check_modulus": _parameter(1, "modulus"),
    "append": lambda op, sequence, element: (*sequence, element),
    "concatenate": lambda op, first, second: (*first, *second),
}
