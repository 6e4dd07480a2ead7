# SPDX-License-Identifier: Apache-2.0
"""Bytes on each edge and of each type are those one works out by hand."""

from collections import Counter, OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.traffic import (
    EDGES,
    SizeInfo,
    bytes_by_edge,
    size_bytes,
    transfers,
)
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.sequences import LazySequence
from tests.executors.rounds import (
    MODEL_BYTES,
    ONE_BYTES,
    UP_BYTES,
    clients,
    model,
    train,
)
from tests.programs import (
    FLOATS,
    INT,
    INT_AT_SERVER,
    INTS,
    NUMBERS_AT_CLIENTS,
    add,
    increment,
    local,
)

fw = fl.framework
np_copy = fl.np_computation(lambda db: db.copy(), fl.TensorType(np.float32, [1000]))


def traffic(program: Any, *arguments: Any, **options: Any) -> dict[str, int]:
    with fl.record(**options) as tape:
        program(*arguments)
    return {edge: size for edge, size in bytes_by_edge(tape.events).items() if size}


@pytest.mark.parametrize("fanout", [1000, 3], ids=["flat", "groups"])
@pytest.mark.parametrize("num_clients", [1, 10])
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


# Each client selects two numbers.
SELECTED = fl.federated_computation(
    lambda k, s: fl.federated_select(
        k, fl.federated_value(np.int32(3), fl.SERVER), s, add
    ),
    fl.type_at_clients(fl.TensorType(np.int32, [2])),
    INT_AT_SERVER,
)
ROUND = (train, model(), clients(2, 2))
SLICES: tuple[Any, ...] = (SELECTED, [np.array([0, 1], np.int32)] * 2, 5)
MASKED = fl.federated_computation(lambda v: fl.federated_secure_sum(v, 9), INTS)


@pytest.mark.parametrize("fanout", [100, 2], ids=["flat", "groups"])
@pytest.mark.parametrize("call", [ROUND, SLICES, (MASKED, [1, 2, 3])])
def test_what_is_counted_is_what_a_sizing_stack_counts(call: Any, fanout: int) -> None:
    sizes = measured(*call, support_sequence_ops=True, max_fanout=fanout)
    found = Counter(traffic(*call, max_fanout=fanout))
    down = found["server → clients"] + found["outside → clients"]
    assert (down, found["clients → server"]) == (sizes.bytes_down, sizes.bytes_up)


def test_bytes_are_on_every_tape_and_measured_for_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tape, (program, *arguments) = fw.Tape(), SLICES
    with local(tape=tape):
        program(*arguments)
    found = {edge: size for edge, size in bytes_by_edge(tape).items() if size}
    assert found == traffic(*SLICES)
    monkeypatch.delattr("fedlearn_edu.executors.traffic._sizes")
    with local():
        program(*arguments)


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


@pytest.mark.parametrize("fanout", [100, 2], ids=["flat", "groups"])
@pytest.mark.parametrize(("call", "size"), [(ROUND, MODEL_BYTES), (SLICES, 2 * 4)])
def test_each_transfer_says_who_and_when(call: Any, size: int, fanout: int) -> None:
    program, *arguments = call
    with fl.record(max_fanout=fanout) as tape:
        program(*arguments)
    down = [t for t in transfers(tape) if t.edge == "server → clients"]
    who = [f"clients[{i}]" for i in range(2)]
    assert [(t.participant, t.size) for t in down] == [(one, size) for one in who]
    assert [tape.events[transfer.number].participant for transfer in down] == who


def test_nothing_moves_on_an_empty_tape() -> None:
    assert bytes_by_edge(()) == dict.fromkeys(EDGES, 0)


# ----------------------------------------
# Bytes that cross to and from the clients, by direction and type


VECTORS = fl.type_at_clients(fl.TensorType(np.float32, [10]))


@pytest.mark.parametrize(
    ("plain", "size"),
    [
        (np.int32(1), 4),
        (np.bool_(True), 1),
        (np.zeros([10], np.float32), 40),
        (np.zeros([2, 3], np.int64), 48),
        (b"text", 4),
        (np.array([b"a", b"bcd"], object), 4),
        (Struct.unnamed(np.int32(1), Struct.named(a=np.float64(1))), 12),
        (Struct([]), 0),
        ((np.int32(1), np.int32(2)), 0),
        (LazySequence(lambda: iter(()), INT), 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_numbers_count_by_dtype_text_by_length_sequences_not(
    plain: Any, size: int
) -> None:
    """differs: a scalar string crashed the ancestor's count."""
    assert size_bytes(plain) == size


def measured(program: Any, *arguments: Any, **options: Any) -> SizeInfo:
    factory = fw.sizing_executor_factory(**options)
    with fw.SyncExecutionContext(factory):
        program(*arguments)
    return factory.get_size_info()


@pytest.mark.parametrize("options", [{}, {"max_fanout": 2}, {"clients_per_thread": 3}])
def test_a_sum_moves_every_value_down_and_up(options: Any) -> None:
    total = fl.federated_computation(lambda v: fl.federated_sum(v), VECTORS)
    info = measured(total, [np.zeros([10])] * 3, **options)
    assert (info.bytes_down, info.bytes_up) == (120, 120)
    assert info.down == info.up == {"float32[10]": 120}


def test_a_broadcast_costs_one_value_for_each_client() -> None:
    spread = fl.federated_computation(
        lambda m, v: fl.federated_map(increment, fl.federated_broadcast(m)),
        INT_AT_SERVER,
        FLOATS,
    )
    info = measured(spread, 5, [1.0, 2.0, 3.0])
    assert info.down == {"int32": 12, "float32": 12}
    assert info.up == {"int32": 12}


def test_data_sets_and_code_do_not_count() -> None:
    program = fl.federated_computation(
        lambda s: fl.federated_sum(fl.sequence_sum(s)), NUMBERS_AT_CLIENTS
    )
    info = measured(program, [[1, 2, 3], [4]], support_sequence_ops=True)
    assert (info.down.get("int32*"), info.up) == (None, {"int32": 8})


def test_work_at_the_server_is_no_communication() -> None:
    program = fl.federated_computation(
        lambda v: fl.federated_map(increment, v), INT_AT_SERVER
    )
    assert measured(program, 5) == SizeInfo({}, {})


def test_structures_count_as_one_type() -> None:
    model = fl.type_at_clients(OrderedDict(w=(np.float32, [2]), b=np.float64))
    total = fl.federated_computation(lambda v: fl.federated_sum(v), model)
    info = measured(total, [OrderedDict(w=[1, 2], b=3)] * 2)
    assert info.bytes_up == 2 * (8 + 8)


def test_counting_goes_on_until_it_is_reset() -> None:
    factory = fw.sizing_executor_factory()
    total = fl.federated_computation(lambda v: fl.federated_sum(v), INTS)
    with fw.SyncExecutionContext(factory):
        total([1, 2])
        once = factory.get_size_info()
        total([1, 2, 3])
        assert factory.get_size_info().bytes_up == once.bytes_up + 12
        factory.reset_size_info()
        assert factory.get_size_info() == SizeInfo({}, {})
    assert once.bytes_up == 8
