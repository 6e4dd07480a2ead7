# SPDX-License-Identifier: Apache-2.0
"""`draw_comparison`: curves of several processes, and where each seed ended."""

from html import escape
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.learning.comparison import HEADS, Comparison, is_share, measured
from fedlearn_edu.viz import pictures, style
from fedlearn_edu.viz.curves import LOOKS, Curve, CurvePanel, lay_out, shortened
from fedlearn_edu.viz.displays import folded_table
from fedlearn_edu.viz.html import strong

_LEAST_IN, _MARGINS_IN, _ROW_IN = 3.4, 1.1, 0.45


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
    panel_in = max(_LEAST_IN, _MARGINS_IN + _ROW_IN * len(comparison.entries))
    paper, (left, right) = style.new_figure(
        width_in, panel_in * (1 + stacked), 1 + stacked, 2 - stacked, figure
    )
    curves = _curves(comparison)
    metric = _metric_in_words(comparison)
    left.set_title(metric.capitalize())
    by_bytes = comparison.protocol.max_bytes is not None
    each_in = width_in / (2 - stacked)
    look: Any = {"first": int(not by_bytes), "width_in": each_in}
    panel = CurvePanel(left, is_share=is_share(metric), **look)
    if is_share(metric):
        # They are often close to each other; the ticks say which part of 0..1 this is.
        panel.fit(curves, base=())
        left.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    what = "MB sent, up and down" if by_bytes else "round"
    left.set_xlabel(f"{what}\nband: lowest to highest seed")
    _draw_ends(right, comparison, each_in)
    lay_out(paper)
    panel.show(curves, max(float(curve.rounds[-1]) for curve in curves))
    return style.say_of(paper, figure, _said(comparison))


def comparison_table(comparison: Comparison) -> str:
    """The table, and the picture if there are not too many processes for it."""
    caption = f"{strong('Comparison')}: {escape(comparison.title)}"
    table = folded_table(caption, list(HEADS), comparison.table)
    if len(comparison.entries) > len(LOOKS):
        return table
    return table + (pictures.html(draw_comparison(comparison)) or "")


def _curves(comparison: Comparison) -> list[Curve]:
    """The mean over seeds after each round, with the lowest and the highest."""
    by_bytes = comparison.protocol.max_bytes is not None
    found = []
    for name in comparison.entries:
        values = comparison.curves(name)
        x = _megabytes(comparison, name) if by_bytes else 1 + np.arange(values.shape[1])
        band = np.stack([values.min(axis=0), values.max(axis=0)], axis=1)
        found.append(Curve(name, values.mean(axis=0), measured=x, band=band))
    return found


def _megabytes(comparison: Comparison, name: str) -> Any:
    """What was sent after each round: the mean over seeds."""
    rounds = comparison.curves(name).shape[1]
    sent = [
        np.cumsum(history["bytes_down"] + history["bytes_up"])
        for history in comparison.entries[name].histories
    ]
    return np.mean([[*s[: rounds - 1], s[-1]] for s in sent], axis=0) / 1e6


def _draw_ends(axes: Axes, comparison: Comparison, width_in: float) -> None:
    """Rows from the best mean at the top; names stand where ticks would."""
    finals = comparison.finals
    looks = dict(zip(finals, LOOKS, strict=False))
    sign = 1 if is_share(comparison.protocol.metric) else -1
    order = sorted(finals, key=lambda name: sign * finals[name].mean())
    paper = {"facecolor": "white", "lw": 0, "pad": 1}
    for row, name in enumerate(order):
        look, values, mean = looks[name], finals[name], finals[name].mean()
        axes.plot([mean], [row], **look | {"ms": 10})
        small = look | {"ls": "-", "ms": 5, "mfc": "w"}
        axes.plot(values, [row] * len(values), **small)
        beside: Any = {"xycoords": axes.get_yaxis_transform(), "zorder": 1}
        above: Any = {"xytext": (0, 11), "textcoords": "offset points", "bbox": paper}
        axes.annotate(shortened(name, width_in), (0.02, row), **beside, **above)
    axes.set_yticks([])
    axes.set_ylim(-0.4, len(order) - 0.15)
    axes.margins(x=0.1)
    axes.grid(axis="x", color="#E3E3E3")
    axes.set_title("After the last round")
    axes.set_xlabel(f"{_metric_in_words(comparison)}\nsmall: each seed, large: mean")
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    if is_share(comparison.protocol.metric):
        axes.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.3g} %")


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
