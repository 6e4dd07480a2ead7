# SPDX-License-Identifier: Apache-2.0
"""`federated_map`, `federated_apply`, `federated_zip`: types and misuse."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError
from tests.programs import FLOATS, INT, INT_AT_SERVER, INTS, increment, signature

EQUAL = fl.type_at_clients(INT, all_equal=True)


@pytest.mark.parametrize(
    ("type_", "result"),
    [
        (INTS, "{int32}@CLIENTS"),
        (EQUAL, "{int32}@CLIENTS"),
        (INT_AT_SERVER, "int32@SERVER"),
    ],
    ids=str,
)
def test_a_map_stays_where_it_is_and_forgets_all_equal(type_: Any, result: str) -> None:
    found = fl.federated_computation(lambda v: fl.federated_map(increment, v), type_)
    assert str(found.type_signature.result) == result


def test_a_member_may_be_more_special_than_the_parameter() -> None:
    total = fl.np_computation(lambda x: x.sum(), fl.TensorType(np.int32, [None]))
    vectors = fl.type_at_clients(fl.TensorType(np.int32, [3]))
    made = fl.federated_computation(lambda v: fl.federated_map(total, v), vectors)
    assert made([[1, 2, 3]]) == [6]


def test_apply_is_for_the_server() -> None:
    assert signature(lambda v: fl.federated_apply(increment, v), INT_AT_SERVER) == (
        "(int32@SERVER -> int32@SERVER)"
    )
    with pytest.raises(TypeMismatchError, match="another placement"):
        fl.federated_computation(lambda v: fl.federated_apply(increment, v), INTS)


# ------------------------------------------------------------------ zip


@pytest.mark.parametrize(
    ("arrange", "result"),
    [
        (lambda v, w: [v, w], "{<int32,float32>}@CLIENTS"),
        (lambda v, w: OrderedDict(a=v, b=[w]), "{<a=int32,b=<float32>>}@CLIENTS"),
        (lambda v, w: [v], "{<int32>}@CLIENTS"),
        (lambda v, w: [v, []], "{<int32,<>>}@CLIENTS"),
        (lambda v, w: [[[v]], [w, v]], "{<<<int32>>,<float32,int32>>}@CLIENTS"),
    ],
)
def test_a_zip_takes_placements_out_of_a_structure(
    arrange: Callable[[Any, Any], Any], result: str
) -> None:
    made = fl.federated_computation(
        lambda v, w: fl.federated_zip(arrange(v, w)), INTS, FLOATS
    )
    assert str(made.type_signature.result) == result


def test_a_zip_keeps_containers() -> None:
    made = fl.federated_computation(
        lambda v: fl.federated_zip(OrderedDict(a=v, b=(v,))), INTS
    )
    assert made([1]) == [OrderedDict(a=1, b=(1,))]


def test_a_zip_at_clients_is_not_all_equal_and_one_at_the_server_is() -> None:
    assert signature(lambda v: fl.federated_zip([v, v]), EQUAL) == (
        "(int32@CLIENTS -> {<int32,int32>}@CLIENTS)"
    )
    assert signature(lambda v: fl.federated_zip([v, v]), INT_AT_SERVER) == (
        "(int32@SERVER -> <int32,int32>@SERVER)"
    )
