# SPDX-License-Identifier: Apache-2.0
"""Bytes on each edge of a recorded run are those one works out by hand."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.traffic import EDGES, bytes_by_edge, transfers
from tests.executors.rounds import (
    MODEL_BYTES,
    ONE_BYTES,
    UP_BYTES,
    clients,
    model,
    train,
)
from tests.programs import INT_AT_SERVER, INTS, add, increment

fw = fl.framework
np_copy = fl.np_computation(lambda db: db.copy(), fl.TensorType(np.float32, [1000]))


def traffic(program: Any, *arguments: Any, **options: Any) -> dict[str, int]:
    with fl.record(**options) as tape:
        program(*arguments)
    return {edge: size for edge, size in bytes_by_edge(tape.events).items() if size}


@pytest.mark.parametrize("fanout", [1000, 3], ids=["flat", "groups"])
@pytest.mark.parametrize("num_clients", [1, 10, 100])
def test_a_round_moves_a_model_down_and_a_model_and_a_weight_up(
    num_clients: int, fanout: int
) -> None:
    assert traffic(train, model(), clients(num_clients, 2), max_fanout=fanout) == {
        "server → clients": MODEL_BYTES * num_clients,
        "clients → server": UP_BYTES * num_clients,
        "outside → clients": ONE_BYTES * num_clients,
        "outside → server": MODEL_BYTES,
        "server → outside": MODEL_BYTES,
    }


def test_what_is_counted_is_what_a_sizing_stack_counts() -> None:
    factory = fw.sizing_executor_factory(support_sequence_ops=True)
    with fw.SyncExecutionContext(factory):
        train(model(), clients(3, 2))
    sizes = factory.get_size_info()
    found = traffic(train, model(), clients(3, 2))
    down = found["server → clients"] + found["outside → clients"]
    assert down == sizes.bytes_down
    assert found["clients → server"] == sizes.bytes_up


def test_arguments_of_clients_come_from_outside_and_results_go_there() -> None:
    program = fl.federated_computation(lambda v: fl.federated_map(increment, v), INTS)
    assert traffic(program, [1, 2, 3]) == {
        "outside → clients": 12,
        "clients → outside": 12,
    }


def test_captured_values_come_with_the_program() -> None:
    def body(k: Any, v: Any) -> Any:
        plus_k = fl.federated_computation(lambda x: add(x, k), np.int32)
        return fl.federated_sum(fl.federated_map(plus_k, v))

    program = fl.federated_computation(body, np.int32, INTS)
    assert traffic(program, 10, [1, 2]) == {
        "outside → clients": 2 * 4 + 2 * 4,
        "clients → server": 8,
        "server → outside": 4,
    }


@pytest.mark.tensorflow
@pytest.mark.parametrize("fanout", [100, 2], ids=["flat", "groups"])
@pytest.mark.parametrize("fuse", [False, True], ids=["steps", "fused"])
def test_clients_that_go_together_move_what_they_move_alone(
    fuse: bool, fanout: int
) -> None:
    times = fl.tf_computation(lambda a, b: a * b, np.int32, np.int32)

    def body(k: Any, v: Any) -> Any:
        times_k = fl.federated_computation(lambda x: times(x, k), np.int32)
        made = fl.federated_map(times_k, v)
        return made, fl.federated_sum(made)

    program = fl.federated_computation(body, np.int32, INTS)
    found = traffic(program, 10, [1, 2, 3, 4], fuse=fuse, max_fanout=fanout)
    assert found == {
        "outside → clients": 4 * 4 + 4 * 4,
        "clients → server": 4 * 4,
        "clients → outside": 4 * 4,
        "server → outside": 4,
    }


def test_keys_go_up_and_slices_come_down() -> None:
    keys = fl.type_at_clients(fl.TensorType(np.int32, [2]))
    program = fl.federated_computation(
        lambda k, s: fl.federated_select(
            k, fl.federated_value(np.int32(3), fl.SERVER), s, add
        ),
        keys,
        INT_AT_SERVER,
    )
    found = traffic(program, [np.array([0, 1], np.int32)] * 3, 5)
    assert found["clients → server"] == 3 * 2 * 4
    assert found["server → clients"] == 3 * 2 * 4


@pytest.mark.parametrize("fuse", [False, True], ids=["steps", "fused"])
@pytest.mark.parametrize("fanout", [100, 2], ids=["flat", "groups"])
@pytest.mark.parametrize("num_clients", [1, 3, 9])
def test_only_slices_go_to_clients_not_what_they_are_cut_from(
    num_clients: int, fanout: int, fuse: bool
) -> None:
    table, two_keys = fl.TensorType(np.float32, [1000]), fl.TensorType(np.int32, [2])
    row = fl.np_computation(lambda db, k: np.float32(db[k]), table, np.int32)
    program = fl.federated_computation(
        lambda k, n, db: fl.federated_select(
            k, n, fl.federated_map(np_copy, db) if num_clients == 9 else db, row
        ),
        fl.type_at_clients(two_keys),
        INT_AT_SERVER,
        fl.type_at_server(table),
    )
    keys = [np.array([1, 2], np.int32)] * num_clients
    options = {"max_fanout": fanout, "fuse": fuse}
    found = traffic(program, keys, 1000, np.ones(1000, np.float32), **options)
    assert found["clients → server"] == num_clients * 2 * 4
    assert found["server → clients"] == num_clients * 2 * 4


def test_each_transfer_says_who_and_when() -> None:
    with fl.record() as tape:
        train(model(), clients(2, 1))
    down = [t for t in transfers(tape.events) if t.edge == "server → clients"]
    assert [t.participant for t in down].count("clients[1]") == 1
    assert sum(t.size for t in down) == 2 * MODEL_BYTES
    for transfer in down:
        assert tape.events[transfer.number].participant == transfer.participant


def test_nothing_moves_on_an_empty_tape() -> None:
    assert bytes_by_edge(()) == dict.fromkeys(EDGES, 0)
