# SPDX-License-Identifier: Apache-2.0
"""Ten clients with one digit each: how well each algorithm does after some rounds.

Softmax regression on all 60,000 images, in batches of 100; every client takes part in
every round. A seed decides in which order a client reads its images.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedlearn_edu import learning
from fedlearn_edu.learning import LearningProcess, models
from fedlearn_edu.simulation import ClientData, partitions
from fedlearn_edu.simulation.datasets import Dataset

ROUNDS = (5, 20, 50, 100)
RATE = 0.1
BATCH_SIZE = 100
CLIENTS = 10
ACCURACY = "test.accuracy_per_example"

Build = Callable[[models.Model], LearningProcess]

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
        lambda model: learning.build_scaffold(model, CLIENTS, RATE),
    ),
}
CENTRAL = "centralised"


def measure(mnist: Dataset, seeds: tuple[int, ...], rounds: int) -> dict[str, Any]:
    """For each algorithm its settings, and for each seed the accuracy of each round."""
    model = models.softmax_regression()
    test = test_on(model, mnist)
    found: dict[str, Any] = {}
    for seed in seeds:
        x, y = mnist.train
        dealt = partitions.one_label_per_client(y, CLIENTS, None, seed=seed)
        data = ClientData(x, y, dealt)
        together = np.random.default_rng(seed).permutation(np.concatenate(dealt))
        for name, (settings, build) in ALGORITHMS.items():
            run = _run(build(model), data, rounds, test)
            _keep(found, name, settings, run)
        alone = learning.build_fed_avg(model, RATE)
        run = _run(alone, ClientData(x, y, [together]), rounds, test)
        _keep(found, CENTRAL, "one client that holds everything, rate 0.1", run)
    return found


def test_on(model: models.Model, mnist: Dataset) -> dict[str, Any]:
    """What `run` is to evaluate: the accuracy on all test images."""
    x, y = mnist.test
    everything = ClientData(x, y, [np.arange(len(y))])
    return {"test": learning.build_federated_evaluation(model).on(everything)}


def _run(process: LearningProcess, data: ClientData, rounds: int, test: Any) -> Any:
    options = learning.Options(progress=False)
    return learning.run(
        process, data, rounds, batch_size=BATCH_SIZE, evaluate=test, options=options
    )


def _keep(found: dict[str, Any], name: str, settings: str, run: Any) -> None:
    entry = found.setdefault(
        name, {"settings": settings, "accuracy": [], "seconds_per_round": []}
    )
    entry["accuracy"].append(run.history[ACCURACY].tolist())
    later = run.history["seconds"][1:]
    entry["seconds_per_round"].append(float(np.median(later)))


def ranking_holds(found: dict[str, Any], round_number: int = 50) -> bool:
    """Whether SCAFFOLD > FedAdam > FedAvg after this round, under every seed."""
    names = ("SCAFFOLD", "FedAdam", "FedAvg, E = 1")
    columns = [np.array(found[name]["accuracy"])[:, round_number - 1] for name in names]
    return bool((columns[0] > columns[1]).all() and (columns[1] > columns[2]).all())
