# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The rounds in TensorFlow, as one would write them for speed in an afternoon.

One call of one `tf.function` per client, on one thread or on two; data are tensors
before the clock starts, and the server averages in NumPy.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.losses import LOSSES, descend
from benchmarks.models import Loop, Parameters, initial
from benchmarks.workloads import Workload
from fedlearn_edu import tf

_CLIENT = [tf.TensorSpec([None, 784], tf.float32), tf.TensorSpec([None], tf.int32)]
_FLOAT = tf.TensorSpec([], tf.float32)


def loop(workload: Workload, threads: int) -> Loop:
    """Each thread takes every n-th client, one after the other."""
    tensors = [(tf.constant(x), tf.constant(y)) for x, y in workload.clients]
    pool = ThreadPoolExecutor(threads)
    loss, batch_size = LOSSES[workload.model], workload.batch_size
    model_spec = tuple(tf.TensorSpec(p.shape) for p in initial(workload.model).values())

    @tf.function(input_signature=[*_CLIENT, model_spec, _FLOAT])
    def train_client(x: Any, y: Any, model: Any, rate: Any) -> Any:
        for start in tf.range(0, tf.size(y), batch_size):
            end = start + batch_size
            model = descend(loss, model, x[start:end], y[start:end], rate)
        return model

    @tf.function(input_signature=[*_CLIENT, model_spec])
    def evaluate_client(x: Any, y: Any, model: Any) -> Any:
        total = tf.constant(0.0)
        for start in tf.range(0, tf.size(y), batch_size):
            end = start + batch_size
            total += loss(model, x[start:end], y[start:end])
        return total

    def everybody(function: Any, *sent: Any) -> list[Any]:
        def some(first: int) -> list[Any]:
            return [function(x, y, *sent) for x, y in tensors[first::threads]]

        results = map(some, [0]) if threads == 1 else pool.map(some, range(threads))
        return [result for part in results for result in part]

    def train(model: Parameters, rate: float) -> Parameters:
        sent = tuple(map(tf.constant, model)), tf.constant(rate)
        return average(everybody(train_client, *sent))

    def evaluate(model: Parameters) -> float:
        return float(
            np.mean(everybody(evaluate_client, tuple(map(tf.constant, model))))
        )

    return Loop(train, evaluate)


def average(models: list[Any]) -> Parameters:
    """The mean of models of eager tensors, without copying any of them."""
    return tuple(
        sum(part.numpy() for part in parts) / np.float32(len(models))
        for parts in zip(*models, strict=True)
    )
