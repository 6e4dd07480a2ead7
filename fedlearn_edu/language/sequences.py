# SPDX-License-Identifier: Apache-2.0
"""`sequence_map`, `sequence_reduce`, `sequence_sum`: element by element, at one place.

A sequence is what one participant reads in order, batch after batch; it is not a list
of clients. On a federated sequence each of these works at every participant.
"""

from typing import Any

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.language.application import apply, bind, define, intrinsic
from fedlearn_edu.language.arithmetic import zeros
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.federated_computation import binary, identity
from fedlearn_edu.language.implied import argument, recorded
from fedlearn_edu.language.mapping import federated_zip, map_members
from fedlearn_edu.language.value import Value, to_value
from fedlearn_edu.types import (
    FederatedType,
    FunctionType,
    SequenceType,
    StructType,
    Type,
    check_sum_compatible,
)
from fedlearn_edu.types.messages import BY_CLIENT

_MAP = define("sequence_map", "(<(T -> U),T*> -> U*)")
_REDUCE = define("sequence_reduce", "(<T*,U,(<U,T> -> U)> -> U)")


@intrinsic
def sequence_map(fn: Any, arg: Any) -> Value:
    """Applies a computation to every element of a sequence; the order stays.

    `(<(T -> U),T*> -> U*)`; on `{T*}@P` at every participant. Lazy: an element is
    computed when it is asked for, at most once per reader.

    Raises:
        TypeMismatchError: if `arg` is not a sequence or `fn` does not take an element.

    Source: `tff.sequence_map`.
    """
    sequence = _sequence(arg, "sequence_map")
    if _is_placed(sequence):
        return map_members(lambda s: sequence_map(fn, s), sequence, name="sequence_map")
    return apply(_MAP, [fn, sequence])


@intrinsic
def sequence_reduce(value: Any, zero: Any, op: Any) -> Value:
    """Folds the elements of a sequence, in order, starting from `zero`.

    `(<T*,U,(<U,T> -> U)> -> U)`: `op(… op(op(zero, x0), x1) …, xn)`; on `{T*}@P` at
    every participant, with `zero` unplaced or at `P`. An empty sequence gives `zero`.

    Raises:
        TypeMismatchError: if `value` is not a sequence, or `op` does not fit.

    Source: `tff.sequence_reduce`.
    """
    sequence = _sequence(value, "sequence_reduce")
    start = argument(zero, "sequence_reduce")
    if _is_placed(sequence) and _is_placed(start):
        return map_members(
            lambda pair: sequence_reduce(pair[0], pair[1], op),
            federated_zip([sequence, start]),
            name="sequence_reduce",
        )
    if _is_placed(sequence):
        return map_members(
            lambda s: sequence_reduce(s, start, op), sequence, name="sequence_reduce"
        )
    if isinstance(op, Computation | Value):  # it says itself what it takes
        _check_returned_state(op, start.type_signature)
    values, bindings = bind(_REDUCE, [sequence, start, op])
    state = bindings["U"]
    if not start.type_signature.is_equivalent_to(state):
        values[1] = identity(state)(start)  # seen as the more general type
    return recorded("sequence_reduce", state, values)


def _check_returned_state(op: Computation | Value, start: Type) -> None:
    type_ = op.type_signature
    parameter = type_.parameter if isinstance(type_, FunctionType) else None
    if not isinstance(parameter, StructType) or len(parameter) != 2:
        return
    taken, returned = parameter[0], type_.result  # type: ignore[attr-defined]
    starts = taken.is_assignable_from(start)
    if starts and not taken.is_assignable_from(returned):
        raise TypeMismatchError(
            "the operator returns something else than the state it takes",
            expected=taken,
            found=returned,
            where=f"what {to_value(op)} returns, in sequence_reduce",
            do="return the whole new state, of the type it came in: the next call "
            "starts from it",
        )


def _check_elements(value: Type) -> None:
    if isinstance(value, SequenceType):
        check_sum_compatible(value.element)


def _expand_sum(value: Value) -> Value:
    assert isinstance(value.type_signature, SequenceType)
    element = value.type_signature.element
    return sequence_reduce(value, zeros(element), binary("add", element))


_SUM = define("sequence_sum", "(T* -> T)", expand=_expand_sum, require=_check_elements)


@intrinsic
def sequence_sum(value: Any) -> Value:
    """Adds up the elements of a sequence, leaf by leaf.

    `(T* -> T)`, `T` numeric with a known shape; on `{T*}@P` at every participant. An
    empty sequence gives zeros. Expands into `sequence_reduce` with `zero = 0` and
    addition.

    Raises:
        TypeMismatchError: if `value` is not a sequence of summable elements.

    Source: `tff.sequence_sum`.
    """
    sequence = _sequence(value, "sequence_sum")
    if _is_placed(sequence):
        return map_members(sequence_sum, sequence, name="sequence_sum")
    return apply(_SUM, [sequence])


def _sequence(arg: Any, uri: str) -> Value:
    value = argument(arg, uri)
    type_ = value.type_signature
    inner = type_.member if isinstance(type_, FederatedType) else type_
    if isinstance(inner, SequenceType):
        return value
    do = "declare the parameter as SequenceType(T); check the argument order"
    if isinstance(inner, StructType) and any(inner.names()):
        do = "check the order of the arguments"
    elif isinstance(inner, StructType):
        do = "a list in a body is a structure: make it a parameter of SequenceType(T)"
    elif _is_placed(value):
        do = BY_CLIENT
    raise TypeMismatchError(
        f"{uri} works on a sequence",
        expected="a value of type T* or {T*}@CLIENTS",
        found=value.type_signature,
        where=str(value),
        do=do,
    )


def _is_placed(value: Value) -> bool:
    return isinstance(value.type_signature, FederatedType)
