# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Clients by name: in memory, and in files with TFF's tables, which the tests write."""

import lzma
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedlearn_edu.tff as tff
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.simulation.datasets import DatasetError

pytestmark = pytest.mark.tensorflow
simulation = tff.simulation
emnist, shakespeare = simulation.datasets.emnist, simulation.datasets.shakespeare


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of this machine is found."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.delenv("FEDLEARN_EDU_DATA", raising=False)


def example(**features: Any) -> bytes:
    made = tf.train.Features(feature=features)
    serialized: bytes = tf.train.Example(features=made).SerializeToString()
    return serialized


def digit(label: int) -> bytes:
    pixels = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * 784))
    number = tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))
    return example(pixels=pixels, label=number)


def snippet(text: str) -> bytes:
    value = tf.train.BytesList(value=[text.encode()])
    return example(snippets=tf.train.Feature(bytes_list=value))


def written(path: Path, rows: list[tuple[str, str, bytes]]) -> None:
    """An SQLite file of `(split, client, example)`."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE examples (split_name TEXT, client_id TEXT, "
                     "serialized_example_proto BLOB)")  # fmt: skip
        file.execute("CREATE TABLE client_metadata (client_id TEXT, split_name TEXT, "
                     "num_examples INTEGER)")  # fmt: skip
        file.executemany("INSERT INTO examples VALUES (?, ?, ?)", rows)
        known = sorted({(client, split) for split, client, _ in rows})
        file.executemany("INSERT INTO client_metadata VALUES (?, ?, 1)", known)


DIGITS = [
    ("digits_only_train", "ada", digit(3)),
    ("digits_only_train", "o'ben", digit(4)),
    ("digits_only_train", "o'ben", digit(5)),
    ("digits_only_test", "ada", digit(6)),
]


def labels(dataset: Any) -> list[int]:
    return [int(each["label"]) for each in dataset]


@pytest.mark.parametrize("packed", [False, True])
def test_writers_are_read_where_they_lie(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "emnist_all.sqlite"
    written(path, DIGITS)
    if packed:
        path.with_name("emnist_all.sqlite.lzma").write_bytes(
            lzma.compress(path.read_bytes())
        )
        path.unlink()
    monkeypatch.setenv("FEDLEARN_EDU_DATA", str(tmp_path))
    train, test = emnist.load_data()
    assert (train.client_ids, test.client_ids) == (["ada", "o'ben"], ["ada"])
    assert labels(train.create_tf_dataset_for_client("o'ben")) == [4, 5]
    spec = train.element_type_structure
    assert spec["pixels"].shape == (28, 28)
    assert spec["label"].dtype == tf.int32


def test_speakers_are_read_in_a_computation(tmp_path: Path) -> None:
    rows = [("train", "KING", snippet("Blow, winds")), ("test", "KING", snippet("no"))]
    written(tmp_path / "shakespeare.sqlite", rows)
    train, _ = shakespeare.load_data(cache_dir=str(tmp_path))

    @tff.federated_computation(tff.type_at_clients(np.str_))
    def read(names: Any) -> Any:
        return tff.federated_map(train.dataset_computation, names)

    [[found]] = map(list, read(["KING"]))
    assert found["snippets"] == b"Blow, winds"


def test_a_file_that_is_nowhere_or_damaged_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"(?s)tried.*get_synthetic\(\)"):
        emnist.load_data()
    (tmp_path / "emnist_all.sqlite").write_bytes(b"not a data base")
    with pytest.raises(DatasetError, match="delete it, and load again"):
        emnist.load_data(cache_dir=str(tmp_path))
    written(tmp_path / "shakespeare.sqlite", DIGITS)
    with pytest.raises(DatasetError, match="no split train"):
        shakespeare.load_data(cache_dir=str(tmp_path))


def test_a_file_that_ends_too_early_is_not_kept(tmp_path: Path) -> None:
    whole = lzma.compress(np.random.default_rng(1).bytes(10_000))
    (tmp_path / "emnist_all.sqlite.lzma").write_bytes(whole[:5_000])
    with pytest.raises(DatasetError, match="cannot be unpacked"):
        emnist.load_data(cache_dir=str(tmp_path))
    assert not (tmp_path / "emnist_all.sqlite").exists()


def in_memory() -> Any:
    return simulation.datasets.TestClientData(
        {name: {"label": np.arange(n)} for name, n in (("a", 2), ("b", 3), ("c", 1))}
    )


def test_clients_are_mapped_split_and_put_together() -> None:
    data = in_memory()
    assert labels(data.create_tf_dataset_for_client("b")) == [0, 1, 2]
    doubled = data.preprocess(lambda d: d.map(lambda e: {"label": e["label"] * 2}))
    assert labels(doubled.create_tf_dataset_for_client("b")) == [0, 2, 4]
    assert sorted(labels(data.create_tf_dataset_from_all_clients(seed=1))) == [
        0, 0, 0, 1, 1, 2
    ]  # fmt: skip
    split = simulation.datasets.ClientData.train_test_client_split
    train, test = split(data, num_test_clients=1, seed=2)
    assert sorted([*train.client_ids, *test.client_ids]) == ["a", "b", "c"]
    assert len(list(data.datasets(limit_count=2, seed=3))) == 2


def test_a_process_takes_names_in_the_place_of_data() -> None:
    data = in_memory()
    element = data.dataset_computation.type_signature.result

    @tff.tf_computation(element)
    def total(dataset: Any) -> Any:
        return dataset.reduce(np.int64(0), lambda n, each: n + each["label"])

    @tff.federated_computation
    def zero() -> Any:
        return tff.federated_value(np.int64(0), tff.SERVER)

    @tff.federated_computation(
        tff.type_at_server(np.int64), tff.type_at_clients(element)
    )
    def add(state: Any, datasets: Any) -> Any:
        return tff.federated_sum(tff.federated_map(total, datasets))

    process = simulation.compose_dataset_computation_with_iterative_process(
        data.dataset_computation, tff.templates.IterativeProcess(zero, add)
    )
    assert process.next(process.initialize(), ["a", "b"]) == 1 + 3


def test_a_sample_of_a_round_is_the_same_when_it_is_asked_again() -> None:
    sample = simulation.build_uniform_sampling_fn(range(100), random_seed=5)
    assert sample(3, 4) == sample(3, 4) != sample(4, 4)
