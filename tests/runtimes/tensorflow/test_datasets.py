# SPDX-License-Identifier: Apache-2.0
"""Sequences in TensorFlow code: `tf.data.Dataset`s, as arguments and as results."""

import asyncio
import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.executors import underway
from fedlearn_edu.runtimes.tensorflow.conversion import to_plain
from fedlearn_edu.runtimes.tensorflow.sequences import as_dataset
from fedlearn_edu.testing import assert_same
from fedlearn_edu.types.sequences import LazySequence
from tests.programs import INT, NUMBERS, local, mapped

pytestmark = pytest.mark.tensorflow
F32 = np.float32
from_slices = tf.data.Dataset.from_tensor_slices


ROW = fl.TensorType(np.float32, [None])


def rows_of(*lengths: int) -> list[Any]:
    return [np.arange(n, dtype=np.float32) for n in lengths]


def told(dataset: Any) -> Any:
    """What is known of a dataset before it is read, and what is read."""
    variants = (
        dataset,
        dataset.map(lambda x: x + 1),
        dataset.skip(1),
        dataset.repeat(2),
        dataset.padded_batch(2),
        dataset.filter(lambda x: tf.size(x) > 1),
    )
    return [
        (d.cardinality(), d.reduce(0.0, lambda s, x: 2 * s + tf.reduce_sum(x)))
        for d in variants
    ]


told_in_a_graph = fl.tf_computation(told, fl.SequenceType(ROW))


@pytest.mark.parametrize("known", [True, False], ids=["list", "generator"])
@pytest.mark.parametrize(
    "elements",
    [[], rows_of(2, 1, 2), rows_of(1, 2, 2), rows_of(0)],
    ids=["empty", "unequal in between", "smaller first", "of nothing"],
)
def test_a_dataset_in_a_graph_is_what_tf_data_makes_of_it(
    elements: list[Any], known: bool
) -> None:
    real = tf.data.Dataset.from_generator(
        lambda: iter(elements), output_signature=tf.TensorSpec([None], tf.float32)
    )
    if known:
        real = real.apply(tf.data.experimental.assert_cardinality(len(elements)))
    given: Any = elements if known else lambda: iter(elements)
    expected = tf.nest.map_structure(lambda t: t.numpy(), told(real))
    assert_same(told_in_a_graph(given), expected)


# ------------------------------------------------------------- containers of elements


@pytest.mark.parametrize(
    ("element", "spec"),
    [
        (OrderedDict(b=np.int32, a=np.float32), OrderedDict),
        ([np.int32, np.float32], tuple),
        ((np.int32, np.float32), tuple),
        ([("a", np.int32)], OrderedDict),
    ],
    ids=str,
)
def test_the_body_sees_elements_as_dicts_or_tuples(element: Any, spec: type) -> None:
    seen = []

    def body(dataset: Any) -> Any:
        seen.append(dataset.element_spec)
        return 1

    fl.tf_computation(body, fl.SequenceType(element))
    assert type(seen[0]) is spec


@fl.tf_computation(fl.SequenceType(OrderedDict(b=INT, a=INT)))
def rest(pairs: Any) -> Any:
    return pairs.reduce(0, lambda s, pair: s + pair["b"] - pair["a"])


@pytest.mark.parametrize(
    "dataset",
    [
        from_slices({"a": [1, 2], "b": [10, 20]}),
        from_slices({"b": [10, 20], "a": [1, 2]}),
        from_slices(OrderedDict(b=[10, 20], a=[1, 2])),
        from_slices(([10, 20], [1, 2])),
    ],
    ids=["dict", "dict in order", "OrderedDict", "tuple"],
)
def test_a_plain_dict_goes_by_name_and_the_others_by_position(dataset: Any) -> None:
    assert rest(dataset) == 27


@pytest.mark.parametrize(
    ("columns", "element"),
    [
        ({"b": [1], "a": [2]}, {"b": 1, "a": 2}),
        (OrderedDict(b=[1], a=[2]), OrderedDict(b=1, a=2)),
        (([1], [2]), (1, 2)),
    ],
    ids=["dict", "OrderedDict", "tuple"],
)
def test_elements_of_a_result_keep_their_container(columns: Any, element: Any) -> None:
    result = fl.tf_computation(lambda: from_slices(columns))()
    assert result == [element]
    assert (type(result), type(result[0])) == (list, type(element))


# ------------------------------------------------------------------ results


def test_a_dataset_is_a_result() -> None:
    """differs: the ancestor gave a dataset back, here it is a list."""
    made = fl.tf_computation(lambda d: d.map(lambda x: x * 2).batch(2), NUMBERS)
    assert str(made.type_signature) == "(int32* -> int32[?]*)"
    assert [batch.tolist() for batch in made([1, 2, 3])] == [[2, 4], [6]]


def test_a_random_dataset_is_drawn_again_by_each_reader() -> None:
    drawn = fl.tf_computation(
        lambda: tf.data.Dataset.range(3).map(lambda _: tf.random.uniform([]))
    )
    assert drawn() != drawn()


def in_a_for(numbers: Any) -> Any:
    total = 0
    for number in numbers:
        total += number
    return total


def test_a_loop_over_a_dataset_works_where_the_error_says() -> None:
    assert fl.tf_computation(tf.function(in_a_for), NUMBERS)([1, 2, 3]) == 6


WITHOUT_END = tf.data.Dataset.range(3, output_type=tf.int32).repeat()


def test_a_dataset_without_end_may_be_taken_from() -> None:
    def first(numbers: Any) -> Any:
        return numbers.take(4).reduce(0, lambda s, x: s + x)

    taken = fl.tf_computation(first, NUMBERS)
    assert taken(WITHOUT_END) == 0 + 1 + 2 + 0
    counted = fl.tf_computation(lambda x: tf.data.Dataset.from_tensors(x).repeat(), INT)
    both = fl.federated_computation(lambda x: taken(counted(x)), INT)
    assert both(2) == 8


def test_whoever_reads_on_and_on_stops_when_the_call_was_given_up() -> None:
    """The number of elements is not known here, so nothing could be refused."""
    numbers = fl.SequenceType(np.int64)
    unknown = tf.data.Dataset.range(3).repeat().filter(lambda x: x > 0)
    made: list[Any] = []

    def count() -> Any:
        while True:
            made.append(np.int64(len(made)))
            yield made[-1]

    given_up = underway.Call()
    token = underway.call.set(given_up)
    try:
        elements = iter(to_plain(tf.data.experimental.to_variant(unknown), numbers))
        ours = iter(as_dataset(LazySequence(count, numbers.element), numbers))
        assert (next(elements), int(next(ours))) == (1, 0)
        given_up.give_up()
        with pytest.raises(asyncio.CancelledError):
            next(elements)
        assert len(list(ours)) < 5
    finally:
        underway.call.reset(token)


class Pair(NamedTuple):
    """Its fields stand in another order than their names in the alphabet."""

    b: Any
    a: Any


PAIRS = fl.SequenceType(Pair(np.float32, np.float32))


def added_up(pairs: Any) -> Any:
    sums = Pair(0.0, 0.0)
    for pair in pairs:
        sums = Pair(sums.b + pair.b, sums.a + pair.a)
    return sums.b


OF_PAIRS: dict[str, Callable[[Any], Any]] = {
    "map": lambda pairs: pairs.map(lambda p: p.b).reduce(0.0, tf.add),
    "reduce": lambda pairs: pairs.reduce(0.0, lambda s, p: s + p.b),
    "state": lambda pairs: (
        pairs.reduce(Pair(0.0, 0.0), lambda s, p: Pair(s.b + p.b, 0.0)).b
    ),
    "for": tf.function(added_up),
    "batch": lambda pairs: tf.reduce_sum(next(iter(pairs.batch(9))).b),
}


@pytest.mark.parametrize("name", OF_PAIRS)
def test_elements_of_a_sequence_of_named_tuples_are_those(name: str) -> None:
    first = fl.tf_computation(OF_PAIRS[name], PAIRS)
    pairs = [Pair(1.0, 10.0), Pair(2.0, 20.0)]
    assert first(pairs) == 3
    assert first(from_slices(Pair(np.ones(2, F32), np.zeros(2, F32)))) == 2
    assert mapped(first)([pairs, pairs[:1]]) == [3, 1]
    assert pickle.loads(pickle.dumps(first))(pairs) == 3


HANDED_ON: dict[str, Callable[[Any], Any]] = {
    "whole": lambda pairs: pairs,
    "mapped": lambda pairs: pairs.map(lambda p: Pair(p.b, p.a)),
    "taken": lambda pairs: pairs.take(9),
    "made": lambda pairs: from_slices(Pair(np.array([1, 2], F32), np.zeros(2, F32))),
}


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("name", HANDED_ON)
def test_named_tuples_keep_their_fields_from_one_graph_to_the_next(
    name: str, fuse: bool
) -> None:
    hand_on = fl.tf_computation(HANDED_ON[name], PAIRS)
    by_name = fl.SequenceType(OrderedDict(b=np.float32, a=np.float32))
    second = fl.tf_computation(
        lambda rows: rows.reduce(0.0, lambda s, row: s + row["b"]), by_name
    )
    both = fl.federated_computation(lambda pairs: second(hand_on(pairs)), PAIRS)
    with local(fuse=fuse):
        assert both([Pair(1.0, 10.0), Pair(2.0, 20.0)]) == 3
        found = hand_on([Pair(1.0, 10.0)])[0]
    assert type(found) is Pair
    assert found.b == 1
