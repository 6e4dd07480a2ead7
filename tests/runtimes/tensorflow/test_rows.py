# SPDX-License-Identifier: Apache-2.0
"""Operations on stacked rows give what `tf.data` gives, most of them without it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fedlearn_edu import tf
from fedlearn_edu.runtimes.tensorflow.stacked import StackedDataset
from tests.runtimes.tensorflow.on_rows import (
    BY_THE_PIPELINE,
    ON_ROWS,
    block,
    of_pipelines,
    operations,
    real_dataset,
    stacked_dataset,
    told,
    traced,
)

pytestmark = pytest.mark.tensorflow
Use = Callable[[Any], Any]

# Rows of a first block, and of a second one.
SIZES = [(0, 0), (1, 0), (5, 0), (3, 1), (2, 3)]


def of_sizes(sizes: tuple[int, int]) -> list[Any]:
    return [block(0, sizes[0]), block(sizes[0], sum(sizes))]


def check_same(ours: Any, theirs: Any, sizes: tuple[int, int]) -> None:
    blocks = of_sizes(sizes)
    for found, expected in zip(ours(*blocks), theirs(*blocks), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, str(sizes))


@pytest.mark.parametrize("use", ON_ROWS.values(), ids=ON_ROWS.keys())
def test_what_rows_can_do_needs_no_pipeline(use: Use) -> None:
    theirs = traced(use, real_dataset)
    for_all_sizes = traced(use, stacked_dataset)
    assert not of_pipelines(operations(for_all_sizes))
    for sizes in SIZES:
        check_same(for_all_sizes, theirs, sizes)
    for sizes in [(0, 0), (5, 0), (3, 1)]:
        for_this_size = traced(use, stacked_dataset, sizes)
        assert not of_pipelines(operations(for_this_size))
        check_same(for_this_size, theirs, sizes)


@pytest.mark.parametrize("use", BY_THE_PIPELINE.values(), ids=BY_THE_PIPELINE.keys())
def test_what_rows_cannot_do_the_pipeline_does(use: Use) -> None:
    theirs, ours = traced(use, real_dataset), traced(use, stacked_dataset)
    assert of_pipelines(operations(ours))
    for sizes in SIZES:
        check_same(ours, theirs, sizes)


# ------------------------------------------------------------------------ loops


@pytest.mark.parametrize(("sizes", "loops"), [((0, 0), 0), ((1, 1), 0), ((3, 1), 1)])
def test_as_many_loops_as_there_are_blocks_of_several_rows(
    sizes: tuple[int, int], loops: int
) -> None:
    graph = traced(told, stacked_dataset, sizes).graph
    kinds = [operation.type for operation in graph.get_operations()]
    assert sum("While" in kind for kind in kinds) == loops


def test_a_step_is_traced_once_for_all_blocks() -> None:
    traces: list[str] = []

    def use(dataset: Any) -> Any:
        def step(state: Any, element: Any) -> Any:
            traces.append("reduce")
            return state + tf.reduce_sum(element["x"])

        def change(element: Any) -> Any:
            traces.append("map")
            return element

        return dataset.map(change).reduce(0.0, step)

    for sizes in [(3, 1), (None, None)]:
        traces.clear()
        traced(use, stacked_dataset, sizes)
        assert traces == ["map", "reduce"]


def slope_descent(dataset: Any, weights: Any) -> Any:
    """A gradient in each step: `<x=float32[?,2],y=float32[?]>*` to `float32[2]`."""

    def step(weights: Any, batch: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            guess = tf.linalg.matvec(batch["x"], weights)
            loss = tf.reduce_mean((guess - batch["y"]) ** 2)
        return weights - 0.1 * tape.gradient(loss, weights)

    return dataset.reduce(weights, step)


@tf.function  # type: ignore[untyped-decorator]
def loop_of_autograph(dataset: Any, weights: Any) -> Any:
    for batch in dataset:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            guess = tf.linalg.matvec(batch["x"], weights)
            loss = tf.reduce_mean((guess - batch["y"]) ** 2)
        weights -= 0.1 * tape.gradient(loss, weights)
    return weights


def change(batch: Any) -> Any:
    return {"x": 2 * batch["x"], "y": batch["y"]}


FOR_CLIENTS: dict[str, Callable[[Any, Any], Any]] = {
    "reduce": slope_descent,
    "for": loop_of_autograph,
    "map": lambda d, w: slope_descent(d.map(change), w),
    "take": lambda d, w: slope_descent(d.take(2), w),
    "skip": lambda d, w: slope_descent(d.skip(1), w),
    "repeat": lambda d, w: slope_descent(d.repeat(2), w),
    "batch": lambda d, w: (
        d.map(lambda b: tf.reduce_sum(b["x"]))
        .batch(2)
        .reduce(w, lambda w, sums: 0.5 * w + tf.reduce_prod(sums))
    ),
}


def one_after_the_other(of_client: Any, clients: Any) -> Any:
    return tf.map_fn(of_client, clients, fn_output_signature=tf.TensorSpec([2]))


def all_in_one(of_client: Any, clients: Any) -> Any:
    return tf.vectorized_map(of_client, clients, fallback_to_while_loop=False)


@pytest.mark.parametrize("together", [one_after_the_other, all_in_one])
@pytest.mark.parametrize("program", FOR_CLIENTS.values(), ids=FOR_CLIENTS.keys())
def test_loops_over_rows_stand_in_a_loop_over_clients(
    program: Any, together: Any
) -> None:
    check_for_clients(program, together, known=True, last=1)


@pytest.mark.parametrize("last", [0, 1], ids=["even", "ragged"])
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("together", [one_after_the_other, all_in_one])
def test_numbers_of_rows_may_be_known_or_not(
    together: Any, known: bool, last: int
) -> None:
    check_for_clients(slope_descent, together, known=known, last=last)


def check_for_clients(program: Any, together: Any, *, known: bool, last: int) -> None:
    row = {"x": tf.TensorSpec([None, 2]), "y": tf.TensorSpec([None])}
    rng = np.random.default_rng(7)
    shapes = [(3, 4, 5, 2), (3, 4, 5), (3, last, 2, 2), (3, last, 2)]
    data = [tf.constant(rng.random(shape), tf.float32) for shape in shapes]

    def of_client(columns: Any) -> Any:
        x, y, last_x, last_y = columns
        blocks = [{"x": x, "y": y}, {"x": last_x, "y": last_y}]
        return program(StackedDataset(blocks, row, row), tf.zeros([2]))

    specs = [
        tf.TensorSpec(shape if known else [3, None, *shape[2:]]) for shape in shapes
    ]
    of_all = tf.function(lambda *c: together(of_client, c), autograph=False)
    in_one_graph = of_all.get_concrete_function(*specs)
    assert not of_pipelines(operations(in_one_graph))
    alone = tf.function(of_client, autograph=False)
    expected = [alone([column[i] for column in data]) for i in range(3)]
    np.testing.assert_allclose(in_one_graph(*data), expected, rtol=1e-5)
