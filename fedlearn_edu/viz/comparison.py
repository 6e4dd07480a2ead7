# SPDX-License-Identifier: Apache-2.0
"""`draw_comparison`: curves of several processes, and where each seed ended."""

from html import escape
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.learning.comparison import HEADS, Comparison, is_share, measured
from fedlearn_edu.viz import pictures, style
from fedlearn_edu.viz.colors import INK
from fedlearn_edu.viz.curves import LOOKS, shortened
from fedlearn_edu.viz.displays import folded_table
from fedlearn_edu.viz.html import strong

_MARKS = 6
_STEPS: Any = {"steps": [1, 2, 5, 10]}


@short_traceback
@style.in_our_look
def draw_comparison(
    comparison: Comparison,
    *,
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws what each process reached: over the rounds, and at the end of each seed.

    A line is the mean over seeds; at its marks, vertical lines go from the lowest seed
    to the highest. Where runs had a limit of bytes, the axis is in megabytes sent, up
    and down, and not in rounds. Rows of processes have a mark for each seed.

    Args:
        comparison: Of up to six processes.
        width_in: Width in inches; below 8 the panels are below each other.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    Raises:
        FigureDataError: if it is no comparison, or has more than six processes.
    """
    width_in = style.width_of(figure, width_in)
    _check(comparison)
    rows, columns = (2, 1) if width_in < style.STACK_BELOW_IN else (1, 2)
    high_in = rows * max(3.4, 1.1 + 0.55 * len(comparison.entries))
    paper, (curves, ends) = style.new_figure(width_in, high_in, rows, columns, figure)
    for axes in (curves, ends):  # cells of their own: names take no width of the other
        cell: Any = axes.get_subplotspec()
        axes.set_subplotspec(cell.subgridspec(1, 1)[0])
    _draw_curves(curves, comparison)
    _draw_ends(ends, comparison, width_in / columns)
    if is_share(comparison.protocol.metric):
        for axis in (curves.yaxis, ends.xaxis):
            axis.set_major_formatter(lambda x, _: f"{100 * x:.3g} %")
    return style.say_of(paper, figure, _said(comparison))


def comparison_table(comparison: Comparison) -> str:
    """The table, and the picture if there are not too many processes for it."""
    caption = f"{strong('Comparison')}: {escape(comparison.title)}"
    table = folded_table(caption, list(HEADS), comparison.table)
    if len(comparison.entries) > len(LOOKS):
        return table
    return table + (pictures.html(draw_comparison(comparison)) or "")


def _draw_curves(axes: Axes, comparison: Comparison) -> None:
    """The mean over seeds, with their limits at some rounds, of each at its own."""
    by_bytes = comparison.protocol.max_bytes is not None
    for place, (name, look) in enumerate(zip(comparison.entries, LOOKS, strict=False)):
        values = comparison.curves(name)
        mean, rounds = values.mean(axis=0), values.shape[1]
        x = _megabytes(comparison, name) if by_bytes else 1 + np.arange(rounds)
        every = max(1, rounds // _MARKS)
        at = (place * every // len(comparison.entries), every)
        seeds: Any = np.stack([mean - values.min(axis=0), values.max(axis=0) - mean])
        more: Any = {"markevery": at, "errorevery": at, "elinewidth": 1.2}
        axes.errorbar(x, mean, seeds, **more, **look)
    axes.set_title(_metric_in_words(comparison).capitalize())
    what = "MB sent, up and down" if by_bytes else "round"
    axes.set_xlabel(f"{what}\nvertical lines: lowest to highest seed")
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True, **_STEPS))
    axes.margins(x=0.02)


def _megabytes(comparison: Comparison, name: str) -> Any:
    """What was sent after each round: the mean over seeds."""
    rounds = comparison.curves(name).shape[1]
    sent = [
        np.cumsum(history["bytes_down"] + history["bytes_up"])
        for history in comparison.entries[name].histories
    ]
    return np.mean([[*s[: rounds - 1], s[-1]] for s in sent], axis=0) / 1e6


def _draw_ends(axes: Any, comparison: Comparison, width_in: float) -> None:
    """Rows from the best mean at the top, beside their names: the key of all lines."""
    metric, told = comparison.protocol.metric, list[str]()
    # Keys are between names and axes, and no marks of the axes: in inches.
    edge = axes.figure.dpi_scale_trans + ScaledTranslation(0, 0, axes.transAxes)
    beside = blended_transform_factory(edge, axes.transData)
    sign = 1 if is_share(metric) else -1
    found = zip(comparison.finals.items(), LOOKS, strict=False)
    order = sorted(found, key=lambda each: sign * each[0][1].mean())
    for row, ((name, values), look) in enumerate(order):
        axes.plot([values.min(), values.max()], [row] * 2, color=look["color"], lw=1)
        axes.plot(values, [row] * len(values), **look | {"ls": "", "mfc": "w", "ms": 8})
        axes.plot(values.mean(), row, "|", color=INK, ms=20, mew=2.5)
        key: Any = look | {"transform": beside, "clip_on": False, "markevery": [1]}
        axes.plot([-0.54, -0.32, -0.1], [row] * 3, **key)
        mean = measured(values.mean(), metric)
        told.append(f"{shortened(name, 0.34 * width_in)}\n{mean}")
    axes.set(title="After the last round", ylim=(-0.6, len(order) - 0.4))
    axes.set_yticks(range(len(order)), told)
    axes.tick_params(axis="y", length=0, pad=44)
    axes.grid(color="#E3E3E3")
    axes.set_xticks(MaxNLocator(4, **_STEPS).tick_values(*axes.get_xlim()))
    axes.set_xlabel(f"{_metric_in_words(comparison)}\nmarks: seeds, bar: mean")


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
    found = f"{len(comparison.entries)} processes" if is_one else describe(comparison)
    if not is_one or len(comparison.entries) > len(LOOKS):
        raise style.FigureDataError(
            "this comparison cannot be drawn",
            expected=f"a Comparison of at most {len(LOOKS)} processes",
            found=found,
            where="comparison",
            do="fl.learning.compare(processes, data, test, rounds) makes one",
        )
