# SPDX-License-Identifier: Apache-2.0
"""Cases: sequences at every client, and the programs of the tutorials about them."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.case import ALL, CaseBook, Leaf, gives
from fedlearn_edu.testing.cases.sequences import count, read_all, total
from fedlearn_edu.types import CLIENTS

SEQUENCES_AT_CLIENTS = CaseBook()

INTS = fl.SequenceType(np.int32)
CLIENT_DATA = fl.type_at_clients(INTS)
SERVER_INT = fl.type_at_server(np.int32)
BATCH = fl.to_type(
    OrderedDict(x=fl.TensorType(np.float32, [None]), y=fl.TensorType(np.int32, [None]))
)


@SEQUENCES_AT_CLIENTS.add(
    needs_sequences=True,
    nobody=gives([], []),
    one=gives([[2]], [[1]]),
    many=gives([[2, 4], [], [6]], [[1, 2], [], [3]]),
    of=[CLIENT_DATA],
)
def client_data_mapped(leaf: Leaf, d: Any) -> Any:
    """Each client's sequence is mapped where it is."""
    double = leaf(lambda x: x + x, np.int32)
    return fl.sequence_map(double, d)


@SEQUENCES_AT_CLIENTS.add(
    needs_sequences=True,
    nobody=gives([], []),
    many=gives([3, 0, 3], [[1, 2], [], [3]]),
    of=[CLIENT_DATA],
)
def client_data_added_up(_: Leaf, v: Any) -> Any:
    """Each client adds up its own sequence."""
    return fl.sequence_sum(v)


@SEQUENCES_AT_CLIENTS.add(
    needs_sequences=True,
    nobody=gives([], []),
    many=gives([97, 100], [[1, 2], []]),
    of=[CLIENT_DATA],
)
def client_data_reduced_from_a_constant(leaf: Leaf, d: Any) -> Any:
    """The zero of a fold at the clients may be unplaced."""
    subtract = leaf(lambda s, x: s - x, np.int32, np.int32)
    return fl.sequence_reduce(d, np.int32(100), subtract)


@SEQUENCES_AT_CLIENTS.add(
    needs_sequences=True,
    nobody=gives([], [], 9),
    many=gives([6, 9], [[1, 2], []], 9),
    of=[CLIENT_DATA, SERVER_INT],
)
def client_data_reduced_from_a_broadcast(leaf: Leaf, d: Any, z: Any) -> Any:
    """The zero of a fold at the clients may come from the server."""
    subtract = leaf(lambda s, x: s - x, np.int32, np.int32)
    return fl.sequence_reduce(d, fl.federated_broadcast(z), subtract)


@SEQUENCES_AT_CLIENTS.add(
    gives([3, 0], [[1, 2], [1]]), needs_sequences=True, of=[CLIENT_DATA]
)
def client_data_reduced_from_a_placed_constant(leaf: Leaf, d: Any) -> Any:
    """The zero of a fold at the clients may be placed there."""
    add = leaf(lambda s, x: s + x, np.int32, np.int32)
    return fl.sequence_reduce(
        fl.sequence_map(add_one(leaf), d),
        fl.federated_value(np.int32(-2), CLIENTS),
        add,
    )


def add_one(leaf: Leaf) -> Computation:
    """`(int32 -> int32)`."""
    increment: Computation = leaf(lambda x: x + np.int32(1), np.int32)
    return increment


@SEQUENCES_AT_CLIENTS.add(
    nobody=gives([], []), many=gives([3, 12], [[1, 2], [3, 4, 5]]), of=[CLIENT_DATA]
)
def client_data_read_by_leaf_code(leaf: Leaf, d: Any) -> Any:
    """Mapping leaf code over whole sequences needs no sequence layer."""
    add_up = leaf(lambda s: read_all(s, np.int32(0)), INTS)
    return fl.federated_map(add_up, d)


@SEQUENCES_AT_CLIENTS.add(
    nobody_has_any=gives([0, 0], [[], []]),
    somebody_has_none=gives([3, 0], [[1, 2, 3], []]),
    of=[CLIENT_DATA],
)
def client_data_counted(leaf: Leaf, d: Any) -> Any:
    """Leaf code is told how many elements each client has, be it none."""
    number = leaf(count, INTS)
    return fl.federated_map(number, d)


@SEQUENCES_AT_CLIENTS.add(gives(6.0, [[1, 2, 3], []]))
def client_data_averaged_by_their_number(leaf: Leaf) -> Computation:
    """A client without data weighs nothing."""
    floats = fl.SequenceType(np.float32)
    add_up, number = (
        leaf(lambda s: read_all(s, np.float32(0)), floats),
        leaf(count, floats),
    )
    return fl.federated_computation(
        lambda d: fl.federated_mean(
            fl.federated_map(add_up, d), fl.federated_map(number, d)
        ),
        fl.type_at_clients(floats),
    )


@SEQUENCES_AT_CLIENTS.add(
    gives([6, 24, 0, 2, 4, 6], [[1, 2], [3, 4, 5], [], [1], [2], [3]]),
    needs_sequences=True,
    runtimes=ALL,
    of=[CLIENT_DATA],
)
def client_data_mapped_then_read_by_leaf_code(leaf: Leaf, d: Any) -> Any:
    """Many clients read mapped sequences side by side, and none waits for another."""
    double = leaf(lambda x: x + x, np.int32)
    add_up = leaf(lambda s: read_all(s, np.int32(0)), INTS)
    return fl.federated_map(add_up, fl.sequence_map(double, d))


@SEQUENCES_AT_CLIENTS.add(
    needs_sequences=True,
    nobody=gives(0, []),
    many=gives(10, [4, 1, 5]),
    of=[fl.type_at_clients(np.int32)],
)
def collected_values_added_up(_: Leaf, v: Any) -> Any:
    """What the clients send is a sequence at the server."""
    return fl.sequence_sum(fl.federated_collect(v))


@SEQUENCES_AT_CLIENTS.add(
    gives([[2, 4], [6]], [[1, 2], [3]]), needs_sequences=True, of=[CLIENT_DATA]
)
def client_data_mapped_inside_a_map(leaf: Leaf, d: Any) -> Any:
    """A sequence operator may sit inside the function of a `federated_map`."""
    double = leaf(lambda x: x + x, np.int32)
    per_client = fl.federated_computation(lambda s: fl.sequence_map(double, s), INTS)
    return fl.federated_map(per_client, d)


@SEQUENCES_AT_CLIENTS.add(
    gives([(3, 2), (3, 1)], [[1, 2], [3]]),
    needs_sequences=True,
    runtimes=ALL,
    of=[CLIENT_DATA],
)
def client_data_with_a_count(leaf: Leaf, d: Any) -> Any:
    """A client may fold its data several times in one function."""
    one = leaf(lambda x: x - x + np.int32(1), np.int32)
    add = leaf(lambda a, b: a + b, np.int32, np.int32)

    def per_client(s: Any) -> Any:
        total = fl.sequence_reduce(s, np.int32(0), add)
        return total, fl.sequence_sum(fl.sequence_map(one, s))

    fn = fl.federated_computation(per_client, INTS)
    return fl.federated_map(fn, d)


@SEQUENCES_AT_CLIENTS.add(
    many=gives([60, 40], [[2, 0, 1], [1, 0, 0]], 3, [10, 20, 30]),
    nobody=gives([], [], 3, [10, 20, 30]),
    needs_sequences=True,
)
def selected_slices_added_up(leaf: Leaf) -> Computation:
    """What a client selects is a sequence, read in the order of its keys."""
    vector = fl.TensorType(np.int32, [3])
    entry = leaf(lambda table, key: table[key], vector, np.int32)
    return fl.federated_computation(
        lambda keys, top, table: fl.sequence_sum(
            fl.federated_select(keys, top, table, entry)
        ),
        fl.type_at_clients(vector),
        SERVER_INT,
        fl.type_at_server(vector),
    )


@SEQUENCES_AT_CLIENTS.add(
    one=gives(0.75, 1.0, 0.25, [[([1.0], [0]), ([0.5, 0.5], [1, 1]), ([], [])]]),
    many=gives(
        5.5 / 3,
        1.0,
        0.5,
        [[([1.0], [0]), ([2.0], [1])], [([3.0], [2])], [([3.0, 0.0], [0, 0])]],
    ),
    needs_sequences=True,
    runtimes=ALL,
)
def federated_averaging(leaf: Leaf) -> Computation:
    """The tutorial's shape: broadcast, train on each batch in order, average.

    The function of one batch captures the learning rate.
    """
    goal = leaf(lambda batch: total(batch["x"]), BATCH)
    move = leaf(
        lambda model, to, rate: model + rate * (to - model),
        np.float32,
        np.float32,
        np.float32,
    )

    @fl.federated_computation(np.float32, np.float32, fl.SequenceType(BATCH))
    def local_train(model: Any, rate: Any, data: Any) -> Any:
        step = fl.federated_computation(
            lambda m, batch: move(m, goal(batch), rate), np.float32, BATCH
        )
        return fl.sequence_reduce(data, model, step)

    server_float = fl.type_at_server(np.float32)

    @fl.federated_computation(
        server_float, server_float, fl.type_at_clients(fl.SequenceType(BATCH))
    )
    def next_round(model: Any, rate: Any, data: Any) -> Any:
        arguments = (fl.federated_broadcast(model), fl.federated_broadcast(rate), data)
        return fl.federated_mean(fl.federated_map(local_train, arguments))

    computation: Computation = next_round
    return computation


@SEQUENCES_AT_CLIENTS.add(
    nobody=gives(([], []), [1, 2], []),
    many=gives(([3, 3], [5, 5]), [1, 2], [0, 0]),
    needs_sequences=True,
    of=[fl.type_at_server(INTS), fl.type_at_clients(np.int32)],
)
def sequence_sent_to_the_clients(leaf: Leaf, s: Any, clients: Any) -> Any:
    """A sequence at the server, or a mapped one, can be broadcast."""
    fn = add_one(leaf)

    same = fl.federated_computation(lambda x: x, np.int32)
    mapped = fl.federated_broadcast(fl.sequence_map(fn, s))
    both = fl.sequence_sum(fl.federated_broadcast(s)), fl.sequence_sum(mapped)
    return tuple(fl.federated_map(same, v) for v in both)


@SEQUENCES_AT_CLIENTS.add(
    gives([8, 9], [1, 2], [0, 1]),
    needs_sequences=True,
    of=[INTS, fl.type_at_clients(np.int32)],
)
def sequence_captured_by_a_mapped_function(leaf: Leaf, s: Any, v: Any) -> Any:
    """A sequence, or a mapped one, travels with the function that captures it."""
    mapped = fl.sequence_map(add_one(leaf), s)

    def per_client(x: Any) -> Any:
        return x + fl.sequence_sum(s) + fl.sequence_sum(mapped)

    return fl.federated_map(fl.federated_computation(per_client, np.int32), v)
