# SPDX-License-Identifier: Apache-2.0
"""`draw_run`: what the history of a run says, or of up to four runs side by side."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.viz import style
from fedlearn_edu.viz.curves import LABEL_IN, MOST_CURVES, Curve, CurvePanel, end

Table = Run | History

_PANEL_IN = 2.3
_HEAD_IN, _FOOT_IN, _AXIS_IN = 0.42, 0.62, 0.85
_MOST_LISTED = 8
_UNITS = {"accuracy": "", "loss": " (nats)"}


@short_traceback
@style.in_our_look
def draw_run(
    runs: Table | Mapping[str, Table],
    *,
    columns: Sequence[str] | None = None,
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws columns of a history over the rounds, one panel for each.

    A band is drawn around the first run where the history has the lowest and the
    highest client in `test.accuracy_lowest` and `test.accuracy_highest`, beside
    `test.accuracy_per_example`; the same for losses.

    Args:
        runs: A `Run` or its `History`; or up to four of them by name.
        columns: Of the history, up to four; `None` for an accuracy and a loss, those of
            an evaluation if there was one.
        width_in: Width in inches; narrow figures have panels below each other.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    >>> history = History.of([{"round": 1, "loss": 2.0}, {"round": 2, "loss": 1.5}])
    >>> print(draw_run(history).get_label())
    loss, after 2 rounds: run 1.5.

    Raises:
        FigureDataError: if there is nothing to draw, or rounds are not in order.
        HistoryError: if a history has no such column.
    """
    width_in = style.width_of(figure, width_in)
    tables = _tables(runs)
    names, first = _columns(tables, columns), _first(tables)
    stacked = width_in < style.STACK_BELOW_IN
    rows, side_by_side = (
        (len(names), 1) if stacked else (-(-len(names) // 2), min(2, len(names)))
    )
    row_in = _HEAD_IN + _PANEL_IN + _FOOT_IN
    paper = figure or Figure(figsize=(width_in, row_in * rows))
    for number, column in enumerate(names):
        row, place = divmod(number, side_by_side)
        wide_in = width_in / side_by_side
        sides_in = np.array(
            [
                place * wide_in + _AXIS_IN,
                (rows - row - 1) * row_in + _FOOT_IN,
                wide_in - _AXIS_IN - LABEL_IN,
                _PANEL_IN,
            ]
        )
        axes = paper.add_axes(sides_in / np.array([width_in, row_in * rows] * 2))
        axes.tick_params(labelsize=style.FONT_PT)
        axes.set_title(_title(column))
        panel = CurvePanel(axes, _PANEL_IN, is_share="accuracy" in column, first=first)
        _draw(panel, tables, column)
    sentence = " ".join(_said(tables, name) for name in names)
    return style.say_of(paper, figure, sentence)


def _draw(panel: CurvePanel, tables: dict[str, Table], column: str) -> None:
    curves = [_curve(name, table, column) for name, table in tables.items()]
    last = _last(tables)
    band = _band(_history(next(iter(tables.values()))), column)
    note = "" if any(end(curve) for curve in curves) else "no number in any round"
    panel.show(curves, last, band=band, note=note)


def _curve(name: str, table: Table, column: str) -> Curve:
    history = _history(table)
    return Curve(name, history[column].astype(float), measured=_rounds(history))


def _rounds(history: History) -> NDArray[np.int64]:
    """The round of each row; where no row says it, they are counted from 1."""
    found = history["round"].astype(float)
    if np.isnan(found).all():
        return 1 + np.arange(len(found))
    is_whole = np.isfinite(found) & (found == found.round())
    if not is_whole.all() or found[0] < 0 or (np.diff(found) <= 0).any():
        raise style.FigureDataError(
            "the rounds of a history are not in order",
            expected="whole numbers from 0 on, each more than the one before",
            found=", ".join(f"{number:g}" for number in found[:_MOST_LISTED]),
            where='history["round"]',
            do="take the history of fl.learning.run, or number the rows anew",
        )
    return found.astype(np.int64)


def _first(tables: dict[str, Table]) -> int:
    """Where the axis begins: at 1, or at 0 with an evaluation before training."""
    return min(
        [1, *(int(r) for t in tables.values() for r in _rounds(_history(t))[:1])]
    )


def _last(tables: dict[str, Table]) -> int:
    ends = [_rounds(_history(table))[-1:] for table in tables.values()]
    return max((int(number) for numbers in ends for number in numbers), default=0)


def _band(history: History, column: str) -> NDArray[np.float64] | None:
    """From the lowest to the highest client, if that was measured."""
    kind = re.split("_per_|_over_", column.replace("mean_", ""), maxsplit=1)[0]
    ends = [f"{kind}_lowest", f"{kind}_highest"]
    if not all(name in history for name in ends):
        return None
    return np.stack([history[name] for name in ends], axis=1).astype(float)


def _columns(tables: dict[str, Table], asked: Sequence[str] | None) -> list[str]:
    if asked is not None:
        if isinstance(asked, str) or not 1 <= len(asked) <= MOST_CURVES:
            raise style.FigureDataError(
                "there are no columns to draw, or too many",
                expected=f"a list of 1 to {MOST_CURVES} names",
                found=describe(asked),
                where="columns",
            )
        return list(asked)
    shared = set.intersection(*(set(_history(t).columns) for t in tables.values()))
    known = [n for n in _history(next(iter(tables.values()))).columns if n in shared]
    found = []
    for kind in ("accuracy", "loss"):
        fitting = [name for name in known if kind in name]
        found += sorted(fitting, key=lambda name: "." not in name)[:1]
    if not found:
        raise style.FigureDataError(
            "there is neither an accuracy nor a loss to draw",
            expected="a run of at least one round",
            found=", ".join(known) or "runs that have no column in common",
            where="runs",
            do="name the columns: columns=[…]",
        )
    return found


def _tables(runs: Any) -> dict[str, Table]:
    """The runs by name; a single one is called "run"."""
    found = {"run": runs} if isinstance(runs, Run | History) else runs
    is_named = isinstance(found, Mapping) and all(
        isinstance(table, Run | History) for table in found.values()
    )
    if not is_named or not 1 <= len(found) <= MOST_CURVES:
        raise style.FigureDataError(
            "there are no runs to draw, or too many",
            expected=f"a Run or a History, or 1 to {MOST_CURVES} of them by name",
            found=describe(runs),
            where="runs",
            do='{"FedAvg": learning.run(…), …}',
        )
    return {str(name): table for name, table in found.items()}


def _history(table: Table) -> History:
    return table if isinstance(table, History) else table.history


def _title(column: str) -> str:
    unit = next((unit for kind, unit in _UNITS.items() if kind in column), "")
    return column.replace("_", " ").replace(".", ": ") + unit


def _said(tables: dict[str, Table], column: str) -> str:
    """The last number of each run, and which rounds have none."""
    last = _last(tables)
    parts = []
    for name, table in tables.items():
        curve = _curve(name, table, column)
        point = end(curve)
        if point is None:
            parts.append(f"{name} has no number in any round")
            continue
        at = "" if point[0] == last else f" in round {point[0]}"
        missing = int((~curve.known).sum())
        gaps = f" ({missing} without a number)" if missing else ""
        stopped = table.stopped if isinstance(table, Run) else None
        why = f", stopped: {stopped}" if stopped else ""
        parts.append(f"{name} {_value(point[1], column)}{at}{gaps}{why}")
    rounds = f"{last} round{'s' * (last != 1)}"
    return f"{_plain(column)}, after {rounds}: {'; '.join(parts)}."


def _plain(column: str) -> str:
    return column.replace("_", " ").replace(".", " ")


def _value(number: float, column: str) -> str:
    return f"{number:.1%}" if "accuracy" in column else f"{number:.4g}"
