# SPDX-License-Identifier: Apache-2.0
"""How well a model does: confusion matrices, and bars of clients."""

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.artists import Texts, blended

_MAP = LinearSegmentedColormap.from_list("model", ["#FFFFFF", colors.SERVER])
_DARK_FROM = 0.55
_DIGIT_IN = 0.1
_LEFT_IN, _BELOW_IN, _ABOVE_IN = 0.75, 0.62, 0.4
_MOST_SERIES = 3
_MOST_SAID = 12


@style.in_our_look
def draw_confusion(counts: NDArray[np.int64]) -> Figure:
    """A figure of one matrix: how often each class was predicted as which.

    >>> print(draw_confusion(np.array([[8, 2], [0, 10]])).get_label())
    18 of 20 examples are taken for what they are (90.0%). Most often 0 is taken for 1:
    2 times.
    """
    side_in = style.NARROW_IN - _LEFT_IN - 0.15
    size_in = style.NARROW_IN, side_in + _BELOW_IN + _ABOVE_IN
    figure = Figure(figsize=size_in)
    axes = style.add_axes(figure, (_LEFT_IN, _BELOW_IN, side_in, side_in))
    axes.set_title("Confusion matrix")
    ConfusionPanel(axes, side_in).show(counts)
    return style.say(figure, _said(counts))


@final
class ConfusionPanel:
    """A confusion matrix in square axes; `show` puts another one into it."""

    def __init__(self, axes: Axes, side_in: float) -> None:
        """Draws the fixed parts.

        Args:
            axes: Square, with room below and left of them.
            side_in: Their side in inches.
        """
        self._axes, self._side_in = axes, side_in
        self._image = axes.imshow([[0.0]], _MAP, aspect="auto", vmin=0, vmax=1)
        self._dark, self._light = Texts(axes), Texts(axes, color="#FFFFFF")
        axes.grid(visible=False)
        axes.spines[["top", "right"]].set_visible(True)
        axes.set(xticks=[], yticks=[])
        self._columns = Texts(axes, transform=blended(axes, "x", -0.13))
        self._rows = Texts(axes, transform=blended(axes, "y", -0.13))
        axes.set_xlabel("predicted class", labelpad=20)
        axes.set_ylabel("true class", labelpad=24)

    def show(self, matrix: NDArray[np.int64] | None) -> None:
        """Shows this matrix; `None` shows that there is none yet."""
        counts = np.zeros([1, 1], np.int64) if matrix is None else matrix
        classes = len(counts)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        self._image.set_data(shares)
        self._image.set_extent((-0.5, classes - 0.5, classes - 0.5, -0.5))
        self._axes.set(xlim=(-0.5, classes - 0.5), ylim=(classes - 0.5, -0.5))
        names = [] if matrix is None else self._every(classes)
        self._columns.show([(place, 0.0, str(place)) for place in names])
        self._rows.show([(0.0, place, str(place)) for place in names])
        cell_in = self._side_in / classes
        longest = len(str(counts.max()))
        fits = (longest + 0.3) * _DIGIT_IN <= cell_in
        cells: Any = np.argwhere(counts) if fits else []
        words = [(x, y, str(counts[y, x])) for y, x in cells]
        is_dark = [shares[y, x] > _DARK_FROM for y, x in cells]
        self._dark.show([w for w, dark in zip(words, is_dark, strict=True) if not dark])
        self._light.show([w for w, dark in zip(words, is_dark, strict=True) if dark])

    def _every(self, classes: int) -> range:
        wide_in = (len(str(classes - 1)) + 1) * _DIGIT_IN
        step = int(np.ceil(wide_in * classes / self._side_in))
        return range(0, classes, max(1, step))


def _said(counts: NDArray[np.int64]) -> str:
    """How many are right, and which mistake is the most frequent."""
    total, right = int(counts.sum()), int(np.trace(counts))
    if not total:
        return "There are no examples."
    first = f"{right:,} of {total:,} examples are taken for what they are"
    return f"{first} ({right / total:.1%}). {worst(counts)}"


def worst(counts: NDArray[np.int64]) -> str:
    """The most frequent mistake, in words."""
    wrong = counts - np.diag(np.diag(counts))
    most = int(wrong.max())
    if not most:
        return "No mistakes."
    is_, taken = np.unravel_index(int(wrong.argmax()), wrong.shape)
    times = "once" if most == 1 else f"{most:,} times"
    return f"Most often {is_} is taken for {taken}: {times}."


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
    for x, share in zip(place, shares, strict=True):
        # In a narrow figure it is wider than its bar, and stands over the next one.
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        look: Any = {"color": color, "ha": "center", "va": "bottom", "bbox": paper}
        axes.text(x, np.nan_to_num(share) + 0.02, _percent(share), **look)
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
        parts.append(f"{label}: {counted(len(shares), 'client')}, {ends}.")
    return f"Own digits read correctly, by client. {' '.join(parts)}"


def _percent(share: float, sign: str = "") -> str:
    return "\N{EN DASH}" if np.isnan(share) else f"{100 * share:.0f}{sign}"
