# SPDX-License-Identifier: Apache-2.0
"""One fork: an intrinsic is recorded in a body, and runs at once outside of it.

Outside, its data become the parameters of a computation that consists of this one
intrinsic; the current context is asked what that means. A context that executes runs
it. Leaf code makes it part of itself, where it can. No intrinsic knows which.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, final

import numpy as np

from fedlearn_edu.errors import (
    FedLearnError,
    add_place,
    depth_limit,
    short_traceback,
    short_tracebacks,
    wrong_arguments,
)
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import current_context, current_tracing_context
from fedlearn_edu.language.federated_computation import (
    FederatedTracingContext,
    outside_of_bodies,
    trace_federated,
)
from fedlearn_edu.language.federated_value import FederatedValue
from fedlearn_edu.language.intrinsic import sequence_position
from fedlearn_edu.language.value import Value
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    FederatedType,
    Placed,
    SequenceType,
    StructType,
    Type,
    infer_sequence,
    infer_type,
    is_tensorflow_compatible,
)
from fedlearn_edu.types.dtypes import is_tf_dtype
from fedlearn_edu.types.plain import is_dataset
from fedlearn_edu.types.python_fields import fields_of, rebuild

ANYWHERE = (
    "decorate a function with its types and call it there; "
    "leaf code uses the operations of NumPy or TensorFlow"
)
P = ParamSpec("P")
R = TypeVar("R")


def intrinsic(fn: Callable[P, R]) -> Callable[P, R]:
    """Lets a function that records an intrinsic be used outside of bodies, too."""
    record: Callable[..., Any] = fn

    @wraps(fn)
    @short_traceback
    def use(*args: P.args, **kwargs: P.kwargs) -> Any:
        in_body = isinstance(current_tracing_context(), FederatedTracingContext)
        given = _arguments(fn, args, kwargs)
        if in_body or any(isinstance(arg, Value) for arg in given.values()):
            return record(*given.values())
        if any(map(inspect.isawaitable, given.values())):
            return _run_later(fn, given)
        return _run_at_once(fn, given)

    use.autograph_info__ = Computation.autograph_info__  # type: ignore[attr-defined]
    return use


def _run_at_once(fn: Callable[..., Any], given: dict[str, Any]) -> Any:
    context, name = current_context(), fn.__name__
    sequence = sequence_position(name)
    if sequence is None and not context.has_placements:
        raise outside_of_bodies(name, ANYWHERE)
    data, element = _Data(), _element_type(given)
    lifted = [
        data.lift(value, key, is_sequence=index == sequence, element=element)
        for index, (key, value) in enumerate(given.items())
    ]

    def body(*parameters: Any) -> Any:
        return fn(*(_with_values(arg, parameters) for arg in lifted))

    computation = trace_federated(body, data.names, data.type_signature, name)
    result = context.run_intrinsic(computation, data.argument)
    return _placed(result, computation.type_signature.result, name)


async def _run_later(fn: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Waits for arguments that are results of an asynchronous context."""
    with short_tracebacks(), depth_limit():
        for name, value in given.items():
            given[name] = await value if inspect.isawaitable(value) else value
        result = _run_at_once(fn, given)
        return await result if inspect.isawaitable(result) else result


def _arguments(fn: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    signature = inspect.signature(fn)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise wrong_arguments(fn, error) from None
    bound.apply_defaults()
    return bound.arguments


def _element_type(given: dict[str, Any]) -> Type | None:
    """What the function of a sequence intrinsic takes as an element, if it says so."""
    fn = given.get("fn", given.get("op"))
    type_ = fn.type_signature.parameter if isinstance(fn, Computation) else None
    if "op" in given:
        is_pair = isinstance(type_, StructType) and len(type_) == 2
        type_ = type_[1] if is_pair else None  # type: ignore[index]
    is_known = type_ is not None and is_tensorflow_compatible(type_)
    return type_ if is_known else None


def _placed(result: Any, type_: Type, name: str) -> Any:
    if inspect.isawaitable(result):
        return _placed_later(result, type_, name)
    if not isinstance(type_, FederatedType):
        return result
    try:
        return FederatedValue(result, type_)
    except FedLearnError as error:
        add_place(error, f"what the context returned for {name}")
        raise


async def _placed_later(result: Awaitable[Any], type_: Type, name: str) -> Any:
    return _placed(await result, type_, name)


@final
@dataclass(frozen=True)
class _Parameter:
    """Stands for the parameter of that position, until the body has its Values."""

    position: int


@final
class _Data:
    """The data among the arguments of an intrinsic: what becomes its parameters."""

    def __init__(self) -> None:
        self._found: list[tuple[str, Any, Type]] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(name for name, _, _ in self._found)

    @property
    def type_signature(self) -> Type | None:
        """The one parameter type."""
        fields = [(name, type_) for name, _, type_ in self._found]
        if len(fields) == 1:
            return fields[0][1]
        return StructType(fields) if fields else None

    @property
    def argument(self) -> Any:
        """The one argument."""
        fields = [(name, value) for name, value, _ in self._found]
        if len(fields) == 1:
            return fields[0][1]
        return Struct(fields) if fields else None

    def lift(
        self,
        arg: Any,
        name: str,
        *,
        is_sequence: bool = False,
        element: Type | None = None,
    ) -> Any:
        """The argument, with parameters in place of the data in it."""
        if isinstance(arg, Placed):
            return self._add(name, arg, arg.type_signature)
        if is_sequence and _is_plain_sequence(arg) and element is not None:
            return self._add(name, arg, SequenceType(element))
        if is_sequence and _is_plain_sequence(arg):
            elements = arg() if callable(arg) else arg
            elements = list(elements) if isinstance(elements, Iterator) else elements
            return self._add(name, elements, infer_sequence(elements))
        if is_dataset(arg) or is_tf_dtype(getattr(arg, "dtype", None)):
            type_ = infer_type(arg)
            assert type_ is not None
            return self._add(name, arg, type_)
        return _changed(arg, lambda part, field: self.lift(part, field or name))

    def _add(self, name: str, value: Any, type_: Type) -> _Parameter:
        taken = self.names
        fresh = f"{name}_{len(taken)}" if name in taken else name
        self._found.append((fresh, value, type_))
        return _Parameter(len(taken))


def _is_plain_sequence(arg: Any) -> bool:
    if callable(arg):
        return inspect.isgeneratorfunction(arg)
    return isinstance(arg, list | tuple | range | Iterator) or (
        isinstance(arg, np.ndarray) and arg.ndim > 0
    )


def _with_values(arg: Any, values: Sequence[Any]) -> Any:
    if isinstance(arg, _Parameter):
        return values[arg.position]
    return _changed(arg, lambda part, _: _with_values(part, values))


def _changed(arg: Any, change: Callable[[Any, str | None], Any]) -> Any:
    """A container with every part changed; anything else as it is."""
    fields = fields_of(arg)
    if fields is None:
        return arg
    parts = [(name, change(part, name)) for name, part in fields.pairs]
    pairs = zip(parts, fields.pairs, strict=True)
    if all(new is old for (_, new), (_, old) in pairs):
        return arg
    return rebuild(fields.container, Struct(parts))
