# SPDX-License-Identifier: Apache-2.0
"""Masks that hide each client's value, and cancel in the sum."""

import itertools
import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.structure import leaves, unflatten
from fedlearn_edu.types.sequences import Members

_calls = itertools.count()


def pairwise_masks(prototype: Any, num_clients: int) -> Members:
    """One mask for each client, shaped like `prototype`; all masks sum to zero.

    Each is made of the seeds that its client shares with others, and only where it is
    needed. A single client shares none: its mask is zero, and the server sees its
    value. That is true of every real protocol, too.
    """
    like = unflatten(prototype, map(np.zeros_like, leaves(prototype)))
    return Members(_PairwiseMask(like, num_clients, next(_calls)), range(num_clients))


@final
@dataclass(frozen=True)
class _PairwiseMask:
    """The mask of each of `count` clients: of two that share a seed, one subtracts."""

    prototype: Any
    count: int
    call: int

    def __call__(self, client: int) -> Any:
        masks = [
            self._of_leaf(number, np.asarray(leaf), client)
            for number, leaf in enumerate(leaves(self.prototype))
        ]
        return unflatten(self.prototype, masks)

    def _of_leaf(self, number: int, leaf: Any, client: int) -> Any:
        total = np.zeros(leaf.shape, leaf.dtype)
        limits = np.iinfo(leaf.dtype)
        ends = limits.min, limits.max
        for other in _neighbors(client, self.count):
            pair = sorted((client, other))
            rng = np.random.default_rng([2017, self.call, number, *pair])
            shared = rng.integers(*ends, leaf.shape, leaf.dtype, endpoint=True)
            total += shared if client < other else -shared
        return total[()]


def _neighbors(client: int, count: int) -> list[int]:
    """The clients at most log₂ `count` places away, in a circle."""
    reach = math.ceil(math.log2(count)) if count > 1 else 0
    steps = range(1, reach + 1)
    near = {(client + sign * step) % count for step in steps for sign in (1, -1)}
    return sorted(near - {client})
