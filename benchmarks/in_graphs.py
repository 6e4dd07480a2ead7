# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The whole round in one TensorFlow graph, as an expert would write it.

All clients are stacked into one tensor, so they need equal shapes. `parallel` loops
over clients and lets TensorFlow work on several of them at once; `batched` takes groups
of clients, and what each of them multiplies becomes one batched product.
"""

from typing import Any

import numpy as np

from benchmarks.losses import LOSSES, descend
from benchmarks.models import Loop, Parameters, initial
from benchmarks.workloads import Workload
from fedlearn_edu import tf

_AT_ONCE = 10


def parallel(workload: Workload) -> Loop:
    """A `tf.while_loop` over clients, with a loop over batches inside."""
    loss = LOSSES[workload.model]

    def trained(x: Any, y: Any, model: Any, rate: Any) -> Any:
        return _fold(
            tf.shape(y)[0], lambda i, own: descend(loss, own, x[i], y[i], rate), model
        )

    def evaluated(x: Any, y: Any, model: Any) -> Any:
        return _fold(
            tf.shape(y)[0], lambda i, sums: (sums[0] + loss(model, x[i], y[i]),), _ZERO
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


_ZERO = (np.float32(0),)


def _loop(workload: Workload, data: Any, trained: Any, evaluated: Any) -> Loop:
    """Sums `trained` and `evaluated` over the rows of `data`, in one graph each."""
    x, y = (tf.constant(part) for part in data)
    count = np.float32(len(workload.clients))
    model_spec = tuple(tf.TensorSpec(p.shape) for p in initial(workload.model).values())
    data_spec = [
        tf.TensorSpec([None, None, *part.shape[2:]], part.dtype) for part in (x, y)
    ]

    @tf.function(input_signature=[*data_spec, model_spec, tf.TensorSpec([])])
    def train_all(x: Any, y: Any, model: Any, rate: Any) -> Any:
        def add(i: Any, sums: Any) -> Any:
            return _plus(sums, trained(x[i], y[i], model, rate))

        sums = _fold(tf.shape(y)[0], add, tuple(map(tf.zeros_like, model)))
        return tuple(part / count for part in sums)

    @tf.function(input_signature=[*data_spec, model_spec])
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

    Softmax regression, as in `losses.py`, with one axis more in front.
    """
    weights, bias = model
    belief = tf.nn.softmax(x @ weights + bias[:, None])
    right = tf.one_hot(y, 10) * tf.math.log(belief)
    return -tf.reduce_sum(tf.reduce_mean(tf.reduce_sum(right, axis=2), axis=1))
