# SPDX-License-Identifier: Apache-2.0
"""What is computed: who holds which examples, how they train, and what comes out.

All data are NumPy arrays, and one client's examples lie in one piece of memory. The
known losses of W1 and W2 were published with the plan of this project, that of W3 was
found by NumPy in double precision. A row that finds others is wrong, however fast.
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

PARTS = ("W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "first")
"""What can be asked for; `"first"` are the first rounds."""


class NoDataError(FedLearnError, LookupError):
    """The benchmark was asked for real MNIST, which is not on this machine."""


@final
@dataclass(frozen=True)
class Sizes:
    """How much is computed, and how often it is timed.

    Attributes:
        w1: examples per client, and per batch.
        w2: clients.
        w2_few: clients where a round takes very long.
        w3: clients, batches per client, and examples per batch.
        growth: numbers of clients of W5.
        sums: numbers of clients of W6.
        updates: how many the aggregators of W8 combine.
        turns: how often a row is timed, at most.
        row_s: a row that has used up this many seconds sits out the other turns.
        fresh: how many fresh processes a first round is timed in.
    """

    w1: tuple[int, int]
    w2: int
    w2_few: int
    w3: tuple[int, int, int]
    growth: tuple[int, ...]
    sums: tuple[int, ...]
    updates: int
    turns: int
    row_s: float
    fresh: int


_W5, _W6 = (10, 100, 1000, 10_000), (10, 1000, 100_000)
SIZES = {
    "mnist": Sizes((1000, 100), 1000, 100, (20, 10, 20), _W5, _W6, 100, 9, 5.0, 3),
    "digits": Sizes((140, 14), 1000, 100, (7, 10, 20), _W5, _W6, 100, 9, 5.0, 3),
    "quick": Sizes((28, 14), 12, 6, (2, 2, 4), (3, 6), (3, 10), 10, 1, 1e9, 1),
}
"""`"quick"` is for trying out: everything small, and no time means anything."""


@final
@dataclass(frozen=True, eq=False)
class Workload:
    """Rounds of federated averaging, every client with the same weight.

    Attributes:
        title: its size in words.
        model: a name in `models.py`.
        clients: each client's examples, in their order.
        batch_size: examples per batch; a client's last one may be shorter.
        rates: the learning rate of each round that is checked.
        known: the loss after each of them: the average over clients of the sum over
            batches of the batch loss. Empty: NumPy has to say it.
    """

    title: str
    model: str
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

    @property
    def bytes(self) -> int:
        """How large one copy of the data is."""
        return sum(x.nbytes + y.nbytes for x, y in self.clients)


@final
class Source:
    """A data set, and the workloads made of it.

    Args:
        data: `"mnist"`, or `"digits"` for those that are part of the package.
        quick: whether everything is small.
    """

    def __init__(self, data: str, *, quick: bool = False) -> None:
        self.name = data
        self.sizes = SIZES["quick" if quick else data]
        # The known losses are those of the full sizes on MNIST.
        self.knows = data == "mnist" and not quick
        self._x, self._y = _read(data)

    @cached_property
    def _of_label(self) -> list[Examples]:
        """All examples of each label, in their order, each in one piece."""
        held = [np.flatnonzero(self._y == label) for label in range(10)]
        return [self._take(indices) for indices in held]

    def _take(self, indices: NDArray[np.intp]) -> Examples:
        x = (self._x[indices].reshape(len(indices), -1) / 255.0).astype(np.float32)
        return x, self._y[indices].astype(np.int32)

    def w1(self) -> Workload:
        """Ten large clients: client k has the first examples of digit k."""
        examples, batch_size = self.sizes.w1
        clients = tuple((x[:examples], y[:examples]) for x, y in self._of_label)
        title = f"10 clients × {examples // batch_size} batches × {batch_size}"
        known = (21.6055, 20.3657, 19.2748, 18.3111, 17.4573) if self.knows else ()
        rates = tuple(0.1 * 0.9**number for number in range(5))
        return Workload(title, "softmax", clients, batch_size, rates, known)

    def w2(self, count: int | None = None) -> Workload:
        """Many small clients: 50 consecutive examples of one label each."""
        count = count or self.sizes.w2
        known = (11.0246, 10.5726, 10.1529) if self.knows and count == 1000 else ()
        clients = tuple(self.consecutive(client, 50) for client in range(count))
        title = f"{count:,} clients × 5 batches × 10"
        return Workload(title, "softmax", clients, 10, (0.05,) * 3, known)

    def w2_ragged(self) -> Workload:
        """The clients of W2 with 30 to 70 examples, 50 on the average."""
        clients = tuple(
            self.consecutive(client, 30 + 7 * client % 41)
            for client in range(self.sizes.w2)
        )
        title = f"{len(clients):,} clients × 30 to 70 examples"
        return Workload(title, "softmax", clients, 10, (0.05,) * 3)

    def w3(self) -> Workload:
        """A convolutional network on consecutive examples of all labels."""
        count, batches, batch_size = self.sizes.w3
        each = batches * batch_size
        x, y = self._take(np.arange(count * each))
        starts = range(0, count * each, each)
        clients = tuple((x[s : s + each], y[s : s + each]) for s in starts)
        title = f"{count} clients × {batches} batches × {batch_size}"
        known = (21.7884,) if self.knows else ()
        return Workload(title, "cnn", clients, batch_size, (0.05,), known)

    def named(self, name: str) -> Workload:
        """W1, W2 or W3, or W2 with a number of clients: `"W2 100"`."""
        kind, _, count = name.partition(" ")
        match kind:
            case "W1":
                return self.w1()
            case "W2":
                return self.w2(int(count) if count else None)
            case _:
                return self.w3()

    def consecutive(self, client: int, count: int) -> Examples:
        """Block `client div 10` of fifty, and what follows, of label `client mod 10`.

        A view where it does not wrap: ten thousand clients share one piece of memory.
        """
        x, y = self._of_label[client % 10]
        start = client // 10 * 50 % len(y)
        if start + count <= len(y):
            return x[start : start + count], y[start : start + count]
        wrapped = (start + np.arange(count)) % len(y)
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
