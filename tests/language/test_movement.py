# SPDX-License-Identifier: Apache-2.0
"""Values that come to a placement, whole or by key: types and misuse."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError
from tests.ids import plain
from tests.programs import (
    FLOAT,
    INT,
    INT_AT_SERVER,
    INTS,
    add,
    increment,
    seven,
    signature,
)


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


@pytest.mark.parametrize("value", [increment, [increment, 1]], ids=["one", "inside"])
def test_a_function_is_not_placed(value: Any) -> None:
    with pytest.raises(TypeMismatchError, match="plain values only"):
        fl.federated_computation(lambda: fl.federated_value(value, fl.SERVER))


def test_a_federated_value_is_not_placed_again() -> None:
    for wrap, where in ((lambda v: v, "v"), (lambda v: [v, 1], "<v,1>")):
        with pytest.raises(TypeMismatchError, match="plain values only") as caught:
            fl.federated_computation(
                lambda v, wrap=wrap: fl.federated_value(wrap(v), fl.CLIENTS),
                INT_AT_SERVER,
            )
        assert "federated_broadcast" in str(caught.value.do)
        assert caught.value.where == where


@pytest.mark.parametrize(
    "placement", ["clients", None, 5, fl.type_at_server], ids=plain
)
@pytest.mark.parametrize("intrinsic", [fl.federated_value, fl.federated_eval])
def test_only_a_placement_is_a_placement(placement: Any, intrinsic: Any) -> None:
    with pytest.raises(TypeMismatchError, match="not a placement"):
        fl.federated_computation(lambda: intrinsic(seven, placement))


@pytest.mark.parametrize("intrinsic", [fl.federated_eval, fl.federated_compute])
def test_evaluating_is_not_all_equal_at_clients(intrinsic: Any) -> None:
    assert signature(lambda: intrinsic(seven, fl.CLIENTS)) == "( -> {int32}@CLIENTS)"
    assert signature(lambda: intrinsic(seven, fl.SERVER)) == "( -> int32@SERVER)"


@pytest.mark.parametrize(
    "wrong", [increment, 1, lambda: 1], ids=["parameter", "1", "def"]
)
def test_what_is_evaluated_is_a_computation_without_parameter(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"computation|federated_eval"):
        fl.federated_computation(lambda: fl.federated_eval(wrong, fl.CLIENTS))


def test_what_is_evaluated_has_no_placement_itself() -> None:
    placed = fl.federated_computation(lambda: fl.federated_value(1, fl.SERVER))
    with pytest.raises(TypeMismatchError, match="inside a federated type"):
        fl.federated_computation(lambda: fl.federated_eval(placed, fl.CLIENTS))


def test_a_broadcast_value_is_equal_everywhere() -> None:
    assert signature(lambda v: fl.federated_broadcast(v), INT_AT_SERVER) == (
        "(int32@SERVER -> int32@CLIENTS)"
    )


def test_a_broadcast_needs_one_server_value() -> None:
    not_equal = fl.FederatedType(INT, fl.SERVER, all_equal=False)
    with pytest.raises(TypeMismatchError, match="equal everywhere"):
        fl.federated_computation(lambda v: fl.federated_broadcast(v), not_equal)


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


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"keys": fl.type_at_clients(fl.TensorType(np.int64, [2]))}, "client_keys"),
        ({"keys": fl.type_at_clients(fl.TensorType(np.int32, [None]))}, "client_keys"),
        ({"keys": fl.type_at_clients(fl.TensorType(np.int32, [2, 2]))}, "client_keys"),
        ({"keys": INTS}, "client_keys"),
        ({"keys": fl.TensorType(np.int32, [2])}, "federated_select"),
        ({"limit": fl.type_at_server(FLOAT)}, "max_key"),
        ({"limit": INTS}, "federated_select"),
        ({"limit": INT}, "federated_select"),
        ({"fn": increment}, "select_fn"),
        ({"fn": add}, "select_fn"),
        ({"fn": 3}, "federated_select"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_argument_of_the_wrong_type_is_named(changed: Any, names: str) -> None:
    with pytest.raises(TypeMismatchError, match=names):
        select(**changed)
