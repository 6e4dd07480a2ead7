# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The whole round in one JAX function, as an expert would write it there.

`vmap` makes one client's training that of a group of clients, so they need equal
shapes; `scan` takes their batches, and the groups, one after the other. Softmax
regression only. Rows import this file when they are made: without the extra
`benchmark`, there is no JAX.
"""

from functools import partial
from typing import Any

import jax
import numpy as np

from benchmarks.models import Loop, Parameters
from benchmarks.workloads import Workload

jax.config.update("jax_platforms", "cpu")


def loop(workload: Workload) -> Loop:
    """Groups of clients at a time, as many as batched products in TensorFlow take."""
    x, y = map(jax.device_put, workload.grouped())
    count = np.float32(len(workload.clients))

    @jax.jit
    def train_all(model: Any, rate: Any, x: Any, y: Any) -> Any:
        zeros = jax.tree.map(jax.numpy.zeros_like, model)
        sums = _summed(partial(_train_client, model, rate), zeros, x, y)
        return tuple(part / count for part in sums)

    @jax.jit
    def evaluate_all(model: Any, x: Any, y: Any) -> Any:
        return _summed(partial(_evaluate_client, model), 0.0, x, y) / count

    def train(model: Parameters, rate: float) -> Parameters:
        return tuple(map(np.asarray, train_all(model, rate, x, y)))

    def evaluate(model: Parameters) -> float:
        return float(evaluate_all(model, x, y))

    return Loop(train, evaluate)


def _summed(client: Any, zero: Any, x: Any, y: Any) -> Any:
    """What `client` makes of its batches, added up over clients: a group at a time."""

    def add(sums: Any, group: Any) -> Any:
        results = jax.vmap(client, in_axes=1)(*group)
        return jax.tree.map(lambda s, part: s + part.sum(axis=0), sums, results), None

    return jax.lax.scan(add, zero, (x, y))[0]


def _train_client(model: Any, rate: Any, x: Any, y: Any) -> Any:
    def step(model: Any, batch: Any) -> Any:
        gradients = jax.grad(_loss)(model, *batch)
        return jax.tree.map(lambda p, g: p - rate * g, model, gradients), None

    return jax.lax.scan(step, model, (x, y))[0]


def _evaluate_client(model: Any, x: Any, y: Any) -> Any:
    def add(total: Any, batch: Any) -> Any:
        return total + _loss(model, *batch), None

    return jax.lax.scan(add, 0.0, (x, y))[0]


def _loss(model: Any, x: Any, y: Any) -> Any:
    weights, bias = model
    logs = jax.nn.log_softmax(x @ weights + bias)
    return -(jax.nn.one_hot(y, 10) * logs).sum(axis=1).mean()
