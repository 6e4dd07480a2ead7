# SPDX-License-Identifier: Apache-2.0
"""Pairwise covers: a few rows of a matrix instead of all of them.

Most mistakes need one or two values to meet, hardly ever three. A cover contains every
pair of values that some row of the matrix contains.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, TypeVar

Row = TypeVar("Row", bound=tuple[Any, ...])


def pairwise_cover(rows: Sequence[Row]) -> list[Row]:
    """Rows with all pairs of values, picked greedily: always the same ones."""
    pairs = {row: set(combinations(enumerate(row), 2)) for row in rows}
    missing = set().union(*pairs.values())
    cover: list[Row] = []
    while missing:
        best = max(rows, key=lambda row: len(pairs[row] & missing))
        cover.append(best)
        missing -= pairs[best]
    return cover
