# SPDX-License-Identifier: Apache-2.0
"""The rounds in NumPy, gradients by hand: what all other rows have to agree with.

One process, one client after the other. A model has a function from inputs to scores,
which also returns what the backward pass needs, and one from there to gradients.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import convolutions
from benchmarks.models import Loop, Parameters, initial
from benchmarks.workloads import Workload

Array = NDArray[Any]


def loop(workload: Workload) -> Loop:
    """One client after the other, data cut into batches beforehand."""
    batches = [workload.cut(client) for client in workload.clients]
    forward, backward = _MODELS[workload.model]

    def train(model: Parameters, rate: float) -> Parameters:
        step = np.float32(rate)
        total = [np.zeros_like(part) for part in model]
        for client in batches:
            own = model
            for x, y in client:
                scores, seen = forward(own, x)
                gradients = backward(own, seen, _error(scores, y))
                pairs = zip(own, gradients, strict=True)
                own = tuple(part - step * gradient for part, gradient in pairs)
            for summed, part in zip(total, own, strict=True):
                summed += part
        return tuple(summed / np.float32(len(batches)) for summed in total)

    def evaluate(model: Parameters) -> float:
        losses = [
            sum(_loss(forward(model, x)[0], y) for x, y in client) for client in batches
        ]
        return float(np.mean(losses))

    return Loop(train, evaluate)


def losses_of(workload: Workload) -> tuple[float, ...]:
    """The loss after each round that is checked."""
    train, evaluate = loop(workload)
    model, losses = tuple(initial(workload.model).values()), []
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


def _softmax_forward(model: Parameters, x: Array) -> tuple[Array, Array]:
    weights, bias = model
    return x @ weights + bias, x


def _softmax_backward(model: Parameters, x: Array, error: Array) -> Parameters:
    return x.T @ error, error.sum(axis=0)


_MODELS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "softmax": (_softmax_forward, _softmax_backward),
    "cnn": (convolutions.forward, convolutions.backward),
}
