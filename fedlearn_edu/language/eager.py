# SPDX-License-Identifier: Apache-2.0
"""An intrinsic outside of any body runs eagerly, as a computation of its own.

Its argument list is partially evaluated: the data in it become the parameters of a
computation that consists of this one intrinsic; functions, placements and numbers stay
constants of its body. The current context is asked what calling that means. No
intrinsic knows whether it is recorded or run.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import current_context
from fedlearn_edu.language.federated_computation import trace_federated
from fedlearn_edu.language.intrinsic import sequence_position
from fedlearn_edu.language.messages import outside_of_bodies
from fedlearn_edu.language.value import ANYWHERE
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    SequenceType,
    StructType,
    Type,
    infer_type,
    is_tensorflow_compatible,
)
from fedlearn_edu.types.containers import Placed
from fedlearn_edu.types.dtypes import is_dataset, is_tf_dtype
from fedlearn_edu.types.fields import fields_of, rebuild
from fedlearn_edu.types.type_join import infer_sequence

# Makes an argument, once the values of the parameters are known.
Residual = Callable[[Sequence[Any]], Any]


def run_eagerly(
    name: str, fn: Callable[..., Any], given: dict[str, Any]
) -> tuple[Any, Type]:
    """Runs the intrinsic that `fn` records, on the arguments `given`.

    Returns what the context returned, and the type of the result.
    """
    context, sequence = current_context(), sequence_position(name)
    if sequence is None and not context.has_placements:
        raise outside_of_bodies(name, ANYWHERE)
    data: list[tuple[str, Any, Type]] = []
    arguments = [
        _split(data, arg, key, given if index == sequence else None)
        for index, (key, arg) in enumerate(given.items())
    ]

    def body(*parameters: Any) -> Any:
        return fn(*(argument(parameters) for argument in arguments))

    names = tuple(name for name, _, _ in data)
    type_: Type | None = StructType([(name, type_) for name, _, type_ in data])
    argument: Any = Struct([(name, value) for name, value, _ in data])
    if len(data) < 2:
        _, argument, type_ = data[0] if data else ("", None, None)
    computation = trace_federated(body, names, type_, name)
    computation.is_eager = True
    result = context.invoke(computation, argument)
    return result, computation.type_signature.result


def _split(
    data: list[tuple[str, Any, Type]],
    arg: Any,
    name: str,
    sequence_of: dict[str, Any] | None = None,
) -> Residual:
    """Moves the data in `arg` to `data`, and returns what is left of it.

    With `sequence_of`, the arguments it is one of, a list or an array is a sequence.
    """
    if isinstance(arg, Computation):
        return lambda _: arg
    type_ = None
    if sequence_of is not None and _is_plain_sequence(arg):
        type_, arg = _as_sequence(arg, sequence_of)
    elif isinstance(arg, Placed):
        type_ = arg.type_signature
    elif is_dataset(arg) or is_tf_dtype(getattr(arg, "dtype", None)):
        type_ = infer_type(arg)
    if type_ is not None:
        position = len(data)
        taken = any(name == other for other, _, _ in data)
        data.append((f"{name}_{position}" if taken else name, arg, type_))
        return lambda values: values[position]
    fields, before = fields_of(arg), len(data)
    if fields is None:
        return lambda _: arg
    parts = [(field, _split(data, part, field or name)) for field, part in fields.pairs]
    if len(data) == before:
        return lambda _: arg
    container = fields.container
    return lambda values: rebuild(container, Struct((n, p(values)) for n, p in parts))


def _is_plain_sequence(arg: Any) -> bool:
    if callable(arg):
        return inspect.isgeneratorfunction(arg)
    return isinstance(arg, list | tuple | range | Iterator) or (
        isinstance(arg, np.ndarray) and arg.ndim > 0
    )


def _as_sequence(arg: Any, given: dict[str, Any]) -> tuple[Type, Any]:
    """The type of a sequence among the arguments `given`, and the sequence."""
    element = _element_type(given)
    if element is not None:
        return SequenceType(element), arg
    elements = arg() if callable(arg) else arg
    elements = list(elements) if isinstance(elements, Iterator) else elements
    return infer_sequence(elements), elements


def _element_type(given: dict[str, Any]) -> Type | None:
    """What the function of a sequence intrinsic takes as an element, if it says so."""
    fn = given.get("fn", given.get("op"))
    type_ = fn.type_signature.parameter if isinstance(fn, Computation) else None
    if "op" in given:
        is_pair = isinstance(type_, StructType) and len(type_) == 2
        type_ = type_[1] if is_pair else None  # type: ignore[index]
    is_known = type_ is not None and is_tensorflow_compatible(type_)
    return type_ if is_known else None
