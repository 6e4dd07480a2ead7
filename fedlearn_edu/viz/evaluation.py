# SPDX-License-Identifier: Apache-2.0
"""How well a model does: confusion matrices, and bars of clients."""

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.artists import Texts
from fedlearn_edu.viz.curves import lay_out

_MAP = LinearSegmentedColormap.from_list("model", ["#FFFFFF", colors.SERVER])
# So weak that numbers on it can be read in either theme.
_UNDER_NUMBERS: Any = style.tint(colors.SERVER, 0.48)
_WEAK_MAP = LinearSegmentedColormap.from_list("numbers", ["#FFFFFF", _UNDER_NUMBERS])
_LINE_IN = 0.145
_GROUP = 0.9
# The last one is the model that is looked at; narrow bars are told apart, too.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"edgecolor": colors.QUIET, "facecolor": "white"},
    {"edgecolor": colors.MODELS[2], "facecolor": "white", "hatch": "////"},
    {"edgecolor": colors.SERVER, "facecolor": colors.SERVER},
)
_MOST_SERIES = 3
_MOST_SAID = 12


@final
class ConfusionPanel:
    """A confusion matrix in square axes; `show` puts another one into it."""

    def __init__(self, axes: Axes) -> None:
        """Draws the fixed parts."""
        self._axes = axes
        self._image = axes.imshow([[0.0]], _MAP, vmin=0, vmax=1)
        self._counts = Texts(axes)
        axes.grid(visible=False)
        axes.spines[["top", "right"]].set_visible(True)
        axes.tick_params(length=0)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
        axes.set(xlabel="predicted class", ylabel="true class")

    def show(self, matrix: NDArray[np.int64] | None) -> None:
        """Shows this matrix; `None` shows that there is none yet."""
        counts = np.zeros([1, 1], np.int64) if matrix is None else matrix
        classes = len(counts)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        self._image.set_data(shares)
        self._image.set_extent((-0.5, classes - 0.5, classes - 0.5, -0.5))
        self._axes.set(xlim=(-0.5, classes - 0.5), ylim=(classes - 0.5, -0.5))
        is_known = matrix is not None
        self._axes.tick_params(labelleft=is_known, labelbottom=is_known)
        cell_in = self._axes.bbox.width / self._axes.figure.dpi / classes
        fits = (len(str(counts.max())) + 0.3) * style.DIGIT_IN <= cell_in
        cells: Any = np.argwhere(counts) if fits else []
        self._counts.show([(x, y, str(counts[y, x])) for y, x in cells])
        self._image.set_cmap(_WEAK_MAP if fits else _MAP)


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
            client. The last one is the server's blue. Numbers are written where there
            is room.
        title: The title of the figure.
        width_in: Width in inches.
        ax: Axes to draw into; those of a new figure by default.

    >>> print(draw_client_accuracy({"before": [1, 0], "after": [0.9, 0.8]}).get_label())
    Accuracy on each client's own digit. before: 0 100%, 1 0%. after: 0 90%, 1 80%.

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
    axes.set_title(title)
    bars = _draw_bars(axes, series, table)
    if ax is None:
        columns = 1 if width_in < style.STACK_BELOW_IN else len(series)
        style.add_keys(paper, columns)
    else:
        below: Any = {"loc": "upper left", "bbox_to_anchor": (0, -0.25)}
        ax.legend(ncols=len(series), **below)
    lay_out(axes.figure)
    _write_numbers(axes, bars, table)
    return style.say_of(axes.figure, ax, f"{title}. {_bars_said(series, table)}")


def _draw_bars(
    axes: Axes, series: Mapping[str, Any], table: NDArray[np.float64]
) -> list[BarContainer]:
    """A group of bars for each client; what is not known is as low as 0."""
    width, bars = _GROUP / len(series), []
    looks = [*_LOOKS[: len(series) - 1], _LOOKS[-1]]
    for place, (label, shares) in enumerate(zip(series, table, strict=True)):
        left = np.arange(len(shares)) + (place - len(series) / 2) * width
        look: Any = {"align": "edge", "clip_on": False, "lw": 1.5, **looks[place]}
        bars.append(axes.bar(left, np.nan_to_num(shares), width, label=label, **look))
    axes.set_xlim(-0.6, table.shape[1] - 0.4)
    axes.set_xlabel("client")
    axes.set_ylabel("read correctly")
    axes.set_ylim(0, 1.2)
    axes.spines["left"].set_bounds(0, 1)
    # Bars stand above the axis, so that one of 0 is seen.
    axes.spines["bottom"].set_position(("outward", 4))
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    return bars


def _write_numbers(
    axes: Axes, bars: Sequence[BarContainer], table: NDArray[np.float64]
) -> None:
    """Clients as often as there is room, and percent: standing on narrow bars.

    Where all have their numbers, no grid goes through these.
    """
    clients, wide_in = table.shape[1], axes.bbox.width / axes.figure.dpi
    most = 1 + int(wide_in / style.DIGIT_IN / (len(str(clients)) + 1))
    steps: Any = {"steps": [1, 2, 5, 10], "min_n_ticks": 1}
    axes.xaxis.set_major_locator(MaxNLocator(most, integer=True, **steps))
    bar_in = wide_in / (clients + 0.2) * _GROUP / len(bars)
    words = [[_percent(share) for share in shares] for shares in table]
    longest = max(len(word) for told in words for word in told)
    digits = bar_in / style.DIGIT_IN - 0.4  # with a space between neighbors
    stands = digits < longest and bar_in > _LINE_IN
    for each, told in zip(bars, words, strict=True):
        fits = (word if stands or digits >= len(word) else "" for word in told)
        axes.bar_label(each, [*fits], padding=2, rotation=90 * stands)
    axes.grid(axis="y", visible=not stands and digits < longest)


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
    return " ".join(parts)


def _percent(share: float, sign: str = "") -> str:
    return "\N{EN DASH}" if np.isnan(share) else f"{100 * share:.0f}{sign}"
