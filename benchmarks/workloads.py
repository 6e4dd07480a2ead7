# SPDX-License-Identifier: Apache-2.0
"""What is computed: who holds which examples, how they train, and what comes out.

All data are NumPy arrays, and one client's examples lie in one piece of memory. The
known losses were published with the plan of this project. A row that finds others is
wrong, however fast.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.simulation.datasets import find_mnist, load_digits28, read_mnist

Examples = tuple[NDArray[np.float32], NDArray[np.int32]]
"""A client's `(x, y)`: `float32[n,784]` in 0..1 and `int32[n]`."""

_GROUP = 50
"""The most clients that rows by hand take together."""
_EXAMPLES = 50
"""How many a client of W2 has."""


class NoDataError(FedLearnError, LookupError):
    """The benchmark was asked for real MNIST, which is not on this machine."""


@final
@dataclass(frozen=True)
class Sizes:
    """How much is computed, and how often it is timed.

    Attributes:
        w1: examples per client, and per batch.
        w2: clients.
        turns: how often a row is timed, at most.
        row_s: a row that has used up this many seconds sits out the other turns.
        fresh: how many fresh processes a first round is timed in.
    """

    w1: tuple[int, int]
    w2: int
    turns: int
    row_s: float
    fresh: int


SIZES = {
    "mnist": Sizes((1000, 100), 1000, 9, 5.0, 3),
    "digits": Sizes((140, 14), 1000, 9, 5.0, 3),
    "quick": Sizes((28, 14), 12, 1, 1e9, 1),
}
"""`"quick"` is for trying out: everything small, and no time means anything."""


@final
@dataclass(frozen=True, eq=False)
class Workload:
    """Rounds of federated averaging, every client with the same weight.

    Attributes:
        title: its size in words.
        clients: each client's examples, in their order.
        batch_size: examples per batch; a client's last one may be shorter.
        rates: the learning rate of each round that is checked.
        known: the loss after each of them: the average over clients of the sum over
            batches of the batch loss. Empty: NumPy has to say it.
    """

    title: str
    clients: tuple[Examples, ...]
    batch_size: int
    rates: tuple[float, ...]
    known: tuple[float, ...] = ()

    @cached_property
    def batches(self) -> list[list[OrderedDict[str, Any]]]:
        """The same data as one plain list of batches per client; copies nothing."""
        return [
            [OrderedDict(x=part_x, y=part_y) for part_x, part_y in self.cut(client)]
            for client in self.clients
        ]

    def cut(self, client: Examples) -> list[Examples]:
        """A client's examples in batches."""
        x, y = client
        starts = range(0, len(y), self.batch_size)
        return [
            (x[s : s + self.batch_size], y[s : s + self.batch_size]) for s in starts
        ]

    def stacked(self) -> Examples:
        """`float32[client,batch,example,784]` and `int32[client,batch,example]`."""
        x, y = (np.stack(parts) for parts in zip(*self.clients, strict=True))
        cut = (len(y), -1, self.batch_size)
        return x.reshape(*cut, 784), y.reshape(cut)

    def grouped(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The same in equal groups, with axes for group, batch, client and example."""
        count = len(self.clients)
        size = max(n for n in range(1, _GROUP + 1) if count % n == 0)
        x, y = (part.reshape(-1, size, *part.shape[1:]) for part in self.stacked())
        return x.swapaxes(1, 2).copy(), y.swapaxes(1, 2).copy()


@final
class Source:
    """A data set, and the workloads made of it.

    Args:
        data: `"mnist"`, or `"digits"` for those that are part of the package.
        quick: whether everything is small.
    """

    def __init__(self, data: str, *, quick: bool = False) -> None:
        self.sizes = SIZES["quick" if quick else data]
        # The known losses are those of the full sizes on MNIST.
        self._knows = data == "mnist" and not quick
        self._x, self._y = _read(data)

    @cached_property
    def _of_label(self) -> list[Examples]:
        """All examples of each label, in their order, each in one piece."""
        held = [np.flatnonzero(self._y == label) for label in range(10)]
        return [self._take(indices) for indices in held]

    def _take(self, indices: NDArray[np.intp]) -> Examples:
        x = (self._x[indices].reshape(len(indices), -1) / 255.0).astype(np.float32)
        return x, self._y[indices].astype(np.int32)

    def named(self, name: str) -> Workload:
        """`"W1"` or `"W2"`."""
        return self.w1() if name == "W1" else self.w2()

    def w1(self) -> Workload:
        """Ten large clients: client k has the first examples of digit k."""
        examples, batch_size = self.sizes.w1
        clients = tuple((x[:examples], y[:examples]) for x, y in self._of_label)
        title = f"10 clients × {examples // batch_size} batches × {batch_size}"
        known = (21.6055, 20.3657, 19.2748, 18.3111, 17.4573) if self._knows else ()
        rates = tuple(0.1 * 0.9**number for number in range(5))
        return Workload(title, clients, batch_size, rates, known)

    def w2(self) -> Workload:
        """Many small clients: 50 consecutive examples of one label each."""
        known = (11.0246, 10.5726, 10.1529) if self._knows else ()
        clients = tuple(map(self._consecutive, range(self.sizes.w2)))
        title = f"{len(clients):,} clients × 5 batches × 10"
        return Workload(title, clients, 10, (0.05,) * 3, known)

    def _consecutive(self, client: int) -> Examples:
        """Block `client div 10` of fifty examples of label `client mod 10`.

        A view where it does not wrap: clients share one piece of memory.
        """
        x, y = self._of_label[client % 10]
        start = client // 10 * _EXAMPLES % len(y)
        if start + _EXAMPLES <= len(y):
            return x[start : start + _EXAMPLES], y[start : start + _EXAMPLES]
        wrapped = (start + np.arange(_EXAMPLES)) % len(y)
        return x[wrapped], y[wrapped]


def _read(data: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    if data == "digits":
        return load_digits28().train
    path = find_mnist()
    if path is None:
        raise NoDataError(
            "there is no mnist.npz, and the known losses are those of MNIST",
            do="name the folder that holds it in FEDLEARN_EDU_DATA, or check against "
            "NumPy on the digits of the package: --data digits",
        )
    return read_mnist(path).train
