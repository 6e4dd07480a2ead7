# SPDX-License-Identifier: Apache-2.0
"""The history of a run as a tidy table: a row for each round, a column for each number.

A history is immutable: `with_row` returns a new one.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.atomic import write_atomically
from fedlearn_edu.errors import FedLearnError, counted, short_traceback

COLUMNS = ("round", "clients", "dropped", "late", "seconds")
"""What every row has: the round's number from 1 on, how many clients finished, dropped
out and came too late, and how long training took."""

COSTS = ("noise_multiplier", "probability", "drawn", "drawn_of")
"""What a round with noise cost in privacy; see `budget.cost_of`."""

_BREAK = re.compile(r"(?=_per_|_over_)|(?<=mean_)")  # of a long name in a head
_SHOWN_ROWS = 10
_SHOWN_CHARS = 88
_LEFT_OUT_FIRST = (*COSTS, "late", "dropped", "update_norm", "examples", "seconds")


class HistoryError(FedLearnError, KeyError):
    """A history was asked for a column or a row that it does not have."""


class MissingPandasError(FedLearnError, ImportError):
    """A frame was asked for where pandas is not installed."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class History:
    """What was measured, round by round.

    Attributes:
        rows: one mapping per round; what was not measured in a round is not in it.

    >>> history = History().with_row({"round": 1, "clients": 5, "loss": 2.5})
    >>> history = history.with_row({"round": 2, "clients": 4, "loss": 2.0})
    >>> history["loss"], history.last["clients"]
    (array([2.5, 2. ]), 4)
    """

    rows: tuple[Mapping[str, float], ...] = ()

    @staticmethod
    def of(rows: Iterable[Mapping[str, float]]) -> "History":
        """The history that has these rows."""
        return History(tuple(MappingProxyType(dict(row)) for row in rows))

    def with_row(self, row: Mapping[str, float]) -> "History":
        """The same history, and one more round."""
        return History(self.rows + History.of([row]).rows)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of what was measured in any round, in order of appearance."""
        return tuple(dict.fromkeys(chain(COLUMNS, *self.rows)))

    @property
    @short_traceback
    def last(self) -> Mapping[str, float]:
        """The row of the last round.

        Raises:
            HistoryError: if there was no round yet.
        """
        if not self.rows:
            raise HistoryError("there is no last round", found="a history of 0 rounds")
        return self.rows[-1]

    @short_traceback
    def __getitem__(self, column: str) -> NDArray[Any]:
        """One column as an array, NaN where it was not measured.

        Raises:
            HistoryError: if there is no such column; it says which there are.
        """
        if column not in self.columns:
            raise HistoryError(
                "a history has no such column",
                expected=", ".join(self.columns),
                found=repr(column),
                do=_cure(column),
            )
        return np.array([row.get(column, math.nan) for row in self.rows])

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping that cannot be changed cannot be pickled or copied either.
        return History.of, (list(map(dict, self.rows)),)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Mapping[str, float]]:
        return iter(self.rows)

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The columns as arrays, by name; NaN where something was not measured."""
        return {name: self[name] for name in self.columns}

    @short_traceback
    def to_frame(self) -> Any:
        """The columns as a `pandas.DataFrame`.

        Raises:
            MissingPandasError: if pandas is not installed; an `ImportError`.
        """
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise MissingPandasError(
                "a frame needs pandas, which is not installed",
                expected="import pandas",
                found=str(error),
                do="%pip install pandas; or take history.to_dict(), arrays by name",
            ) from error
        return pandas.DataFrame(self.to_dict())

    def to_csv(self, path: str | Path) -> None:
        """Writes the table atomically: a reader sees the old file or the new one.

        What was not measured is an empty field; all other numbers survive the round
        trip exactly.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([row.get(name, "") for name in self.columns] for row in self)
        write_atomically(Path(path), text.getvalue().encode())

    def __repr__(self) -> str:
        names = _narrowed(self)
        lines = aligned(_shown_rows(self, names))
        left_out = [name for name in self.columns if name not in names]
        note = [f"(not shown: {', '.join(left_out)})"] if left_out else []
        count = f"{counted(len(self), 'round')}"
        return "\n".join([f"History of {count}", *lines, *note])


def _cure(column: Any) -> str | None:
    is_row = isinstance(column, int | slice)
    return "rows have numbers: history.rows[-1]" if is_row else None


def _shown_rows(history: History, names: list[str]) -> list[list[str]]:
    """The names, the first and the last rows, and a row of dots for those between."""
    cut = map(_BREAK.split, names)
    head = [list(line) for line in zip_longest(*cut, fillvalue="")]
    cells = [[_number(row.get(name)) for name in names] for row in history]
    if len(cells) <= _SHOWN_ROWS:
        return [*head, *cells]
    half = _SHOWN_ROWS // 2
    return [*head, *cells[:half], ["…"] * len(names), *cells[-half:]]


def _narrowed(history: History) -> list[str]:
    """Columns that fit on a line; what tells least is left out first."""
    names = list(history.columns)
    for name in (*_LEFT_OUT_FIRST, *reversed(history.columns)):
        if (
            len(aligned(_shown_rows(history, names))[0]) <= _SHOWN_CHARS
            or len(names) == 1
        ):
            break
        if name in names:
            names.remove(name)
    return names


def aligned(table: list[list[str]]) -> list[str]:
    """The rows as lines, the cells of a column below each other at the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in table
    ]


def aligned_left(cells: list[str]) -> list[str]:
    """The cells of a column, filled up to the width of the longest."""
    return [cell.ljust(max(map(len, cells))) for cell in cells]


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
