# SPDX-License-Identifier: Apache-2.0
"""The picture of the results: one panel per workload, one dot per row."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.bars import TIMES
from benchmarks.rows import BATCHED, FED_AVG, GRAPH, JAX, NUMPY, THREADS, ours_key
from fedlearn_edu.viz import colors, style

DESCRIPTION = (
    "Milliseconds per training round, for each workload one dot per row: ours, and by "
    "hand TensorFlow, JAX and NumPy; and microseconds per client of ours for "
    "more and more clients."
)

_OURS, _TENSORFLOW, _JAX, _NUMPY = (
    (colors.SERVER, "o"),
    (colors.CLIENTS, "s"),
    (colors.INK, "^"),
    (colors.QUIET, "D"),
)
# From top to bottom; a table draws those it has.
_ROWS = {
    ours_key("operators", fuse=False): ("ours, step by step", _OURS),
    ours_key("operators"): ("ours, plain lists", _OURS),
    FED_AVG: ("ours, FedAvg", _OURS),
    ours_key("operators", placed=True): ("ours, placed", _OURS),
    THREADS: ("TensorFlow, threads", _TENSORFLOW),
    GRAPH: ("TensorFlow, parallel", _TENSORFLOW),
    BATCHED: ("TensorFlow, batched", _TENSORFLOW),
    JAX: ("JAX, batched", _JAX),
    NUMPY: ("NumPy", _NUMPY),
}
_PLAIN = FuncFormatter(lambda value, _: f"{value:,g}")
_ON_WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 1}
_PANELS = ("W1", "W2", "W3")
_PANEL_IN = 3.1
_FEW_TICKS = 30  # a longer axis has ticks at powers of ten only


@style.in_our_look
def draw(results: dict[str, Any], *, width_in: float = style.WIDE_IN) -> Figure:
    """Draws the training times of W1 to W3, and the growth of W5.

    Args:
        results: what `suite.run` returns; what is not in it is not drawn.
        width_in: Width in inches; narrow figures have one column of panels.
    """
    names = [name for name in _PANELS if name in results["tables"]]
    count = len(names) + ("growth" in results)
    narrow = width_in < style.STACK_BELOW_IN
    columns = 1 if narrow or count < 2 else 2
    rows = -(-count // columns)
    figure, axes = style.new_figure(width_in, _PANEL_IN * rows, rows, columns)
    for name, panel in zip(names, axes, strict=False):
        _draw_rows(panel, name, results["tables"][name], narrow)
    if "growth" in results:
        _draw_growth(axes[len(names)], results["growth"])
    for panel in axes[count:]:
        panel.set_axis_off()
    return figure


def _draw_rows(axes: Axes, name: str, table: dict[str, Any], narrow: bool) -> None:
    rows = table["rows"]
    drawn = [key for key in _ROWS if "train_s" in rows.get(key, {})]
    times = [1000 * rows[key]["train_s"] for key in drawn]
    for height, (key, time) in enumerate(zip(drawn, times, strict=True)):
        _, (color, marker) = _ROWS[key]
        axes.plot([time], [height], marker, color=color, markersize=8)
        axes.annotate(
            f"{time:.1f}" if time < 100 else f"{time:,.0f}",
            (time, height),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
            bbox=_ON_WHITE,
        )
    axes.set_yticks(range(len(drawn)), [_ROWS[key][0] for key in drawn])
    axes.set_ylim(len(drawn) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    _log_axis(axes, min(times, default=1) / 1.5, 3 * max(times, default=1))
    axes.set_xlabel("ms per training round")
    title = f"{name}: {table['title']}"
    axes.set_title(title.replace(TIMES, f"\n{TIMES}", 1) if narrow else title)


def _draw_growth(axes: Axes, entries: list[dict[str, Any]]) -> None:
    clients = [entry["clients"] for entry in entries]
    each = [1e6 * entry["train_s"] / entry["clients"] for entry in entries]
    color, marker = _OURS
    axes.plot(clients, each, color=color, marker=marker)
    for x, y in zip(clients, each, strict=True):
        axes.annotate(
            f"{y:,.0f}",
            (x, y),
            xytext=(0, 9),
            textcoords="offset points",
            ha="center",
            bbox=_ON_WHITE,
        )
    axes.set_ylim(0, 1.3 * max(each))
    axes.yaxis.set_major_formatter(_PLAIN)
    _log_axis(axes, clients[0] / 3, 3 * clients[-1])
    axes.set_xlabel("clients")
    axes.set_ylabel("µs per client and round")
    axes.set_title("W5: ours, placed")


def _log_axis(axes: Axes, low: float, high: float) -> None:
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    subs = (1, 2, 5) if high < _FEW_TICKS * low else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=subs))
    axes.xaxis.set_major_formatter(_PLAIN)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", color="#E3E3E3")
