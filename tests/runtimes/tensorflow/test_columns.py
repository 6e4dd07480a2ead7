# SPDX-License-Identifier: Apache-2.0
"""How what many clients hold is laid out, and what cannot be."""

import gc
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.batched import Entries, Group, Held, Parts, Same
from fedlearn_edu.runtimes.tensorflow.columns import Column, Layout, Results, columns
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import normalize
from fedlearn_edu.types.sequences import cache

pytestmark = pytest.mark.tensorflow

F32, I32 = np.float32, np.int32
FLOATS = fl.SequenceType(F32)
ROWS = fl.SequenceType((F32, [None]))


def laid_out(held: Held, type_: Any, count: int = 2) -> list[Column] | None:
    return columns(Group(held, fl.to_type(type_), count))


def of(values: list[Any], type_: Any) -> Column:
    """The one column of these entries."""
    plain = [normalize(value, fl.to_type(type_)) for value in values]
    found = laid_out(Entries(plain), type_, len(values))
    assert found is not None
    (column,) = found
    return column


def shapes(column: Column) -> list[list[int]]:
    return [tensor.shape.as_list() for tensor in column.tensors]


def test_a_tensor_of_each() -> None:
    column = of([[1, 2], [3, 4], [5, 6]], (F32, [2]))
    assert column.layout == Layout.STACKED
    assert shapes(column) == [[3, 2]]


def test_what_is_the_same_for_all_is_there_once() -> None:
    (column,) = laid_out(Same(np.ones(3, F32), 2), (F32, [3])) or []
    assert (column.layout, shapes(column)) == (Layout.REPLICATED, [[3]])
    (column,) = laid_out(Same((F32(1), F32(2)), 2), FLOATS) or []
    assert (column.layout, shapes(column)) == (Layout.REPLICATED, [[2]])


def test_parts_are_columns_of_their_own() -> None:
    type_ = fl.to_type(OrderedDict(b=F32, a=(F32, [2])))
    held = Parts(
        Struct([("b", Entries([F32(1), F32(2)])), ("a", Same(np.ones(2, F32), 2))])
    )
    found = laid_out(held, type_) or []
    assert [column.layout for column in found] == [Layout.STACKED, Layout.REPLICATED]


def test_sequences_of_one_length_are_even() -> None:
    column = of([[1, 2, 3], [4, 5, 6]], FLOATS)
    assert (column.layout, column.has_tails, shapes(column)) == (
        Layout.UNIFORM,
        False,
        [[2, 3]],
    )


def test_a_smaller_last_element_is_a_tail() -> None:
    column = of([[[1, 2], [3, 4], [5]], [[6, 7], [8, 9], [0]]], ROWS)
    assert (column.layout, column.has_tails) == (Layout.UNIFORM, True)
    assert shapes(column) == [[2, 2, 2], [2, 1, 1]]


def test_sequences_of_different_lengths_follow_each_other() -> None:
    column = of([[1], [], [2, 3]], FLOATS)
    assert (column.layout, column.has_tails) == (Layout.RAGGED, False)
    rows, ends = column.tensors
    assert rows.numpy().tolist() == [1, 2, 3]
    assert ends.numpy().tolist() == [0, 1, 1, 3]


def test_tails_of_different_lengths_follow_each_other() -> None:
    column = of([[[1, 2], [3]], [[4, 5], [6, 7]], [[8]]], ROWS)
    assert (column.layout, column.has_tails) == (Layout.RAGGED, True)
    rows, tails, row_ends, tail_ends = (t.numpy().tolist() for t in column.tensors)
    assert rows == [[1, 2], [4, 5], [6, 7]]
    assert (tails, row_ends, tail_ends) == ([3, 8], [0, 1, 3, 3], [0, 1, 1, 2])


def test_text_may_end_with_anything() -> None:
    column = of(["a\0", "b"], np.str_)
    assert column.tensors[0].numpy().tolist() == [b"a\0", b"b"]


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([[1], [1, 2]], (F32, [None])),
        ([[[1, 2], [3], [4, 5]], [[6, 7]]], ROWS),
        ([[], []], FLOATS),
    ],
    ids=["tensors-of-different-shapes", "a-small-one-amid", "nothing-at-all"],
)
def test_other_data_have_no_columns(values: list[Any], type_: Any) -> None:
    plain = [normalize(value, fl.to_type(type_)) for value in values]
    assert laid_out(Entries(plain), type_, len(values)) is None


def test_results_are_a_sequence_and_need_not_be_laid_out_again() -> None:
    type_ = fl.to_type(OrderedDict(b=F32, a=(I32, [2])))
    tensors = [fl.tf.constant([1.0, 2.0]), fl.tf.constant([[1, 2], [3, 4]])]
    results = Results(tensors, type_)
    assert len(results) == 2
    assert float(results[1][0]) == 2.0
    assert results[1][1].tolist() == [3, 4]
    found = laid_out(Entries(results), type_) or []
    assert all(column.tensors[0] is t for column, t in zip(found, tensors, strict=True))


def test_placed_data_are_freed_at_once_when_nobody_has_them() -> None:
    """A column is kept with the first client, and must not keep that client."""
    batches = [[np.ones(2, F32)], [np.ones(2, F32), np.ones(1, F32)]]
    entries = cache(
        normalize(batches, fl.type_at_clients(ROWS)), fl.type_at_clients(ROWS)
    )
    assert laid_out(Entries(entries), ROWS) is not None
    seen = [weakref.ref(entry) for entry in entries]
    gc.collect()
    gc.disable()
    try:
        del entries
        assert [each() for each in seen] == [None, None]
    finally:
        gc.enable()
