# SPDX-License-Identifier: Apache-2.0
"""Label skew by a dial: shares of each label, drawn from a Dirichlet distribution."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.simulation.partitions.record import (
    Indices,
    PartitionError,
    check_clients,
    generator,
    in_order,
    read_labels,
    real,
    whole,
)

_TRIES = 100


@short_traceback
def dirichlet(
    labels: ArrayLike,
    num_clients: int,
    alpha: float,
    seed: int = 0,
    min_examples: int = 1,
) -> tuple[Indices, ...]:
    """Splits each label among the clients in shares drawn from Dir(α, …, α).

    α says how evenly: with 100 each client has nearly the labels of the whole, with
    0.1 it has two or three of them. Sizes differ too. If a client gets fewer than
    `min_examples`, all shares are drawn anew.

    Args:
        labels: One label per example, `int[n]`.
        num_clients: How many clients.
        alpha: α > 0.
        seed: A whole number; the same one gives the same partition.
        min_examples: What a client holds at least.

    >>> labels = np.repeat([0, 1, 2], 100)
    >>> for held in dirichlet(labels, num_clients=3, alpha=0.5):
    ...     print(np.bincount(labels[held], minlength=3))
    [31 23 39]
    [ 0 18 20]
    [69 59 41]

    Source: Hsu, Qi and Brown, "Measuring the Effects of Non-Identical Data Distribution
    for Federated Visual Classification", 2019, who draw labels for each client, of
    clients of equal size; in shares per label, Yurochkin et al., "Bayesian
    Nonparametric Federated Learning of Neural Networks", 2019.

    Raises:
        PartitionError: if α is not positive, or some client stays below `min_examples`
            however often the shares are drawn.
    """
    concentration = real(alpha, "alpha", above=True)
    flat = read_labels(labels)
    least = whole(min_examples, "min_examples")
    clients = check_clients(num_clients, len(flat))
    chance = generator(seed)
    known = np.unique(flat)
    totals = np.array([np.count_nonzero(flat == label) for label in known])
    for _ in range(_TRIES):
        shares = chance.dirichlet(np.full(clients, concentration), len(known))
        cuts = np.rint(shares.cumsum(axis=1) * totals[:, None]).astype(np.intp)
        sizes = np.diff(cuts.sum(axis=0), prepend=0)
        if sizes.min() >= least:
            return _split(chance, flat, known, cuts)
    raise PartitionError(
        "a client would hold too little",
        expected=f"at least {least} for each of {clients:,} clients",
        found=f"fewer, in {_TRIES} draws with alpha = {concentration:g}",
        where="dirichlet",
        do="use a larger alpha or fewer clients; with shards(…) nobody is empty",
    )


def _split(
    chance: np.random.Generator,
    flat: NDArray[np.generic],
    known: NDArray[np.generic],
    cuts: NDArray[np.intp],
) -> tuple[Indices, ...]:
    """Cuts the shuffled examples of each label, and joins what goes to one client."""
    parts = [
        np.split(chance.permutation(np.flatnonzero(flat == label)), ends[:-1])
        for label, ends in zip(known, cuts, strict=True)
    ]
    return in_order([np.concatenate(held) for held in zip(*parts, strict=True)])
