# SPDX-License-Identifier: Apache-2.0
"""The model by hand, and a few clients to train it: what all twins start from.

The weights `w` are one array `[features + 1, classes]` whose last row is the bias. A
batch is a pair of `x[n, features]` and labels `y[n]`, a client is a list of batches.
All twins go over `filled(client)`, as a batch of nothing is no step.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

FEATURES, CLASSES = 3, 3
Floats = NDArray[np.float64]
Batch = tuple[NDArray[np.float32], NDArray[np.int32]]
Client = Sequence[Batch]


def first_weights() -> Floats:
    """All zero: every class is as likely as any other."""
    return np.zeros([FEATURES + 1, CLASSES])


def shares(w: Floats, x: NDArray[np.float32]) -> Floats:
    """`[n, classes]`: softmax of the scores, how likely each class is."""
    scores = x @ w[:-1] + w[-1]
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    likely: Floats = powers / powers.sum(axis=1, keepdims=True)
    return likely


def losses(w: Floats, batch: Batch) -> Floats:
    """`[n]`: -log(share of the right class) in nats, one number per example."""
    x, y = batch
    return -np.log(shares(w, x)[np.arange(len(y)), y])


def gradient(w: Floats, batch: Batch) -> Floats:
    """Of the batch's *mean* loss; shaped like `w`."""
    x, y = batch
    errors = shares(w, x) - np.eye(CLASSES)[y]
    return np.vstack([x.T @ errors, errors.sum(axis=0)]) / len(y)


def filled(client: Client) -> Client:
    """Its batches without the empty ones, which have no mean loss and no gradient."""
    return [(x, y) for x, y in client if len(y)]


def count_examples(client: Client) -> int:
    """n_k, what a client weighs: the number of its examples."""
    return sum(len(y) for _, y in client)


def count_once(client: Client) -> int:
    """The other way to weigh: 1 for every client that has any examples."""
    return min(count_examples(client), 1)


def make_clients(sizes: Sequence[int] = (9, 4, 14, 6), seed: int = 0) -> list[Client]:
    """Clients of unequal sizes, in batches of 4; each prefers one class to the rest."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(CLASSES, FEATURES))
    clients: list[Client] = []
    for k, size in enumerate(sizes):
        own = random.random(size) < 0.7
        y = np.where(own, k % CLASSES, random.integers(0, CLASSES, size))
        x = centres[y] + 0.5 * random.normal(size=(size, FEATURES))
        cuts = [slice(start, start + 4) for start in range(0, size, 4)]
        clients.append([(x[c].astype(np.float32), y[c].astype(np.int32)) for c in cuts])
    return clients


def print_rounds(clients: Sequence[Client], weights: Iterable[Floats]) -> None:
    """One line per round: the loss of all examples, each counted alike."""
    for number, w in enumerate(weights, start=1):
        everybody = [losses(w, batch) for client in clients for batch in client]
        loss = np.concatenate(everybody).mean()
        print(f"round {number}  loss per example {loss:.4f}")
