# SPDX-License-Identifier: Apache-2.0
"""`draw_partition`: who holds what, and how far that is from the whole.

A partition is a table of pictures, one row per client:

    images it holds | examples of each label | size, total variation, effective labels

All numbers are those of `describe_skew`. Many clients are folded: the first and the
last ones are shown, and a gap with dots stands for those between them.
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.simulation.partitions import Skew, describe_skew
from fedlearn_edu.simulation.partitions.arguments import check_partition, read_labels
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.artists import Bars, Texts, blended, folded, mosaic

_ROWS = (10, 9)  # first and last ones
LEAST_ROWS = 6
"""A single client's row is as high as one of six, not as high as the picture."""

_LEAST_IMAGES = 3
_DIGIT_IN = 0.1  # width of a digit at 11 pt
_MAP = LinearSegmentedColormap.from_list("clients", ["#FFFFFF", colors.CLIENTS])
_GAP = "\N{VERTICAL ELLIPSIS}"

Row = int | None
"""A client, or the gap."""

_ROW_IN = 0.3
HEAD_IN = 0.62
FOOT_IN = 0.34
_NAMES_IN = 0.62
_NAMES_BY_IMAGES_IN = 0.4
_COLUMNS_IN = (0.58, 0.74, 0.74)
_BETWEEN_IN = 0.1
_IMAGES_FROM_IN = 5.8
_IMAGES_SHARE = 0.3
_COLORS_MEAN = (
    "strong color: a large share of the client\N{RIGHT SINGLE QUOTATION MARK}s examples"
)


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
        width_in: Width in inches; narrow figures leave out the images.
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
    rows = max(len(folded(len(skew.histogram), *_ROWS)), LEAST_ROWS)
    paper = figure or Figure(figsize=(width_in, HEAD_IN + rows * _ROW_IN + FOOT_IN))
    height_in = style.size_in(paper)[1] - HEAD_IN - FOOT_IN
    has_images = pictures is not None
    ClientRows(paper, height_in, has_images=has_images).show(skew, shares, pictures)
    return style.say_of(paper, figure, describe(skew, len(np.asarray(labels))))


def _lay_out(
    figure: style.Paper, height_in: float, has_images: bool
) -> list[Axes | None]:
    """Axes for images (or `None`), counts, and the three columns of numbers."""
    width_in, total_in = style.size_in(figure)
    bottom_in = total_in - HEAD_IN - height_in
    left_in = _NAMES_BY_IMAGES_IN if has_images else _NAMES_IN
    free_in = width_in - left_in - sum(_COLUMNS_IN) - 4 * _BETWEEN_IN
    images_in = _IMAGES_SHARE * free_in if has_images else 0.0
    heat_in = free_in - images_in - (_BETWEEN_IN if has_images else 0)
    added: list[Axes | None] = [] if has_images else [None]
    for wide_in in filter(None, (images_in, heat_in, *_COLUMNS_IN)):
        sides_in = (left_in, bottom_in, wide_in, height_in)
        added.append(style.add_axes(figure, sides_in))
        left_in += wide_in + _BETWEEN_IN
    above = 1 - (HEAD_IN - 0.07) / total_in
    figure.text(0.06 / width_in, above, "client", va="bottom")
    below = (bottom_in - 0.08) / total_in
    figure.text(0.06 / width_in, below, _COLORS_MEAN, va="top")
    return added


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
    """The table at the top of a figure; `show` puts a partition into it."""

    def __init__(
        self, figure: style.Paper, height_in: float, *, has_images: bool
    ) -> None:
        """Draws the fixed parts.

        Args:
            figure: With room of `HEAD_IN` above the table, and of `FOOT_IN` below it.
            height_in: The height in inches that the rows share.
            has_images: Whether each row begins with images.
        """
        places: list[Any] = _lay_out(figure, height_in, has_images)
        images, heat, sizes, variation, effective = places
        self._heat, self._height_in = heat, height_in
        self._column_in = _width_in(heat)
        self._image = heat.imshow([[0]], _MAP, aspect="auto", norm=PowerNorm(0.6, 0, 1))
        self._counts = Texts(heat)
        self._labels = Texts(heat, transform=blended(heat, "x", 0.11))
        self._columns = [
            _Column(sizes, "size", "{:,.0f}"),
            _Column(variation, "total\nvariation", "{:.2f}", most=1.0),
            _Column(effective, "effective\nlabels", "{:.1f}"),
        ]
        heat.set(xticks=[], yticks=[])
        heat.set_title("examples of each label", fontsize=style.FONT_PT, pad=22)
        heat.spines[:].set_visible(False)
        beside = blended(heat, "y", -0.06, across=images)
        self._names = Texts(heat, transform=beside, ha="right")
        self._thumbs = None
        if images is not None:
            images.set_axis_off()
            self._thumbs = style.as_photograph(
                images.imshow([[0]], "gray_r", aspect="auto")
            )

    def show(self, skew: Skew, shares: Sequence[Any], images: Any = None) -> None:
        """Shows who holds what.

        Args:
            skew: What `describe_skew` says of these shares.
            shares: Positions of examples for each client.
            images: `[n,height,width]`, or `None` for no images.
        """
        rows = folded(len(skew.histogram), *_ROWS)
        low = max(len(rows), LEAST_ROWS) - 0.5
        there = [row for row in rows if row is not None]
        places = [place for place, row in enumerate(rows) if row is not None]
        self._show_counts(skew, rows, low)
        for column, values in zip(
            self._columns,
            (skew.sizes, skew.total_variation, skew.effective_labels),
            strict=True,
        ):
            column.show(places, values[there], values.max(), low)
        names = [_GAP if row is None else str(row) for row in rows]
        self._names.show([(0, place, name) for place, name in enumerate(names)])
        if self._thumbs is not None:
            self._show_images(shares, images, rows, low)

    def _show_counts(self, skew: Skew, rows: list[Row], low: float) -> None:
        counts = np.array(
            [[0] * len(skew.labels) if r is None else skew.histogram[r] for r in rows]
        )
        labels = len(skew.labels)
        held = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        self._image.set_data(counts / held)
        self._image.set_extent((-0.5, labels - 0.5, len(rows) - 0.5, -0.5))
        self._heat.set(xlim=(-0.5, labels - 0.5), ylim=(low, -0.5))
        self._labels.show(_ticks(skew.labels, self._column_in))
        self._counts.show(_words(counts, self._column_in / labels, self._height_in))

    def _show_images(
        self, shares: Sequence[Any], images: Any, rows: list[Row], low: float
    ) -> None:
        thumbs: Any = self._thumbs
        width_in = _width_in(thumbs.axes)
        row_in = self._height_in / (low + 0.5)
        columns = max(_LEAST_IMAGES, int(width_in / row_in))
        tile_in = min(row_in, width_in / columns)
        tiles = _tiles(images, shares, rows, columns)
        above = 1 + round((row_in / tile_in - 1) * tiles.shape[2] / 2)
        thumbs.set_data(mosaic(tiles, (above, 1), fill=0))
        thumbs.set_clim(0, max(float(tiles.max()), 1e-9))
        thumbs.set_extent((0, columns * tile_in, len(rows) - 0.5, -0.5))
        thumbs.axes.set(xlim=(0, width_in), ylim=(low, -0.5))


def _width_in(axes: Axes) -> float:
    figure: Any = axes.figure
    return float(axes.get_position().width * style.size_in(figure)[0])


@final
class _Column:
    """A number per client, with a bar behind it."""

    def __init__(
        self, axes: Axes, name: str, form: str, most: float | None = None
    ) -> None:
        self._axes, self._form, self._most = axes, form, most
        self._bars = Bars(axes, colors.CLIENTS + "99")
        self._texts = Texts(axes, ha="left")
        axes.set_title(name, fontsize=style.FONT_PT, loc="left", pad=4)
        axes.grid(visible=False)
        axes.set(xticks=[], yticks=[])
        axes.spines[["top", "right", "bottom"]].set_visible(False)

    def show(
        self, places: list[int], values: NDArray[Any], most: float, low: float
    ) -> None:
        most = self._most or max(float(most), 1e-9)
        self._axes.set(xlim=(0, most), ylim=(low, -0.5))
        self._bars.show(places, values, 0.8)
        self._texts.show(
            [
                (0.05 * most, place, self._form.format(value))
                for place, value in zip(places, values, strict=True)
            ]
        )


def _tiles(
    images: Any, shares: Sequence[Any], rows: list[Row], columns: int
) -> NDArray[Any]:
    """The first images of each client, as they are held; paper where there are none."""
    pictures = np.asarray(images)
    tiles = np.zeros((len(rows), columns, *pictures.shape[1:]), pictures.dtype)
    for place, row in enumerate(rows):
        if row is not None:
            held = np.asarray(shares[row])[:columns]
            tiles[place, : len(held)] = pictures[held]
    return tiles


def _ticks(labels: NDArray[Any], width_in: float) -> list[tuple[float, float, str]]:
    """As many labels as fit side by side, each above its column."""
    words = [str(label) for label in labels]
    longest = max(map(len, words)) + 0.7
    step = max(1, int(np.ceil(longest * _DIGIT_IN * len(words) / width_in)))
    return [(place, 1.0, words[place]) for place in range(0, len(words), step)]


def _words(
    counts: NDArray[Any], cell_in: float, height_in: float
) -> list[tuple[float, float, str]]:
    """The counts that are not 0, if all of them fit beside and above each other."""
    if height_in / len(counts) < 1.3 * style.FONT_PT / 72 or len(counts) > 12:
        return []
    widths = np.where(counts, np.char.str_len(counts.astype(str)), 0) * _DIGIT_IN
    beside = (widths[:, :-1] + widths[:, 1:]) / 2
    both = (counts[:, :-1] > 0) & (counts[:, 1:] > 0)
    if (both & (beside > cell_in - 0.03)).any() or widths.max() > 2 * cell_in:
        return []
    return [(x, y, str(counts[y, x])) for y, x in np.argwhere(counts)]
