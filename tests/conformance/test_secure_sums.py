# SPDX-License-Identifier: Apache-2.0
"""Secure sums: what leaves a client looks random, what the server learns is exact."""

from collections import OrderedDict
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu.errors import InputRangeError
from fedlearn_edu.framework import ReferenceContext
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing import Case, assert_same, run_in
from tests.conformance.by_hand import Watched, context_over, flat, participant
from tests.conformance.stacks import STACKS
from tests.programs import local

VALUES = fl.type_at_clients(np.int64)
LIMIT = 1000

SECURE = {
    "sum": fl.federated_computation(
        lambda v: fl.federated_secure_sum(v, LIMIT), VALUES
    ),
    "bitwidth": fl.federated_computation(
        lambda v: fl.federated_secure_sum_bitwidth(v, 10), VALUES
    ),
    "modular": fl.federated_computation(
        lambda v: fl.federated_secure_modular_sum(v, 10**6), VALUES
    ),
}
PLAIN = fl.federated_computation(fl.federated_sum, VALUES)


def _watched(computation: Any, values: list[Any]) -> tuple[Any, list[list[Any]]]:
    """The result, and what left each client on the way to it."""
    sent: list[list[Any]] = [[] for _ in values]
    clients = [Watched(participant(), own) for own in sent]
    with context_over(flat(clients)):
        return computation(values), sent


@pytest.mark.parametrize("name", SECURE)
@given(values=st.lists(st.integers(0, LIMIT), min_size=2, max_size=7))
def test_sum_is_exact_and_nobody_sends_its_value(name: str, values: list[int]) -> None:
    total, sent = _watched(SECURE[name], values)
    assert_same(total, sum(values))
    for value, (masked,) in zip(values, sent, strict=True):
        assert masked != value


def test_plain_sum_sends_the_values_themselves() -> None:
    """What the other tests look at is really what the server sees."""
    total, sent = _watched(PLAIN, [1, 2, 3])
    assert_same((total, sent), (6, [[1], [2], [3]]))


def test_single_client_has_nobody_to_hide_behind() -> None:
    _, sent = _watched(SECURE["sum"], [7])
    assert_same(sent, [[7]])


@pytest.mark.parametrize("name", SECURE)
def test_equal_values_do_not_look_equal(name: str) -> None:
    _, sent = _watched(SECURE[name], [5] * 6)
    assert len({int(masked) for (masked,) in sent}) == 6


@pytest.mark.parametrize("name", SECURE)
def test_same_value_looks_different_in_every_round(name: str) -> None:
    rounds = [_watched(SECURE[name], [5, 6, 7])[1] for _ in range(3)]
    for client in range(3):
        assert len({int(sent[client][0]) for sent in rounds}) == 3


@given(st.lists(st.integers(0, 100), min_size=2, max_size=6))
def test_every_leaf_of_a_structure_is_masked(values: list[int]) -> None:
    member = OrderedDict(n=np.int64, bins=fl.TensorType(np.int64, [2]))
    secure = fl.federated_computation(
        lambda v: fl.federated_secure_sum(v, 100), fl.type_at_clients(member)
    )
    inputs = [OrderedDict(n=v, bins=np.array([v, 100 - v])) for v in values]
    total, sent = _watched(secure, inputs)
    whole = sum(values)
    bins = np.array([whole, 100 * len(values) - whole])
    assert_same(total, OrderedDict(n=whole, bins=bins))
    for value, (masked,) in zip(values, sent, strict=True):
        assert masked.n != value
        assert all(masked.bins != [value, 100 - value])


@given(st.lists(st.integers(-(2**20), 2**20), max_size=6), st.integers(1, 999))
def test_modular_sum_is_the_remainder(values: list[int], modulus: int) -> None:
    secure = fl.federated_computation(
        lambda v: fl.federated_secure_modular_sum(v, modulus), VALUES
    )
    with local(max_fanout=3):
        assert_same(secure(values), sum(values) % modulus)


@pytest.mark.parametrize(
    "runtime", ["numpy", pytest.param("tensorflow", marks=pytest.mark.tensorflow)]
)
@pytest.mark.parametrize("values", [[], [1, 2]], ids=["nobody", "two"])
def test_parameter_that_is_known_only_now_is_checked_everywhere(
    runtime: str, values: list[int]
) -> None:
    senseless = {"federated_secure_sum": -1, "federated_secure_modular_sum": 0}
    stacks = [stack.context for stack in STACKS if stack.runtime == runtime]
    for (name, parameter), context in product(
        senseless.items(), [ReferenceContext(), *stacks]
    ):
        secure = fl.federated_computation(getattr(fl, name), VALUES, np.int64)
        case = Case(name, partial(_the, secure), (values, parameter))
        with pytest.raises(InputRangeError, match="of a secure sum is"):
            run_in(context, case)


def _the(computation: Computation) -> Computation:
    return computation


@pytest.mark.parametrize("value", [-1, LIMIT + 1])
def test_value_outside_its_promise_stops_the_sum(value: int) -> None:
    with pytest.raises(InputRangeError, match="outside the range it promised"):
        _watched(SECURE["sum"], [1, value, 3])
