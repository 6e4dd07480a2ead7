# SPDX-License-Identifier: Apache-2.0
"""Cases: `federated_value`, `_eval`, `_compute`, `_broadcast`."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.testing.case import CaseBook, Leaf, gives
from fedlearn_edu.types import CLIENTS, SERVER

MOVEMENT = CaseBook()

CLIENT_INTS = fl.type_at_clients(np.int32)
SERVER_INT = fl.type_at_server(np.int32)
PAIR = fl.to_type(OrderedDict(a=np.int32, b=np.float32))
PAIR_VALUE = OrderedDict(a=np.int32(1), b=np.float32(2.5))


@MOVEMENT.add(one=gives(7, [0]), many=gives(7, [0, 0, 0]), of=[CLIENT_INTS])
def value_at_clients_is_the_same_everywhere(_: Leaf, clients: Any) -> Any:
    """A constant at CLIENTS comes back as one value, not as a list."""
    return fl.federated_value(np.int32(7), CLIENTS)


@MOVEMENT.add(
    one=gives(7, [0]), many=gives(21, [0, 0, 0]), nobody=gives(0, []), of=[CLIENT_INTS]
)
def value_at_clients_is_at_each_of_them(_: Leaf, clients: Any) -> Any:
    """A constant at CLIENTS counts once per client in a sum."""
    return fl.federated_sum(fl.federated_value(np.int32(7), CLIENTS))


@MOVEMENT.add(gives(([2], 2), 2), of=[SERVER_INT])
def one_value_through_a_list_of_them(_: Leaf, x: Any) -> Any:
    """What is equal everywhere may be handed on as one entry for each participant."""
    entries = fl.FederatedType(np.int32, SERVER, all_equal=False)
    handed_on = fl.federated_computation(lambda x: x, entries)
    return handed_on(x), x


@MOVEMENT.add(gives(PAIR_VALUE), of=[])
def value_at_server_keeps_its_container(_: Leaf) -> Any:
    """A structure of constants keeps names, dtypes and container."""
    return fl.federated_value(OrderedDict(a=1, b=2.5), SERVER)


@MOVEMENT.add(gives([1.0, 2.0], [0, 0, 0]), of=[CLIENT_INTS])
def value_of_a_list_is_a_structure(_: Leaf, clients: Any) -> Any:
    """A list placed at CLIENTS is one structure at each, not one entry per client."""
    return fl.federated_value([1.0, 2.0], CLIENTS)


@MOVEMENT.add(gives([6, 6], 5, [0, 0]), of=[np.int32, CLIENT_INTS])
def value_of_an_argument(leaf: Leaf, x: Any, clients: Any) -> Any:
    """An unplaced value may be placed."""
    add_one = leaf(lambda x: x + np.int32(1), np.int32)
    return fl.federated_map(add_one, fl.federated_value(x, CLIENTS))


@MOVEMENT.add(
    nobody=gives([], []),
    one=gives([3], [0]),
    many=gives([3, 3], [0, 0]),
    of=[CLIENT_INTS],
)
def eval_at_clients_runs_at_each(leaf: Leaf, clients: Any) -> Any:
    """Evaluating at CLIENTS gives one result per client."""
    three = leaf(lambda: np.int32(3))
    return fl.federated_eval(three, CLIENTS)


@MOVEMENT.add(gives(PAIR_VALUE), of=[])
def eval_at_server_gives_one_value(leaf: Leaf) -> Any:
    """Evaluating at SERVER gives one structure."""
    pair = leaf(lambda: OrderedDict(a=np.int32(1), b=np.float32(2.5)))
    return fl.federated_eval(pair, SERVER)


@MOVEMENT.add(gives(([3, 3], 3), [0, 0]), of=[CLIENT_INTS])
def compute_is_eval_by_another_name(leaf: Leaf, clients: Any) -> Any:
    """`federated_compute` runs a computation at either placement."""
    three = leaf(lambda: np.int32(3))
    return fl.federated_compute(three, CLIENTS), fl.federated_compute(three, SERVER)


@MOVEMENT.add(
    one=gives(5, 5, [0]), many=gives(5, 5, [0, 0, 0]), of=[SERVER_INT, CLIENT_INTS]
)
def broadcast_is_the_same_everywhere(_: Leaf, x: Any, clients: Any) -> Any:
    """A broadcast value is all-equal."""
    return fl.federated_broadcast(x)


@MOVEMENT.add(
    nobody=gives(0, 5, []),
    one=gives(5, 5, [0]),
    many=gives(15, 5, [0] * 3),
    of=[SERVER_INT, CLIENT_INTS],
)
def broadcast_reaches_each_client(_: Leaf, x: Any, clients: Any) -> Any:
    """A broadcast value counts once per client in a sum."""
    return fl.federated_sum(fl.federated_broadcast(x))


@MOVEMENT.add(
    gives(PAIR_VALUE, 1, 2.5, [0, 0]),
    of=[SERVER_INT, fl.type_at_server(np.float32), CLIENT_INTS],
)
def broadcast_zips_a_structure_of_server_values(
    _: Leaf, a: Any, b: Any, clients: Any
) -> Any:
    """Several server values travel as one structure."""
    return fl.federated_broadcast(OrderedDict(a=a, b=b))


@MOVEMENT.add(
    gives([b"to all of you", b"to all of you"], "to all", [0, 0]),
    of=[fl.type_at_server(np.str_), CLIENT_INTS],
)
def broadcast_of_a_string(leaf: Leaf, text: Any, clients: Any) -> Any:
    """Text travels, too."""
    address = leaf(lambda text: text + b" of you", np.str_)
    return fl.federated_map(address, fl.federated_broadcast(text))


@MOVEMENT.add(
    many=gives(OrderedDict(a=3, b=7.5), PAIR_VALUE, [0, 0, 0]),
    nobody=gives(OrderedDict(a=0, b=0.0), PAIR_VALUE, []),
    of=[fl.type_at_server(PAIR), CLIENT_INTS],
)
def server_client_server(_: Leaf, model: Any, clients: Any) -> Any:
    """A structure goes down to the clients, and its sum comes back up."""
    return fl.federated_sum(fl.federated_broadcast(model))


@MOVEMENT.add(
    nobody=gives([], 7, []), many=gives([7, 7], 7, [0, 0]), of=[SERVER_INT, CLIENT_INTS]
)
def equal_value_where_any_is_wanted(_: Leaf, x: Any, clients: Any) -> Any:
    """A computation of `{int32}@CLIENTS` takes an all-equal value and forgets that."""
    same = fl.federated_computation(lambda v: v, CLIENT_INTS)
    return same(fl.federated_broadcast(x))


@MOVEMENT.add(
    gives(OrderedDict(a=[7, 7], b=[1, 2]), 7, [1, 2]),
    of=[fl.type_at_clients(np.int32, all_equal=True), CLIENT_INTS],
)
def equal_value_beside_another(_: Leaf, x: Any, v: Any) -> Any:
    """The same inside a structure of arguments."""
    same = fl.federated_computation(
        lambda a, b: OrderedDict(a=a, b=b), CLIENT_INTS, CLIENT_INTS
    )
    return same(x, v)


@MOVEMENT.add(gives((CLIENTS, 5), 5), of=[np.int32])
def placement_is_a_value(_: Leaf, x: Any) -> Any:
    """A placement literal is a value like others."""
    return CLIENTS, x


@MOVEMENT.add(
    nobody=gives([], 5, []), many=gives([6, 6], 5, [0, 0]), of=[np.int32, CLIENT_INTS]
)
def eval_of_a_function_that_captures(_: Leaf, k: Any, clients: Any) -> Any:
    """What is evaluated at the clients may take a value along."""
    fn = fl.federated_computation(lambda: k + 1)
    return fl.federated_eval(fn, CLIENTS)
