# SPDX-License-Identifier: Apache-2.0
"""Figures about training in rounds: curves, and clients before and after.

Plain numbers come in (lists, arrays), a `matplotlib.figure.Figure` goes out; nothing is
computed but means and limits. A notebook shows the figure as it is, `style.save_png`
writes it. Round 0 is always the state before any training.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.curves import ROUND_LABEL

_PANEL_IN = 3.6


@style.in_our_look
def draw_learning_curves(
    client_losses: ArrayLike,
    train_accuracy: Sequence[float],
    test_accuracy: Sequence[float],
    *,
    loss_unit: str = "nats",
    width_in: float = style.WIDE_IN,
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
    """
    losses = np.asarray(client_losses, dtype=float)
    lengths = {len(losses), len(train_accuracy), len(test_accuracy)}
    if losses.ndim != 2 or len(lengths) > 1:
        raise style.FigureDataError(
            "the curves do not fit together",
            expected="client_losses [rounds+1, clients], two accuracies [rounds+1]",
            found=f"{losses.shape}, ({len(train_accuracy)},), ({len(test_accuracy)},)",
        )
    stacked = width_in < style.STACK_BELOW_IN
    rows, columns = (2, 1) if stacked else (1, 2)
    figure, (left, right) = style.new_figure(width_in, _PANEL_IN * rows, rows, columns)
    _draw_losses(left, losses, loss_unit)
    _draw_accuracies(right, train_accuracy, test_accuracy)
    for axes in (left, right):
        axes.set_xlabel(ROUND_LABEL)
        last_round = max(1, len(losses) - 1)
        axes.set_xlim(-0.02 * last_round, 1.02 * last_round)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    figure.align_ylabels()
    return figure


def _draw_losses(axes: Axes, losses: NDArray[np.float64], unit: str) -> None:
    rounds = np.arange(len(losses))
    low, mean, high = losses.min(axis=1), losses.mean(axis=1), losses.max(axis=1)
    axes.fill_between(rounds, low, high, color=colors.CLIENTS, alpha=0.22, lw=0)
    axes.plot(rounds, losses, color=colors.CLIENTS, lw=0.9, alpha=0.8)
    axes.plot(rounds, mean, color=colors.SERVER, marker="o", markersize=4)
    axes.set_ylim(0, 1.05 * high.max())
    axes.set_ylabel(f"loss ({unit})")
    axes.set_title("Loss on the clients' own examples")
    axes.text(0.04, 0.05, "thin: one line per client", transform=axes.transAxes)
    last = losses[-1]
    ends = {
        f"client {last.argmax()}, highest": (last.max(), colors.CLIENTS),
        "mean of all": (mean[-1], colors.SERVER),
        f"client {last.argmin()}, lowest": (last.min(), colors.CLIENTS),
    }
    style.label_ends(axes, ends, _PANEL_IN)


def _draw_accuracies(axes: Axes, train: Sequence[float], test: Sequence[float]) -> None:
    rounds = np.arange(len(train))
    axes.plot(rounds, train, color=colors.SERVER, marker="o", markersize=4)
    axes.plot(rounds, test, color=colors.TEST, marker="s", ls="--", mfc="white")
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    axes.set_ylabel("digits read correctly")
    axes.set_title("Accuracy of the server's model")
    ends = {
        f"training {100 * train[-1]:.1f} %": (train[-1], colors.SERVER),
        f"test {100 * test[-1]:.1f} %": (test[-1], colors.TEST),
    }
    style.label_ends(axes, ends, _PANEL_IN)


@style.in_our_look
def draw_client_accuracy(
    series: Mapping[str, Sequence[float]],
    *,
    title: str = "Accuracy on each client's own digit",
    width_in: float = style.WIDE_IN,
) -> Figure:
    """Draws one group of bars per client, for example before and after training.

    Args:
        series: Up to three labels, in the order of time, each with one share 0..1 per
            client. The last one is the server's blue and carries its numbers.
        title: The title of the figure.
        width_in: Width in inches.
    """
    figure, (axes,) = style.new_figure(width_in, 3.8)
    clients = np.arange(len(next(iter(series.values()))))
    width = 0.84 / len(series)
    looks = [(colors.QUIET, ".."), (colors.LONE, "//"), (colors.SERVER, None)]
    for position, (label, shares) in enumerate(series.items()):
        offset = (position - (len(series) - 1) / 2) * width
        is_last = position == len(series) - 1
        color, hatch = looks[-1] if is_last else looks[position]
        place = clients + offset
        bars = axes.bar(place, shares, width, label=label, hatch=hatch)
        for bar in bars.patches:
            bar.set(facecolor=color if is_last else "white", edgecolor=color)
        if is_last:
            _label_bars(axes, bars, np.max(list(series.values()), axis=0))
    axes.set_xticks(clients)
    axes.set_xlim(-0.6, len(clients) - 0.4)
    axes.set_xlabel("client, and the only digit it holds")
    axes.set_ylabel("own digits read correctly")
    axes.set_ylim(0, 1.12)
    axes.set_yticks(np.linspace(0, 1, 6))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    axes.set_title(title)
    columns = 1 if width_in < style.STACK_BELOW_IN else len(series)
    figure.legend(loc="outside lower left", ncols=columns, frameon=False)
    return figure


def _label_bars(axes: Axes, bars: BarContainer, clear: NDArray[np.float64]) -> None:
    """Writes each bar's percentage in its color, above whatever stands beside it."""
    for bar, height in zip(bars.patches, clear, strict=True):
        middle = bar.get_x() + bar.get_width() / 2
        text = f"{100 * bar.get_height():.0f}"
        color = bar.get_facecolor()
        axes.text(middle, height + 0.02, text, color=color, ha="center", va="bottom")
