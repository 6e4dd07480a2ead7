# SPDX-License-Identifier: Apache-2.0
"""`draw_curves`: how numbers change over the rounds of training.

They are columns of histories, or plain lists and arrays. Nothing is computed but means
and limits. Round 0 is always the state before any training.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.viz import style
from fedlearn_edu.viz.curves import MOST_CURVES, Curve, CurvePanel

_ROW_IN = 3.0
_MOST_LISTED = 8
_ROUNDING = 1e-6  # of means of shares
_NUMBERS = "[rounds+1], or [rounds+1, clients]"


class _Panel(NamedTuple):
    """What is drawn in one panel; shares 0..1 have the unit "%"."""

    title: str
    unit: str
    curves: list[Curve]


@short_traceback
@style.in_our_look
def draw_curves(
    named: Run | History | Mapping[str, Run | History | ArrayLike],
    *,
    column: str | Sequence[str] | None = None,
    title: str | None = None,
    unit: str | None = None,
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws how numbers change over the rounds, as up to four lines by name.

    A line has gaps where there are no numbers. Of several clients it is the mean; a
    single line has a band from the lowest to the highest of them. In a history these
    are `test.accuracy_lowest` and `test.accuracy_highest`, beside
    `test.accuracy_per_example`; the same for losses.

    Args:
        named: A `Run` or its `History`, or several by name; or plain numbers by name,
            `[rounds+1]` or `[rounds+1, clients]`, which begin before training.
        column: Of the history, or up to four, which have a panel each; `None` for an
            accuracy and a loss, those of an evaluation if there was one.
        title: Of the panels; by default the name of the column.
        unit: Of the numbers; `"%"` if they are shares 0..1, shown in percent. By
            default it follows from the column.
        width_in: Width in inches; narrow figures have panels below each other.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    >>> figure = draw_curves({"training": [0.1, 0.5], "test": [0, 0.4]}, unit="%")
    >>> print(figure.get_label())
    After 1 round: training 50.0% (from 10.0%); test 40.0% (from 0.0%).
    >>> history = History.of([{"round": 1, "loss": 2.0}, {"round": 2, "loss": 1.5}])
    >>> print(draw_curves(history).get_label())
    Loss, after 2 rounds: run 1.5 nats (from 2).

    Raises:
        FigureDataError: if these numbers, shares or rounds cannot be drawn.
        HistoryError: if a history has no such column.
    """
    width_in = style.width_of(figure, width_in)
    runs = _by_name(named)
    panels = [
        _panel(name, runs, title, unit)
        for name in _columns([run.history for run in runs.values()], column)
    ]
    rounds = [int(at) for curve in panels[0].curves for at in curve.rounds]
    # The axis begins at 1, or at 0 with an evaluation before training.
    first, last = min([1, *rounds]), max([0, *rounds])
    paper = _drawn(panels, first, last, width_in, figure)
    return style.say_of(paper, figure, " ".join(_said(p, last) for p in panels))


def _by_name(named: Any) -> dict[str, Run]:
    """Runs, of which only the history may be known; a single one is called "run"."""
    found = {"run": named} if isinstance(named, Run | History) else named
    if not isinstance(found, Mapping) or not 1 <= len(found) <= MOST_CURVES:
        raise style.FigureDataError(
            "there are no curves to draw, or too many",
            expected=f"a Run or a History, or 1 to {MOST_CURVES} of them by name; "
            "or as many lists of numbers",
            found=describe(named),
            where="named",
            do='{"FedAvg": learning.run(…), …}',
        )
    return {str(name): _run(name, each) for name, each in found.items()}


def _run(name: str, given: Any) -> Run:
    if isinstance(given, Run):
        return given
    is_history = isinstance(given, History)
    return Run(None, history=given if is_history else _of_numbers(name, given))


def _of_numbers(name: str, values: ArrayLike) -> History:
    """A column without a name, from round 0 on: numbers, or the means of clients."""
    where = f"named[{name!r}]"
    found = style.check_numbers(values, where, _NUMBERS)
    if found.ndim not in {1, 2} or not found.size:
        raise style.FigureDataError(
            "these are no numbers to draw",
            expected=_NUMBERS,
            found=describe(values),
            where=where,
        )
    known = np.where(np.isfinite(found), found, np.nan)
    if known.ndim == 1:
        return History.of({"round": at, "": x} for at, x in enumerate(known))
    return History.of(
        {"round": at, "": row.mean(), "_lowest": row.min(), "_highest": row.max()}
        for at, row in enumerate(known)
    )


def _columns(
    tables: Sequence[History], asked: str | Sequence[str] | None
) -> Sequence[str]:
    """Those that are asked for, or that without a name, or an accuracy and a loss."""
    plain = sum("" in table for table in tables)
    if plain and (asked is not None or plain < len(tables)):
        raise style.FigureDataError(
            "plain numbers have no columns, and no histories beside them",
            expected="only histories; or only numbers, and column=None",
            found=f"numbers for {plain} of {len(tables)} names, column={asked!r}",
            where="named",
            do='{"b": history["loss"], …}',
        )
    if asked is not None:
        names = [asked] if isinstance(asked, str) else asked
        is_list = isinstance(names, list | tuple) and 1 <= len(names) <= MOST_CURVES
        if not is_list or not all(isinstance(name, str) for name in names):
            raise style.FigureDataError(
                "these are not the names of columns to draw",
                expected=f"a name, or a list of 1 to {MOST_CURVES}",
                found=describe(asked),
                where="column",
            )
        return names
    known = [n for n in tables[0].columns if all(n in table for table in tables)]
    chosen = [""] if "" in known else []
    for kind in ("accuracy", "loss"):
        fitting = [name for name in known if kind in name]
        chosen += sorted(fitting, key=lambda name: "." not in name)[:1]
    if not chosen:
        raise style.FigureDataError(
            "there is neither an accuracy nor a loss to draw",
            expected="a run of at least one round",
            found=", ".join(known) or "runs that have no column in common",
            where="named",
            do="name the columns: column=[…]",
        )
    return chosen


def _curve(name: str, run: Run, column: str) -> Curve:
    """A column, with the band from the lowest to the highest client if it is there."""
    history, band = run.history, None
    kind = re.split("_per_|_over_", column.replace("mean_", ""), maxsplit=1)[0]
    ends = [f"{kind}_lowest", f"{kind}_highest"]
    if all(end in history for end in ends):
        band = np.stack([history[end] for end in ends], axis=1).astype(float)
    return Curve(
        name,
        history[column].astype(float),
        measured=_rounds(history),
        band=band,
        stopped=run.stopped,
    )


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


def _drawn(
    panels: Sequence[_Panel],
    first: int,
    last: int,
    width_in: float,
    figure: style.Paper | None,
) -> style.Paper:
    """A panel beside the other, or below it on a narrow page."""
    beside = 1 if width_in < style.STACK_BELOW_IN else min(2, len(panels))
    rows = -(-len(panels) // beside)
    names = len(panels[0].curves)
    high_in = rows * (_ROW_IN + 0.2 * names)
    paper, axes = style.new_figure(width_in, high_in, rows, beside, figure)
    look: Any = {"first": first, "width_in": width_in / beside, "keys": (names, 1)}
    for unused in axes[len(panels) :]:
        unused.remove()
    for each, panel in zip(axes, panels, strict=False):
        title = " in ".join(filter(None, [panel.title, panel.unit.replace("%", "")]))
        drawn = CurvePanel(each, title, is_share=panel.unit == "%", **look)
        if len(_banded(panel.curves)[0].edges) > 1:
            each.set_xlabel(f"{each.get_xlabel()}\nband: lowest to highest client")
        drawn.show(_banded(panel.curves), max(first, last))
    return paper


def _banded(curves: list[Curve]) -> list[Curve]:
    """A single curve with its band; bands of several would hide each other."""
    return curves if len(curves) == 1 else [replace(x, band=None) for x in curves]


def _panel(column: str, runs: Mapping[str, Run], title: Any, unit: Any) -> _Panel:
    """Title and unit are those that are asked for, or follow from the column."""
    curves = [_curve(name, run, column) for name, run in runs.items()]
    if title is None:
        title = column.replace("_", " ").replace(".", ": ").capitalize()
    seen = np.hstack([np.append(x.values[x.known], x.edges[:, 1:]) for x in curves])
    beyond = seen[np.abs(seen - 0.5) > 0.5 + _ROUNDING]
    if unit == "%" and len(beyond):
        raise style.FigureDataError(
            "these are not shares, which alone are shown in percent",
            expected="numbers 0..1",
            found=f"{beyond[0]:g}",
            where=f"named, {column}".removesuffix(", "),
            do='divide percentages by 100, or leave out unit="%"',
        )
    if unit is None:
        is_share = "accuracy" in column and not len(beyond)
        unit = "%" if is_share else "nats" if "loss" in column else ""
    return _Panel(str(title), str(unit), curves)


def _said(panel: _Panel, last: int) -> str:
    """Where each curve ends and begins, and which rounds have no number."""
    parts = [_ends(curve, last, panel.unit) for curve in panel.curves]
    after = f"after {counted(last, 'round')}: {'; '.join(parts)}."
    said = f"{panel.title.replace(':', '')}, {after}" if panel.title else after
    return said[0].upper() + said[1:]


def _ends(curve: Curve, last: int, unit: str) -> str:
    if curve.end is None:
        return f"{curve.name} has no number in any round"
    seen, notes = curve.values[curve.known], []
    if len(seen) > 1:
        notes.append(f"from {_value(seen[0], unit)}")
    if len(curve.edges):
        low, high = (_value(each, unit) for each in curve.edges[-1, 1:])
        notes.append(f"clients {low} to {high}")
    if missing := len(curve.values) - len(seen):
        notes.append(f"{missing} without a number")
    at, value = curve.end
    parts = [
        f"{curve.name} {_value(value, unit)}",
        "" if unit == "%" else f" {unit}".rstrip(),
        f" in round {at:.0f}" * (at < last),
        f" ({'; '.join(notes)})" * bool(notes),
        f", stopped: {curve.stopped}" * bool(curve.stopped),
    ]
    return "".join(parts)


def _value(number: float, unit: str) -> str:
    told = f"{number:.1%}" if unit == "%" else f"{number:.4g}"
    return told.replace("-", "\N{MINUS SIGN}")
