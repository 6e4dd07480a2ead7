# SPDX-License-Identifier: Apache-2.0
"""Sequence intrinsics: types and misuse; results are in the conformance suite."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from tests.programs import FLOAT, NUMBERS, NUMBERS_AT_CLIENTS, add, increment, signature

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


def test_a_polymorphic_function_takes_its_type_from_the_elements() -> None:
    """differs: there, sequence intrinsics refused polymorphic functions."""
    double = fl.np_computation(lambda x: x + x)
    plus = fl.np_computation(lambda a, x: a + x)
    made = fl.federated_computation(
        lambda s: fl.sequence_reduce(fl.sequence_map(double, s), 0, plus), NUMBERS
    )
    assert made([1, 2]) == 6


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
