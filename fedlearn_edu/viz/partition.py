# SPDX-License-Identifier: Apache-2.0
"""`draw_partition`: who holds what, and how far that is from the whole."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.simulation.partitions import Skew, describe_skew
from fedlearn_edu.viz import style
from fedlearn_edu.viz.artists import Texts
from fedlearn_edu.viz.client_rows import LEAST_ROWS, ClientRows, Places, rows_of

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
    "dark: a large share of the client\N{RIGHT SINGLE QUOTATION MARK}s examples"
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
        shares: One array of positions per client, as `simulation.partitions` deals.
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
    skew = describe_skew(labels, shares)
    pictures = check_images(images, len(np.asarray(labels)))
    if width_in < _IMAGES_FROM_IN:
        pictures = None
    rows = max(len(rows_of(len(skew.histogram))), LEAST_ROWS)
    paper = figure or Figure(figsize=(width_in, HEAD_IN + rows * _ROW_IN + FOOT_IN))
    height_in = style.size_in(paper)[1] - HEAD_IN - FOOT_IN
    places = lay_out(paper, height_in, HEAD_IN, has_images=pictures is not None)
    ClientRows(places, height_in, Texts).show(skew, shares, pictures)
    return style.say_of(paper, figure, describe(skew, len(np.asarray(labels))))


def lay_out(
    figure: style.Paper, height_in: float, top_in: float, *, has_images: bool
) -> Places:
    """Axes for the table, `top_in` below the upper edge."""
    width_in, total_in = style.size_in(figure)
    bottom_in = total_in - top_in - height_in
    left_in = _NAMES_BY_IMAGES_IN if has_images else _NAMES_IN
    free_in = width_in - left_in - sum(_COLUMNS_IN) - 4 * _BETWEEN_IN
    images_in = _IMAGES_SHARE * free_in if has_images else 0.0
    heat_in = free_in - images_in - (_BETWEEN_IN if has_images else 0)
    added: list[Any] = []
    for wide_in in (images_in, heat_in, *_COLUMNS_IN):
        sides_in = np.array([left_in, bottom_in, wide_in, height_in])
        if wide_in:
            bounds = sides_in / np.array([width_in, total_in] * 2)
            added.append(_add_axes(figure, bounds))
            left_in += wide_in + _BETWEEN_IN
    above = 1 - (top_in - 0.07) / total_in
    figure.text(0.06 / width_in, above, "client", va="bottom")
    below = (bottom_in - 0.08) / total_in
    figure.text(0.06 / width_in, below, _COLORS_MEAN, va="top")
    images, heat, sizes, variation, effective = added if has_images else [None, *added]
    return Places(images, heat, sizes, variation, effective)


def _add_axes(figure: style.Paper, bounds: Any) -> Axes:
    axes = figure.add_axes(bounds)
    axes.tick_params(labelsize=style.FONT_PT)
    return axes


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
