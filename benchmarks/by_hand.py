# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The tutorial's round without any federated library: in TensorFlow, and in NumPy.

`tutorial_round` measures these beside ours. Both are loops over clients as one would
write them for speed in an afternoon; data is in the form they like best before the
clock starts. A client is `(x, y)`: `float32[n,784]` in 0..1 and `int32[n]`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu import tf

Arrays = tuple[NDArray[Any], NDArray[Any]]
"""A client's `(x, y)`, or a model's `(weights, bias)`."""

Loop = tuple[Callable[[Arrays, float], Arrays], Callable[[Arrays], float]]
"""`(train, evaluate)`: a round of federated averaging, and the mean loss of clients."""

_FLOAT, _INT = tf.float32, tf.int32
_CLIENT = [tf.TensorSpec([None, 784], _FLOAT), tf.TensorSpec([None], _INT)]
_MODEL = [tf.TensorSpec([784, 10], _FLOAT), tf.TensorSpec([10], _FLOAT)]


def in_tensorflow(clients: Sequence[Arrays], batch_size: int) -> Loop:
    """One call of one `tf.function` per client; the server averages in NumPy."""
    tensors = [(tf.constant(x), tf.constant(y)) for x, y in clients]

    def loss(w: Any, b: Any, x: Any, y: Any) -> Any:
        belief = tf.nn.softmax(x @ w + b)
        right = tf.one_hot(y, 10) * tf.math.log(belief)
        return -tf.reduce_mean(tf.reduce_sum(right, axis=1))

    @tf.function(input_signature=[*_CLIENT, *_MODEL, tf.TensorSpec([], _FLOAT)])
    def train_client(x: Any, y: Any, w: Any, b: Any, rate: Any) -> Any:
        for start in tf.range(0, tf.size(y), batch_size):
            end = start + batch_size
            with tf.GradientTape() as tape:
                tape.watch([w, b])
                value = loss(w, b, x[start:end], y[start:end])
            slope_w, slope_b = tape.gradient(value, [w, b])
            w, b = w - rate * slope_w, b - rate * slope_b
        return w, b

    @tf.function(input_signature=[*_CLIENT, *_MODEL])
    def evaluate_client(x: Any, y: Any, w: Any, b: Any) -> Any:
        total = tf.constant(0.0)
        for start in tf.range(0, tf.size(y), batch_size):
            end = start + batch_size
            total += loss(w, b, x[start:end], y[start:end])
        return total

    def train(model: Arrays, rate: float) -> Arrays:
        sent = [*map(tf.constant, model), tf.constant(rate)]
        return _average([train_client(x, y, *sent) for x, y in tensors])

    def evaluate(model: Arrays) -> float:
        sent = [*map(tf.constant, model)]
        return float(np.mean([evaluate_client(x, y, *sent) for x, y in tensors]))

    return train, evaluate


def in_numpy(clients: Sequence[Arrays], batch_size: int) -> Loop:
    """Gradients written by hand, one process."""

    def piles(x: NDArray[Any], y: NDArray[Any]) -> list[Arrays]:
        cuts = range(0, len(y), batch_size)
        return [(x[cut : cut + batch_size], y[cut : cut + batch_size]) for cut in cuts]

    batches = [piles(x, y) for x, y in clients]

    def belief(w: NDArray[Any], b: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
        scores = x @ w + b
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: NDArray[Any] = powers / powers.sum(axis=1, keepdims=True)
        return shares

    def train(model: Arrays, rate: float) -> Arrays:
        models = []
        for client in batches:
            w, b = model
            for x, y in client:
                error = belief(w, b, x)
                error[np.arange(len(y)), y] -= 1
                step = np.float32(rate / len(y))
                w, b = w - step * (x.T @ error), b - step * error.sum(axis=0)
            models.append((w, b))
        return _average(models)

    def evaluate(model: Arrays) -> float:
        w, b = model
        losses = [
            sum(
                -np.log(belief(w, b, x)[np.arange(len(y)), y]).mean() for x, y in client
            )
            for client in batches
        ]
        return float(np.mean(losses))

    return train, evaluate


def _average(models: Sequence[Any]) -> Arrays:
    weights, biases = zip(*models, strict=True)
    return np.mean(weights, axis=0), np.mean(biases, axis=0)
