# SPDX-License-Identifier: Apache-2.0
"""One round in plain NumPy, with every way to go wrong: mistakes made on purpose."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedlearn_edu.course.lessons.evaluation.plain import a_batch, a_model, trained

Weigh = Callable[[Any], float]


def alike(batches: Any) -> float:
    """Every client counts the same."""
    return 1.0


def images(batches: Any) -> float:
    """How many images a client has."""
    return float(sum(len(batch["y"]) for batch in batches))


def added(model: Any, rate: float, data: Any, weigh: Weigh = alike) -> Any:
    """The sum of the clients' models, each times its weight."""
    found = [(weigh(batches), trained(model, rate, batches)) for batches in data]
    return {name: sum(weight * one[name] for weight, one in found) for name in model}


def a_round(model: Any, rate: float, data: Any, weigh: Weigh = alike) -> Any:
    """The model after a round of federated averaging."""
    total = sum(weigh(batches) for batches in data)
    sums = added(model, rate, data, weigh)
    return {name: sums[name] / total for name in model}


def two_clients() -> Any:
    """Two clients, three batches, five images."""
    return [[a_batch(1, 2), a_batch(3)], [a_batch(4, 5)]]


def unequal_clients() -> Any:
    """Three clients of one, two and six images, in one, one and three batches."""
    return [
        [a_batch(7)],
        [a_batch(8, 8)],
        [a_batch(9), a_batch(0, 1, 5), a_batch(2, 6)],
    ]


def zeros() -> Any:
    """The model from which the lesson begins."""
    return a_model(0)


def rounds_of(model: Any, data: Any, rates: Any) -> list[Any]:
    """The models before the first round, and after each."""
    models = [model]
    for rate in rates:
        models.append(a_round(models[-1], rate, data))
    return models


def decayed(rate: float, rounds: int, first: int = 0, by: float = 0.9) -> Any:
    """A learning rate for each round."""
    return rate * by ** np.arange(first, first + rounds)
