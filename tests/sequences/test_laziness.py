# SPDX-License-Identifier: Apache-2.0
"""When what is computed: element by element, when somebody reads, once per reader."""

import gc
import itertools
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from tests.programs import INT, NUMBERS, NUMBERS_AT_CLIENTS, increment, local
from tests.sequences.readers import every_reader, read


@pytest.fixture(autouse=True)
def _with_sequences() -> Iterator[None]:
    with local(support_sequence_ops=True):
        yield


class Diary:
    """A source of three numbers, and functions of them, that note what they do."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.increment = fl.np_computation(self._increment, np.int32)
        self.fold = fl.np_computation(self._fold, np.int32, np.int32)
        self.notes.clear()  # of what was tried at definition

    def numbers(self) -> Iterator[int]:
        self.notes.append("start")
        for x in (1, 2, 3):
            self.notes.append(f"make {x}")
            yield x

    def _increment(self, x: Any) -> Any:
        self.notes.append(f"map {x}")
        return x + np.int32(1)

    def _fold(self, s: Any, x: Any) -> Any:
        self.notes.append(f"fold {x}")
        return s + x


@pytest.fixture
def diary() -> Diary:
    return Diary()


STEP_BY_STEP = ["start"] + [
    note for x in (1, 2, 3) for note in (f"make {x}", f"map {x}", f"fold {x + 1}")
]


@pytest.mark.parametrize("at_clients", [False, True])
def test_elements_flow_one_by_one(at_clients: bool, diary: Diary) -> None:
    def body(s: Any) -> Any:
        return fl.sequence_reduce(fl.sequence_map(diary.increment, s), 0, diary.fold)

    if at_clients:
        program = fl.federated_computation(body, NUMBERS_AT_CLIENTS)
        assert program([diary.numbers]) == [9]
    else:
        assert fl.federated_computation(body, NUMBERS)(diary.numbers) == 9
    assert diary.notes == STEP_BY_STEP


def test_a_generator_is_read_one_by_one_outside_of_bodies(diary: Diary) -> None:
    assert fl.sequence_reduce(diary.numbers, 0, diary.fold) == 6
    made_and_folded = [[f"make {x}", f"fold {x}"] for x in (1, 2, 3)]
    assert diary.notes == ["start", *itertools.chain(*made_and_folded)]


def test_what_nobody_reads_is_not_computed(diary: Diary) -> None:
    def body(s: Any) -> Any:
        fl.sequence_map(diary.increment, s)
        return fl.sequence_map(diary.increment, s)

    unread = fl.federated_computation(body, NUMBERS)
    program = fl.federated_computation(lambda s, x: (unread(s), x)[1], NUMBERS, INT)
    assert program(diary.numbers, 7) == 7
    assert diary.notes == []


@every_reader
@pytest.mark.parametrize("times", [1, 2])
def test_each_reader_reads_the_source_once(
    reader: str, times: int, diary: Diary
) -> None:
    def body(s: Any) -> Any:
        mapped = fl.sequence_map(diary.increment, s)
        return [read(reader, mapped) for _ in range(times)]

    fl.federated_computation(body, NUMBERS)(diary.numbers)
    assert diary.notes.count("start") == times
    assert diary.notes.count("map 2") == times


@pytest.mark.tensorflow
def test_a_graph_reads_the_source_once_for_each_of_its_readers(diary: Diary) -> None:
    two = fl.tf_computation(
        lambda d: [d.reduce(0, lambda s, x: s + x) for _ in range(2)], NUMBERS
    )
    program = fl.federated_computation(
        lambda s: two(fl.sequence_map(diary.increment, s)), NUMBERS
    )
    assert program(diary.numbers) == [9, 9]
    assert diary.notes.count("start") == diary.notes.count("map 2") == 2


@pytest.mark.tensorflow
def test_a_graph_takes_from_an_endless_sequence_what_it_needs(diary: Diary) -> None:
    first = fl.tf_computation(
        lambda d: d.take(2).reduce(0, lambda s, x: s + x), NUMBERS
    )
    program = fl.federated_computation(
        lambda s: first(fl.sequence_map(diary.increment, s)), NUMBERS
    )
    assert program(itertools.count) == 1 + 2
    assert diary.notes == ["map 0", "map 1"]


@pytest.mark.tensorflow
def test_a_dataset_that_leaf_code_returns_is_computed_when_it_is_read(
    diary: Diary,
) -> None:
    double = fl.tf_computation(lambda d: d.map(lambda x: x + x), NUMBERS)

    def body(s: Any) -> Any:
        doubled = double(fl.sequence_map(diary.increment, s))
        return fl.sequence_reduce(doubled, 0, diary.fold)

    assert fl.federated_computation(body, NUMBERS)(diary.numbers) == 18
    assert diary.notes.index("map 1") < diary.notes.index("fold 4")


# ------------------------------------------------------------------ letting go


class Source:
    """Makes numbers, and is garbage as soon as nobody can read them any more."""

    def __call__(self) -> Iterator[int]:
        gc.collect()  # what is still needed survives this
        yield from (1, 2, 3)


def _pass_on(source: Any) -> Any:
    return fl.federated_computation(
        lambda s: read("graph", fl.sequence_map(increment, s)), NUMBERS
    )(source)


def _pass_on_twice(source: Any) -> Any:
    double = fl.tf_computation(lambda d: d.map(lambda x: x + x), NUMBERS)

    def body(s: Any) -> Any:
        doubled = double(fl.sequence_map(increment, s))
        return fl.sequence_sum(doubled), double(doubled), doubled

    return fl.federated_computation(body, NUMBERS)(source)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("use", "result"),
    [(_pass_on, 9), (_pass_on_twice, (18, [8, 12, 16], [4, 6, 8]))],
    ids=["read by a graph", "read through a dataset of a graph"],
)
def test_a_sequence_lives_as_long_as_somebody_may_read_it(
    use: Any, result: Any
) -> None:
    """differs: `Dataset.from_generator` keeps every generator forever."""
    source = Source()
    remembered = weakref.ref(source)
    assert use(source) == result
    del source
    gc.collect()
    assert remembered() is None


@pytest.mark.tensorflow
def test_rows_of_several_lengths_are_let_go_of() -> None:
    rows = fl.SequenceType(fl.TensorType(np.float32, [None]))
    firsts = fl.tf_computation(
        lambda d: d.reduce(np.float32(0), lambda s, x: s + x[0]), rows
    )
    data = [np.ones(n, np.float32) for n in (3, 1, 2)]
    remembered = [weakref.ref(row) for row in data]
    assert firsts(data) == 3
    del data
    gc.collect()
    assert [row() for row in remembered] == [None] * 3
