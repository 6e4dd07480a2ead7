# SPDX-License-Identifier: Apache-2.0
"""One client of a `ClientData`: its examples as learning sees them, in batches.

What a client reads depends on its `id`, the seed and the round, and on nobody else.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.simulation.chance import chance
from fedlearn_edu.simulation.partitions.batching import (
    Batch,
    as_features,
    as_targets,
    check_batch_size,
)
from fedlearn_edu.simulation.partitions.by_look import Look
from fedlearn_edu.simulation.partitions.record import Indices, whole
from fedlearn_edu.types import StructType, TensorType


@final
@dataclass(frozen=True, eq=False)
class Examples:
    """Arrays that all clients share, and where in them each client's share is.

    Attributes:
        x: examples, `[n,…]`.
        y: labels or targets, `[n]` or `[n,…]`.
        positions: the shares of all clients, one behind the other.
        ends: where in `positions` each client's share ends.
        looks: how each client sees its images; `None` is as they are.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    positions: Indices
    ends: NDArray[np.int64]
    looks: tuple[Look, ...] | None = None

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many examples each client holds."""
        return np.diff(self.ends, prepend=0)

    def of(self, client: int) -> Indices:
        """The share of one client, in the order in which it was dealt."""
        end = self.ends[client]
        return self.positions[end - self.sizes[client] : end]


def batch_type(examples: Examples) -> StructType:
    """The type of one batch, `<x=float32[?,features],y=int32[?]>`."""
    x, y = as_features(examples.x[:0]), as_targets(examples.y[:0])
    fields = OrderedDict(
        x=TensorType(x.dtype, [None, *x.shape[1:]]),
        y=TensorType(y.dtype, [None, *y.shape[1:]]),
    )
    return StructType(fields.items(), OrderedDict)


@final
@dataclass(frozen=True, repr=False)
class Client:
    """One client: `len()`, `x`, `y` and `batches()`; made by `ClientData`.

    Attributes:
        id: its number in the partition, which it keeps when clients are selected.
    """

    id: int
    _examples: Examples

    @property
    def indices(self) -> Indices:
        """Where its examples are in the arrays, in the order as dealt."""
        return self._examples.of(self.id)

    @property
    def x(self) -> NDArray[np.float32]:
        """Its examples, `float32[n,features]`, images scaled to 0..1; read anew."""
        held, looks = self._examples.x[self.indices], self._examples.looks
        return as_features(held if looks is None else looks[self.id].apply(held))

    @property
    def y(self) -> NDArray[Any]:
        """Its labels, `int32[n]`, or targets, `float32[n]`."""
        return as_targets(self._examples.y[self.indices])

    def __len__(self) -> int:
        return int(self._examples.sizes[self.id])

    def __repr__(self) -> str:
        return (
            f"Client({self.id}, {len(self):,} example{'' if len(self) == 1 else 's'})"
        )

    def batches(
        self,
        batch_size: int | None = None,
        *,
        epochs: int = 1,
        seed: int | None = None,
        round_number: int = 0,
    ) -> list[Batch]:
        """Its examples in batches, `<x=float32[?,784],y=int32[?]>`.

        Args:
            batch_size: Examples per batch; the last one of an epoch may be shorter.
                `None` is one batch of everything.
            epochs: How often each example comes.
            seed: With a seed each epoch has an order of its own, which depends on
                (seed, round_number, id, epoch) only. `None` keeps the order as dealt.
            round_number: So that rounds differ.

        Raises:
            PartitionError: if a number is not a whole one, or too small.
        """
        size = len(self) if batch_size is None else check_batch_size(batch_size)
        key = self._key(seed, round_number)
        x, y = self.x, self.y
        cut = []
        for epoch in range(whole(epochs, "epochs")):
            order = np.arange(len(self))
            if key is not None:
                order = chance("shuffle", *key, epoch).permutation(order)
            for start in range(0, len(order), size):
                chosen = order[start : start + size]
                cut.append(Batch(x=x[chosen], y=y[chosen]))
        return cut

    def _key(self, seed: int | None, round_number: int) -> tuple[int, int, int] | None:
        number = whole(round_number, "round_number", least=0)
        if seed is None:
            return None
        return whole(seed, "seed", least=0), number, self.id
