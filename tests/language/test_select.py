# SPDX-License-Identifier: Apache-2.0
"""`federated_select`: types and misuse."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError
from tests.programs import FLOAT, INT, INT_AT_SERVER, INTS, add, increment

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
