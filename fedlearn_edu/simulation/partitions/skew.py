# SPDX-License-Identifier: Apache-2.0
"""How skewed a partition is: three measures per client, and a table to read."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.simulation.partitions.arguments import Shares, check_partition, coded

_MOST_ROWS = 12
_ROWS_AT_AN_END = 4
_MOST_LABELS = 10


@final
@dataclass(frozen=True, eq=False, repr=False)
class Skew:
    """What `describe_skew` found; printed, it is a table.

    Attributes:
        labels: the labels there are, in order, `[labels]`.
        histogram: how many examples of each label each client holds,
            `int64[clients,labels]`.
        total_variation: ½ Σ |p_k(label) − p(label)| for each client k, `float64`: the
            share of its examples that would have to change for it to look like the
            whole; 0 is no skew, and 1 cannot be reached.
        effective_labels: exp(−Σ p_k ln p_k), `float64[clients]`: a client with four
            labels in equal parts has 4, one with a single label 1.
        names: what the partition calls each client, or its number.
    """

    labels: NDArray[Any]
    histogram: NDArray[np.int64]
    total_variation: NDArray[np.float64]
    effective_labels: NDArray[np.float64]
    names: tuple[str, ...]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many examples each client holds, `int64[clients]`."""
        sizes: NDArray[np.int64] = self.histogram.sum(axis=1)
        return sizes

    def __repr__(self) -> str:
        clients = len(self.histogram)
        shown = list(range(clients))
        if clients > _MOST_ROWS:
            shown = shown[:_ROWS_AT_AN_END] + shown[-_ROWS_AT_AN_END:]
        rows = [self._head(), *map(self._row, shown), self._mean()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) for cell, width in zip(row, widths, strict=True)
            )
            for row in rows
        ]
        if len(shown) < clients:
            lines.insert(1 + _ROWS_AT_AN_END, f"… {clients - len(shown):,} more …")
        return "\n".join(line.rstrip() for line in lines)

    def _head(self) -> list[str]:
        names = [str(label) for label in self.labels] if self._has_few_labels else []
        return ["client", "examples", "effective labels", "total variation", *names]

    def _row(self, client: int) -> list[str]:
        counts = self.histogram[client] if self._has_few_labels else []
        return [
            self.names[client],
            f"{self.sizes[client]:,}",
            f"{self.effective_labels[client]:.2f}",
            f"{self.total_variation[client]:.2f}",
            *map(str, counts),
        ]

    def _mean(self) -> list[str]:
        blanks = [""] * len(self.labels) if self._has_few_labels else []
        return [
            "mean",
            f"{self.sizes.mean():,.1f}",
            f"{self.effective_labels.mean():.2f}",
            f"{self.total_variation.mean():.2f}",
            *blanks,
        ]

    @property
    def _has_few_labels(self) -> bool:
        return len(self.labels) <= _MOST_LABELS


@short_traceback
def describe_skew(labels: ArrayLike, partition: Shares) -> Skew:
    """Compares what each client holds with the labels of the whole.

    Args:
        labels: One label per example, `int[n]`: the whole.
        partition: One array of positions per client, or a dict of them.

    >>> describe_skew([0, 0, 1, 1, 1, 1], [[0, 2, 3], [1], [4, 5]])
    client  examples  effective labels  total variation  0  1
         0         3              1.89             0.00  1  2
         1         1              1.00             0.67  1  0
         2         2              1.00             0.33  0  2
      mean       2.0              1.30             0.33

    Effective labels: M. O. Hill, "Diversity and Evenness", 1973, of order 1.

    Raises:
        PartitionError: if a client holds nothing, or an example that is not there.
    """
    known, codes = coded(labels)
    shares, names = check_partition(partition, len(codes))
    counts = [np.bincount(codes[held], minlength=len(known)) for held in shares]
    histogram = np.array(counts, dtype=np.int64)
    part = histogram / histogram.sum(axis=1, keepdims=True)
    whole = np.bincount(codes, minlength=len(known)) / len(codes)
    with np.errstate(divide="ignore"):
        surprise = np.where(part > 0, -np.log(part), 0.0)
    return Skew(
        labels=known,
        histogram=histogram,
        total_variation=np.abs(part - whole).sum(axis=1) / 2,
        effective_labels=np.exp((part * surprise).sum(axis=1)),
        names=names or tuple(map(str, range(len(shares)))),
    )
