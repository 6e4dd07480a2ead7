# SPDX-License-Identifier: Apache-2.0
"""What every partition returns, and what each of them asks of its arguments."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import FedLearnError, bad_argument, whole_number

Indices = NDArray[np.intp]
"""Positions of one client's examples, in the order the client sees them."""

Shares = Sequence[ArrayLike] | NDArray[Any]
"""A partition as it may be handed in: positions for each client, lists included."""


class PartitionError(FedLearnError, ValueError):
    """Examples cannot be dealt out, or cut into batches, as asked."""


def read_labels(labels: ArrayLike) -> NDArray[Any]:
    """The labels as `[n]`, one per example; of some other shape they are refused."""
    flat = _array(labels)
    if flat is None or flat.ndim != 1:
        raise PartitionError(
            "there is one label per example",
            expected="labels of shape [n]",
            found="nested lists" if flat is None else f"shape {list(flat.shape)}",
            do="pass the labels of the split, for example dataset.train[1]",
        )
    return flat


def _array(values: ArrayLike) -> NDArray[Any] | None:
    """As an array; `None` for nested lists of different lengths."""
    try:
        return np.asarray(values)
    except ValueError:
        return None


def whole(number: Any, name: str, least: int = 1) -> int:
    """A whole number of at least `least`, or an error that names the argument."""
    lines = {"summary": f"{name} is a whole number", "expected": f"{name} >= {least}"}
    return whole_number(number, name, least, PartitionError, **lines)


def real(number: Any, name: str, least: float = 0.0, *, above: bool = False) -> float:
    """A finite number of at least `least`, or greater if `above`."""
    found = number if isinstance(number, int | float | np.number) else math.nan
    fits = found > least if above else found >= least
    if not fits or not math.isfinite(found):
        bound = "" if least == -math.inf else f" {'>' if above else '>='} {least:g}"
        summary = f"{name} is a finite number{bound}"
        expected = f"{name}{bound or ' of any size'}"
        lines = {"summary": summary, "expected": expected}
        raise bad_argument(number, name, PartitionError, **lines)
    return float(found)


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
            found=f"{clients:,} clients",
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


def check_share(share: ArrayLike, client: int, examples: int) -> Indices:
    """A client's share, unless it is empty or has an example that is not there."""
    held = _array(share)
    if held is not None and held.size == 0:
        raise PartitionError(
            "a client holds nothing",
            expected="at least one example",
            found="an empty array of positions",
            where=f"client {client}",
            do="leave the client out, or deal to fewer clients",
        )
    if held is None or held.ndim != 1 or held.dtype.kind not in "iu":
        is_mask = held is not None and held.dtype.kind == "b"
        raise PartitionError(
            "a client's share is an array of positions",
            expected="int[?]",
            found="nested lists"
            if held is None
            else f"{held.dtype} of shape {list(held.shape)}",
            where=f"client {client}",
            do="np.flatnonzero(mask) turns a mask into positions" if is_mask else None,
        )
    if held.min() < 0 or held.max() >= examples:
        raise PartitionError(
            "a client holds an example that is not there",
            expected=f"positions from 0 to {examples - 1:,}",
            found=f"{held.min()} to {held.max()}",
            where=f"client {client}",
            do="deal out the labels of the same split",
        )
    return held.astype(np.intp, copy=False)
