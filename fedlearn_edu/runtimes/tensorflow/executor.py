# SPDX-License-Identifier: Apache-2.0
"""Runs TensorFlow leaf code eagerly: the bottom of a stack.

Plain data come in from above and become eager tensors; graphs are called on them.
Sequences stay as they are until a graph wants a dataset. Names, placements and
operators are handled by the executors above.
"""

from typing import Any, final

import numpy as np

from fedlearn_edu.errors import (
    ComputationFailedError,
    ExecutorError,
    FedLearnError,
    TypeMismatchError,
)
from fedlearn_edu.executors.base import (
    Executor,
    ExecutorValue,
    as_node,
    as_struct,
    check_owned,
    position,
    resolve_type,
    struct_type_of,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import Operation
from fedlearn_edu.runtimes.tensorflow.conversion import tf_dtype, to_plain
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    FunctionType,
    SequenceType,
    StructType,
    TensorType,
    Type,
    normalize,
)

_NATIVE = {
    "add": tf.add,
    "subtract": tf.subtract,
    "multiply": tf.multiply,
    "minimum": tf.minimum,
    "maximum": tf.maximum,
}


@final
class TensorFlowValue(ExecutorValue):
    """Eager tensors (nested in Structs), a sequence, or leaf code."""

    __slots__ = ("_type", "nested")

    def __init__(self, nested: Any, type_: Type) -> None:
        self.nested = nested
        self._type = type_

    @property
    def type_signature(self) -> Type:
        """The type of the value."""
        return self._type

    async def compute(self) -> Any:
        """The data in plain form; code cannot be materialized."""
        if isinstance(self._type, FunctionType):
            raise TypeMismatchError(
                "a function cannot be materialized", expected="data", found=self._type
            )
        return to_plain(self.nested, self._type)


@final
class EagerTFExecutor(Executor):
    """Runs TensorFlow leaf code on eager tensors.

    Source: `tff.framework.EagerTFExecutor`.
    """

    def close(self) -> None:
        """There is nothing to release: no state survives a call."""

    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> TensorFlowValue:
        """Embeds plain data or TensorFlow leaf code."""
        type_ = resolve_type(value, type_spec)
        match as_node(value):
            case None:
                return TensorFlowValue(to_tensors(value, type_), type_)
            case ir.Literal(value=literal):
                return TensorFlowValue(to_tensors(literal, type_), type_)
            case ir.Leaf(runtime=runtime, code=code) if _runs(runtime):
                return TensorFlowValue(code, type_)
            case node:
                raise ExecutorError(
                    "the TensorFlow executor runs TensorFlow leaf code only",
                    expected="a tf_computation or plain data",
                    found=f"{type(node).__name__} of type {node.type}",
                    do="put the executors that handle it on top of this one",
                )

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> TensorFlowValue:
        """Runs leaf code.

        Raises:
            ComputationFailedError: if TensorFlow reports an error.
        """
        fn = check_owned(comp, TensorFlowValue, self)
        nested = None if arg is None else check_owned(arg, TensorFlowValue, self).nested
        if not isinstance(fn.type_signature, FunctionType):
            raise TypeMismatchError(
                "only functions can be called", found=str(fn.type_signature)
            )
        return TensorFlowValue(
            _run(fn.nested, nested, fn.type_signature), fn.type_signature.result
        )

    async def create_struct(self, elements: Any) -> TensorFlowValue:
        """Puts values side by side."""
        fields = as_struct(elements)
        for element in fields:
            check_owned(element, TensorFlowValue, self)
        return TensorFlowValue(fields.map(lambda v: v.nested), struct_type_of(fields))

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> TensorFlowValue:
        """Picks a field."""
        value = check_owned(source, TensorFlowValue, self)
        at = position(value.type_signature, index, name)
        return TensorFlowValue(value.nested[at], value.type_signature[at])  # type: ignore[index]


def to_tensors(value: Any, type_: Type) -> Any:
    """Data as eager tensors, nested in Structs; sequences stay plain."""
    match type_:
        case TensorType(dtype=dtype):
            if not isinstance(value, np.ndarray | np.generic) or value.dtype != dtype:
                value = normalize(value, type_)
            return tf.constant(value, tf_dtype(dtype))
        case StructType() if isinstance(value, Struct):
            pairs = zip(type_.items(), value, strict=True)
            return Struct([(name, to_tensors(v, t)) for (name, t), v in pairs])
        case SequenceType() if isinstance(value, tuple):
            return value
        case StructType():
            return to_tensors(normalize(value, type_), type_)
        case _:
            return normalize(value, type_)


def _runs(runtime: str) -> bool:
    from fedlearn_edu.runtimes.tensorflow import RUNTIME

    return runtime in (RUNTIME, ir.ANY_RUNTIME)


def _run(code: Any, argument: Any, type_: FunctionType) -> Any:
    try:
        if isinstance(code, GraphCode):
            return code.run_nested(argument)
        assert isinstance(code, Operation)
        return _run_operation(code, argument, type_)
    except tf.errors.OpError as error:
        raise _failure(code.name, error) from None


def _run_operation(code: Operation, argument: Any, type_: FunctionType) -> Any:
    if code.name in _NATIVE:
        return _NATIVE[code.name](argument[0], argument[1])
    assert type_.parameter is not None
    plain = code(to_plain(argument, type_.parameter))
    return to_tensors(plain, type_.result)


def _failure(name: str, error: Any) -> FedLearnError:
    reason = next(
        (line for line in str(error.message).splitlines() if line.strip()), ""
    )
    return ComputationFailedError(
        f"TensorFlow reported an error in {name}",
        found=f"{type(error).__name__}: {reason}",
        where=name,
        do="run the function by itself on one client's data to see more",
    )
