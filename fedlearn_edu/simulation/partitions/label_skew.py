# SPDX-License-Identifier: Apache-2.0
"""Label skew: clients that hold more of some labels than of others, or only some.

One label per client, or shards; or shares of each label drawn from a Dirichlet
distribution, whose α says how skewed they are.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import counted, short_traceback
from fedlearn_edu.simulation.partitions.arguments import (
    Indices,
    PartitionError,
    check_clients,
    coded,
    generator,
    in_order,
    read_labels,
    real,
    whole,
)

_TRIES = 100


@short_traceback
def one_label_per_client(
    labels: ArrayLike,
    num_clients: int = 10,
    examples_per_client: int | None = 1000,
    seed: int | None = None,
) -> tuple[Indices, ...]:
    """Gives client k examples of label k only: as far from i.i.d. as it gets.

    It leaves out the examples above the limit and those of other labels than 0, …,
    `num_clients` - 1, NaN included; without a limit and with a client for each label,
    everything is dealt out.

    Args:
        labels: One label per example, `int[n]`.
        num_clients: Clients 0, 1, … hold the labels 0, 1, ….
        examples_per_client: At most this many each; fewer where there are fewer, and
            all of them with `None`.
        seed: `None` takes the first ones in their order, as the tutorial does; a
            number draws them at random, in random order, always the same ones.

    >>> one_label_per_client([1, 0, 1, 1, 0], num_clients=2, examples_per_client=2)
    (array([1, 4]), array([0, 2]))

    Raises:
        PartitionError: if a label has no example.
    """
    flat = read_labels(labels)
    if examples_per_client is not None:
        whole(examples_per_client, "examples_per_client")
    rng = None if seed is None else generator(seed)
    clients = []
    for label in range(whole(num_clients, "num_clients")):
        held = np.flatnonzero(flat == label)
        if not len(held):
            raise PartitionError(
                "a client would hold nothing",
                expected=f"at least one example of each label 0..{num_clients - 1}",
                found=f"labels {np.unique(flat).tolist()}",
                where=f"client {label}",
                do="ask for as many clients as there are labels",
            )
        order = held if rng is None else rng.permutation(held)
        clients.append(order[:examples_per_client])
    return tuple(clients)


@short_traceback
def shards(
    labels: ArrayLike, num_clients: int = 100, shards_per_client: int = 2, seed: int = 0
) -> tuple[Indices, ...]:
    """Sorts the examples by label, cuts them into shards, and deals those at random.

    Most clients then hold about as many labels as shards. With the defaults and MNIST
    these are the 200 shards of 300 of McMahan et al., "Communication-Efficient Learning
    of Deep Networks from Decentralized Data", 2017.

    Args:
        labels: One label per example, `int[n]`.
        num_clients: How many clients.
        shards_per_client: How many shards each client gets; sizes of shards differ by
            at most one.
        seed: A whole number; the same one gives the same partition.

    >>> shards([1, 0, 1, 0, 1, 0, 0, 1], num_clients=2)
    (array([0, 1, 2, 3]), array([4, 5, 6, 7]))

    Raises:
        PartitionError: if there are more shards than examples.
    """
    _, codes = coded(labels)
    clients = whole(num_clients, "num_clients")
    count = clients * whole(shards_per_client, "shards_per_client")
    if count > len(codes):
        raise PartitionError(
            "there are more shards than examples",
            expected=f"at most {len(codes):,} shards: one example in each",
            found=f"{counted(clients, 'client')} x "
            f"{counted(shards_per_client, 'shard')} = {count:,}",
            where="shards",
            do="ask for fewer clients, or for fewer shards per client",
        )
    cut = np.array_split(np.argsort(codes, kind="stable"), count)
    hands = generator(seed).permutation(count).reshape(clients, -1)
    return in_order([np.concatenate([cut[shard] for shard in hand]) for hand in hands])


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
    `min_examples`, all shares are drawn anew. NaN counts as one more label.

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
    concentration = real(alpha, "alpha > 0")
    _, codes = coded(labels)
    least = whole(min_examples, "min_examples")
    clients = check_clients(num_clients, len(codes))
    rng = generator(seed)
    totals = np.bincount(codes)
    for _ in range(_TRIES):
        shares = rng.dirichlet(np.full(clients, concentration), len(totals))
        cuts = np.rint(shares.cumsum(axis=1) * totals[:, None]).astype(np.intp)
        sizes = np.diff(cuts.sum(axis=0), prepend=0)
        if sizes.min() >= least:
            return _split(rng, codes, cuts)
    raise PartitionError(
        "a client would hold too little",
        expected=f"at least {least} for each of {counted(clients, 'client')}",
        found=f"fewer, in {_TRIES} draws with alpha = {concentration:g}",
        where="dirichlet",
        do="use a larger alpha or fewer clients; with shards(…) nobody is empty",
    )


def _split(
    rng: np.random.Generator, codes: NDArray[np.intp], cuts: NDArray[np.intp]
) -> tuple[Indices, ...]:
    """Cuts the shuffled examples of each label, and joins what goes to one client."""
    parts = [
        np.split(rng.permutation(np.flatnonzero(codes == label)), ends[:-1])
        for label, ends in enumerate(cuts)
    ]
    return in_order([np.concatenate(held) for held in zip(*parts, strict=True)])
