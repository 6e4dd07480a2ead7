# SPDX-License-Identifier: Apache-2.0
"""`ClientData`: lazy, indexable, in batches, and pure in seed, round and client."""

import copy
import pickle
import tracemalloc
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu.simulation import ClientData, datasets, partitions

X = np.arange(7 * 4, dtype=np.uint8).reshape(7, 2, 2)
Y = np.array([0, 1, 2, 3, 4, 5, 6], np.uint8)
PARTITION = [np.array([4, 0, 2]), np.array([6]), np.array([1, 5, 3])]
DATA = ClientData(X, Y, PARTITION)


def labels(batches: list[partitions.Batch]) -> list[list[int]]:
    return [batch["y"].tolist() for batch in batches]


# ------------------------------------------------------------------ a list of clients


def test_it_is_a_list_of_clients() -> None:
    assert len(DATA) == 3
    assert [len(client) for client in DATA] == [3, 1, 3]
    assert DATA.num_examples.tolist() == [3, 1, 3]
    assert [client.id for client in DATA] == [0, 1, 2]
    assert DATA[-1].id == 2
    assert DATA[np.int64(1)].id == 1
    assert DATA[1] in DATA
    assert DATA.index(DATA[2]) == 2


def test_client_reads_its_examples_as_learning_sees_them() -> None:
    client = DATA[0]
    expected = (X[[4, 0, 2]].reshape(3, 4) / 255.0).astype(np.float32)
    np.testing.assert_array_equal(client.x, expected, strict=True)
    np.testing.assert_array_equal(client.y, np.array([4, 0, 2], np.int32), strict=True)
    assert client.indices.tolist() == [4, 0, 2]


@pytest.mark.parametrize(
    ("x", "y", "batch_type"),
    [
        (X, Y, "<x=float32[?,4],y=int32[?]>"),
        (np.zeros([7, 3]), np.zeros(7), "<x=float32[?,3],y=float32[?]>"),
        (np.zeros(7), np.zeros([7, 2]), "<x=float32[?,1],y=float32[?,2]>"),
        (np.zeros([7, 3], np.int64), np.zeros(7, bool), "<x=float32[?,3],y=int32[?]>"),
    ],
)
def test_type_follows_the_arrays(x: Any, y: Any, batch_type: str) -> None:
    data = ClientData(x, y, PARTITION)
    assert str(data.batch_type) == batch_type
    placed = data.place(2)
    assert str(placed.type_signature) == f"{{{batch_type}*}}@CLIENTS"


def test_floats_stay_as_they_are() -> None:
    data = ClientData([[-3.5], [700.0]], [0.25, 4.0], [[1, 0]])
    assert data[0].x.tolist() == [[700.0], [-3.5]]
    assert data[0].y.tolist() == [4.0, 0.25]
    largest = ClientData([[np.inf]], [2**31 - 1], [[0]])[0]
    assert (largest.x.tolist(), largest.y.tolist()) == ([[np.inf]], [2**31 - 1])


BYTES, FLAT = X + np.uint8(200), X.reshape(7, 4) + np.uint8(200)


@pytest.mark.parametrize(
    ("x", "scale", "factor"),
    [
        (BYTES, None, 255),
        (BYTES, False, 1),
        (BYTES[..., None], None, 255),
        (FLAT, None, 1),
        (FLAT, True, 255),
        (FLAT[:, 0], None, 1),
        (BYTES.astype(np.int64), None, 1),
        (BYTES.astype(np.float64), np.True_, 255),
    ],
)
def test_images_of_bytes_are_scaled_and_nothing_else_unless_it_is_said(
    x: Any, scale: Any, factor: int
) -> None:
    """Ages and codes of words are bytes, too, and arrive as they are."""
    data = ClientData(x, Y, PARTITION, scale=scale)
    expected = (x[PARTITION[0]].reshape(3, -1) / factor).astype(np.float32)
    np.testing.assert_array_equal(data[0].x, expected)
    [batch] = partitions.batches(x, Y, PARTITION[0], 9, scale=scale)
    np.testing.assert_array_equal(batch["x"], expected)
    assert ("x / 255" in repr(data)) == (factor == 255)


def test_it_says_what_it_is() -> None:
    assert (
        repr(DATA)
        == "ClientData(3 clients, 7 examples, x / 255, <x=float32[?,4],y=int32[?]>)"
    )
    assert repr(DATA[:1]).startswith("ClientData(1 client, 3 examples")
    assert [repr(client) for client in DATA[:2]] == [
        "Client(0, 3 examples)",
        "Client(1, 1 example)",
    ]


def test_it_says_that_clients_overlap() -> None:
    """Their examples are counted for each of them."""
    shared = ClientData(X, Y, [[0, 1, 2], [2, 3], [2, 0], [4]])
    assert "4 clients, 8 examples, 2 of them held more than once, x" in repr(shared)
    assert "held" not in repr(shared[1::2])
    assert "3 examples, " in repr(DATA[:1])
    assert "3 of them held more than once" in repr(DATA.select([0, 0]))
    assert repr(DATA.select([])).startswith("ClientData(0 clients, 0 examples, x / 2")


def test_selected_clients_keep_their_ids() -> None:
    chosen = DATA.select([2, 0])
    assert [client.id for client in chosen] == [2, 0]
    assert [client.id for client in DATA[1:]] == [1, 2]
    assert [client.id for client in DATA[1:].select([1])] == [2]
    assert [client.id for client in chosen[:1]] == [2]
    assert chosen.num_examples.tolist() == [3, 3]


def test_client_may_be_selected_twice_and_nobody_may_be() -> None:
    assert DATA.select(np.array([1, 1])).num_examples.tolist() == [1, 1]
    nobody = DATA.select(())
    assert (len(nobody), nobody.batches(), len(nobody.place(2))) == (0, [], 0)
    assert nobody.place().type_signature == DATA.place().type_signature


def test_same_clients_are_equal() -> None:
    assert DATA[0] == DATA.select([0])[0]
    assert DATA[0] != DATA[1]
    assert DATA[0] != ClientData(X, Y, PARTITION)[0]


def test_it_can_be_copied_and_pickled() -> None:
    for copied in (copy.deepcopy(DATA), pickle.loads(pickle.dumps(DATA))):
        assert copied.num_examples.tolist() == [3, 1, 3]
        np.testing.assert_array_equal(copied[2].x, DATA[2].x)


# ------------------------------------------------------------------ partitions

LISTS = [of.tolist() for of in PARTITION]
PARTITIONS: dict[str, Callable[[], Any]] = {
    "tuples": lambda: tuple(map(tuple, LISTS)),
    "a generator": lambda: (of for of in PARTITION),
    "generators": lambda: [iter(of) for of in LISTS],
    "floats": lambda: [of.astype(np.float32) for of in PARTITION],
    "objects": lambda: [np.array(of, object) for of in LISTS],
    "values": lambda: dict(enumerate(LISTS)).values(),
    "a dict of numbers": lambda: {9 - k: of for k, of in enumerate(LISTS)},
    "a dict of pairs": lambda: {(k, 6): of for k, of in enumerate(LISTS)},
    "a dict of texts": lambda: dict(zip("cab", LISTS, strict=True)),
}


@pytest.mark.parametrize("partition", PARTITIONS.values(), ids=PARTITIONS)
def test_partition_may_be_written_in_many_ways(partition: Callable[[], Any]) -> None:
    found = ClientData(X, Y, partition())
    assert [client.indices.tolist() for client in found] == LISTS
    assert partitions.describe_skew(Y, partition()).sizes.tolist() == [3, 1, 3]


def test_keys_that_are_texts_are_the_names_of_the_clients() -> None:
    held = dict(zip(["Cleo", "Ann", "Bob"], LISTS, strict=True))
    named = ClientData(X, Y, held)
    assert repr(named["Ann"]) == "Client(Ann, 1 example)"
    assert named.select([2, "Cleo"]).names == ("Bob", "Cleo")
    assert (named[1:]["Bob"], named[-1].name) == (named[2], "Bob")
    assert partitions.describe_skew(Y, held).names == ("Cleo", "Ann", "Bob")
    assert "\n  Cleo  " in str(partitions.describe_skew(Y, held))
    assert (DATA.names, DATA[1].name) == ((), "1")


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (["b", "a", "b", "c"], "b a c"),
        (np.array(["b", "a", "b", "c"], object), "b a c"),
        (np.array([b"b", b"a", b"b", b"c"]), "b a c"),
        (np.array([20, 10, 20, 30], np.uint16), "20 10 30"),
        ((x for x in (7, True, "7", 0.5)), "7 True 0.5"),
        ([("x", 1), 2, ("x", 1), 3], "('x', 1) 2 3"),
    ],
)
def test_clients_by_id_come_in_the_order_of_their_first_example(
    ids: Any, names: str
) -> None:
    held = partitions.by_id(ids)
    assert [of.tolist() for of in held.values()] == [[0, 2], [1], [3]]
    assert " ".join(held) == names
    assert ClientData(X, Y, held).names == tuple(held)
    assert len(partitions.by_id([b"M\xfcller", b"M\xf6ller"])) == 2  # of Latin-1


# ------------------------------------------------------------------ batches


def test_batches_come_in_the_order_as_dealt() -> None:
    assert labels(DATA[0].batches(2)) == [[4, 0], [2]]
    assert labels(DATA[0].batches()) == [[4, 0, 2]]
    assert labels(DATA[0].batches(99)) == [[4, 0, 2]]
    [batch] = DATA[1].batches()
    assert type(batch) is OrderedDict
    assert list(batch) == ["x", "y"]


@given(
    size=st.integers(1, 9),
    epochs=st.integers(1, 3),
    seed=st.integers(0, 2**70),
    number=st.integers(0, 99),
)
def test_each_epoch_has_each_example_once(
    size: int, epochs: int, seed: int, number: int
) -> None:
    client = DATA[2]
    cut = client.batches(size, epochs=epochs, seed=seed, round_number=number)
    seen = [label for batch in labels(cut) for label in batch]
    for epoch in range(epochs):
        assert sorted(seen[3 * epoch : 3 * epoch + 3]) == [1, 3, 5]
    for batch in cut:
        np.testing.assert_array_equal(
            batch["x"], (X[batch["y"]].reshape(-1, 4) / 255.0).astype(np.float32)
        )


def order(client: int = 0, **of: Any) -> list[int]:
    x = np.zeros([100, 1])
    data = ClientData(x, np.arange(100), [np.arange(100)] * 2)
    return [label for batch in labels(data[client].batches(7, **of)) for label in batch]


def test_order_depends_on_seed_round_client_and_epoch() -> None:
    first = order(seed=1, round_number=2)
    assert first != sorted(first)
    assert first == order(seed=1, round_number=2)
    assert first != order(seed=2, round_number=2)
    assert first != order(seed=1, round_number=3)
    assert first != order(seed=2, round_number=1)
    assert first != order(client=1, seed=1, round_number=2)
    two = order(seed=1, round_number=2, epochs=2)
    assert two[:100] == first != two[100:]


def test_order_does_not_depend_on_who_else_is_selected() -> None:
    x = np.zeros([90, 1])
    data = ClientData(x, np.arange(90), np.arange(90).reshape(3, 30))
    alone = data.select([2])[0].batches(8, seed=5)
    assert labels(alone) == labels(data[2].batches(8, seed=5))
    assert labels(alone) == labels(data.batches(8, seed=5)[2])


# ------------------------------------------------------------------ placed


@fl.np_computation(fl.SequenceType(DATA.batch_type))
def sum_of_labels(batches: Any) -> Any:
    return np.int32(sum(int(batch["y"].sum()) for batch in batches))


@fl.federated_computation(fl.type_at_clients(fl.SequenceType(DATA.batch_type)))
def total_of_labels(data: Any) -> Any:
    return fl.federated_sum(fl.federated_map(sum_of_labels, data))


def test_placed_data_go_to_a_computation_again_and_again() -> None:
    placed = DATA.place(batch_size=2)
    assert [total_of_labels(placed) for _ in range(2)] == [21, 21]
    assert total_of_labels(DATA.select([1, 2]).place(epochs=2, seed=1)) == 30


# ------------------------------------------------------------------ memory


def test_ten_thousand_clients_cost_no_more_than_their_indices() -> None:
    x, y = np.zeros([60_000, 784], np.uint8), np.zeros(60_000, np.uint8)
    partition = partitions.iid(y, 10_000)
    tracemalloc.start()
    try:
        data = ClientData(x, y, partition)
        some = data[:5000]
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(some) == 5000
    assert kept < 2_000_000
    assert data[0].x.shape == (6, 784)


# ------------------------------------------------------------------ looks


def test_each_client_sees_its_images_in_its_own_way() -> None:
    x, y = datasets.load_digits28().train
    drawn = partitions.feature_shifts(3, rotation=40.0, noise=0.1, seed=2)
    data = ClientData(x, y, partitions.iid(y, 3), drawn)
    for client, look in zip(data, drawn, strict=True):
        expected = look.apply(x[client.indices]).reshape(-1, 784)
        np.testing.assert_array_equal(client.x, expected)
    np.testing.assert_array_equal(data.select([2])[0].x, data[2].x)
    [whole] = data[1].batches()
    np.testing.assert_array_equal(whole["x"], data[1].x)
    shuffled = data[1].batches(seed=4)[0]
    rows = {row.tobytes() for row in shuffled["x"]}
    assert rows == {row.tobytes() for row in data[1].x}
