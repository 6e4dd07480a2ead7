# SPDX-License-Identifier: Apache-2.0
"""A stacked dataset is a dataset: whatever a body does with it, it does the same."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode

pytestmark = pytest.mark.tensorflow

BATCH = OrderedDict(x=(np.float32, [None]), y=(np.int32, [None]))
BATCHES = fl.SequenceType(BATCH)


def batches(*sizes: int) -> list[Any]:
    """Batches of given sizes; the numbers in them differ."""
    rng = np.random.default_rng(7)
    return [
        OrderedDict(x=rng.random(n).astype(np.float32), y=np.arange(n, dtype=np.int32))
        for n in sizes
    ]


def as_dataset(data: list[Any]) -> Any:
    spec = OrderedDict(x=tf.TensorSpec([None]), y=tf.TensorSpec([None], tf.int32))
    return tf.data.Dataset.from_generator(lambda: iter(data), output_signature=spec)


def total(dataset: Any) -> Any:
    return dataset.reduce(0.0, lambda state, b: state + tf.reduce_sum(b["x"]))


def branches_of_autograph(dataset: Any) -> Any:
    @tf.function  # type: ignore[untyped-decorator]
    def step(state: Any, b: Any) -> Any:
        if tf.size(b["y"]) > 2:  # noqa: SIM108 (AutoGraph rewrites statements)
            state = state + 1
        else:
            state = state + 100
        return state

    return dataset.reduce(0, step)


def a_tensor_of_the_body(dataset: Any) -> Any:
    factor = tf.constant(3.0) * tf.cast(dataset.cardinality() * 0 + 2, tf.float32)
    return total(dataset.map(lambda b: {"x": b["x"] * factor}))


sum_x = fl.tf_computation(lambda b: tf.reduce_sum(b["x"]), BATCH)
# What bodies do with a dataset of batches; `on_rows.py` has many more, of rows.
USES: dict[str, Callable[[Any], Any]] = {
    "total": total,
    "a state that grows": lambda d: d.reduce(
        tf.zeros([0], tf.int32), lambda state, b: tf.concat([state, b["y"]], 0)
    ),
    "branches of AutoGraph": branches_of_autograph,
    "a tensor of the body": a_tensor_of_the_body,
    "rebatched": lambda d: total(d.unbatch().batch(2)),
    "returned": lambda d: d.map(lambda b: tf.reduce_sum(b["x"])),
    "sequence intrinsics": lambda d: fl.sequence_sum(fl.sequence_map(sum_x, d)),
}


@pytest.mark.parametrize("sizes", [(3, 3, 2), (1, 1)], ids=str)
@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_every_use_gives_what_the_real_pipeline_gives(
    use: Callable[[Any], Any], sizes: tuple[int, ...]
) -> None:
    data = batches(*sizes)
    computation = fl.tf_computation(use, BATCHES)
    expected = computation(as_dataset(data))  # a real pipeline, which stays one
    for _ in range(2):
        found = computation(data)
        tf.nest.map_structure(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), found, expected
        )


def test_equal_elements_are_stacked_and_read_by_a_loop() -> None:
    seen = []

    def use(dataset: Any) -> Any:
        seen.append(type(dataset).__name__)
        return dataset.reduce(0.0, lambda total, b: total + tf.reduce_sum(b["x"]))

    computation = fl.tf_computation(use, BATCHES)
    for sizes in [(3, 3), (3, 3, 2), (5, 5)]:
        data = batches(*sizes)
        expected = sum(float(b["x"].sum()) for b in data)
        np.testing.assert_allclose(computation(data), expected, rtol=1e-6)
    # Once more to see that it means the same, and once, and only once, for rows.
    assert [name == "StackedDataset" for name in seen] == [False, False, True]


@pytest.mark.parametrize("sizes", [(3, 2, 3), (2, 3, 3)], ids=str)
def test_unequal_elements_go_through_a_pipeline(sizes: tuple[int, ...]) -> None:
    computation = fl.tf_computation(total, BATCHES)
    code: Any = computation.tree.code  # type: ignore[union-attr]
    assert isinstance(code, GraphCode)
    data = batches(*sizes)
    expected = sum(float(b["x"].sum()) for b in data)
    np.testing.assert_allclose(computation(data), expected, rtol=1e-6)
    assert "_traced_over_stacks" not in vars(code)


def test_fields_stay_apart_whatever_their_names() -> None:
    pair = fl.SequenceType(OrderedDict(y=np.float32, x=np.float32))
    differences = fl.tf_computation(
        lambda ds: ds.map(lambda e: e["y"] - 2 * e["x"]).reduce(0.0, tf.add), pair
    )
    swapped = fl.tf_computation(
        lambda ds: ds.map(lambda e: OrderedDict(y=e["x"], x=e["y"])).reduce(
            OrderedDict(y=0.0, x=0.0),
            lambda s, e: OrderedDict(y=s["y"] + e["y"], x=s["x"] + e["x"]),
        ),
        pair,
    )
    data = [OrderedDict(y=1.0, x=10.0), OrderedDict(y=2.0, x=20.0)]
    for _ in range(2):
        assert differences(data) == 3 - 60
        assert swapped(data) == OrderedDict(y=30.0, x=3.0)
