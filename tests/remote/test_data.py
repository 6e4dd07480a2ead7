# SPDX-License-Identifier: Apache-2.0
"""Clients' data on a cluster: all that a call takes, and how often they travel."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.framework import AsyncExecutionContext, ReferenceContext
from fedlearn_edu.remote import Cluster
from fedlearn_edu.testing import assert_same
from tests.programs import at_once
from tests.remote import programs

INTS = fl.SequenceType(np.int32)
POINT = fl.to_type(OrderedDict(n=np.int32, v=fl.TensorType(np.float32, [2])))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with fl.remote.local(2, max_fanout=2, processes=False) as made, made:
        yield made


@fl.np_computation(INTS)
def _total(numbers: Any) -> Any:
    return np.int32(sum(numbers))


@fl.federated_computation(fl.type_at_clients(INTS))
def _totals(data: Any) -> Any:
    return fl.federated_map(_total, data)


@fl.federated_computation(fl.type_at_clients(POINT))
def _sum(points: Any) -> Any:
    return fl.federated_sum(points)


def _bytes_down(cluster: Cluster) -> int:
    return sum(m.bytes_down for m in cluster.traffic().rounds[-1].messages)


LISTS = [[1, 2], [], [3]]
KINDS: dict[str, Callable[[], Any]] = {
    "lists": lambda: LISTS,
    "arrays": lambda: [np.array(numbers, np.int32) for numbers in LISTS],
    "placed": lambda: fl.place(LISTS, fl.CLIENTS, INTS),
    "functions": lambda: [lambda numbers=numbers: iter(numbers) for numbers in LISTS],
    "generators": lambda: [(n for n in numbers) for numbers in LISTS],
}


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_of_every_kind_arrive(kind: str, cluster: Cluster) -> None:
    assert_same(_totals(KINDS[kind]()), [3, 0, 3])


@pytest.mark.tensorflow
def test_datasets_arrive_and_come_home(cluster: Cluster) -> None:
    made = [
        fl.tf.data.Dataset.range(n).map(lambda i: fl.tf.cast(i, "int32"))
        for n in (3, 0, 2)
    ]
    assert_same(_totals(made), [3, 0, 1])
    twice = fl.tf_computation(lambda data: data.map(lambda i: 2 * i), INTS)
    doubled = fl.federated_computation(
        lambda d: fl.federated_map(twice, d), _totals.type_signature.parameter
    )
    assert_same(doubled(made), [[0, 2, 4], [], [0, 2]])


def test_generator_that_fails_says_whose_it_was(cluster: Cluster) -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more") as caught:
        _totals([[1], [2], broken])
    assert "at client 2" in "".join(caught.value.__notes__)


def test_loader_runs_once_for_each_client(cluster: Cluster) -> None:
    def load(client: str) -> list[int]:
        programs.ran.append(client)
        return [len(client)]

    programs.ran.clear()
    data = cluster.place(load, ["a", "bb", "ccc"], INTS)
    for _ in range(2):
        assert_same(_totals(data), [1, 2, 3])
        assert_same(_totals(cluster.place(load, ["ccc", "a"], INTS)), [3, 1])
    assert set(programs.ran) == {"a", "bb", "ccc"}
    assert len(programs.ran) <= 3 + 2  # two were at home elsewhere, in a smaller group
    with ReferenceContext():
        assert_same(_totals(data), [1, 2, 3])


def test_loader_is_what_it_was_when_it_was_placed(cluster: Cluster) -> None:
    names: dict[str, Any] = {"__name__": "__main__", "seed": 1}
    exec("def load(client):\n    return float(client * seed)", names)
    totals = []
    first = cluster.place(names["load"], [1, 1.5], np.float32)
    names["seed"] = 2
    for data in (first, cluster.place(names["load"], [1, 1.5], np.float32)):
        totals.append(float(fl.federated_sum(data)))
    ones = cluster.place(lambda client: float(isinstance(client, int)), [1], np.float32)
    assert totals == [2.5, 5.0]
    assert float(fl.federated_sum(ones)) == 1.0


def test_id_that_does_not_hash_is_refused_where_it_is_placed(cluster: Cluster) -> None:
    with pytest.raises(TypeMismatchError, match="does not hash") as caught:
        cluster.place(len, [(1,), [2]], np.int32)
    assert (caught.value.where, caught.value.found) == ("clients[1]", "a list: [2]")


def test_placed_structures_travel_once(cluster: Cluster) -> None:
    """As a whole, whatever they consist of."""
    v = np.arange(2, dtype=np.float32)
    placed = fl.place([OrderedDict(n=i, v=v) for i in range(5)], fl.CLIENTS, POINT)
    for _ in range(2):
        assert_same(_sum(placed), OrderedDict(n=10, v=5 * v))
    often = _bytes_down(cluster)
    _sum(fl.place([OrderedDict(n=i, v=v) for i in range(5)], fl.CLIENTS, POINT))
    assert _bytes_down(cluster) > often + 5 * 50


def test_dataset_that_is_placed_is_read_anew(cluster: Cluster) -> None:
    count = iter(range(10))
    placed = fl.place([lambda: iter([next(count)])], fl.CLIENTS, INTS)
    assert [int(_totals(placed)[0]) for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_any_number_of_clients_may_take_part(count: int, cluster: Cluster) -> None:
    data = cluster.place(lambda client: [client, 1], count, INTS)
    assert_same(_totals(data), [client + 1 for client in range(count)])
    placed = cluster.place(lambda i: OrderedDict(n=i, v=[i, 1]), count, POINT)
    total = sum(range(count))
    assert_same(
        _sum(placed), OrderedDict(n=total, v=np.array([total, count], np.float32))
    )


def test_text_and_small_floats_arrive(cluster: Cluster) -> None:
    join = fl.np_computation(lambda a, b: a + b, np.str_, np.str_)
    joined = fl.federated_computation(
        lambda v: fl.federated_reduce(v, "<", join), fl.type_at_clients(np.str_)
    )
    assert joined(["a", "", "Ω"]) == "<aΩ".encode()
    half = fl.type_at_clients(ml_dtypes.bfloat16)
    found = fl.federated_computation(fl.federated_sum, half)([1.5, 2.25, -4])
    assert (found, found.dtype) == (-0.25, ml_dtypes.bfloat16)


def test_masks_cancel_across_workers(cluster: Cluster) -> None:
    secure = fl.federated_computation(
        lambda v: fl.federated_secure_sum(v, 1000), fl.type_at_clients(np.int64)
    )
    assert_same(secure(list(range(9))), 36)
    assert len({m.worker for m in cluster.traffic().rounds[-1].messages}) == 2


def test_several_threads_may_call_at_once(cluster: Cluster) -> None:
    def call(number: int) -> list[int]:
        with cluster.context:
            return list(map(int, _totals([[number], [1], [2], [3]])))

    assert at_once(call, range(8)) == [[n, 1, 2, 3] for n in range(8)]


def test_calls_may_be_awaited(cluster: Cluster) -> None:
    async def both() -> Any:
        return await asyncio.gather(_totals([[1], [2], [3]]), _totals([[4]]))

    with AsyncExecutionContext(cluster.context.factory):
        assert_same(asyncio.run(both()), [[1, 2, 3], [4]])
