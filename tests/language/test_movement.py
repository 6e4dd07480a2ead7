# SPDX-License-Identifier: Apache-2.0
"""Values that come to a placement, whole or by key: types and misuse."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from tests.programs import INT, INT_AT_SERVER, seven, signature


@pytest.mark.parametrize(
    ("value", "placement", "result"),
    [
        (1, fl.SERVER, "int32@SERVER"),
        (1, fl.CLIENTS, "int32@CLIENTS"),
        (OrderedDict(a=1, b=2.5), fl.SERVER, "<a=int32,b=float32>@SERVER"),
        ((), fl.SERVER, "<>@SERVER"),
        # A list is a structure here, not one entry per client.
        ([1.0, 2.0], fl.CLIENTS, "<float32,float32>@CLIENTS"),
    ],
)
def test_a_placed_value_is_equal_everywhere(
    value: Any, placement: Any, result: str
) -> None:
    assert signature(lambda: fl.federated_value(value, placement)) == f"( -> {result})"


def test_a_traced_value_can_be_placed() -> None:
    assert signature(lambda x: fl.federated_value(x, fl.CLIENTS), INT) == (
        "(int32 -> int32@CLIENTS)"
    )


@pytest.mark.parametrize("intrinsic", [fl.federated_eval, fl.federated_compute])
def test_evaluating_is_not_all_equal_at_clients(intrinsic: Any) -> None:
    assert signature(lambda: intrinsic(seven, fl.CLIENTS)) == "( -> {int32}@CLIENTS)"
    assert signature(lambda: intrinsic(seven, fl.SERVER)) == "( -> int32@SERVER)"


def test_a_broadcast_value_is_equal_everywhere() -> None:
    assert signature(lambda v: fl.federated_broadcast(v), INT_AT_SERVER) == (
        "(int32@SERVER -> int32@CLIENTS)"
    )


# ---------------------------------------- federated_select


KEYS = fl.type_at_clients(fl.TensorType(np.int32, [2]))
TABLE = fl.TensorType(np.float32, [3])


@fl.np_computation(TABLE, np.int32)
def pick(table: Any, key: Any) -> Any:
    return table[key]


def select(keys: Any = KEYS, limit: Any = INT_AT_SERVER, fn: Any = pick) -> Any:
    return fl.federated_computation(
        lambda k, m, t: fl.federated_select(k, m, t, fn),
        keys,
        limit,
        fl.type_at_server(TABLE),
    )


def test_each_client_gets_a_sequence_of_slices() -> None:
    assert str(select().type_signature.result) == "{float32*}@CLIENTS"
    assert select()([[0, 2], [1, 1]], 3, [1, 2, 3]) == [[1, 3], [2, 2]]


@pytest.mark.parametrize(
    "fn",
    [
        fl.np_computation(lambda t, k: t[k]),
        fl.np_computation(lambda p: p[0][p[1]], [TABLE, INT]),
        fl.np_computation(lambda table, row: table[row], TABLE, INT),
    ],
    ids=["polymorphic", "unnamed pair", "other names"],
)
def test_the_function_may_take_a_pair_in_any_way(fn: Any) -> None:
    assert select(fn=fn)([[0, 2]], 3, [1, 2, 3]) == [[1, 3]]


def test_a_slice_may_be_a_structure() -> None:
    fn = fl.np_computation(lambda t, k: OrderedDict(key=k, value=t[k]), TABLE, INT)
    assert select(fn=fn)([[2, 0]], 3, [1, 2, 3]) == [
        [OrderedDict(key=2, value=3), OrderedDict(key=0, value=1)]
    ]
