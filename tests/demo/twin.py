# SPDX-License-Identifier: Apache-2.0
"""The demo's program a second time, in plain NumPy: an oracle that shares no code.

Everything is float32, loops are Python loops, gradients are written by hand.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Batch = tuple[Floats, NDArray[np.int32]]
Client = list[Batch]


@dataclass(frozen=True)
class Model:
    weights: Floats
    bias: Floats


ZERO = Model(np.zeros([784, 10], np.float32), np.zeros([10], np.float32))


def deal(
    split: tuple[NDArray[Any], NDArray[Any]], limit: int, size: int
) -> list[Client]:
    images, labels = split
    clients = []
    for digit in range(10):
        held = [i for i, label in enumerate(labels) if label == digit][:limit]
        cuts = [held[start : start + size] for start in range(0, len(held), size)]
        clients.append(
            [
                (
                    (images[cut].reshape(len(cut), 784) / 255.0).astype(np.float32),
                    labels[cut].astype(np.int32),
                )
                for cut in cuts
            ]
        )
    return clients


def belief(model: Model, x: Floats) -> Floats:
    scores = x @ model.weights + model.bias
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def batch_loss(model: Model, batch: Batch) -> float:
    x, y = batch
    return float(-np.log(belief(model, x)[np.arange(len(y)), y]).mean())


def batch_train(model: Model, batch: Batch, learning_rate: float) -> Model:
    x, y = batch
    error = belief(model, x)
    error[np.arange(len(y)), y] -= 1
    step = np.float32(learning_rate / len(y))
    return Model(
        model.weights - step * (x.T @ error), model.bias - step * error.sum(axis=0)
    )


def local_train(model: Model, client: Client, learning_rate: float) -> Model:
    for batch in client:
        model = batch_train(model, batch, learning_rate)
    return model


def client_losses(model: Model, clients: Sequence[Client]) -> list[float]:
    return [sum(batch_loss(model, batch) for batch in client) for client in clients]


def mean_loss(model: Model, clients: Sequence[Client]) -> float:
    return float(np.mean(client_losses(model, clients)))


def client_accuracies(model: Model, clients: Sequence[Client]) -> list[float]:
    shares = []
    for client in clients:
        right = [np.argmax(belief(model, x), axis=1) == y for x, y in client]
        shares.append(float(np.concatenate(right).mean()))
    return shares


def rounds(clients: Sequence[Client], count: int) -> Iterator[Model]:
    model, learning_rate = ZERO, 0.1
    for _ in range(count):
        trained = [local_train(model, client, learning_rate) for client in clients]
        model = Model(
            np.mean([m.weights for m in trained], axis=0),
            np.mean([m.bias for m in trained], axis=0),
        )
        yield model
        learning_rate *= 0.9
