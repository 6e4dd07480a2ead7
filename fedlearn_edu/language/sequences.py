# SPDX-License-Identifier: Apache-2.0
"""`sequence_map`, `sequence_reduce`, `sequence_sum`: element by element, at one place.

A sequence is what one participant reads in order, batch after batch; it is not a list
of clients. On a federated sequence each of these works at every participant.
"""

from typing import Any

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.language.application import apply, argument, to_function
from fedlearn_edu.language.arithmetic import binary, identity, zeros
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.eager import intrinsic
from fedlearn_edu.language.intrinsic import define
from fedlearn_edu.language.mapping import federated_zip, map_members
from fedlearn_edu.language.value import Value
from fedlearn_edu.types import (
    FederatedType,
    FunctionType,
    SequenceType,
    StructType,
    TensorType,
    Type,
    check_sum_compatible,
)
from fedlearn_edu.types.relations import BY_CLIENT

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
    sequence = argument(arg, "sequence_map")
    if isinstance(sequence.type_signature, FederatedType):
        _element_of(sequence, "sequence_map")
        return map_members(lambda s: sequence_map(fn, s), sequence, name="sequence_map")
    element = _element_of(sequence, "sequence_map")
    return apply(_MAP, [to_function(fn, "sequence_map", element), sequence])


@intrinsic
def sequence_reduce(value: Any, zero: Any, op: Any) -> Value:
    """Folds the elements of a sequence, in order, starting from `zero`.

    `(<T*,U,(<U,T> -> U)> -> U)`: `op(… op(op(zero, x0), x1) …, xn)`; on `{T*}@P` at
    every participant, with `zero` unplaced or at `P`. An empty sequence gives `zero`.

    Raises:
        TypeMismatchError: if `value` is not a sequence, or `op` does not fit.

    Source: `tff.sequence_reduce`.
    """
    sequence = argument(value, "sequence_reduce")
    start = argument(zero, "sequence_reduce")
    if isinstance(sequence.type_signature, FederatedType):
        return _reduce_at_participants(sequence, start, op)
    element = _element_of(sequence, "sequence_reduce")
    pair = StructType([(None, start.type_signature), (None, element)])
    step = to_function(op, "sequence_reduce", pair)
    if isinstance(op, Computation | Value):  # it says itself what it takes
        _check_returned_state(step, start)
    state = _state_of(step, start)
    return apply(_REDUCE, [sequence, _widened(start, state), step])


def _reduce_at_participants(sequence: Value, start: Value, op: Any) -> Value:
    _element_of(sequence, "sequence_reduce")
    if not isinstance(start.type_signature, FederatedType):
        return map_members(
            lambda s: sequence_reduce(s, start, op), sequence, name="sequence_reduce"
        )
    return map_members(
        lambda pair: sequence_reduce(pair[0], pair[1], op),
        federated_zip([sequence, start]),
        name="sequence_reduce",
    )


def _check_returned_state(step: Value, start: Value) -> None:
    assert isinstance(step.type_signature, FunctionType)
    parameter, found = step.type_signature.parameter, step.type_signature.result
    if not isinstance(parameter, StructType) or len(parameter) != 2:
        return
    taken = parameter[0]
    if taken.is_assignable_from(start.type_signature) and (
        not taken.is_assignable_from(found)
    ):
        raise TypeMismatchError(
            "the operator returns something else than the state it takes",
            expected=str(taken),
            found=str(found),
            where=f"what {step} returns, in sequence_reduce",
            do="return the whole new state, of the type it came in: the next call "
            "starts from it",
        )


def _state_of(step: Value, start: Value) -> Type:
    assert isinstance(step.type_signature, FunctionType)
    state = step.type_signature.result
    if not state.is_assignable_from(start.type_signature):
        raise TypeMismatchError(
            "zero and the result of the operator differ in type",
            expected=str(state),
            found=str(start.type_signature),
            where="sequence_reduce",
            do=f"start from {_zero_of(state)}",
        )
    return state


def _zero_of(state: Type) -> str:
    if isinstance(state, TensorType) and state.is_scalar:
        return f"np.{state}(…): a Python number is int32 or float32 here"
    return "a zero of the type the operator returns"


def _widened(start: Value, state: Type) -> Value:
    """`start` seen as the more general type `state`."""
    if start.type_signature.is_equivalent_to(state):
        return start
    widened: Value = identity(state)(start)
    return widened


def _check_elements(value: Type) -> None:
    if isinstance(value, SequenceType):
        check_sum_compatible(value.element)


def _expand_sum(value: Value) -> Value:
    element = _element_of(value, "sequence_sum")
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
    sequence = argument(value, "sequence_sum")
    _element_of(sequence, "sequence_sum")
    if isinstance(sequence.type_signature, FederatedType):
        return map_members(sequence_sum, sequence, name="sequence_sum")
    return apply(_SUM, [sequence])


def _element_of(sequence: Value, uri: str) -> Type:
    type_ = sequence.type_signature
    inner = type_.member if isinstance(type_, FederatedType) else type_
    if not isinstance(inner, SequenceType):
        raise TypeMismatchError(
            f"{uri} works on a sequence",
            expected="a value of type T* or {T*}@CLIENTS",
            found=str(type_),
            where=str(sequence),
            do="a list in a body is a structure: make it a parameter of SequenceType(T)"
            if isinstance(inner, StructType)
            else BY_CLIENT
            if isinstance(type_, FederatedType)
            else "declare the parameter as SequenceType(T); check the argument order",
        )
    return inner.element
