# SPDX-License-Identifier: Apache-2.0
"""Bytes that cross to and from the clients, by direction and type."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.sizing import Meter, SizeInfo, size_bytes
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.sequences import LazySequence
from tests.programs import (
    FLOATS,
    INT,
    INT_AT_SERVER,
    INTS,
    NUMBERS_AT_CLIENTS,
    increment,
)

fw = fl.framework
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


def test_a_meter_adds_up_by_type() -> None:
    meter = Meter()
    meter.add("down", INT, np.int32(1))
    meter.add("down", INT, np.int32(1))
    meter.add("up", fl.to_type(np.bool_), np.bool_(True))
    assert meter.read() == SizeInfo({"int32": 8}, {"bool": 1})
