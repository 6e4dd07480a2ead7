# SPDX-License-Identifier: Apache-2.0
"""Figures about training in rounds: how losses and accuracies change.

Plain numbers come in (lists, arrays), a `matplotlib.figure.Figure` goes out; nothing is
computed but means and limits. A notebook shows the figure as it is, `style.save_png`
writes it. Round 0 is always the state before any training.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.curves import ROUND_LABEL

_PANEL_IN = 3.6


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
    stacked = width_in < style.STACK_BELOW_IN
    rows, columns = (2, 1) if stacked else (1, 2)
    height_in = _PANEL_IN * rows
    paper, (left, right) = style.new_figure(width_in, height_in, rows, columns, figure)
    panel_in = style.size_in(paper)[1] / rows
    _draw_losses(left, losses, loss_unit, panel_in)
    _draw_accuracies(right, train, test, panel_in)
    for axes in (left, right):
        axes.set_xlabel(ROUND_LABEL)
        last_round = max(1, len(losses) - 1)
        axes.set_xlim(-0.02 * last_round, 1.02 * last_round)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    paper.align_ylabels()
    return style.say_of(paper, figure, _curves_said(losses, train, test, loss_unit))


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


def _draw_losses(
    axes: Axes, losses: NDArray[np.float64], unit: str, panel_in: float
) -> None:
    rounds = np.arange(len(losses))
    low, mean, high = losses.min(axis=1), losses.mean(axis=1), losses.max(axis=1)
    axes.fill_between(rounds, low, high, color=colors.CLIENTS, alpha=0.22, lw=0)
    axes.plot(rounds, losses, color=colors.CLIENTS, lw=0.9, alpha=0.8)
    axes.plot(rounds, mean, color=colors.SERVER, marker="o", markersize=4)
    axes.set_ylim(0, 1.05 * np.max(losses, initial=0, where=~np.isnan(losses)) or 1)
    axes.set_ylabel(f"loss ({unit})")
    axes.set_title("Loss on the clients' own examples")
    has_gaps = bool(np.isnan(losses).any())
    note = "thin: one line per client" + "\ngaps: no number" * has_gaps
    axes.text(0.04, 0.05, note, transform=axes.transAxes)
    if (at := _last_known(mean)) is None:
        return
    last, mean_of = losses[at], "all" if at == rounds[-1] else f"round {at}"
    ends = {
        f"client {last.argmax()}, highest": (last.max(), colors.CLIENTS),
        f"mean of {mean_of}": (mean[at], colors.SERVER),
        f"client {last.argmin()}, lowest": (last.min(), colors.CLIENTS),
    }
    style.label_ends(axes, ends, panel_in)


def _draw_accuracies(
    axes: Axes, train: NDArray[np.float64], test: NDArray[np.float64], panel_in: float
) -> None:
    rounds = np.arange(len(train))
    axes.plot(rounds, train, color=colors.SERVER, marker="o", markersize=4)
    axes.plot(rounds, test, color=colors.TEST, marker="s", ls="--", mfc="white")
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    axes.set_ylabel("digits read correctly")
    axes.set_title("Accuracy of the server's model")
    ends = {}
    for name, shares, color in (
        ("training", train, colors.SERVER),
        ("test", test, colors.TEST),
    ):
        if (at := _last_known(shares)) is not None:
            when = "" if at == rounds[-1] else f" in round {at}"
            ends[f"{name} {100 * shares[at]:.1f} %{when}"] = (shares[at], color)
    style.label_ends(axes, ends, panel_in)


def _last_known(values: NDArray[np.float64]) -> int | None:
    """The last round with a number."""
    known = np.flatnonzero(~np.isnan(values))
    return int(known[-1]) if len(known) else None


def _curves_said(
    losses: NDArray[np.float64],
    train: NDArray[np.float64],
    test: NDArray[np.float64],
    unit: str,
) -> str:
    """Where the curves begin and end, and how many numbers are missing."""
    rounds, clients = len(losses) - 1, losses.shape[1]
    first, last = (_number(losses[at].mean()) for at in (0, -1))
    of = f"The mean loss of {clients} client{'s' * (clients != 1)}"
    how = f"goes from {first} to {last} {unit} in {rounds} round{'s' * (rounds != 1)}"
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


def _number(value: float) -> str:
    return "an unknown value" if np.isnan(value) else f"{value:.3g}"


def _share(value: float) -> str:
    return "an unknown share" if np.isnan(value) else f"{value:.1%}"
