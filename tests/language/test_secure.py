# SPDX-License-Identifier: Apache-2.0
"""Secure sums: what they take, what they refuse, and what a client sends."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from tests.programs import INTS, local

PAIRS = fl.type_at_clients(OrderedDict(a=np.int32, b=np.int64))
INTRINSICS = [
    fl.federated_secure_sum,
    fl.federated_secure_sum_bitwidth,
    fl.federated_secure_modular_sum,
]


@pytest.fixture(params=INTRINSICS, ids=lambda intrinsic: str(intrinsic.__name__))
def secure(request: pytest.FixtureRequest) -> Any:
    return request.param


def made(secure: Any, parameter: Any, type_: Any = INTS) -> Any:
    return fl.federated_computation(lambda v: secure(v, parameter), type_)


def test_the_sum_is_at_the_server(secure: Any) -> None:
    assert str(made(secure, 5).type_signature) == "({int32}@CLIENTS -> int32@SERVER)"
    assert str(made(secure, OrderedDict(a=5, b=6), PAIRS).type_signature.result) == (
        "<a=int32,b=int64>@SERVER"
    )


@pytest.mark.parametrize(
    ("secure", "parameter", "values", "total"),
    [
        (fl.federated_secure_sum, 10, [10, 1], 11),
        (fl.federated_secure_sum_bitwidth, 4, [15, 1], 16),
        (fl.federated_secure_sum_bitwidth, 1, [1, 0], 1),
        (fl.federated_secure_sum_bitwidth, 62, [1, 0], 1),
    ],
)
def test_the_greatest_parameters_and_values_are_taken(
    secure: Any, parameter: int, values: list[int], total: int
) -> None:
    assert made(secure, parameter)(values) == total


def test_a_modulus_may_be_as_wide_as_its_values() -> None:
    secure = fl.federated_secure_modular_sum
    assert made(secure, OrderedDict(a=5, b=2**40), PAIRS)([(4, 2**41 + 1)])["b"] == 1


def test_each_client_sends_one_masked_number_up() -> None:
    tape = fl.framework.Tape()
    with local(tape=tape):
        assert made(fl.federated_secure_sum, 10)([1, 2, 3]) == 6
    sent = [
        event.participant
        for event in tape
        if (event.layer, event.what, event.type) == ("participant", "compute", "int32")
        and event.participant.startswith("clients")
    ]
    assert sorted(sent) == ["clients[0]", "clients[1]", "clients[2]"]
