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
    spread = real(sigma, "sigma")
    examples = len(read_labels(labels))
    clients = check_clients(num_clients, examples)
    rng = generator(seed)
    powers = spread * rng.standard_normal(clients)
    return _deal(rng, examples, np.exp(powers - powers.max()))


@short_traceback
def power_law_sizes(
    labels: ArrayLike, num_clients: int, exponent: float, seed: int = 0
) -> tuple[Indices, ...]:
    """Deals the examples at random, to clients whose sizes follow a power law.

    Each client gets one example, and of the rest the r-th largest gets a share in
    proportion to r^-exponent (Zipf's law). Which client is the largest is drawn.

    Args:
        labels: One label per example, `int[n]`; only their number matters.
        num_clients: At most n.
        exponent: At least 0: 0 means equal sizes, 1 makes the first twice as large as
            the second.
        seed: A whole number; the same one gives the same partition.

    >>> [len(held) for held in power_law_sizes(range(1000), 5, exponent=1.0)]
    [146, 88, 110, 437, 219]

    Raises:
        PartitionError: if the exponent is negative, or there are more clients than
            examples.
    """
    steepness = real(exponent, "exponent")
    examples = len(read_labels(labels))
    clients = check_clients(num_clients, examples)
    rng = generator(seed)
    ranks = rng.permutation(clients) + 1
    return _deal(rng, examples, np.exp(-steepness * np.log(ranks)))


def _deal(
    rng: np.random.Generator, examples: int, weights: NDArray[np.float64]
) -> tuple[Indices, ...]:
    cuts = np.cumsum(sizes_in_proportion(weights, examples))[:-1]
    return in_order(np.split(rng.permutation(examples), cuts))


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
