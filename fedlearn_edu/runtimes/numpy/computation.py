# SPDX-License-Identifier: Apache-2.0
"""`np_computation`: a Python function on NumPy arrays as one opaque leaf.

Its result type is found by trying it on sample values at definition; afterwards it runs
once for each call. The executor beside this file runs it.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from importlib import import_module
from typing import Any, final

import numpy as np

from fedlearn_edu.compiler.evaluation import Fn, Meanings, evaluate, obstacle
from fedlearn_edu.computations.arguments import call_leaf, check_leaf_parameter, private
from fedlearn_edu.computations.computation import Computation, check_closed
from fedlearn_edu.computations.context_stack import Context
from fedlearn_edu.computations.decorator import Decorator, returned_none
from fedlearn_edu.errors import ContextError, StructureError, TracingError, add_place
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.runtimes.numpy import RUNTIME
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    FunctionType,
    SequenceType,
    StructType,
    TensorType,
    Type,
    infer_type,
    is_tensorflow_compatible,
    join,
    normalize,
    restore,
)
from fedlearn_edu.types.joining import SequenceList
from fedlearn_edu.types.plain import reading

# Two lengths tell dimensions that follow the input from those that are fixed.
_SAMPLE_SIZES = (2, 3)


@final
@dataclass(frozen=True)
class PythonCode:
    """A Python function with the types of its parameter and result."""

    fn: Callable[..., Any]
    names: tuple[str, ...]
    parameter: Type | None
    result: Type
    name: str
    digest: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __reduce__(self) -> tuple[Any, ...]:
        # By name, as Python pickles functions. A decorated name holds the computation;
        # `np_computation(fn, type)` leaves the function its name.
        module, qualname = self.fn.__module__, self.fn.__qualname__
        if _object_named(module, qualname) is self.fn:
            fields = (self.fn, self.names, self.parameter, self.result, self.name)
            return (PythonCode, (*fields, self.digest))
        if _code_named(module, qualname) is not self:
            raise _nameless(module, qualname)
        return (_code_named, (module, qualname))

    def __call__(self, argument: Any) -> Any:
        """Runs the function on a plain argument."""
        result = _run(self.fn, self.names, self.parameter, argument)
        return normalize(result, self.result, f"{self.name}'s result")


def _object_named(module: str, qualname: str) -> Any:
    found: Any = import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def _code_named(module: str, qualname: str) -> Any:
    found = _object_named(module, qualname)
    if not isinstance(found, Computation) or not isinstance(found.tree, ir.Leaf):
        raise _nameless(module, qualname)
    return found.tree.code


def _nameless(module: str, qualname: str) -> StructureError:
    return StructureError(
        "NumPy leaf code travels by name, and there is none",
        expected="an np_computation at the top of a module",
        found=f"{module}.{qualname}",
        do="define it with `def` in a module, or use a tf_computation",
    )


@final
class PythonContext(Context):
    """What a call inside a leaf means: NumPy code, sequence intrinsics run at once."""

    has_placements = False

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Runs leaf code on an argument."""
        tree, type_ = computation.tree, computation.type_signature
        check_closed(computation)
        found = obstacle(tree, RUNTIME, _PRIMITIVES)
        if found is not None:
            raise ContextError(
                f"{computation.__name__} cannot be called inside an np_computation",
                expected="a computation of NumPy code and sequence intrinsics",
                found=found,
                where=str(computation),
                do="call both from a federated_computation",
            )
        fn = evaluate(tree, _MEANINGS)
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
_MEANINGS = Meanings(_run_leaf, lambda literal: literal.value, _PRIMITIVES)


def trace_python(
    fn: Callable[..., Any], names: tuple[str, ...], type_: Type | None, fn_name: str
) -> Computation:
    """Tries `fn` on samples and returns it as a computation of one leaf."""
    check_leaf_parameter(fn_name, type_)
    first, second = (_try(fn, names, type_, size, fn_name) for size in _SAMPLE_SIZES)
    result = _generalize(first, second, fn_name)
    code = PythonCode(fn, names, type_, result, fn_name)
    leaf = ir.Leaf(RUNTIME, code, FunctionType(type_, result))
    return Computation(leaf, fn_name, fn.__doc__)


def _run(
    fn: Callable[..., Any], names: tuple[str, ...], type_: Type | None, argument: Any
) -> Any:
    outer = reading.set(False)
    try:
        with PythonContext():
            # A body may well change its arrays in place; nobody else may notice.
            return call_leaf(fn, names, type_, private(argument), _to_body)
    finally:
        reading.reset(outer)


def _try(
    fn: Callable[..., Any],
    names: tuple[str, ...],
    type_: Type | None,
    size: int,
    fn_name: str,
) -> Type:
    sample = None if type_ is None else _sample(type_, size)
    try:
        with np.errstate(all="ignore"):
            result = _run(fn, names, type_, sample)
        found = infer_type(result)
    except Exception as error:
        add_place(error, f"in {fn_name}, tried on ones to find out its result type")
        raise
    if found is None:
        raise returned_none(fn, fn_name)
    if not is_tensorflow_compatible(found):
        raise TracingError(
            f"{fn_name} returned something leaf code cannot return",
            expected="tensors, structures and sequences",
            found=str(found),
            do="did you forget to call a computation?",
        )
    return found


def _sample(type_: Type, size: int) -> Any:
    match type_:
        case TensorType(dtype=dtype, shape=shape):
            sizes = shape if isinstance(shape, tuple) else (size,)
            filled = np.ones([n if n is not None else size for n in sizes], dtype)
            return filled[()] if dtype.kind != "O" else _strings(filled)
        case SequenceType(element=element):
            return tuple(_sample(element, size) for _ in range(size))
        case StructType():
            return Struct([(n, _sample(t, size)) for n, t in type_.items()])
        case _:
            raise AssertionError(f"not leaf code's: {type_}")


def _strings(filled: Any) -> Any:
    return np.full(filled.shape, b"", object)[()]


def _generalize(first: Type, second: Type, fn_name: str) -> Type:
    """The type both results have, with `?` where their sizes differ."""
    joined = join(first, second)
    if joined is not None:
        return joined
    raise TracingError(
        f"the type of {fn_name}'s result depends on the size of its input",
        expected=f"always the same, as for {_SAMPLE_SIZES[0]} elements: {first}",
        found=f"for {_SAMPLE_SIZES[1]} elements: {second}",
        where=f"{fn_name}'s result",
        do="return one array in place of a list: np.array(…)",
    )


np_computation = Decorator(
    "np_computation",
    trace_python,
    """Makes a computation of a Python function on NumPy arrays.

    The function is tried on ones, twice, when it is defined, to find its result type;
    then it runs once for each call. It sees NumPy scalars and arrays, lists for
    sequences, and containers of these.

    >>> import numpy as np
    >>> from fedlearn_edu import np_computation
    >>> @np_computation(np.float32, np.float32)
    ... def add(a, b):
    ...     return a + b
    >>> print(add.type_signature)
    (<a=float32,b=float32> -> float32)
    >>> float(add(1, 2))
    3.0

    Source: none; the ancestor's leaf code is TensorFlow, see `tf_computation`.
    """,
)
