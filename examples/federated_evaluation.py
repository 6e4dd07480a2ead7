# SPDX-License-Identifier: Apache-2.0
"""One model, many averages; the library's are in `fedlearn_edu/learning/evaluation.py`.

Run it: `python -m examples.federated_evaluation`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from examples import softmax
from examples.fed_avg import rounds
from examples.softmax import CLASSES, Client, Floats, filled, losses, shares


def evaluate(w: Floats, clients: Sequence[Client]) -> dict[str, Any]:
    """Every average by its name; each client has at least one example."""
    client_losses, client_accuracies, batch_sums = [], [], []
    loss: list[float] = []  # of every example of every client, as the next one
    right: list[bool] = []
    confusion = np.zeros([CLASSES, CLASSES], int)
    for client in clients:
        before, batch_sum = len(loss), 0.0
        for x, y in filled(client):
            answers = shares(w, x).argmax(axis=1)
            for actual, answer in zip(y, answers, strict=True):
                confusion[actual, answer] += 1
            loss += losses(w, (x, y)).tolist()
            right += (answers == y).tolist()
            batch_sum += losses(w, (x, y)).mean()
        client_losses.append(np.mean(loss[before:]))
        client_accuracies.append(np.mean(right[before:]))
        batch_sums.append(batch_sum)
    return {
        "loss_per_example": np.mean(loss),
        "mean_loss_over_clients": np.mean(client_losses),
        "loss_summed_over_batches": np.mean(batch_sums),
        "accuracy_per_example": np.mean(right),
        "mean_accuracy_over_clients": np.mean(client_accuracies),
        "balanced_accuracy": np.mean(np.diag(confusion) / confusion.sum(axis=1)),
        "confusion": confusion,
    }


if __name__ == "__main__":
    clients = softmax.make_clients()
    *_, trained = rounds(clients, num_rounds=5)
    for name, value in evaluate(trained, clients).items():
        print(f"{name:26} {np.round(value, 4)}".replace("\n", ""))
