# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""What bodies do with a dataset of batches `<x=float32[?],y=int32[?]>`."""

from typing import Any

import numpy as np

from fedlearn_edu import sequence_map, sequence_sum, tf, tf_computation


def total(dataset: Any) -> Any:
    return dataset.reduce(0.0, lambda state, b: state + tf.reduce_sum(b["x"]))


def state_that_grows(dataset: Any) -> Any:
    start = tf.zeros([0], tf.int32)
    return dataset.reduce(start, lambda state, b: tf.concat([state, b["y"]], 0))


def state_of_several_tensors(dataset: Any) -> Any:
    start = {"n": 0, "x": (0.0, tf.constant(-1.0))}

    def step(state: Any, b: Any) -> Any:
        low, high = state["x"]
        return {
            "n": state["n"] + tf.size(b["y"]),
            "x": (low + tf.reduce_sum(b["x"]), tf.maximum(high, tf.reduce_max(b["x"]))),
        }

    found = dataset.reduce(start, step)
    return found["n"], found["x"]


def branches_of_autograph(dataset: Any) -> Any:
    @tf.function
    def step(state: Any, b: Any) -> Any:
        if tf.size(b["y"]) > 2:  # noqa: SIM108 (AutoGraph rewrites statements)
            state = state + 1
        else:
            state = state + 100
        return state

    return dataset.reduce(0, step)


def uses_a_tensor_of_the_body(dataset: Any) -> Any:
    factor = tf.constant(3.0) * tf.cast(dataset.cardinality() * 0 + 2, tf.float32)
    return dataset.map(lambda b: b["x"] * factor).reduce(
        0.0, lambda state, x: state + tf.reduce_sum(x)
    )


def rebatched(dataset: Any) -> Any:
    return total(dataset.unbatch().batch(2))


def returned(dataset: Any) -> Any:
    return dataset.map(lambda b: tf.reduce_sum(b["x"]))


def read_twice(dataset: Any) -> Any:
    return total(dataset), total(dataset)


sum_x = tf_computation(
    lambda b: tf.reduce_sum(b["x"]),
    [("x", (np.float32, [None])), ("y", (np.int32, [None]))],
)


def sequence_intrinsics(dataset: Any) -> Any:
    return sequence_sum(sequence_map(sum_x, dataset))


USES = (
    total,
    state_that_grows,
    state_of_several_tensors,
    branches_of_autograph,
    uses_a_tensor_of_the_body,
    rebatched,
    returned,
    read_twice,
    sequence_intrinsics,
)
