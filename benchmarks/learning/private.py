# SPDX-License-Identifier: Apache-2.0
"""Privacy against accuracy: DP-FedAvg on MNIST, with many clients and with few.

All images, dealt out at random; each client takes part with probability 0.1, B = 10,
rate 0.1, clip 0.3, 60 rounds; δ is one over the number of clients.
"""

from typing import Any

from benchmarks.learning.algorithms import ACCURACY, test_on
from fedlearn_edu import learning
from fedlearn_edu.learning import accounting, aggregators, models
from fedlearn_edu.simulation import ClientData, ClientSampling, partitions
from fedlearn_edu.simulation.datasets import Dataset

PROBABILITY, ROUNDS, CLIP, RATE = 0.1, 60, 0.3, 0.1
CLIENTS = (1000, 100)
NOISES = (0.0, 1.0, 2.0)


def privacy(mnist: Dataset, seeds: tuple[int, ...]) -> list[dict[str, Any]]:
    """A row for each number of clients and noise: epsilon, and accuracy per seed."""
    test = test_on(models.softmax_regression(), mnist)
    rows: list[dict[str, Any]] = []
    for clients in CLIENTS:
        for noise in NOISES:
            delta = 1 / clients
            epsilon = None
            if noise:
                epsilon = accounting.epsilon(noise, PROBABILITY, ROUNDS, delta)
            accuracy = [_reached(mnist, clients, noise, seed, test) for seed in seeds]
            rows.append(
                {
                    "clients": clients,
                    "noise": noise,
                    "epsilon": epsilon,
                    "accuracy": accuracy,
                }
            )
    return rows


def _reached(mnist: Dataset, clients: int, noise: float, seed: int, test: Any) -> float:
    x, y = mnist.train
    rule = aggregators.gaussian(CLIP, noise, PROBABILITY * clients, seed=seed)
    run = learning.run(
        learning.build_fed_avg(models.softmax_regression(), RATE, aggregator=rule),
        ClientData(x, y, partitions.iid(y, clients, seed=seed)),
        ROUNDS,
        batch_size=10,
        client_sampling=ClientSampling(probability=PROBABILITY, seed=seed),
        evaluate=test,
        options=learning.Options(progress=False, evaluate_every=ROUNDS),
    )
    return float(run.history[ACCURACY][-1])
