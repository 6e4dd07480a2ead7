# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The rounds in TensorFlow by hand: one call per client, or one graph for all.

`threads` is what one would write for speed in an afternoon: one `tf.function`, called
for each client by two threads, and the server averages in NumPy. An expert would stack
all clients of equal shapes into one tensor: `parallel` loops over them and lets
TensorFlow work on several at once; `batched` takes groups of clients, and what each of
them multiplies becomes one batched product.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.models import Loop, Parameters
from benchmarks.workloads import Workload
from fedlearn_edu import tf

_THREADS = 2
_AT_ONCE = 10
_ZERO = (np.float32(0),)
_MODEL = (tf.TensorSpec([784, 10]), tf.TensorSpec([10]))
_FLOAT = tf.TensorSpec([])
_CLIENT = [tf.TensorSpec([None, 784]), tf.TensorSpec([None], tf.int32)]


def loss_of(parameters: Sequence[Any], x: Any, y: Any) -> Any:
    """The loss of a batch in TensorFlow: the mean over its examples, in nats."""
    weights, bias = parameters
    belief = tf.nn.softmax(x @ weights + bias)
    right = tf.one_hot(y, 10) * tf.math.log(belief)
    return -tf.reduce_mean(tf.reduce_sum(right, axis=1))


def descend(loss: Any, parameters: Sequence[Any], x: Any, y: Any, rate: Any) -> Any:
    """One step of plain gradient descent on one batch, in TensorFlow."""
    with tf.GradientTape() as tape:
        tape.watch(parameters)
        value = loss(parameters, x, y)
    gradients = tape.gradient(value, parameters)
    return tuple(p - rate * s for p, s in zip(parameters, gradients, strict=True))


# ------------------------------------------------------------------ one call per client


def threads(workload: Workload) -> Loop:
    """Each of two threads takes every second client, one after the other."""
    tensors = [(tf.constant(x), tf.constant(y)) for x, y in workload.clients]
    pool = ThreadPoolExecutor(_THREADS)
    batch_size = workload.batch_size

    @tf.function(input_signature=[*_CLIENT, _MODEL, _FLOAT])
    def train_client(x: Any, y: Any, model: Any, rate: Any) -> Any:
        for start in tf.range(0, tf.size(y), batch_size):
            end = start + batch_size
            model = descend(loss_of, model, x[start:end], y[start:end], rate)
        return model

    @tf.function(input_signature=[*_CLIENT, _MODEL])
    def evaluate_client(x: Any, y: Any, model: Any) -> Any:
        total = tf.constant(0.0)
        for start in tf.range(0, tf.size(y), batch_size):
            end = start + batch_size
            total += loss_of(model, x[start:end], y[start:end])
        return total

    def everybody(function: Any, *sent: Any) -> list[Any]:
        def some(first: int) -> list[Any]:
            return [function(x, y, *sent) for x, y in tensors[first::_THREADS]]

        return [one for part in pool.map(some, range(_THREADS)) for one in part]

    def train(model: Parameters, rate: float) -> Parameters:
        sent = tuple(map(tf.constant, model)), tf.constant(rate)
        return _average(everybody(train_client, *sent))

    def evaluate(model: Parameters) -> float:
        return float(
            np.mean(everybody(evaluate_client, tuple(map(tf.constant, model))))
        )

    return Loop(train, evaluate)


def _average(models: list[Any]) -> Parameters:
    """The mean of models of eager tensors, without copying any of them."""
    return tuple(
        sum(part.numpy() for part in parts) / np.float32(len(models))
        for parts in zip(*models, strict=True)
    )


# ------------------------------------------------------------------ one graph for all


def parallel(workload: Workload) -> Loop:
    """A `tf.while_loop` over clients, with a loop over batches inside."""

    def trained(x: Any, y: Any, model: Any, rate: Any) -> Any:
        return _fold(
            tf.shape(y)[0],
            lambda i, own: descend(loss_of, own, x[i], y[i], rate),
            model,
        )

    def evaluated(x: Any, y: Any, model: Any) -> Any:
        return _fold(
            tf.shape(y)[0],
            lambda i, sums: (sums[0] + loss_of(model, x[i], y[i]),),
            _ZERO,
        )

    return _loop(workload, workload.stacked(), trained, evaluated)


def batched(workload: Workload) -> Loop:
    """Groups of clients at a time, each client with weights of its own."""
    groups = workload.grouped()
    size = groups[1].shape[2]

    def trained(x: Any, y: Any, model: Any, rate: Any) -> Any:
        own = tuple(tf.repeat(part[None], size, axis=0) for part in model)
        own = _fold(
            tf.shape(y)[0],
            lambda i, own: descend(_losses_of_group, own, x[i], y[i], rate),
            own,
        )
        return tuple(tf.reduce_sum(part, axis=0) for part in own)

    def evaluated(x: Any, y: Any, model: Any) -> Any:
        own = tuple(part[None] for part in model)
        return _fold(
            tf.shape(y)[0],
            lambda i, sums: (sums[0] + _losses_of_group(own, x[i], y[i]),),
            _ZERO,
        )

    return _loop(workload, groups, trained, evaluated)


def _loop(workload: Workload, data: Any, trained: Any, evaluated: Any) -> Loop:
    """Sums `trained` and `evaluated` over the rows of `data`, in one graph each."""
    x, y = (tf.constant(part) for part in data)
    count = np.float32(len(workload.clients))
    data_spec = [
        tf.TensorSpec([None, None, *part.shape[2:]], part.dtype) for part in (x, y)
    ]

    @tf.function(input_signature=[*data_spec, _MODEL, _FLOAT])
    def train_all(x: Any, y: Any, model: Any, rate: Any) -> Any:
        def add(i: Any, sums: Any) -> Any:
            return _plus(sums, trained(x[i], y[i], model, rate))

        sums = _fold(tf.shape(y)[0], add, tuple(map(tf.zeros_like, model)))
        return tuple(part / count for part in sums)

    @tf.function(input_signature=[*data_spec, _MODEL])
    def evaluate_all(x: Any, y: Any, model: Any) -> Any:
        def add(i: Any, sums: Any) -> Any:
            return _plus(sums, evaluated(x[i], y[i], model))

        return _fold(tf.shape(y)[0], add, _ZERO)[0] / count

    def train(model: Parameters, rate: float) -> Parameters:
        sent = tuple(map(tf.constant, model)), tf.constant(rate)
        return tuple(part.numpy() for part in train_all(x, y, *sent))

    def evaluate(model: Parameters) -> float:
        return float(evaluate_all(x, y, tuple(map(tf.constant, model))))

    return Loop(train, evaluate)


def _fold(count: Any, step: Any, state: Any) -> Any:
    """`step(i, state)` for each i below `count`, in the graph."""
    state = tuple(map(tf.convert_to_tensor, state))
    _, folded = tf.while_loop(
        lambda i, _: i < count,
        lambda i, state: (i + 1, step(i, state)),
        [tf.constant(0), state],
        parallel_iterations=_AT_ONCE,
    )
    return folded


def _plus(sums: Any, parts: Any) -> Any:
    return tuple(a + b for a, b in zip(sums, parts, strict=True))


def _losses_of_group(model: Any, x: Any, y: Any) -> Any:
    """A batch's loss, summed over a group's clients: gradients stay each client's own.

    As `loss_of`, with one axis more in front.
    """
    weights, bias = model
    belief = tf.nn.softmax(x @ weights + bias[:, None])
    right = tf.one_hot(y, 10) * tf.math.log(belief)
    return -tf.reduce_sum(tf.reduce_mean(tf.reduce_sum(right, axis=2), axis=1))
