# SPDX-License-Identifier: Apache-2.0
"""Blocks of rows: tensors in their containers, each with one axis more in front.

What a `StackedDataset` does with its elements comes down to these functions. A number
of rows that is known while tracing is a Python `int`, and costs no operation.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fedlearn_edu.runtimes.tensorflow.library import tf

_each = tf.nest.map_structure


def count(*blocks: Any) -> Any:
    """The number of rows, of all of these together."""
    columns = [tf.nest.flatten(block)[0] for block in blocks]
    known = [column.shape[0] for column in columns]
    pairs = zip(columns, known, strict=True)
    return sum(tf.shape(column)[0] if n is None else n for column, n in pairs)


def row(block: Any, number: Any) -> Any:
    """One row; its number is a vector of length one, which saves operations."""
    after, ones = number + 1, tf.ones_like(number)
    # Unlike `tf.gather`, this does not copy a row that lies well in memory.
    return _each(
        lambda column: tf.raw_ops.StridedSlice(
            input=column, begin=number, end=after, strides=ones, shrink_axis_mask=1
        ),
        block,
    )


def row_of(blocks: Sequence[Any], number: Any) -> Any:
    """One row of all blocks, counted through."""
    block, *others = blocks
    if not others:
        return row(block, number)
    here, left = count(block), lambda: row_of(others, number - count(block))
    return tf.cond(number[0] < here, lambda: row(block, number), left)


def fold(block: Any, state: Any, step: Callable[..., Any], shapes: Any) -> Any:
    """Takes one step for each row, in their order; `shapes` are those of the state."""
    rows = count(block)
    if isinstance(rows, int) and rows < 2:
        return step(state, row(block, tf.constant([0]))) if rows else state
    _, folded = tf.while_loop(
        lambda number, _: number[0] < rows,
        lambda number, state: (number + 1, step(state, row(block, number))),
        [tf.constant([0]), state],
        shape_invariants=[tf.TensorShape([1]), shapes],
    )
    return folded


def window(blocks: Sequence[Any], start: int, stop: int) -> list[Any]:
    """The rows from `start` on and before `stop`, counted through."""
    found, before = [], 0
    for block in blocks:
        part = slice(_at_least(0, start - before), _at_least(0, stop - before))
        found.append(_each(lambda column, part=part: column[part], block))
        before += count(block)
    return found


def _at_least(least: int, number: Any) -> Any:
    is_known = isinstance(number, int)
    return max(least, number) if is_known else tf.maximum(least, number)


def batched(blocks: Sequence[Any], size: int, *, drop_remainder: bool) -> list[Any]:
    """Rows of one shape, so many at a time; fewer are a block of their own."""
    whole = _each(lambda *columns: tf.concat(columns, 0), *blocks)
    rows = count(whole)
    left = rows % size
    some = 1 - _at_least(0, 1 - left)

    def cut(first: Any, last: Any, front: Any) -> Any:
        return _each(lambda c: tf.reshape(c[first:last], [*front, *c.shape[1:]]), whole)

    batches = cut(0, rows - left, [rows // size, size])
    return [batches] + [cut(rows - left, rows, [some, left])] * (not drop_remainder)
