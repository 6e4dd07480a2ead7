# SPDX-License-Identifier: Apache-2.0
"""Figures about training in rounds: how losses and accuracies change.

`draw_run` shows what the history of a run says, or of up to four runs side by side;
`draw_learning_curves` plain numbers (lists, arrays). Nothing is computed but means and
limits. Round 0 is always the state before any training.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.curves import LABEL_IN, MOST_CURVES, Curve, CurvePanel, end

Table = Run | History

_PANEL_IN = 2.3
_HEAD_IN, _FOOT_IN, _AXIS_IN = 0.42, 0.62, 0.85
_MOST_LISTED = 8
_UNITS = {"accuracy": "", "loss": " (nats)"}


@short_traceback
@style.in_our_look
def draw_learning_curves(
    client_losses: ArrayLike,
    train_accuracy: Sequence[float],
    test_accuracy: Sequence[float],
    *,
    loss_unit: str = "nats",
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws how loss and accuracy change from round to round.

    Args:
        client_losses: `[rounds+1, clients]`, the loss of the server's model on each
            client's own training examples; the mean over clients is drawn as a line,
            the spread from the lowest to the highest client as a band.
        train_accuracy: `[rounds+1]`, shares 0..1 of all training examples.
        test_accuracy: `[rounds+1]`, shares 0..1 of all test examples.
        loss_unit: Written in brackets on the loss axis.
        width_in: Width in inches; narrow figures stack the two panels.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    Lines have gaps where there are no numbers.

    >>> print(draw_learning_curves([[2, 4], [1, 1]], [0.1, 0.5], [0, 0.5]).get_label())
    The mean loss of 2 clients goes from 3 to 1 nats in 1 round. Read correctly are
    50.0% of the training examples (10.0% before) and 50.0% of the test examples (0.0%
    before).

    Raises:
        FigureDataError: if lengths differ, or something is empty or no number.
    """
    width_in = style.width_of(figure, width_in)
    losses, train, test = _fitting(client_losses, train_accuracy, test_accuracy)
    paper, (left, right) = _panels(2, width_in, figure)
    _draw_losses(left, losses)
    left.set_ylabel(f"loss ({loss_unit})")
    right.set_title("Accuracy of the server's model")
    right.set_ylabel("digits read correctly")
    curves = [_named("training", train), _named("test", test, color=colors.TEST)]
    CurvePanel(right, _PANEL_IN, is_share=True).show(curves, len(losses) - 1)
    return style.say_of(paper, figure, _curves_said(losses, train, test, loss_unit))


def _panels(
    count: int, width_in: float, figure: style.Paper | None
) -> tuple[style.Paper, list[Axes]]:
    """Two panels in a row, or one on a narrow page, each with room for its labels."""
    beside = 1 if width_in < style.STACK_BELOW_IN else min(2, count)
    row_in, wide_in = _HEAD_IN + _PANEL_IN + _FOOT_IN, width_in / beside
    size_in = (width_in, -(-count // beside) * row_in)
    paper, panels = figure or Figure(figsize=size_in), []
    for number in range(count):
        row, column = divmod(number, beside)
        left_in = column * wide_in + _AXIS_IN
        bottom_in = size_in[1] - (row + 1) * row_in + _FOOT_IN
        inner_in = wide_in - _AXIS_IN - LABEL_IN
        sides_in = (left_in, bottom_in, inner_in, _PANEL_IN)
        panels.append(style.add_axes(paper, sides_in, size_in))
    return paper, panels


def _fitting(*given: ArrayLike) -> list[NDArray[np.float64]]:
    """Losses and two accuracies; what is infinite is no number either."""
    expected = "client_losses [rounds+1, clients], two accuracies [rounds+1]"
    names = ("client_losses", "train_accuracy", "test_accuracy")
    found = [
        style.check_numbers(each, name, expected)
        for each, name in zip(given, names, strict=True)
    ]
    dimensions = [each.ndim for each in found]
    if dimensions != [2, 1, 1] or len({len(each) for each in found}) > 1:
        raise style.FigureDataError(
            "the curves do not fit together",
            expected=expected,
            found=", ".join(str(each.shape) for each in found),
        )
    if not found[0].size:
        raise style.FigureDataError(
            "there are no curves to draw",
            expected="at least one client, and the state before training",
            found=f"client_losses {list(found[0].shape)}",
            where="client_losses",
        )
    return [np.where(np.isfinite(each), each, np.nan) for each in found]


def _draw_losses(axes: Axes, losses: NDArray[np.float64]) -> None:
    """A thin line for each client, and the mean; two clients are named at its end."""
    axes.set_title("Loss on the clients' own examples")
    axes.plot(losses, color=colors.CLIENTS, lw=0.9, alpha=0.8)
    has_gaps = bool(np.isnan(losses).any())
    note = "thin: each client" + "\ngaps: no number" * has_gaps
    axes.text(0.04, 0.05, note, transform=axes.transAxes)
    mean = losses.mean(axis=1)
    curves = [_named("mean", mean, of=" of all")]
    if len(known := np.flatnonzero(np.isfinite(mean))):
        last = losses[known[-1]]
        for name, at in (("max", last.argmax()), ("min", last.argmin())):
            only_its_end = np.full(len(losses), np.nan)
            only_its_end[known[-1]] = last[at]
            said = f"client {at} ({name})"
            curves.append(Curve(said, only_its_end, color=colors.CLIENTS))
    band = np.stack([losses.min(axis=1), losses.max(axis=1)], axis=1)
    panel = CurvePanel(axes, _PANEL_IN, is_share=False)
    panel.show(curves, len(losses) - 1, band=band)


def _named(
    name: str, values: NDArray[np.float64], of: str = "", color: str | None = None
) -> Curve:
    """A curve whose name tells where it ends, unless that is the last round."""
    known = np.flatnonzero(np.isfinite(values))
    is_whole = not len(known) or known[-1] == len(values) - 1
    return Curve(
        f"{name}{of if is_whole else f', round {known[-1]}'}", values, color=color
    )


def _curves_said(
    losses: NDArray[np.float64],
    train: NDArray[np.float64],
    test: NDArray[np.float64],
    unit: str,
) -> str:
    """Where the curves begin and end, and how many numbers are missing."""
    rounds, clients = len(losses) - 1, losses.shape[1]
    first, last = (_known(losses[at].mean()) for at in (0, -1))
    of = f"The mean loss of {counted(clients, 'client')}"
    how = f"goes from {first} to {last} {unit} in {counted(rounds, 'round')}"
    moved = how if rounds else f"is {first} {unit} before training"
    read = " and ".join(
        f"{_share(shares[-1])} of the {name} examples"
        + f" ({_share(shares[0])} before)" * bool(rounds)
        for name, shares in (("training", train), ("test", test))
    )
    missing = sum(int(np.isnan(each).sum()) for each in (losses, train, test))
    were = "value is" if missing == 1 else "values are"
    gaps = f" {missing} {were} not a number." if missing else ""
    return f"{of} {moved}. Read correctly are {read}.{gaps}"


def _known(value: float) -> str:
    return "an unknown value" if np.isnan(value) else f"{value:.3g}"


def _share(value: float) -> str:
    return "an unknown share" if np.isnan(value) else f"{value:.1%}"


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
    found = _tables(runs)
    tables = {n: t.history if isinstance(t, Run) else t for n, t in found.items()}
    stopped = {n: t.stopped for n, t in found.items() if isinstance(t, Run)}
    names, starts = _columns(tables, columns), [_rounds(t)[:1] for t in tables.values()]
    # The axis begins at 1, or at 0 with an evaluation before training.
    first = min([1, *(int(number) for start in starts for number in start)])
    paper, panels = _panels(len(names), width_in, figure)
    for axes, column in zip(panels, names, strict=True):
        axes.set_title(_title(column))
        panel = CurvePanel(axes, _PANEL_IN, is_share="accuracy" in column, first=first)
        curves = [_curve(name, table, column) for name, table in tables.items()]
        note = "" if any(map(end, curves)) else "no number in any round"
        band = _band(next(iter(tables.values())), column)
        panel.show(curves, _last(tables), band=band, note=note)
    sentence = " ".join(_said(tables, stopped, name) for name in names)
    return style.say_of(paper, figure, sentence)


def _curve(name: str, history: History, column: str) -> Curve:
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


def _last(tables: dict[str, History]) -> int:
    ends = [_rounds(table)[-1:] for table in tables.values()]
    return max((int(number) for numbers in ends for number in numbers), default=0)


def _band(history: History, column: str) -> NDArray[np.float64] | None:
    """From the lowest to the highest client, if that was measured."""
    kind = re.split("_per_|_over_", column.replace("mean_", ""), maxsplit=1)[0]
    ends = [f"{kind}_lowest", f"{kind}_highest"]
    if not all(name in history for name in ends):
        return None
    return np.stack([history[name] for name in ends], axis=1).astype(float)


def _columns(tables: dict[str, History], asked: Sequence[str] | None) -> list[str]:
    if asked is not None:
        if isinstance(asked, str) or not 1 <= len(asked) <= MOST_CURVES:
            raise style.FigureDataError(
                "there are no columns to draw, or too many",
                expected=f"a list of 1 to {MOST_CURVES} names",
                found=describe(asked),
                where="columns",
            )
        return list(asked)
    shared = set.intersection(*(set(t.columns) for t in tables.values()))
    known = [n for n in next(iter(tables.values())).columns if n in shared]
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


def _title(column: str) -> str:
    unit = next((unit for kind, unit in _UNITS.items() if kind in column), "")
    return column.replace("_", " ").replace(".", ": ") + unit


def _said(
    tables: dict[str, History], stopped: Mapping[str, str | None], column: str
) -> str:
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
        why = f", stopped: {stopped[name]}" if stopped.get(name) else ""
        parts.append(f"{name} {_value(point[1], column)}{at}{gaps}{why}")
    rounds = f"{counted(last, 'round')}"
    plain = column.replace("_", " ").replace(".", " ")
    return f"{plain}, after {rounds}: {'; '.join(parts)}."


def _value(number: float, column: str) -> str:
    return f"{number:.1%}" if "accuracy" in column else f"{number:.4g}"
