# SPDX-License-Identifier: Apache-2.0
"""Examples dealt at random: equally many for each client, or more for some.

With equal sizes nothing is skewed; otherwise only the quantity is, and each client's
labels are a fair sample of the whole.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.simulation.partitions.arguments import (
    Indices,
    check_clients,
    generator,
    in_order,
    read_labels,
    real,
)


@short_traceback
def iid(labels: ArrayLike, num_clients: int, seed: int = 0) -> tuple[Indices, ...]:
    """Deals the examples at random, equally many to each client.

    Independent and identically distributed: what the other partitions are compared
    with. Sizes differ by at most one.

    Args:
        labels: One label per example, `int[n]`; only their number matters.
        num_clients: At most n.
        seed: A whole number; the same one gives the same partition.

    >>> iid([0, 0, 0, 1, 1, 1], num_clients=3)
    (array([2, 3]), array([4, 5]), array([0, 1]))

    Raises:
        PartitionError: if there are more clients than examples.
    """
    examples = len(read_labels(labels))
    clients = check_clients(num_clients, examples)
    return in_order(np.array_split(generator(seed).permutation(examples), clients))


@short_traceback
def log_normal_sizes(
    labels: ArrayLike, num_clients: int, sigma: float, seed: int = 0
) -> tuple[Indices, ...]:
    """Deals the examples at random, to clients whose sizes are log-normal.

    Client k gets one example, and of the rest a share in proportion to exp(σ z_k),
    where z_k is drawn from N(0, 1).

    Args:
        labels: One label per example, `int[n]`; only their number matters.
        num_clients: At most n.
        sigma: σ ≥ 0: 0 means equal sizes; with 1, every third client or so is more than
            e times larger or smaller than the median.
        seed: A whole number; the same one gives the same partition.

    >>> [len(held) for held in log_normal_sizes(range(1000), 5, sigma=1.0)]
    [202, 157, 338, 198, 105]

    Raises:
        PartitionError: if σ is negative, or there are more clients than examples.
    """
    spread = real(sigma, "sigma >= 0")
    examples = len(read_labels(labels))
    clients = check_clients(num_clients, examples)
    rng = generator(seed)
    powers = spread * rng.standard_normal(clients)
    sizes = sizes_in_proportion(np.exp(powers - powers.max()), examples)
    return in_order(np.split(rng.permutation(examples), np.cumsum(sizes)[:-1]))


def sizes_in_proportion(
    weights: NDArray[np.float64], examples: int
) -> NDArray[np.int64]:
    """Sizes that add up to `examples`: one for each client, the rest by weight.

    Rounded down, and what is left over goes to those who lost most by it.

    >>> sizes_in_proportion(np.array([0.0, 1.0, 3.0]), 11).tolist()
    [1, 3, 7]
    """
    shares = (examples - len(weights)) * weights / weights.sum()
    sizes: NDArray[np.int64] = np.floor(shares).astype(np.int64)
    left = examples - len(weights) - int(sizes.sum())
    sizes[np.argsort(sizes - shares, kind="stable")[:left]] += 1
    sizes += 1
    return sizes
