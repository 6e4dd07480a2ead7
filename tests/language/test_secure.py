# SPDX-License-Identifier: Apache-2.0
"""Secure sums: what they take, what they refuse, and what a client sends."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import InputRangeError, TypeMismatchError
from tests.programs import FLOATS, INT_AT_SERVER, INTS

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


def test_only_integers_are_added(secure: Any) -> None:
    for type_ in (FLOATS, fl.type_at_clients([np.int32, np.float32])):
        with pytest.raises(TypeMismatchError, match="integers"):
            made(secure, 5, type_)


@pytest.mark.parametrize("parameter", [[1, 2], 1.5, OrderedDict(b=1, a=2)], ids=str)
def test_the_parameter_must_match_the_values(secure: Any, parameter: Any) -> None:
    with pytest.raises(TypeMismatchError, match="int"):
        made(secure, parameter, PAIRS)


def test_values_at_the_server_are_refused(secure: Any) -> None:
    with pytest.raises(TypeMismatchError, match="another placement"):
        made(secure, 5, INT_AT_SERVER)


@pytest.mark.parametrize(
    ("program", "limit"),
    [
        (made(fl.federated_secure_sum, 10), "0 to 10"),
        (made(fl.federated_secure_sum_bitwidth, 4), "0 to 15"),
    ],
)
def test_a_value_out_of_range_is_refused_when_it_runs(program: Any, limit: str) -> None:
    greatest = int(limit.split()[-1])
    assert program([greatest, 1]) == greatest + 1
    for wrong in (greatest + 1, -1):
        with pytest.raises(InputRangeError, match=limit):
            program([1, wrong])


@pytest.mark.parametrize(
    ("bits", "fits"), [(1, True), (62, True), (63, False), (0, False), (-1, False)]
)
def test_a_bitwidth_is_one_to_62(bits: int, fits: bool) -> None:
    if fits:
        assert made(fl.federated_secure_sum_bitwidth, bits)([1, 0]) == 1
    else:
        with pytest.raises(InputRangeError, match="1 to 62"):
            made(fl.federated_secure_sum_bitwidth, bits)


SENSELESS = [
    (fl.federated_secure_sum, -1, "limit"),
    (fl.federated_secure_modular_sum, 0, "modulus"),
    (fl.federated_secure_modular_sum, -3, "modulus"),
    # A remainder has to fit into an int32.
    (fl.federated_secure_modular_sum, 2**40, "modulus"),
]


@pytest.mark.parametrize(("secure", "parameter", "what"), SENSELESS)
def test_a_senseless_constant_is_refused_before_anything_runs(
    secure: Any, parameter: int, what: str
) -> None:
    parts = OrderedDict(a=parameter, b=1)
    message = f"the {what} of a secure sum"
    with pytest.raises(InputRangeError, match=message):
        made(secure, parameter)
    with pytest.raises(InputRangeError, match=message):
        made(secure, parts, PAIRS)
    with pytest.raises(InputRangeError, match=message):
        secure(fl.place([1, 2], fl.CLIENTS), np.int64(parameter))


def test_one_modulus_has_to_fit_into_the_narrowest_value() -> None:
    secure = fl.federated_secure_modular_sum
    assert made(secure, OrderedDict(a=5, b=2**40), PAIRS)([(4, 2**41 + 1)])["b"] == 1
    with pytest.raises(InputRangeError, match="1 to 2147483647"):
        made(secure, 2**40, PAIRS)


@pytest.mark.parametrize("bits", [True, 2.5, "8", None])
def test_bits_are_counted_in_integers(bits: Any) -> None:
    with pytest.raises(TypeMismatchError, match="for example 8"):
        made(fl.federated_secure_sum_bitwidth, bits)


def test_each_client_sends_one_masked_number_up() -> None:
    tape = fl.framework.Tape()
    with fl.framework.SyncExecutionContext(
        fl.framework.local_executor_factory(tape=tape)
    ):
        assert made(fl.federated_secure_sum, 10)([1, 2, 3]) == 6
    sent = [
        event.participant
        for event in tape
        if (event.layer, event.what, event.type) == ("participant", "compute", "int32")
        and event.participant.startswith("clients")
    ]
    assert sorted(sent) == ["clients[0]", "clients[1]", "clients[2]"]
