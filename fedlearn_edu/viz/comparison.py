# SPDX-License-Identifier: Apache-2.0
"""`draw_comparison`: curves of several processes, and where each seed ended."""

from html import escape
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.learning.comparison import HEADS, Comparison, is_share, measured
from fedlearn_edu.viz import colors, pictures, style
from fedlearn_edu.viz.curves import shortened
from fedlearn_edu.viz.displays import folded_table
from fedlearn_edu.viz.html import strong

_PANEL_IN, _ROW_IN = 3.6, 0.32
# Colors that stay apart for color-blind readers; dashes and markers differ, too.
_LOOKS = (
    (colors.SERVER, "-", "o"),
    (colors.ALARM, "--", "s"),
    (colors.TEST, "-.", "^"),
    (colors.LONE, ":", "D"),
    (colors.INK, (0, (5, 1, 1, 1, 1, 1)), "v"),
    (colors.CLIENTS, (0, (8, 2)), "P"),
)
_MOST_MARKERS = 8
_NAME_CHARS = 22


@short_traceback
@style.in_our_look
def draw_comparison(
    comparison: Comparison,
    *,
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws what each process reached: over the rounds, and at the end of each seed.

    A line is the mean over seeds, its band goes from the lowest seed to the highest.
    Where runs had a limit of bytes, the axis is in megabytes sent, up and down, and not
    in rounds. Beside it is a row for each process: a small mark for each seed, and a
    large one at their mean.

    Args:
        comparison: Of up to six processes.
        width_in: Width in inches; below 8 the panels are below each other.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    Raises:
        FigureDataError: if it is no comparison, or has more than six processes.
    """
    width_in = style.width_of(figure, width_in)
    _check(comparison)
    stacked = width_in < style.STACK_BELOW_IN
    rows_in = 1.1 + _ROW_IN * len(comparison.entries)
    height_in = _PANEL_IN + rows_in if stacked else max(_PANEL_IN, rows_in)
    paper, (left, right) = style.new_figure(
        width_in, height_in, 1 + stacked, 2 - stacked, figure
    )
    _draw_curves(left, comparison)
    _draw_ends(right, comparison)
    return style.say_of(paper, figure, _said(comparison))


def comparison_table(comparison: Comparison) -> str:
    """The table, and the picture if there are not too many processes for it."""
    caption = f"{strong('Comparison')}: {escape(comparison.title)}"
    table = folded_table(caption, list(HEADS), comparison.table)
    if len(comparison.entries) > len(_LOOKS):
        return table
    return table + (pictures.html(draw_comparison(comparison)) or "")


def _draw_curves(axes: Axes, comparison: Comparison) -> None:
    by_bytes = comparison.protocol.max_bytes is not None
    for name, (color, dash, marker) in zip(comparison.entries, _LOOKS, strict=False):
        curves = comparison.curves(name)
        x = _megabytes(comparison, name) if by_bytes else 1 + np.arange(curves.shape[1])
        low, high = curves.min(axis=0), curves.max(axis=0)
        axes.fill_between(x, low, high, color=color, alpha=0.15, lw=0)
        look: Any = {"color": color, "ls": dash, "marker": marker, "ms": 6}
        every = max(1, len(x) // _MOST_MARKERS)
        axes.plot(x, curves.mean(axis=0), markevery=every, **look)
    axes.set_xlabel("MB sent, up and down" if by_bytes else "round")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=not by_bytes))
    axes.set_title("Mean over seeds, lowest to highest")
    axes.set_ylabel(_metric_in_words(comparison))
    _set_unit(axes, "y", comparison)


def _megabytes(comparison: Comparison, name: str) -> Any:
    """What was sent after each round: the mean over seeds."""
    rounds = comparison.curves(name).shape[1]
    sent = [
        np.cumsum(history["bytes_down"] + history["bytes_up"])
        for history in comparison.entries[name].histories
    ]
    return np.mean([[*s[: rounds - 1], s[-1]] for s in sent], axis=0) / 1e6


def _draw_ends(axes: Axes, comparison: Comparison) -> None:
    """Rows from the best mean at the top; names stand where ticks would."""
    finals = comparison.finals
    looks = dict(zip(finals, _LOOKS, strict=False))
    sign = 1 if is_share(comparison.protocol.metric) else -1
    order = sorted(finals, key=lambda name: sign * finals[name].mean())
    for row, name in enumerate(order):
        color, dash, marker = looks[name]
        values, mean = finals[name], finals[name].mean()
        axes.plot([values.min(), values.max()], [row, row], color=color, ls=dash)
        axes.plot(values, [row] * len(values), marker, color=color, ms=5, mfc="w")
        axes.plot([mean], [row], marker, color=color, ms=10)
    axes.set_yticks(range(len(order)), [shortened(n, _NAME_CHARS) for n in order])
    axes.set_ylim(-0.6, len(order) - 0.4)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", color="#E3E3E3")
    seeds = ", ".join(map(str, comparison.protocol.seeds))
    axes.set_title(f"After the last round: seeds {seeds}")
    axes.set_xlabel(_metric_in_words(comparison))
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    _set_unit(axes, "x", comparison)


def _set_unit(axes: Axes, side: str, comparison: Comparison) -> None:
    if is_share(comparison.protocol.metric):
        axis = axes.xaxis if side == "x" else axes.yaxis
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * x:.3g} %"))


def _metric_in_words(comparison: Comparison) -> str:
    return f"test {comparison.protocol.metric.replace('_', ' ')}"


def _said(comparison: Comparison) -> str:
    metric = comparison.protocol.metric
    ends = [
        f"{name} {measured(f.mean(), metric)} "
        f"({measured(f.min(), metric)} to {measured(f.max(), metric)})"
        for name, f in comparison.finals.items()
    ]
    what, seeds = _metric_in_words(comparison), len(comparison.protocol.seeds)
    return (
        f"{what.capitalize()} after the last round, mean over "
        f"{counted(seeds, 'seed')} (lowest to highest): {'; '.join(ends)}."
    )


def _check(comparison: Any) -> None:
    is_one = isinstance(comparison, Comparison)
    if not is_one or len(comparison.entries) > len(_LOOKS):
        raise style.FigureDataError(
            "this comparison cannot be drawn",
            expected=f"a Comparison of at most {len(_LOOKS)} processes",
            found=f"{len(comparison.entries)} processes"
            if is_one
            else describe(comparison),
            where="comparison",
            do="fl.learning.compare(processes, data, test, rounds) makes one",
        )
