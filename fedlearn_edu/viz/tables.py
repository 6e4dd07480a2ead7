# SPDX-License-Identifier: Apache-2.0
"""Draws a history, a run and a skew: tables of what their plain `repr` says, in HTML.

The middle of a long table is folded: its ends are shown, all of it can be opened.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.simulation.partitions.skew import Skew
from fedlearn_edu.viz.colors import QUIET

_END_ROWS = 5
_CELL = f"border:0;border-bottom:1px solid {QUIET}66;padding:3px 8px;text-align:right"
_NUMBERS = "font-variant-numeric:tabular-nums"


def history_table(history: History) -> str:
    """One row for each round, and curves of losses and accuracies if there are any.

    >>> history = History().with_row({"round": 1, "clients": 5, "loss": 2.5})
    >>> html = history_table(history)
    >>> "of 1 round" in html, "2.5" in html
    (True, True)
    """
    return _rounds(f"<strong>History</strong> of {_counted(len(history))}", history)


def run_table(run: Run) -> str:
    """The history of a run, and why it stopped, if it did."""
    why = f", stopped: {escape(run.stopped)}" if run.stopped else ""
    return _rounds(f"<strong>Run</strong> of {_counted(run.rounds)}{why}", run.history)


def skew_table(skew: Skew) -> str:
    """What each client holds, and how much that differs from the whole."""
    heads = ["client", "examples", "effective labels", "total variation"]
    heads += [f"label {label}" for label in skew.labels]
    rows = [
        [f"{k}", f"{size:,}", f"{effective:.2f}", f"{variation:.2f}", *map(str, counts)]
        for k, (size, effective, variation, counts) in enumerate(
            zip(
                skew.sizes,
                skew.effective_labels,
                skew.total_variation,
                skew.histogram,
                strict=True,
            )
        )
    ]
    mean = (
        f"on average {skew.sizes.mean():,.1f} examples, "
        f"{skew.effective_labels.mean():.2f} effective labels, "
        f"total variation {skew.total_variation.mean():.2f}"
    )
    count = f"{len(rows):,} client{'s' * (len(rows) != 1)}"
    return _folded(f"<strong>Skew</strong> of {count}: {mean}", heads, rows)


def _rounds(caption: str, history: History) -> str:
    rows = [[_number(row, name) for name in history.columns] for row in history]
    table = _folded(caption, list(history.columns), rows)
    return f"{table}{_curves(history)}"


def _curves(history: History) -> str:
    if not any("loss" in name or "accuracy" in name for name in history.columns):
        return ""
    from fedlearn_edu.viz import notebook, style
    from fedlearn_edu.viz.runs import draw_run

    try:
        return notebook.html(draw_run(history)) or ""
    except style.FigureDataError:  # rounds that are not in order: the table has them
        return ""


def _number(row: Mapping[str, float], name: str) -> str:
    if name not in row:
        return ""
    value = row[name]
    if math.isnan(value):
        return "NaN"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _counted(rounds: int) -> str:
    return f"{rounds:,} round{'s' * (rounds != 1)}"


def _folded(caption: str, heads: list[str], rows: list[list[str]]) -> str:
    """The table; if it is long, its ends, and all of it to be opened."""
    if len(rows) <= 2 * _END_ROWS:
        return _table(caption, heads, rows)
    dots = ["…"] * len(heads)
    ends = _table(caption, heads, [*rows[:_END_ROWS], dots, *rows[-_END_ROWS:]])
    whole = _table("", heads, rows)
    return (
        f'{ends}<details style="margin:0 0 .5em"><summary style="cursor:pointer">'
        f'all {len(rows):,} rows</summary><div style="max-height:24em;overflow-y:auto">'
        f"{whole}</div></details>"
    )


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(
        f'<th scope="col" style="{_CELL};vertical-align:bottom">{_breakable(name)}</th>'
        for name in heads
    )
    body = "".join(f"<tr>{_row(row)}</tr>" for row in rows)
    said = f"<div>{caption}</div>" if caption else ""
    return (
        f'<div style="margin:.5em 0;line-height:1.4">{said}'
        '<div style="overflow-x:auto">'
        '<table style="border-collapse:collapse;margin:0">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _row(row: Sequence[str]) -> str:
    first = f'<th scope="row" style="{_CELL};{_NUMBERS}">{escape(row[0])}</th>'
    return first + "".join(
        f'<td style="{_CELL};{_NUMBERS}">{escape(cell)}</td>' for cell in row[1:]
    )


def _breakable(name: str) -> str:
    return escape(name).replace("_", "_<wbr>")
