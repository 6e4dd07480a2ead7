# SPDX-License-Identifier: Apache-2.0
"""One small classifier as TFF's programs write it: Keras, variables, functions."""

from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import fedlearn_edu.tff as tff
from fedlearn_edu.runtimes.tensorflow.library import tf

SPEC = OrderedDict(
    x=tf.TensorSpec([None, 4], tf.float32), y=tf.TensorSpec([None, 1], tf.int32)
)
SIZES = (7, 12, 5)


def keras_model(*more: Any) -> Any:
    """4 features, 6 hidden units, `more` layers, 3 classes; the same at each call."""
    keras = tf.keras
    hidden, last = dense(6, seed=7, activation="relu"), dense(3, seed=8)
    return keras.Sequential([keras.Input((4,)), hidden, *more, last], name="small")


def dense(units: int, seed: int = 9, **more: Any) -> Any:
    """A layer with seeded weights; a seed for all would reach other tests."""
    start = tf.keras.initializers.GlorotUniform(seed)
    return tf.keras.layers.Dense(units, kernel_initializer=start, **more)


def loss() -> Any:
    return tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def of_keras(*more: Any, metrics: Sequence[Any] = ()) -> Any:
    return tff.learning.models.from_keras_model(
        keras_model(*more), loss(), SPEC, metrics=metrics
    )


def of_functions(*more: Any) -> Any:
    entropy = tf.keras.metrics.SparseCategoricalCrossentropy
    metrics = {"loss": lambda: entropy(from_logits=True)}
    return tff.learning.models.functional_model_from_keras(
        keras_model(*more), loss(), SPEC, metrics_constructor=metrics
    )


@cache
def _start() -> list[Any]:
    """Made once: Keras makes no model in a body."""
    return [variable.numpy() for variable in keras_model().trainable_variables]


class OfVariables(tff.learning.models.VariableModel):
    """The same in variables; counts examples and adds up the loss."""

    input_spec = SPEC

    def __init__(self) -> None:
        self.trainable_variables = [tf.Variable(array) for array in _start()]
        self.local_variables = [tf.Variable(0.0, trainable=False) for _ in range(2)]

    @tf.function  # type: ignore[untyped-decorator]
    def forward_pass(self, batch_input: Any, training: bool = True) -> Any:
        first, bias, second, last = self.trainable_variables
        logits = tf.nn.relu(batch_input["x"] @ first + bias) @ second + last
        found = loss()(batch_input["y"], logits)
        count = tf.cast(tf.shape(logits)[0], tf.float32)
        for total, more in zip(
            self.local_variables, (count, found * count), strict=True
        ):
            total.assign_add(more)
        return tff.learning.models.BatchOutput(found, logits, tf.shape(logits)[0])

    @tf.function  # type: ignore[untyped-decorator]
    def report_local_unfinalized_metrics(self) -> Any:
        return OrderedDict(examples=self.local_variables[0], mean=self.local_variables)

    def metric_finalizers(self) -> Any:
        return OrderedDict(examples=lambda n: n, mean=lambda sums: sums[1] / sums[0])


MODELS = {"Keras": of_keras, "functions": of_functions, "variables": OfVariables}


def rows(client: int) -> dict[str, Any]:
    """The examples of a client."""
    random = np.random.default_rng(client)
    size = SIZES[client]
    return OrderedDict(
        x=random.normal(size=(size, 4)).astype(np.float32),
        y=random.integers(0, 3, (size, 1)).astype(np.int32),
    )


def clients(batch_size: int = 3) -> list[Any]:
    """Three clients of unequal size, as pipelines."""
    datasets = map(tf.data.Dataset.from_tensor_slices, map(rows, range(len(SIZES))))
    return [dataset.batch(batch_size) for dataset in datasets]
