# SPDX-License-Identifier: Apache-2.0
"""Random masks that cancel in the sum: secure sums hide values behind them.

Every two clients up to ⌈log2 n⌉ places apart (around the circle) share one mask; one
adds it, the other subtracts it, over the integers of the value's dtype, wrapping
around.
"""

import itertools
import math
from typing import Any

import numpy as np

from fedlearn_edu.structure import Struct

_calls = itertools.count()


def pairwise_masks(prototype: Any, num_clients: int) -> tuple[Any, ...]:
    """One mask for each client, shaped like `prototype`; all masks sum to zero.

    A single client has nobody to share a mask with: its mask is zero, and the server
    sees its value. That is true of every real protocol, too.
    """
    rng = np.random.default_rng([2017, next(_calls)])
    if isinstance(prototype, Struct):
        columns = [pairwise_masks(part, num_clients) for part in prototype]
        return tuple(
            Struct(zip(prototype.names(), masks, strict=True))
            for masks in _rows(columns, num_clients)
        )
    array = np.asarray(prototype)
    totals = np.zeros((num_clients, *array.shape), array.dtype)
    limits = np.iinfo(array.dtype)
    for i, j in _neighbors(num_clients):
        shared = rng.integers(
            limits.min, limits.max, array.shape, array.dtype, endpoint=True
        )
        totals[i] += shared
        totals[j] -= shared
    return tuple(total[()] for total in totals)


def _rows(columns: list[tuple[Any, ...]], count: int) -> list[tuple[Any, ...]]:
    return [tuple(column[i] for column in columns) for i in range(count)]


def _neighbors(count: int) -> list[tuple[int, int]]:
    reach = math.ceil(math.log2(count)) if count > 1 else 0
    pairs = {
        (min(i, (i + d) % count), max(i, (i + d) % count))
        for i in range(count)
        for d in range(1, reach + 1)
    }
    return sorted(pair for pair in pairs if pair[0] != pair[1])
