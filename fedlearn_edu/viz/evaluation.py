# SPDX-License-Identifier: Apache-2.0
"""How well a model does: confusion matrices, and bars or dots of clients."""

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.artists import Texts
from fedlearn_edu.viz.curves import lay_out

_MAP = LinearSegmentedColormap.from_list("model", ["#FFFFFF", colors.SERVER])
# So weak that numbers on it can be read in either theme.
_UNDER_NUMBERS: Any = style.tint(colors.SERVER, 0.48)
_WEAK_MAP = LinearSegmentedColormap.from_list("numbers", ["#FFFFFF", _UNDER_NUMBERS])
_GROUP = 0.84
# The last one is the model that is looked at; narrow bars are told apart, too.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"edgecolor": colors.MODELS[2], "facecolor": "white", "hatch": "////"},
    {"edgecolor": colors.QUIET, "facecolor": "white"},
    {"edgecolor": colors.SERVER, "facecolor": colors.SERVER},
)
_MOST_SERIES = 3
_MOST_BARS = 19  # more clients are dots
_WORDS: Any = {"va": "bottom", "bbox": {"fc": "white", "ec": "none", "pad": 1}}
_MARK: dict[str, Any] = {"color": colors.INK, "mfc": "w", "mew": 1.5, "clip_on": False}


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

    From 20 clients on each is a dot, sorted by what it reads correctly, with the mean,
    the median and the worst of all.

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
    has_dots = table.shape[1] > _MOST_BARS
    height_in = 1.4 + 1.2 * len(series) if has_dots else 3.8
    axes = style.new_figure(width_in, height_in)[1][0] if ax is None else ax
    style.dress(axes)
    axes.set_title(title)
    (_draw_dots if has_dots else _draw_bars)(axes, list(series), table)
    return style.say_of(axes.figure, ax, f"{title}. {_said(series, table)}")


def _draw_dots(axes: Axes, names: list[str], table: NDArray[np.float64]) -> None:
    """A strip for each series, below its words; heights are places in the order."""
    size = np.clip(36 * style.size_in(axes.figure)[0] / table.shape[1], 3, 6) ** 2
    for place, (label, shares) in enumerate(zip(names, table, strict=True)):
        low, middle, high = len(names) - 1 - place + np.array([0, 0.28, 0.56])
        known = np.sort(shares[~np.isnan(shares)])
        heights = np.linspace(low, high, len(known))
        look = _LOOKS[place - len(names)]
        axes.scatter(known, heights, size, clip_on=False, **look)
        axes.text(0, high + 0.07, f"{label}\n{_summary(shares)}", **_WORDS)
        if len(known):
            axes.plot([known.mean()] * 2, [low, high], lw=1.5, **_MARK)
            axes.plot(np.median(known), middle, "D", ms=8, **_MARK)
            axes.plot(known[0], low, "o", ms=12, **_MARK | {"mfc": "none"})
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.1, len(names) - 0.1))
    axes.set(ylabel="clients, sorted", yticks=[])
    axes.set_xlabel("read correctly\nline: mean, diamond: median, ring: the worst")
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    axes.grid(axis="x", color="#E3E3E3")


def _draw_bars(axes: Axes, names: list[str], table: NDArray[np.float64]) -> None:
    """A group of bars for each client; what is not known is as low as 0."""
    width, bars = _GROUP / len(names), []
    for place, (label, shares) in enumerate(zip(names, table, strict=True)):
        left = np.arange(len(shares)) + (place - len(names) / 2) * width
        look: Any = {"label": label, "lw": 1.5, **_LOOKS[place - len(names)]}
        heights, free = np.nan_to_num(shares), {"align": "edge", "clip_on": False}
        bars.append(axes.bar(left, heights, width, **look | free))
    axes.set(xlabel="client", ylabel="read correctly", yticks=np.linspace(0, 1, 5))
    axes.set(xlim=(-0.6, table.shape[1] - 0.4), ylim=(0, 1.1))
    axes.xaxis.set_major_locator(MaxNLocator(12, integer=True, min_n_ticks=1))
    axes.spines["left"].set_bounds(0, 1)
    # Bars stand above the axis, so that one of 0 is seen.
    axes.spines["bottom"].set_position(("outward", 4))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    is_narrow = style.size_in(axes.figure)[0] < style.STACK_BELOW_IN
    below: Any = {"loc": "upper left", "bbox_to_anchor": (0, -0.25)}
    axes.legend(ncols=1 if is_narrow else len(names), **below)
    lay_out(axes.figure)
    _write_numbers(axes, bars, table)


def _write_numbers(axes: Axes, bars: list[Any], table: NDArray[np.float64]) -> None:
    """Percent of all bars, or of the last ones, as there is room.

    Where all have their numbers, no grid goes through these.
    """
    words = [[_percent(share) for share in shares] for shares in table]
    needed_in = style.DIGIT_IN * (0.4 + max(len(w) for told in words for w in told))
    group_in = axes.bbox.width / axes.figure.dpi / (table.shape[1] + 0.2)
    fit_all = needed_in <= group_in * _GROUP / len(bars)
    told = len(bars) if fit_all else int(needed_in <= group_in)
    for each, word in list(zip(bars, words, strict=True))[len(bars) - told :]:
        axes.bar_label(each, word, padding=2)
    if 0 < told < len(bars):
        key: Any = axes.get_legend()
        key.texts[-1].set_text(f"{bars[-1].get_label()} (numbers in %)")
    axes.grid(axis="y", visible=not fit_all)


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


def _said(series: Mapping[str, Any], table: NDArray[np.float64]) -> str:
    """Every bar in words; of dots what is marked."""
    parts = []
    for label, shares in zip(series, table, strict=True):
        each = (f"{client} {_percent(x, '%')}" for client, x in enumerate(shares))
        told = ", ".join(each) if len(shares) <= _MOST_BARS else _summary(shares)
        parts.append(f"{label}: {told}.")
    return " ".join(parts)


def _summary(shares: NDArray[np.float64]) -> str:
    if np.isnan(shares).all():
        return "unknown"
    least = int(np.nanargmin(shares))
    found: Any = np.nanmean(shares), np.nanmedian(shares), shares[least]
    mean, median, worst = (f"{round(100 * share, 1):g}" for share in found)
    return f"mean {mean}, median {median}, worst {worst} % (client {least})"


def _percent(share: float, sign: str = "") -> str:
    return "\N{EN DASH}" if np.isnan(share) else f"{100 * share:.0f}{sign}"
