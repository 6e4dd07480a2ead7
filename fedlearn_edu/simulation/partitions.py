# SPDX-License-Identifier: Apache-2.0
"""Who holds which examples: from labels to one array of indices per client.

The arrays come from `simulation.datasets`; the batches go to a computation as one
client's sequence. Nothing here looks at images to decide who gets them.
"""

from collections import OrderedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import FedLearnError

Indices = NDArray[np.intp]
"""Positions of one client's examples, in the order the client sees them."""

Batch = OrderedDict[str, NDArray[np.generic]]
"""One batch: `<x=float32[n,784],y=int32[n]>`."""


class PartitionError(FedLearnError, ValueError):
    """Examples cannot be dealt out, or cut into batches, as asked."""


def one_label_per_client(
    labels: ArrayLike,
    num_clients: int = 10,
    examples_per_client: int = 1000,
    seed: int | None = None,
) -> tuple[Indices, ...]:
    """Gives client k examples of label k only: as far from i.i.d. as it gets.

    Args:
        labels: One label per example, `int[n]`.
        num_clients: Clients 0, 1, … hold the labels 0, 1, ….
        examples_per_client: At most this many each; fewer where there are fewer.
        seed: `None` takes the first ones in their order, as the tutorial does; a
            number draws them at random, in random order, always the same ones.

    >>> one_label_per_client([1, 0, 1, 1, 0], num_clients=2, examples_per_client=2)
    (array([1, 4]), array([0, 2]))
    """
    flat = np.asarray(labels)
    chance = None if seed is None else np.random.default_rng(seed)
    clients = []
    for label in range(num_clients):
        held = np.flatnonzero(flat == label)
        if not len(held):
            raise PartitionError(
                "a client would hold nothing",
                expected=f"at least one example of each label 0..{num_clients - 1}",
                found=f"labels {np.unique(flat).tolist()}",
                where=f"client {label}",
                do="ask for as many clients as there are labels",
            )
        order = held if chance is None else chance.permutation(held)
        clients.append(order[:examples_per_client])
    return tuple(clients)


def batches(
    x: NDArray[np.uint8], y: NDArray[np.uint8], indices: Indices, batch_size: int
) -> list[Batch]:
    """Cuts a client's examples into batches of `<x=float32[?,784],y=int32[?]>`.

    Images are flattened and scaled to 0..1. The last batch may be shorter.

    >>> x, y = np.full([5, 28, 28], 255, np.uint8), np.arange(5, dtype=np.uint8)
    >>> [batch["y"].tolist() for batch in batches(x, y, np.array([4, 3, 0]), 2)]
    [[4, 3], [0]]
    """
    if batch_size < 1:
        raise PartitionError(
            "a batch holds at least one example",
            expected="batch_size >= 1",
            found=batch_size,
            do="use a positive batch size",
        )
    cuts = range(0, len(indices), batch_size)
    return [_batch(x, y, indices[start : start + batch_size]) for start in cuts]


def _batch(x: NDArray[np.uint8], y: NDArray[np.uint8], chosen: Indices) -> Batch:
    flat = x[chosen].reshape(len(chosen), -1)
    return OrderedDict(
        x=(flat / 255.0).astype(np.float32), y=y[chosen].astype(np.int32)
    )
