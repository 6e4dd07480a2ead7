# SPDX-License-Identifier: Apache-2.0
"""`np_computation`: a Python function on NumPy arrays as one opaque leaf.

Its result type is stated, or found by trying it on ones at definition; then it runs
once for each call. The executor beside this file runs it.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, final

import numpy as np

from fedlearn_edu.compiler.evaluation import Fn, Semantics, evaluate
from fedlearn_edu.compiler.expansion import check_obstacle
from fedlearn_edu.errors import FedLearnError, TracingError, TypeMismatchError, line_of
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.computation import Computation, check_closed
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.language.decorator import (
    Decorator,
    call_leaf,
    check_leaf_parameter,
    returned_none,
)
from fedlearn_edu.runtimes.numpy import RUNTIME
from fedlearn_edu.signals import add_place, is_from_outside
from fedlearn_edu.structure import Struct, tree_map
from fedlearn_edu.types import (
    FunctionType,
    SequenceType,
    Type,
    infer_type,
    is_tensorflow_compatible,
    normalize,
    restore,
)
from fedlearn_edu.types.containers import private
from fedlearn_edu.types.dtypes import STRING
from fedlearn_edu.types.sequences import SequenceList
from fedlearn_edu.types.type_join import join

# Two lengths tell dimensions that follow the input from those that are fixed.
_SAMPLE_SIZES = (2, 3)
_SAY_IT = "say the type of the result: np_computation(…, result=np.float32)"


@final
@dataclass(frozen=True)
class PythonCode:
    """A Python function with the types of its parameter and result.

    Attributes:
        is_said: whether the type of the result was stated; else it was found on ones.
    """

    fn: Callable[..., Any]
    names: tuple[str, ...]
    parameter: Type | None
    result: Type
    name: str
    is_said: bool
    digest: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __call__(self, argument: Any) -> Any:
        """Runs the function on a plain argument."""
        result = _run(self.fn, self.names, self.parameter, argument)
        if result is None:
            raise returned_none(self.fn, self.name)
        try:
            return normalize(result, self.result, f"{self.name}'s result")
        except TypeMismatchError as error:
            if not self.is_said:
                error.summary = f"{self.name} was tried on ones and gave another type"
                error.expected, error.do = f"{self.result}, as for ones", _SAY_IT
            raise


@final
class PythonContext(Context):
    """What a call inside a leaf means: NumPy code, sequence intrinsics run at once."""

    has_placements = False

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Runs leaf code on an argument."""
        tree, type_ = computation.tree, computation.type_signature
        check_closed(computation)
        check_obstacle(computation, "an np_computation", "NumPy", RUNTIME, _PRIMITIVES)
        fn = evaluate(tree, _SEMANTICS)
        if type_.parameter is None:
            return _to_body(fn(), type_.result)
        where = f"{computation.__name__}'s argument"
        plain = normalize(argument, type_.parameter, where)
        return _to_body(fn(plain), type_.result)


def _to_body(plain: Any, type_: Type) -> Any:
    """What a body sees; a sequence knows its type, also when it is empty."""
    seen, is_sequence = restore(plain, type_), isinstance(type_, SequenceType)
    return SequenceList(seen, type_.element) if is_sequence else seen  # type: ignore[attr-defined]


def _fold(argument: Any) -> Any:
    elements, zero, fn = argument
    return reduce(lambda state, x: fn(Struct.unnamed(state, x)), elements, zero)


def _run_leaf(leaf: ir.Leaf) -> Fn:
    return lambda argument=None: leaf.code(argument)


_PRIMITIVES: Mapping[str, Callable[[ir.Intrinsic], Fn]] = {
    "sequence_map": lambda _: lambda arg: tuple([arg[0](x) for x in arg[1]]),
    "sequence_reduce": lambda _: _fold,
}
_SEMANTICS = Semantics(_run_leaf, lambda literal: literal.value, _PRIMITIVES)


def trace_python(
    fn: Callable[..., Any],
    names: tuple[str, ...],
    type_: Type | None,
    fn_name: str,
    result: Type | None = None,
) -> Computation:
    """Returns `fn` as a computation of one leaf; tries it if no result type is said."""
    check_leaf_parameter(fn_name, type_)
    found = _try(fn, names, type_, fn_name) if result is None else result
    if not is_tensorflow_compatible(found):
        raise TracingError(
            f"{fn_name} returned something leaf code cannot return",
            expected="tensors, structures and sequences",
            found=found,
            do="did you forget to call a computation?"
            if result is None
            else "say the type of one member",
        )
    code = PythonCode(fn, names, type_, found, fn_name, result is not None)
    leaf = ir.Leaf(RUNTIME, code, FunctionType(type_, found))
    return Computation(leaf, fn_name, fn.__doc__)


def _run(
    fn: Callable[..., Any], names: tuple[str, ...], type_: Type | None, argument: Any
) -> Any:
    with PythonContext():
        # A body may change its arrays in place: it gets copies.
        result = call_leaf(fn, names, type_, private(argument), _to_body)
        # Elements that are made one by one are made here.
        return list(result) if isinstance(result, Iterator) else result


def _try(
    fn: Callable[..., Any], names: tuple[str, ...], type_: Type | None, fn_name: str
) -> Type:
    """The type of the results on ones, with `?` where their sizes differ."""
    found = []
    for size in _SAMPLE_SIZES:
        sample = None if type_ is None else _sample(type_, size)
        try:
            with np.errstate(all="ignore"):
                result = _run(fn, names, type_, sample)
            type_of_result = infer_type(result)
        except FedLearnError as error:
            add_place(error, f"in {fn_name}, tried on ones to find out its result type")
            raise
        except Exception as error:
            is_unwritten = type(error) is NotImplementedError  # and says so itself
            if sample is None or is_unwritten or is_from_outside(error):
                raise
            raise TracingError(
                f"{fn_name} failed when it was tried on ones to find out its result "
                "type",
                expected=f"a result for ones of type {infer_type(sample)}",
                found=f"{type(error).__name__}: {error}",
                where=line_of(error) or fn_name,
                do=f"correct it; if it fails on ones alone, {_SAY_IT}",
            ) from error
        if type_of_result is None:
            raise returned_none(fn, fn_name)
        found.append(type_of_result)
    first, second = found
    joined = join(first, second)
    if joined is None:
        few, more = _SAMPLE_SIZES
        raise TracingError(
            f"the type of {fn_name}'s result depends on the size of its input",
            expected=f"always the same, as for {few} elements: {first}",
            found=f"for {more} elements: {second}",
            where=f"{fn_name}'s result",
            do="return one array in place of a list: np.array(…), or say that it is a "
            "sequence: result=fl.SequenceType(np.float32)",
        )
    return joined


def _sample(type_: Type, size: int) -> Any:
    return tree_map(lambda leaf: _ones(leaf, size), type_)


def _ones(leaf: Any, size: int) -> Any:
    if isinstance(leaf, SequenceType):
        return tuple([_sample(leaf.element, size) for _ in range(size)])
    sizes = [size if n is None else n for n in leaf.shape]
    if leaf.dtype == STRING:
        return np.full(sizes, b"", object)[()]
    return np.ones(sizes, leaf.dtype)[()]


np_computation = Decorator(
    "np_computation",
    trace_python,
    """Makes a computation of a Python function on NumPy arrays.

    It runs once for each call, and sees NumPy scalars and arrays, lists for sequences,
    and containers of these. To find the type of its result, it is tried on ones, twice,
    when it is defined.

    >>> import numpy as np
    >>> from fedlearn_edu import np_computation
    >>> @np_computation(np.float32, np.float32)
    ... def add(a, b):
    ...     return a + b
    >>> print(add.type_signature)
    (<a=float32,b=float32> -> float32)
    >>> float(add(1, 2))
    3.0

    A function that fails on ones, or returns something else for them, says the type of
    its result with `result=`. Then it is not tried; each result is converted to that
    type as arguments are, or refused.

    >>> matrix = (np.float32, [2, 2])
    >>> invert = np_computation(np.linalg.inv, matrix, result=matrix)
    >>> invert([[2, 0], [0, 4]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]

    Raises:
        TracingError: if the function fails on ones, or the structure of its result
            follows their number.
        TypeMismatchError: in a call whose result does not fit what was found or said.

    Source: none; the ancestor's leaf code is TensorFlow, see `tf_computation`.
    """,
    takes_result=True,
)
