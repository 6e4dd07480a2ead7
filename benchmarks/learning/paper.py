# SPDX-License-Identifier: Apache-2.0
"""Table 1 of the federated averaging paper, its row for the 2NN: rounds to 97 %.

100 clients, C = 0.1, E = 1, B = 10. A client's images come in a new order each round.
The paper tuned the learning rate for each cell; here it is 0.1 in both.

Source: B. McMahan et al., "Communication-Efficient Learning of Deep Networks from
Decentralized Data", AISTATS 2017, Table 1 (E = 1 for the 2NN, E = 5 for the CNN).
"""

import time
from typing import Any

from benchmarks.learning.algorithms import ACCURACY, test_on
from fedlearn_edu import learning
from fedlearn_edu.learning import models
from fedlearn_edu.learning.callbacks import stop_at
from fedlearn_edu.simulation import ClientData, ClientSampling, partitions
from fedlearn_edu.simulation.datasets import Dataset

TARGET = 0.97
RATE = 0.1
CLIENTS = 100
PUBLISHED = {"IID": 87, "non-IID": 664}
CNN_EPOCHS = 5


def rounds_to_target(mnist: Dataset, seeds: tuple[int, ...]) -> dict[str, Any]:
    """For IID and for two shards per client: curves, rounds and seconds, per seed."""
    model = models.multilayer_perceptron()
    test = test_on(model, mnist)
    return {
        kind: {
            "published": published,
            "runs": [_until_target(mnist, model, test, kind, seed) for seed in seeds],
        }
        for kind, published in PUBLISHED.items()
    }


def _until_target(
    mnist: Dataset, model: models.Model, test: Any, kind: str, seed: int
) -> dict[str, Any]:
    start = time.perf_counter()
    run = learning.run(
        learning.build_fed_avg(model, RATE, seed=seed),
        deal(mnist, kind, seed),
        PUBLISHED[kind],
        batch_size=10,
        client_sampling=ClientSampling(fraction=0.1, seed=seed),
        evaluate=test,
        options=learning.Options(
            shuffle_seed=seed,
            callbacks=[stop_at(ACCURACY, at_least=TARGET)],
            progress=False,
        ),
    )
    accuracy = run.history[ACCURACY].tolist()
    return {
        "seed": seed,
        "rounds": run.rounds if accuracy[-1] >= TARGET else None,
        "seconds": time.perf_counter() - start,
        "accuracy": accuracy,
    }


def deal(mnist: Dataset, kind: str, seed: int) -> ClientData:
    """100 clients: 600 images each at random, or two shards of 300 sorted ones."""
    x, y = mnist.train
    if kind == "IID":
        return ClientData(x, y, partitions.iid(y, CLIENTS, seed=seed))
    return ClientData(x, y, partitions.shards(y, CLIENTS, 2, seed=seed))


def one_round_of_the_network(mnist: Dataset) -> dict[str, Any]:
    """The paper's CNN, E = 5: the seconds of a second round, and what it reaches."""
    model = models.convolutional_network()
    run = learning.run(
        learning.build_fed_avg(model, RATE, local_epochs=CNN_EPOCHS),
        deal(mnist, "IID", 0),
        2,
        batch_size=10,
        client_sampling=ClientSampling(fraction=0.1, seed=0),
        evaluate=test_on(model, mnist),
        options=learning.Options(shuffle_seed=0, progress=False),
    )
    first, second = run.history["seconds"]
    return {
        "first_round_s": float(first),
        "second_round_s": float(second),
        "accuracy": run.history[ACCURACY].tolist(),
    }
