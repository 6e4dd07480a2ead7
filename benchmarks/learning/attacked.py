# SPDX-License-Identifier: Apache-2.0
"""Attacks on softmax regression: what an update gives away, and what poison does.

Inversion: batches of MNIST, one step from zero weights and from weights after 60 steps.
Poisoning: 20 clients with 300 images each, B = 10, rate 0.1, 20 rounds.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning.algorithms import ACCURACY, test_on
from fedlearn_edu import attacks, learning
from fedlearn_edu.learning import aggregators, models
from fedlearn_edu.simulation import ClientData, partitions
from fedlearn_edu.simulation.datasets import Dataset

RATE = 0.1
BATCHES = (1, 2, 4, 8)
TRIES = 50
STEPS = 60
CLIENTS, IMAGES, ROUNDS = 20, 300, 20
BAD = (0, 1, 2, 3)

Examples = tuple[NDArray[Any], NDArray[Any]]


# ------------------------------------------------------------------ inversion


def inversion(mnist: Dataset, seeds: tuple[int, ...]) -> dict[str, Any]:
    """For zero and for trained weights, and each batch size: one number per seed."""
    everything = ClientData(*mnist.train, [np.arange(len(mnist.train[1]))])[0]
    examples = everything.x, everything.y
    found: dict[str, Any] = {}
    for seed in seeds:
        chance = np.random.default_rng(seed)
        state = _process().initialize()
        for name, steps in (("zero", 0), (f"after {STEPS} steps", STEPS)):
            for _ in range(steps):
                state = _step(state, *_drawn(examples, 100, chance))
            for size in BATCHES:
                _keep(found, name, size, _inverted(examples, state, size, chance))
    return found


def _keep(
    found: dict[str, Any], name: str, size: int, numbers: dict[str, float]
) -> None:
    for key, number in numbers.items():
        row = found.setdefault(name, {}).setdefault(str(size), {})
        row.setdefault(key, []).append(number)


def _inverted(
    examples: Examples, state: Any, size: int, chance: np.random.Generator
) -> dict[str, float]:
    alike, right, errors = [], [], []
    for _ in range(TRIES):
        x, y = _drawn(examples, size, chance)
        after, before = _step(state, x, y).weights, state.weights
        update = {name: after[name] - before[name] for name in before}
        told = attacks.inversion.recover(_process().model, update, RATE)
        alike.append(attacks.inversion.correlation(told.x, x).mean())
        right.append(set(told.labels) == set(y.tolist()))
        errors.append(np.abs(told.best - x[0]).max())
    numbers = {"correlation": float(np.mean(alike)), "labels": float(np.mean(right))}
    return numbers | ({"error": float(max(errors))} if size == 1 else {})


def _drawn(examples: Examples, size: int, chance: np.random.Generator) -> Examples:
    chosen = chance.integers(0, len(examples[1]), size)
    return examples[0][chosen], examples[1][chosen]


def _step(state: Any, x: Any, y: Any) -> Any:
    """The server's state after a round of one client with one batch."""
    return _process().next(state, [[{"x": x, "y": y}]])[0]


@cache
def _process() -> learning.LearningProcess:
    return learning.build_fed_avg(models.softmax_regression(), RATE)


# ------------------------------------------------------------------ poisoning


RULES: dict[str, Callable[[], Any]] = {
    "mean": aggregators.mean,
    "clipped mean": lambda: aggregators.clipping(aggregators.mean(), quantile=0.5),
    "median": aggregators.median,
    "Krum": lambda: aggregators.krum(len(BAD)),
    "multi-Krum": lambda: aggregators.multi_krum(len(BAD)),
}

ATTACKS: dict[str, Callable[[int], attacks.Attackers]] = {
    "label flip": lambda seed: attacks.label_flip().on(BAD),
    "sign flip × 5": lambda seed: attacks.sign_flip(times=5).on(BAD),
    "Gaussian × 10": lambda seed: attacks.gaussian(times=10, seed=seed).on(BAD),
    "free riders": lambda seed: attacks.free_rider().on(BAD),
    "one replaces the model": lambda seed: attacks.model_replacement(
        says_3(), total_weight=CLIENTS * IMAGES
    ).on([0]),
}

DATA = ("IID", "two shards", "one shard")


def says_3() -> Any:
    """Weights of a model that reads a 3 in every image."""
    return {"weights": np.zeros((784, 10)), "bias": 10.0 * np.eye(10)[3]}


def poisoning(mnist: Dataset, seeds: tuple[int, ...]) -> list[dict[str, Any]]:
    """A row per kind of data and attack: for each rule the accuracy, per seed."""
    model = models.softmax_regression()
    test = test_on(model, mnist)
    rows = []
    for kind, attack in [("IID", name) for name in ATTACKS] + [(k, "") for k in DATA]:
        accuracy: dict[str, list[float]] = {}
        for name, rule in RULES.items():
            for seed in seeds:
                process = learning.build_fed_avg(model, RATE, aggregator=rule())
                if attack:
                    process = attacks.poison(process, ATTACKS[attack](seed))
                accuracy.setdefault(name, []).append(
                    _reached(process, deal(mnist, kind, seed), test)
                )
        rows.append({"data": kind, "attack": attack, "accuracy": accuracy})
    return rows


def deal(mnist: Dataset, kind: str, seed: int) -> ClientData:
    """20 of 200 clients, 300 images each: at random, or in shards sorted by digit."""
    x, y = mnist.train
    everybody = len(y) // IMAGES
    if kind == "IID":
        shares = partitions.iid(y, everybody, seed=seed)
    else:
        shares = partitions.shards(y, everybody, 1 + (kind == DATA[1]), seed=seed)
    return ClientData(x, y, shares[:CLIENTS])


def _reached(process: learning.LearningProcess, data: ClientData, test: Any) -> float:
    options = learning.Options(progress=False, evaluate_every=ROUNDS)
    run = learning.run(
        process, data, ROUNDS, batch_size=10, evaluate=test, options=options
    )
    return float(run.history[ACCURACY][-1])
