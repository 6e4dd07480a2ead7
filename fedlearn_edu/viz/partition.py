# SPDX-License-Identifier: Apache-2.0
"""`draw_partition`: who holds what, and how far that is from the whole.

A partition is a table of pictures, one row per client:

    images it holds | examples of each label | size, total variation, effective labels

A tint is a share of what the client holds, as is a number where counts have no room.
All numbers are those of `describe_skew`. Many clients are folded: the first and the
last ones are shown, and a gap with dots stands for those between them.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.simulation.partitions import Skew, describe_skew
from fedlearn_edu.simulation.partitions.arguments import check_partition, read_labels
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.artists import Bars, Texts, folded, mosaic

_ROWS = (10, 9)  # first and last ones
_LEAST_IMAGES = 3
# From the least share above 0; numbers on the darkest can be read in either theme.
_MAP, _WEAK_MAP = (
    LinearSegmentedColormap.from_list("", ["#FDF3DF", *ends]).with_extremes(under="w")
    for ends in ((colors.CLIENTS, colors.CLIENTS_EDGE), ("#E2B678",))
)
_CELL: Any = np.array([[-1, -1], [-1, 1], [1, 1], [1, -1], [-1, -1], [np.nan] * 2]) / 2
_KEYS = {0.05: "5 %", 0.25: "25 %", 1.0: "100 % of a client's examples"}
_COUNTS, _PERCENT = "examples of each label", "its labels, in percent"
_GAP = "\N{VERTICAL ELLIPSIS}"
_ROW_IN, _AROUND_IN = 0.3, 1.1
_IMAGES_FROM_IN = 5.8
# Of images, examples of each label, and three columns, compared with each other.
_WIDTHS = (0.9, 4.8, 1.0, 1.2, 1.1)


@short_traceback
@style.in_our_look
def draw_partition(
    labels: ArrayLike,
    shares: Any,
    *,
    images: ArrayLike | None = None,
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws who holds what: a row per client, with what `describe_skew` says of it.

    Args:
        labels: One label per example, `int[n]`: the whole.
        shares: One array of positions per client, as `simulation.partitions` deals,
            or a dict of them; rows have numbers, in this order.
        images: `[n,height,width]`; with them, each row begins with some it holds.
        width_in: Width in inches; narrow figures show labels and sizes only.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    >>> from fedlearn_edu.simulation import partitions
    >>> labels = [0, 0, 1, 1, 1, 1]
    >>> figure = draw_partition(labels, partitions.iid(labels, 2))
    >>> print(figure.get_label()[:62])
    2 clients hold 3 of 6 examples each. Mean total variation 0.33

    Raises:
        PartitionError: if a client holds nothing, or an example that is not there.
        FigureDataError: if there is not one image per label.
    """
    width_in = style.width_of(figure, width_in)
    shares, _ = check_partition(shares, len(read_labels(labels)))
    skew = describe_skew(labels, shares)
    pictures = check_images(images, len(np.asarray(labels)))
    if width_in < _IMAGES_FROM_IN:
        pictures = None
    rows = len(folded(len(skew.histogram), *_ROWS))
    size_in = width_in, _AROUND_IN + rows * _ROW_IN
    paper: Any = figure or Figure(figsize=size_in)
    if paper.figure.get_layout_engine() is None:
        paper.figure.set_layout_engine("constrained")
    table = ClientRows(paper, has_images=pictures is not None)
    table.show(skew, shares, pictures)
    return style.say_of(paper, figure, describe(skew, len(np.asarray(labels))))


def describe(skew: Skew, examples: int) -> str:
    """What the table shows, in words."""
    sizes = skew.sizes
    clients = len(sizes)
    least, most = sizes.min(), sizes.max()
    each = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    who = "1 client holds" if clients == 1 else f"{clients} clients hold"
    end = "" if clients == 1 else " each"
    return (
        f"{who} {each} of {examples:,} examples{end}. "
        f"Mean total variation {skew.total_variation.mean():.2f} (0: each is like the "
        f"whole), mean effective labels {skew.effective_labels.mean():.2f} "
        f"of {len(skew.labels)}."
    )


def check_images(images: ArrayLike | None, examples: int) -> Any:
    """The images as an array, or an error that says what they should be."""
    if images is None:
        return None
    found = np.asarray(images)
    if found.ndim != 3 or len(found) != examples:
        raise style.FigureDataError(
            "there is one image per label",
            expected=f"images [{examples:,},height,width]",
            found=f"shape {list(found.shape)}",
            where="images",
            do="take both from the same split: x, y = dataset.train",
        )
    return found


@final
class ClientRows:
    """A table in a figure, or in a part of one; `show` puts a partition into it."""

    def __init__(self, paper: style.Paper, *, has_images: bool) -> None:
        """Draws the fixed parts.

        Args:
            paper: A figure or a part of one, with matplotlib's constrained layout.
            has_images: Whether each row begins with images.
        """
        width_in = style.size_in(paper)[0]
        last = 3 + (width_in >= _IMAGES_FROM_IN) + (width_in >= style.STACK_BELOW_IN)
        widths = _WIDTHS[not has_images : last]
        panels = paper.subplots(1, len(widths), sharey=True, width_ratios=widths)
        for axes in panels:
            axes.set(xticks=[], yticks=[])
            axes.tick_params(length=0, labelsize=style.FONT_PT)
            axes.spines[:].set_visible(False)
        self._first, (self._heat, *columns) = panels[0], panels[has_images:]
        above: Any = {"xytext": (-8, 6), "textcoords": "offset points", "ha": "right"}
        self._first.annotate("client", (0, 1), xycoords="axes fraction", **above)
        norm = PowerNorm(0.5, 1e-6, 1)
        self._image = self._heat.imshow([[0]], aspect="auto", norm=norm)
        thin: Any = {"color": colors.CLIENTS_EDGE, "lw": 0.8, "clip_on": False}
        (self._frames,) = self._heat.plot([], [], **thin)
        self._counts = Texts(self._heat, color="black")
        self._heat.xaxis.set(ticks_position="top", ticks=[0])
        _head(self._heat, _COUNTS)
        pairs = zip(columns, _COLUMNS.items(), strict=False)
        self._columns = [_Column(axes, *head) for axes, head in pairs]
        keys = [Patch(ec=colors.CLIENTS_EDGE, label=each) for each in _KEYS.values()]
        look: Any = {"ncols": len(keys), "handlelength": 1.2, "columnspacing": 1.2}
        self._key = paper.legend(handles=keys, loc="outside lower left", **look)
        self._thumbs = None
        if has_images:
            thumbs = self._first.imshow([[0]], "gray_r", aspect="auto")
            self._thumbs = style.as_photograph(thumbs)
            _head(self._first, "images")
        self._first.set_yticks([0], [padded("")])
        paper.figure.draw_without_rendering()

    def show(self, skew: Skew, shares: Sequence[Any], images: Any = None) -> None:
        """Shows who holds what.

        Args:
            skew: What `describe_skew` says of these shares.
            shares: Positions of examples for each client.
            images: `[n,height,width]`, or `None` for no images.
        """
        rows = folded(len(skew.histogram), *_ROWS)
        there = [row for row in rows if row is not None]
        places = [place for place, row in enumerate(rows) if row is not None]
        names = [_GAP if row is None else str(row) for row in rows]
        self._first.set_yticks(range(len(rows)), [padded(name) for name in names])
        self._first.set_ylim(len(rows) - 0.5, -0.5)
        numbers = skew.sizes, skew.total_variation, skew.effective_labels
        ends = skew.sizes[there].max(), 1.0, len(skew.labels)
        for column, values, most in zip(self._columns, numbers, ends, strict=False):
            column.show(places, values[there], most)
        self._heat.set_xticks(*_ticks(skew.labels, _cell_in(self._heat)[0]))
        self._show_counts(skew, rows)
        if self._thumbs is not None:
            self._show_images(shares, images, rows)

    def _show_counts(self, skew: Skew, rows: list[int | None]) -> None:
        counts = np.array(
            [[0] * len(skew.labels) if r is None else skew.histogram[r] for r in rows]
        )
        labels = len(skew.labels)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        self._image.set_data(shares)
        self._image.set_extent((-0.5, labels - 0.5, len(rows) - 0.5, -0.5))
        self._heat.set_xlim(-0.5, labels - 0.5)
        percent = np.round(100 * shares).astype(int)
        words, instead = (_words(each, self._heat) for each in (counts, percent))
        self._counts.show(words or instead)
        _head(self._heat, _COUNTS if words else _PERCENT)
        self._image.set_cmap(_WEAK_MAP if words or instead else _MAP)
        held = np.argwhere(counts if words or instead else counts[:0])[:, None, ::-1]
        self._frames.set_data(*(held + _CELL).reshape(-1, 2).T)
        for patch, share in zip(self._key.get_patches(), _KEYS, strict=True):
            patch.set_facecolor(self._image.to_rgba(share))

    def _show_images(self, shares: Any, images: Any, rows: list[int | None]) -> None:
        thumbs: Any = self._thumbs
        width_in, row_in = _cell_in(thumbs.axes)
        shape = images.shape[2] / images.shape[1]
        columns = max(_LEAST_IMAGES, int(width_in / (row_in * shape)))
        tile_in = min(row_in, width_in / columns / shape)
        tiles = _tiles(images, shares, rows, columns)
        above = 1 + round((row_in / tile_in - 1) * tiles.shape[2] / 2)
        thumbs.set_data(mosaic(tiles, (above, 1), fill=0))
        thumbs.set_clim(0, max(float(tiles.max()), 1e-9))
        thumbs.set_extent((0, columns * tile_in * shape, len(rows) - 0.5, -0.5))
        thumbs.axes.set_xlim(0, width_in)


def _cell_in(axes: Axes) -> tuple[float, float]:
    """The width of the axes, and the height of a row."""
    figure: Any = axes.figure
    box = axes.get_window_extent()
    low, high = axes.get_ylim()
    return box.width / figure.dpi, box.height / figure.dpi / (low - high)


def padded(name: str, width: int = 3) -> str:
    """As wide as a number of so many digits, so that the layout stays."""
    return name.rjust(width, "\N{FIGURE SPACE}")


def _head(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=style.FONT_PT)


def _size(examples: float) -> str:
    return f"{examples:,.0f}" if examples < 1e5 else f"{examples / 1e6:.3g} M"


_COLUMNS: dict[str, Callable[[float], str]] = {
    "size": _size,
    "total\nvariation\nfrom all": "{:.2f}".format,
    "effective\nlabels": "{:.1f}".format,
}


@final
class _Column:
    """A bar per client, and its number beyond it."""

    def __init__(self, axes: Axes, name: str, form: Callable[[float], str]) -> None:
        self._axes, self._form = axes, form
        self._bars, self._texts = Bars(axes), Texts(axes, ha="left")
        _head(axes, name)

    def show(self, places: list[int], values: NDArray[Any], most: float) -> None:
        names = [self._form(value) for value in values]
        width_in, _ = _cell_in(self._axes)
        # From zero to `most`, and the longest number.
        long_in = max(0.1, width_in - style.DIGIT_IN * (1 + max(map(len, names))))
        self._axes.set_xlim(0, most * width_in / long_in)
        self._bars.show(places, values, 0.8)
        ends = values + 0.06 * most / long_in
        self._texts.show(list(zip(ends, places, names, strict=True)))


def _tiles(
    images: Any, shares: Sequence[Any], rows: list[int | None], columns: int
) -> NDArray[Any]:
    """The first images of each client, as they are held; paper where there are none."""
    tiles = np.zeros((len(rows), columns, *images.shape[1:]), images.dtype)
    for place, row in enumerate(rows):
        if row is not None:
            held = np.asarray(shares[row])[:columns]
            tiles[place, : len(held)] = images[held]
    return tiles


def _ticks(labels: NDArray[Any], width_in: float) -> tuple[range, list[str]]:
    """The places and names of all labels, or of those for which there is room."""
    names = [str(label) for label in labels]
    needed_in = len(names) * (1 + max(map(len, names))) * style.DIGIT_IN
    places = range(0, len(names), max(1, -int(-needed_in // width_in)))
    return places, [names[place] for place in places]


def _words(counts: NDArray[Any], axes: Axes) -> list[tuple[float, float, str]]:
    """The counts that are not 0, if each has room in its cell."""
    width_in, row_in = _cell_in(axes)
    cell_in = width_in / counts.shape[1]
    longest = len(str(counts.max()))
    if row_in < 1.5 * style.FONT_PT / 72 or (longest + 0.1) * style.DIGIT_IN > cell_in:
        return []
    return [(x, y, str(counts[y, x])) for y, x in np.argwhere(counts)]
