# SPDX-License-Identifier: Apache-2.0
"""Bars of clients: how each of them does before and after training."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.viz import colors, style

_MOST_SERIES = 3
_MOST_SAID = 12


@short_traceback
@style.in_our_look
def draw_client_accuracy(
    series: Mapping[str, Sequence[float]],
    *,
    title: str = "Accuracy on each client's own digit",
    width_in: float = style.WIDE_IN,
    ax: Axes | None = None,
) -> Figure:
    """Draws one group of bars per client, for example before and after training.

    Args:
        series: Up to three labels, in the order of time, each with one share 0..1 per
            client. The last one is the server's blue and carries its numbers.
        title: The title of the figure.
        width_in: Width in inches.
        ax: Axes to draw into; those of a new figure by default.

    >>> print(draw_client_accuracy({"before": [1, 0], "after": [0.9, 0.8]}).get_label())
    Own digits read correctly, by client. before: 0 100%, 1 0%. after: 0 90%, 1 80%.

    Raises:
        FigureDataError: if there are no series or too many, or they do not fit.
    """
    style.check_width(width_in)
    table = _table(series)
    if ax is None:
        paper, (axes,) = style.new_figure(width_in, 3.8)
    else:
        axes = ax
        style.dress(ax)
    _draw_bars(axes, series, table)
    axes.set_title(title)
    columns = 1 if width_in < style.STACK_BELOW_IN else len(series)
    if ax is None:
        paper.legend(loc="outside lower left", ncols=columns, frameon=False)
    else:
        below: Any = {"loc": "upper left", "bbox_to_anchor": (0, -0.25)}
        ax.legend(ncols=columns, frameon=False, **below)
    return style.say_of(axes.figure, ax, _bars_said(series, table))


def _draw_bars(
    axes: Axes, series: Mapping[str, Any], table: NDArray[np.float64]
) -> None:
    clients = np.arange(table.shape[1])
    clear = np.nan_to_num(table).max(axis=0)
    width = 0.84 / len(series)
    looks = [(colors.QUIET, ".."), (colors.LONE, "//"), (colors.SERVER, None)]
    for position, (label, shares) in enumerate(zip(series, table, strict=True)):
        offset = (position - (len(series) - 1) / 2) * width
        is_last = position == len(series) - 1
        color, hatch = looks[-1] if is_last else looks[position]
        place = clients + offset
        bars = axes.bar(place, np.nan_to_num(shares), width, label=label, hatch=hatch)
        for bar in bars.patches:
            bar.set(facecolor=color if is_last else "white", edgecolor=color)
        if is_last:
            _label_bars(axes, bars, shares, clear)
    axes.set_xticks(clients)
    axes.set_xlim(-0.6, len(clients) - 0.4)
    axes.set_xlabel("client, and the only digit it holds")
    axes.set_ylabel("own digits read correctly")
    axes.set_ylim(0, 1.12)
    axes.set_yticks(np.linspace(0, 1, 6))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))


def _table(series: Any) -> NDArray[np.float64]:
    """`[series,clients]`: shares, NaN where one is not known."""
    expected = f"1 to {_MOST_SERIES} series by name, each [clients] shares 0..1"
    given = list(series.values()) if isinstance(series, Mapping) else []
    found = style.check_numbers(given, "series", expected)
    if found.ndim != 2 or not found.size or len(found) > _MOST_SERIES:
        raise style.FigureDataError(
            "these are no bars to draw",
            expected=expected,
            found=describe(series),
            where="series",
            do='{"before": [0.1, 0.0], "after": [0.9, 0.8]}',
        )
    return np.where(np.isfinite(found), found, np.nan)


def _bars_said(series: Mapping[str, Any], table: NDArray[np.float64]) -> str:
    """Every bar in words; of very many clients the lowest and the highest."""
    parts = []
    for label, shares in zip(series, table, strict=True):
        if len(shares) <= _MOST_SAID:
            each = (f"{client} {_percent(x, '%')}" for client, x in enumerate(shares))
            parts.append(f"{label}: {', '.join(each)}.")
            continue
        known = shares[~np.isnan(shares)]
        ends = f"{known.min():.0%} to {known.max():.0%}" if len(known) else "unknown"
        parts.append(f"{label}: {len(shares)} clients, {ends}.")
    return f"Own digits read correctly, by client. {' '.join(parts)}"


def _percent(share: float, sign: str = "") -> str:
    return "\N{EN DASH}" if np.isnan(share) else f"{100 * share:.0f}{sign}"


def _label_bars(
    axes: Axes,
    bars: BarContainer,
    shares: NDArray[np.float64],
    clear: NDArray[np.float64],
) -> None:
    """Writes each bar's percentage in its color, above whatever stands beside it."""
    for bar, share, height in zip(bars.patches, shares, clear, strict=True):
        middle = bar.get_x() + bar.get_width() / 2
        color = bar.get_facecolor()
        text = _percent(share)
        axes.text(middle, height + 0.02, text, color=color, ha="center", va="bottom")
