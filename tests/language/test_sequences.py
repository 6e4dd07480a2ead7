# SPDX-License-Identifier: Apache-2.0
"""Sequence intrinsics: types and misuse; results are in the conformance suite."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import SumIncompatibleError, TypeMismatchError
from tests.programs import (
    FLOAT,
    INT,
    INT_AT_SERVER,
    NUMBERS,
    NUMBERS_AT_CLIENTS,
    add,
    increment,
    signature,
)

NUMBERS_AT_SERVER = fl.type_at_server(NUMBERS)
HALF = fl.np_computation(lambda x: x / np.float32(2), np.float32)


@pytest.mark.parametrize(
    ("use", "type_", "result"),
    [
        (lambda s: fl.sequence_map(increment, s), NUMBERS, "int32*"),
        (
            lambda s: fl.sequence_map(increment, s),
            NUMBERS_AT_CLIENTS,
            "{int32*}@CLIENTS",
        ),
        (lambda s: fl.sequence_map(increment, s), NUMBERS_AT_SERVER, "int32*@SERVER"),
        (lambda s: fl.sequence_reduce(s, 0, add), NUMBERS, "int32"),
        (
            lambda s: fl.sequence_reduce(s, 0, add),
            NUMBERS_AT_CLIENTS,
            "{int32}@CLIENTS",
        ),
        (
            lambda s: fl.sequence_reduce(s, fl.federated_value(0, fl.CLIENTS), add),
            NUMBERS_AT_CLIENTS,
            "{int32}@CLIENTS",
        ),
        (lambda s: fl.sequence_sum(s), NUMBERS, "int32"),
        (lambda s: fl.sequence_sum(s), NUMBERS_AT_CLIENTS, "{int32}@CLIENTS"),
    ],
)
def test_a_sequence_intrinsic_works_where_the_sequence_is(
    use: Callable[[Any], Any], type_: Any, result: str
) -> None:
    """differs: there, a federated reduction wanted a federated zero."""
    assert signature(use, type_) == f"({type_} -> {result})"


@pytest.mark.parametrize(
    "use",
    [
        lambda v: fl.sequence_map(increment, v),
        lambda v: fl.sequence_reduce(v, 0, add),
        lambda v: fl.sequence_sum(v),
    ],
    ids=["map", "reduce", "sum"],
)
@pytest.mark.parametrize(
    "type_",
    [INT, [INT, INT], fl.TensorType(np.int32, [3]), fl.type_at_clients(INT)],
    ids=str,
)
def test_what_is_no_sequence_is_refused(use: Callable[[Any], Any], type_: Any) -> None:
    with pytest.raises(TypeMismatchError, match="sequence"):
        fl.federated_computation(use, type_)


def test_a_list_of_constants_is_a_structure_and_no_sequence() -> None:
    with pytest.raises(TypeMismatchError, match="sequence"):
        fl.federated_computation(lambda: fl.sequence_sum([1, 2]))


@pytest.mark.parametrize(
    "use",
    [
        lambda s: fl.sequence_map(s, increment),
        lambda s: fl.sequence_map(HALF, s),
        lambda s: fl.sequence_map(add, s),
        lambda s: fl.sequence_map(3, s),
        lambda s: fl.sequence_reduce(s, 0, increment),
        lambda s: fl.sequence_reduce(s, 0.5, add),
        lambda s: fl.sequence_reduce(s, 0, fl.np_computation(lambda a, x: x * 1.0)),
        lambda s: fl.sequence_reduce(add, 0, s),
    ],
    ids=[
        "swapped",
        "dtype",
        "pair",
        "no function",
        "no pair",
        "zero",
        "result",
        "swapped reduce",
    ],
)
@pytest.mark.parametrize("type_", [NUMBERS, NUMBERS_AT_CLIENTS], ids=str)
def test_a_function_that_does_not_fit_is_refused(
    use: Callable[[Any], Any], type_: Any
) -> None:
    with pytest.raises(TypeMismatchError, match=r"sequence|zero"):
        fl.federated_computation(use, type_)


def test_a_bare_function_is_refused() -> None:
    with pytest.raises(TypeError, match="computation"):
        fl.federated_computation(lambda s: fl.sequence_map(lambda x: x, s), NUMBERS)


def test_a_polymorphic_function_takes_its_type_from_the_elements() -> None:
    """differs: there, sequence intrinsics refused polymorphic functions."""
    double = fl.np_computation(lambda x: x + x)
    plus = fl.np_computation(lambda a, x: a + x)
    made = fl.federated_computation(
        lambda s: fl.sequence_reduce(fl.sequence_map(double, s), 0, plus), NUMBERS
    )
    assert made([1, 2]) == 6


@pytest.mark.parametrize(
    "element", [np.bool_, np.str_, (np.int32, [None]), [np.int32, np.bool_]], ids=str
)
@pytest.mark.parametrize("place", [lambda t: t, fl.type_at_clients])
def test_what_cannot_be_added_is_refused(element: Any, place: Any) -> None:
    with pytest.raises(SumIncompatibleError, match="added up"):
        fl.federated_computation(
            lambda s: fl.sequence_sum(s), place(fl.SequenceType(element))
        )


def test_a_zero_at_another_placement_is_refused() -> None:
    with pytest.raises(TypeMismatchError, match="placement"):
        fl.federated_computation(
            lambda s, z: fl.sequence_reduce(s, z, add),
            NUMBERS_AT_CLIENTS,
            INT_AT_SERVER,
        )


def test_zero_may_be_a_structure_of_constants() -> None:
    state = OrderedDict(t=np.int32, n=np.int32)
    count = fl.np_computation(
        lambda s, x: OrderedDict(t=s["t"] + x, n=s["n"] + np.int32(1)), state, np.int32
    )
    made = fl.federated_computation(
        lambda s: fl.sequence_reduce(s, OrderedDict(t=0, n=0), count), NUMBERS
    )
    assert made([1, 2, 3]) == OrderedDict(t=6, n=3)


def test_a_mapped_sequence_may_change_its_element_type() -> None:
    assert signature(lambda s: fl.sequence_map(HALF, s), fl.SequenceType(FLOAT)) == (
        "(float32* -> float32*)"
    )
