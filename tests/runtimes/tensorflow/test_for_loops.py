# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""`for element in dataset` in a `tf.function`: the loops of AutoGraph, over rows."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from tests.runtimes.tensorflow.on_rows import (
    block,
    louder,
    of_pipelines,
    operations,
    real_dataset,
    stacked_dataset,
    told,
    traced,
)

pytestmark = pytest.mark.tensorflow


def halved_if_large(x: Any) -> Any:
    if tf.reduce_sum(x) > 6.0:  # noqa: SIM108 (AutoGraph rewrites statements)
        x = x / 2.0
    else:
        x = x - 1.0
    return x


@tf.function
def calls_a_function_with_a_condition(dataset: Any) -> Any:
    total = tf.zeros([2])
    for element in dataset:
        total = 2.0 * total + halved_if_large(element["x"])
    return total


@tf.function
def breaks_and_continues(dataset: Any) -> Any:
    total, steps = 0.0, 0
    for i, element in enumerate(dataset):
        if tf.reduce_sum(halved_if_large(element["x"])) > 7.0:
            break
        if i == 1:
            continue
        total = 2.0 * total + tf.reduce_sum(element["x"])
        steps += 1
    return total, steps


@tf.function
def has_a_loop_inside(dataset: Any) -> Any:
    total = 0.0
    for outer in dataset:
        for inner in dataset.take(2):
            total = 0.5 * total + tf.reduce_sum(outer["x"] * inner["x"])
        while total > 10.0:
            total = total - 7.0
    return total


@tf.function
def has_a_state_that_grows(dataset: Any) -> Any:
    found = tf.zeros([0])
    for element in dataset:
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(found, tf.TensorShape([None]))]
        )
        found = tf.concat([found, element["x"]], 0)
    return found


@tf.function
def has_a_state_in_containers(dataset: Any) -> Any:
    state = {"a": tf.constant(0.0), "b": (tf.constant(1), tf.constant(""))}
    for element in dataset:
        state["a"] += tf.reduce_sum(element["x"])
        state["b"] = (state["b"][0] * 2, state["b"][1] + element["s"])
    return state


@tf.function
def has_no_state(dataset: Any) -> Any:
    for element in dataset:
        tf.debugging.assert_all_finite(element["x"], "too large")
    return len(dataset)


@tf.function
def spreads_tuples(dataset: Any) -> Any:
    text = ""
    for x, s in dataset.map(lambda e: (e["x"], e["s"])):
        text = text + s + tf.strings.as_string(x[0])
    return text


@tf.function
def goes_over_other_datasets(dataset: Any) -> Any:
    text = ""
    for batch in dataset.map(louder).batch(2).repeat(2):
        text += tf.strings.reduce_join(batch["s"]) + ","
    return text


LOOPS = (
    calls_a_function_with_a_condition,
    breaks_and_continues,
    has_a_loop_inside,
    has_a_state_that_grows,
    has_a_state_in_containers,
    has_no_state,
    spreads_tuples,
    goes_over_other_datasets,
)


@pytest.mark.parametrize("use", LOOPS, ids=lambda use: use.python_function.__name__)
def test_loops_of_autograph_need_no_pipeline(use: Callable[[Any], Any]) -> None:
    ours, theirs = traced(use, stacked_dataset), traced(use, real_dataset)
    assert not of_pipelines(operations(ours))
    for first, last in [(0, 0), (4, 4), (3, 4)]:
        blocks = [block(0, first), block(first, last)]
        for found, expected in zip(ours(*blocks), theirs(*blocks), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_a_state_that_is_no_tensor_takes_the_pipeline() -> None:
    @tf.function
    def use(dataset: Any) -> Any:
        found, i = tf.TensorArray(tf.float32, 0, dynamic_size=True), 0
        for element in dataset:
            found, i = found.write(i, element["x"]), i + 1
        return found.stack()

    ours = traced(use, stacked_dataset)
    assert of_pipelines(operations(ours))
    np.testing.assert_array_equal(ours(block(0, 3), block(3, 4))[0], block(0, 4)["x"])


# ------------------------------------------------------------- datasets as arguments


@tf.function
def the_first_two(dataset: Any) -> Any:
    return dataset.take(2)


@tf.function
def times(dataset: Any, factor: Any) -> Any:
    return dataset.map(lambda e: {"x": e["x"] * factor, "s": e["s"]})


@pytest.mark.parametrize(
    ("use", "stays"),
    [
        (lambda d: told(the_first_two(d)), True),
        (lambda d: told(times(d, tf.constant(3.0))), False),
        (lambda d: told(the_first_two(d.map(louder))), False),
        (lambda d: told(tf.cond(tf.constant(True), lambda: d, lambda: d)), True),
    ],
    ids=["rows", "mapped inside", "mapped before", "cond"],
)
def test_rows_go_in_and_out_of_functions(use: Any, stays: bool) -> None:
    ours, theirs = traced(use, stacked_dataset), traced(use, real_dataset)
    assert bool(of_pipelines(operations(ours))) is not stays
    blocks = [block(0, 3), block(3, 4)]
    for found, expected in zip(ours(*blocks), theirs(*blocks), strict=True):
        np.testing.assert_array_equal(found, expected)


# ------------------------------------------------------------- as it is often written


def test_a_keras_model_is_trained_in_a_loop_of_autograph() -> None:
    batches = OrderedDict(x=(np.float32, [None, 2]), y=(np.int32, [None]))

    @tf.function
    def train(model: Any, dataset: Any, optimizer: Any) -> Any:
        of_batch = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        total = 0.0
        for batch in dataset:
            with tf.GradientTape() as tape:
                loss = of_batch(batch["y"], model(batch["x"]))
            slopes = tape.gradient(loss, model.trainable_variables)
            pairs = zip(slopes, model.trainable_variables, strict=True)
            optimizer.apply_gradients(pairs)
            total += loss
        return total

    @fl.tf_computation(fl.SequenceType(batches))
    def train_client(dataset: Any) -> Any:
        layer = tf.keras.layers.Dense(3, kernel_initializer="zeros")
        model = tf.keras.Sequential([tf.keras.layers.Input([2]), layer])
        total = train(model, dataset, tf.keras.optimizers.SGD(0.1))
        return total, layer.kernel + 0.0

    rng = np.random.default_rng(7)
    data = [
        OrderedDict(x=rng.random((n, 2)).astype(np.float32), y=np.arange(n) % 3)
        for n in (5, 5, 2)
    ]
    spec = OrderedDict(x=tf.TensorSpec([None, 2]), y=tf.TensorSpec([None], tf.int32))
    real = tf.data.Dataset.from_generator(lambda: iter(data), output_signature=spec)
    expected = train_client(real)
    for ours, theirs in zip(train_client(data), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    code: Any = train_client.tree.code  # type: ignore[union-attr]
    assert isinstance(code, GraphCode)
    assert not of_pipelines(operations(code._over_stacks))
