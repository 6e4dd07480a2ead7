# SPDX-License-Identifier: Apache-2.0
"""What is measured: algorithms, a published table, attacks on rules, and privacy.

Source of the table: B. McMahan et al., "Communication-Efficient Learning of Deep
Networks from Decentralized Data", AISTATS 2017, Table 1, its row for the 2NN. The paper
tuned the learning rate for each cell; here it is the same in both.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedlearn_edu import attacks, learning
from fedlearn_edu.learning import LearningProcess, accounting, aggregators, models
from fedlearn_edu.simulation import ClientData, ClientSampling, partitions
from fedlearn_edu.simulation.datasets import Dataset

RATE = 0.1
ACCURACY = "test.accuracy_per_example"

Seeds = tuple[int, ...]
Build = Callable[[models.Model], LearningProcess]


def _test_on(model: models.Model, mnist: Dataset) -> dict[str, Any]:
    """What `run` is to evaluate: the accuracy on all test images."""
    x, y = mnist.test
    everything = ClientData(x, y, [np.arange(len(y))])
    return {"test": learning.build_federated_evaluation(model).on(everything)}


# ---------------------------------------------------------------- one digit per client

ROUNDS = (20, 50, 100)
_CLIENTS, _BATCH_SIZE = 10, 100

ALGORITHMS: dict[str, tuple[str, Build]] = {
    "FedSGD": (
        "one step a round, rate 0.5",
        lambda model: learning.build_fed_sgd(model, 0.5),
    ),
    "FedAvg, E = 1": ("rate 0.1", lambda model: learning.build_fed_avg(model, RATE)),
    "FedAvg, E = 5": (
        "rate 0.1, five local epochs",
        lambda model: learning.build_fed_avg(model, RATE, local_epochs=5),
    ),
    "FedProx": (
        "rate 0.1, μ = 0.1",
        lambda model: learning.build_fed_prox(model, RATE, proximal_strength=0.1),
    ),
    "FedAdam": (
        "rate 0.1, server 0.01",
        lambda model: learning.build_fed_adam(model, RATE, 0.01),
    ),
    "SCAFFOLD": (
        "rate 0.1",
        lambda model: learning.build_scaffold(model, _CLIENTS, RATE),
    ),
}
CENTRAL = "centralized"


def algorithms(mnist: Dataset, seeds: Seeds, rounds: int = ROUNDS[-1]) -> Any:
    """For each algorithm its settings, and for each seed the accuracy of each round.

    A seed decides in which order a client reads its images.
    """
    model, (x, y) = models.softmax_regression(), mnist.train
    test, found = _test_on(model, mnist), dict[str, Any]()
    settings = "one client with everything, rate 0.1"
    everybody = ALGORITHMS | {CENTRAL: (settings, ALGORITHMS["FedAvg, E = 1"][1])}
    for seed in seeds:
        dealt = partitions.one_label_per_client(y, _CLIENTS, None, seed=seed)
        apart = ClientData(x, y, dealt)
        mixed = np.random.default_rng(seed).permutation(np.concatenate(dealt))
        together = ClientData(x, y, [mixed])
        for name, (settings, build) in everybody.items():
            data = together if name == CENTRAL else apart
            run = learning.run(
                build(model),
                data,
                rounds,
                batch_size=_BATCH_SIZE,
                evaluate=test,
                options=learning.Options(progress=False),
            )
            entry = found.setdefault(name, {"settings": settings, "accuracy": []})
            entry["accuracy"].append(run.history[ACCURACY].tolist())
    return found


# ------------------------------------------------------------------ the published table

TARGET = 0.97
PUBLISHED = {"IID": 87, "two shards": 664}
_ALL = 100


def paper(mnist: Dataset, seeds: Seeds) -> dict[str, list[int | None]]:
    """Rounds to the target for each seed; `None` where as many as published do not do.

    100 clients, C = 0.1, E = 1, B = 10: 600 images each at random, or two shards of 300
    images sorted by digit.
    """
    model = models.multilayer_perceptron()
    test = _test_on(model, mnist)
    return {
        kind: [_rounds_to_target(mnist, model, test, kind, seed) for seed in seeds]
        for kind in PUBLISHED
    }


def _rounds_to_target(
    mnist: Dataset, model: models.Model, test: Any, kind: str, seed: int
) -> int | None:
    run = learning.run(
        learning.build_fed_avg(model, RATE, seed=seed),
        _dealt(mnist, kind, _ALL, seed),
        PUBLISHED[kind],
        batch_size=10,
        client_sampling=ClientSampling(fraction=0.1, seed=seed),
        evaluate=test,
        options=learning.Options(
            shuffle_seed=seed,
            callbacks=[lambda so_far: so_far.history.last[ACCURACY] >= TARGET],
            progress=False,
        ),
    )
    return run.rounds if run.history[ACCURACY][-1] >= TARGET else None


def _dealt(mnist: Dataset, kind: str, clients: int, seed: int) -> ClientData:
    """All images, at random, or in one or two shards per client sorted by digit."""
    x, y = mnist.train
    if kind == "IID":
        return ClientData(x, y, partitions.iid(y, clients, seed=seed))
    shards = 1 + (kind == "two shards")
    return ClientData(x, y, partitions.shards(y, clients, shards, seed=seed))


# ------------------------------------------------------------------ attacks and rules

ATTACKED, IMAGES, ATTACK_ROUNDS = 20, 300, 20
BAD = (0, 1, 2, 3)

RULES: dict[str, Callable[[], Any]] = {
    "mean": aggregators.mean,
    "clipped mean": lambda: aggregators.clipping(aggregators.mean(), quantile=0.5),
    "median": aggregators.median,
    "Krum": lambda: aggregators.krum(len(BAD)),
    "multi-Krum": lambda: aggregators.multi_krum(len(BAD)),
}
# Weights of a model that reads a 3 in every image.
_SAYS_3 = {"weights": np.zeros((784, 10)), "bias": 10.0 * np.eye(10)[3]}

ATTACKS: dict[str, Callable[[int], attacks.Attackers]] = {
    "label flip": lambda seed: attacks.label_flip().on(BAD),
    "sign flip × 5": lambda seed: attacks.sign_flip(times=5).on(BAD),
    "one replaces the model": lambda seed: attacks.model_replacement(
        _SAYS_3, total_weight=ATTACKED * IMAGES
    ).on([0]),
}


def poisoning(mnist: Dataset, seeds: Seeds) -> list[dict[str, Any]]:
    """A row per kind of data and attack: for each rule the accuracy, per seed."""
    model = models.softmax_regression()
    test = _test_on(model, mnist)
    cases = [("IID", attack) for attack in ATTACKS]
    cases += [(kind, "") for kind in ("IID", "two shards", "one shard")]
    rows = []
    for kind, attack in cases:
        accuracy: dict[str, list[float]] = {name: [] for name in RULES}
        for name, rule in RULES.items():
            for seed in seeds:
                process = learning.build_fed_avg(model, RATE, aggregator=rule())
                if attack:
                    process = attacks.poison(process, ATTACKS[attack](seed))
                accuracy[name].append(_reached(process, mnist, kind, seed, test))
        rows.append({"data": kind, "attack": attack, "accuracy": accuracy})
    return rows


def _reached(
    process: LearningProcess, mnist: Dataset, kind: str, seed: int, test: Any
) -> float:
    """20 of the 200 clients that hold 300 images each."""
    everybody = _dealt(mnist, kind, len(mnist.train[1]) // IMAGES, seed)
    run = learning.run(
        process,
        everybody[:ATTACKED],
        ATTACK_ROUNDS,
        batch_size=10,
        evaluate=test,
        options=learning.Options(progress=False, evaluate_every=ATTACK_ROUNDS),
    )
    return float(run.history[ACCURACY][-1])


# ------------------------------------------------------------------ privacy

_PROBABILITY, _PRIVATE_ROUNDS, _CLIP = 0.1, 60, 0.3


def privacy(mnist: Dataset, seeds: Seeds) -> list[dict[str, Any]]:
    """A row for each number of clients and noise: epsilon, and accuracy per seed.

    δ is one over the number of clients.
    """
    test = _test_on(models.softmax_regression(), mnist)
    rows: list[dict[str, Any]] = []
    for clients in (1000, 100):
        for noise in (0.0, 1.0, 2.0):
            epsilon = None
            if noise:
                epsilon = accounting.epsilon(
                    noise, _PROBABILITY, _PRIVATE_ROUNDS, 1 / clients
                )
            accuracy = [_private(mnist, clients, noise, seed, test) for seed in seeds]
            row = {"clients": clients, "noise": noise, "epsilon": epsilon}
            rows.append(row | {"accuracy": accuracy})
    return rows


def _private(mnist: Dataset, clients: int, noise: float, seed: int, test: Any) -> float:
    rule = aggregators.gaussian(_CLIP, noise, _PROBABILITY * clients, seed=seed)
    run = learning.run(
        learning.build_fed_avg(models.softmax_regression(), RATE, aggregator=rule),
        _dealt(mnist, "IID", clients, seed),
        _PRIVATE_ROUNDS,
        batch_size=10,
        client_sampling=ClientSampling(probability=_PROBABILITY, seed=seed),
        evaluate=test,
        options=learning.Options(progress=False, evaluate_every=_PRIVATE_ROUNDS),
    )
    return float(run.history[ACCURACY][-1])
