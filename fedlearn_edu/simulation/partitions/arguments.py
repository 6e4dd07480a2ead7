# SPDX-License-Identifier: Apache-2.0
"""What every partition returns, and what each of them asks of its arguments."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import FedLearnError, counted, describe, whole_number
from fedlearn_edu.rules import number

Indices = NDArray[np.intp]
"""Positions of one client's examples, in the order the client sees them."""

Shares = Mapping[Any, Any] | Iterable[Any]
"""A partition as it may be handed in: positions for each client, perhaps by name."""


class PartitionError(FedLearnError, ValueError):
    """Examples cannot be dealt out, or cut into batches, as asked."""


def read_labels(labels: ArrayLike) -> NDArray[Any]:
    """The labels as `[n]`, one per example; of some other shape they are refused."""
    flat = _array(labels)
    if flat is None or flat.ndim != 1:
        is_column = flat is not None and flat.ndim == 2 and flat.shape[1] == 1
        raise PartitionError(
            "there is one label per example",
            expected="labels of shape [n]",
            found="nested lists" if flat is None else f"shape {list(flat.shape)}",
            do="take the column: labels[:, 0]"
            if is_column
            else "pass the labels of the split, for example dataset.train[1]",
        )
    return flat


def coded(labels: ArrayLike) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The labels there are, in order, and which of them each example has.

    NaN is a label like any other, so that no example is lost.
    """
    flat = read_labels(labels)
    try:
        known, codes = np.unique(flat, return_inverse=True)
    except TypeError:
        raise PartitionError(
            "the labels have no order",
            expected="numbers, or texts",
            found=f"both, or others: {describe(flat[:6].tolist())}",
            where="labels",
            do="leave out examples without a label, or give them one of their own",
        ) from None
    return known, codes


def _array(values: Any) -> NDArray[Any] | None:
    """As an array; `None` for nested lists of different lengths."""
    if isinstance(values, Iterator | ValuesView):
        values = list(values)
    try:
        array = np.asarray(values)
        # What others hold as objects, such as numbers read from a table.
        return np.asarray(array.tolist()) if array.dtype == object else array
    except ValueError:
        return None


def whole(x: Any, name: str, least: int = 1) -> int:
    """A whole number of at least `least`, or an error that names the argument."""
    lines = {"summary": f"{name} is a whole number", "expected": f"{name} >= {least}"}
    return whole_number(x, name, least, PartitionError, **lines)


def real(x: Any, rule: str) -> float:
    """A finite number for which the rule holds, such as `"alpha > 0"`."""
    name, _, bound = rule.partition(" ")
    summary = f"{name} is a finite number {bound}"
    number(x, f"{rule}, a number", PartitionError, summary=summary, expected=rule)
    return float(x)


def generator(seed: Any) -> np.random.Generator:
    """The random generator of one partition; `seed` is a whole number from 0 on."""
    return np.random.default_rng(whole(seed, "seed", least=0))


def check_clients(num_clients: Any, examples: int) -> int:
    """Refuses more clients than there are examples: one of them would hold nothing."""
    clients = whole(num_clients, "num_clients")
    if clients > examples:
        raise PartitionError(
            "a client would hold nothing",
            expected=f"at most as many clients as examples: {examples:,}",
            found=counted(clients, "client"),
            where="num_clients",
            do="ask for fewer clients",
        )
    return clients


def in_order(clients: Sequence[NDArray[Any]]) -> tuple[Indices, ...]:
    """One array per client, each in the order of the data.

    Sorted, so that the labels of a client that holds several come mixed, as in the
    data, and not one label after the other.
    """
    return tuple(np.sort(held).astype(np.intp, copy=False) for held in clients)


def check_partition(
    partition: Shares, examples: int
) -> tuple[list[Indices], tuple[str, ...]]:
    """Each client's share, and the clients' names: none if they have numbers only.

    A mapping gives its values in order; its keys are names if all of them are texts.
    """
    if isinstance(partition, Set | str) or not isinstance(partition, Iterable):
        raise PartitionError(
            "a partition is a list with one array of positions per client",
            expected="arrays in a list, a tuple or a dict",
            found=describe(partition),
            where="partition",
            do="a set has no order: pass sorted(…)"
            if isinstance(partition, Set)
            else "partitions.iid(y, num_clients=10) makes one",
        )
    names: tuple[str, ...] = ()
    if isinstance(partition, Mapping):
        if all(isinstance(name, str) for name in partition):
            names = tuple(map(str, partition))
        partition = partition.values()
    shares = list(partition)
    if not shares:
        raise PartitionError(
            "there are no clients",
            expected="at least one array of positions",
            found=describe(partition),
            where="partition",
        )
    called = names or range(len(shares))
    held = [
        _check_share(share, f"client {name}", examples)
        for name, share in zip(called, shares, strict=True)
    ]
    return held, names


def _check_share(share: Any, where: str, examples: int) -> Indices:
    """A client's share, unless it is empty or has an example that is not there."""
    held = _array(share)
    if held is not None and held.size == 0:
        raise PartitionError(
            "a client holds nothing",
            expected="at least one example",
            found="an empty array of positions",
            where=where,
            do="leave the client out, or deal to fewer clients",
        )
    if held is None or held.ndim != 1 or not _is_whole(held):
        found = describe(share)
        if held is not None and held.ndim:
            found = f"{held.dtype} of shape {list(held.shape)}"
        raise PartitionError(
            "a client's share is an array of positions",
            expected="int[?]",
            found="nested lists" if held is None else found,
            where=where,
            do=_cure_of_share(share, held),
        )
    if held.min() < 0 or held.max() >= examples:
        raise PartitionError(
            "a client holds an example that is not there",
            expected=f"positions from 0 to {examples - 1:,}",
            found=f"{held.min()} to {held.max()}",
            where=where,
            do="deal out the labels of the same split"
            if held.min() >= 0
            else "positions count from 0, and not from the end",
        )
    return held.astype(np.intp, copy=False)


def _is_whole(held: NDArray[Any]) -> bool:
    """Whether these are whole numbers, be it as floats."""
    if held.dtype.kind == "f":
        return bool((held == np.floor(held)).all())
    return held.dtype.kind in "iu"


def _cure_of_share(share: Any, held: NDArray[Any] | None) -> str | None:
    if isinstance(share, Set):
        return "a set has no order: pass sorted(…) for each client"
    if held is None or held.ndim > 1 or isinstance(share, Mapping):
        return "join the parts of a client: np.concatenate(parts)"
    if held.ndim == 0:
        return "partitions.by_id(ids) takes one id per example; [positions] is 1 client"
    if held.dtype.kind == "b":
        return "np.flatnonzero(mask) turns a mask into positions"
    return "positions are whole numbers, which count the examples from 0"
