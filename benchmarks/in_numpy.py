# SPDX-License-Identifier: Apache-2.0
"""The rounds in NumPy, gradients by hand: what all other rows have to agree with.

One process, one client after the other.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.models import Loop, Parameters, initial
from benchmarks.workloads import Workload

Array = NDArray[Any]


def loop(workload: Workload) -> Loop:
    """One client after the other, data cut into batches beforehand."""
    batches = [workload.cut(client) for client in workload.clients]

    def train(model: Parameters, rate: float) -> Parameters:
        step = np.float32(rate)
        total = [np.zeros_like(part) for part in model]
        for client in batches:
            weights, bias = model
            for x, y in client:
                error = _error(x @ weights + bias, y)
                weights = weights - step * (x.T @ error)
                bias = bias - step * error.sum(axis=0)
            total[0] += weights
            total[1] += bias
        return tuple(summed / np.float32(len(batches)) for summed in total)

    def evaluate(model: Parameters) -> float:
        weights, bias = model
        losses = [
            sum(_loss(x @ weights + bias, y) for x, y in client) for client in batches
        ]
        return float(np.mean(losses))

    return Loop(train, evaluate)


def losses_of(workload: Workload) -> tuple[float, ...]:
    """The loss after each round that is checked."""
    train, evaluate = loop(workload)
    model, losses = tuple(initial().values()), []
    for rate in workload.rates:
        model = train(model, rate)
        losses.append(evaluate(model))
    return tuple(losses)


def _belief(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Array = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _loss(scores: Array, y: Array) -> float:
    return float(-np.log(_belief(scores)[np.arange(len(y)), y]).mean())


def _error(scores: Array, y: Array) -> Array:
    """The gradient of the mean loss with respect to the scores."""
    error = _belief(scores)
    error[np.arange(len(y)), y] -= 1
    error /= len(y)
    return error
