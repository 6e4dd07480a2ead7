# SPDX-License-Identifier: Apache-2.0
"""Parts of pictures that move, made once, and the canvas that draws them quickly.

Half of the time a small figure takes goes into its letters, and from one move to the
next nearly all of them are the same: `QuickCanvas` remembers what it wrote as images.
Nothing else is different from matplotlib's own canvas.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.transforms import Transform
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.viz.colors import CLIENTS, CLIENTS_EDGE, INK
from fedlearn_edu.viz.style import FONT_PT, tint

Words = Sequence[tuple[float, float, str]]
"""What to write where: (x, y, text)."""

_EDGE_PX = 4
_BAR: Any = {"color": tint(CLIENTS, 0.4), "edgecolor": CLIENTS_EDGE, "linewidth": 1}
_PLAIN = {"va": "center", "size": FONT_PT, "family": "DejaVu Sans", "parse_math": False}


def folded(count: int, first: int, last: int) -> list[int | None]:
    """Which rows are shown; `None` is the gap for those between first and last ones.

    >>> folded(3, 5, 2), folded(100, 5, 2)
    ([0, 1, 2], [0, 1, 2, 3, 4, None, 98, 99])
    """
    if count <= first + 1 + last:
        return list(range(count))
    return [*range(first), None, *range(count - last, count)]


@final
class Texts:
    """As many texts as are needed at a time, each made once."""

    def __init__(
        self,
        axes: Axes,
        *,
        transform: Transform | None = None,
        ha: str = "center",
        color: str = INK,
    ) -> None:
        self._axes, self._made = axes, list[Text]()
        self._transform = transform or axes.transData
        self._look: Any = {"ha": ha, "color": color, **_PLAIN}

    def show(self, words: Words, color: str | None = None) -> None:
        """Writes these, and nothing else."""
        while len(self._made) < len(words):
            made = self._axes.text(0, 0, "", transform=self._transform, **self._look)
            self._made.append(made)
        for text, (x, y, word) in zip(self._made, words, strict=False):
            text.set(x=x, y=y, text=word, visible=True)
            text.set_color(color or self._look["color"])
        for text in self._made[len(words) :]:
            text.set_visible(False)


@final
class Bars:
    """Lying bars of clients from zero, of one thickness; text on them can be read."""

    def __init__(self, axes: Axes) -> None:
        self._axes, self._patches = axes, list[Any]()

    def show(self, places: ArrayLike, lengths: ArrayLike, thickness: float) -> None:
        """One bar at each place; where the length is NaN there is none."""
        starts = np.asarray(places, float) - thickness / 2
        sizes = np.nan_to_num(np.asarray(lengths, float))
        while len(self._patches) < len(starts):
            self._patches += self._axes.barh([0], [0], **_BAR).patches
        for patch, start, size in zip(self._patches, starts, sizes, strict=False):
            patch.set_bounds(0, start, size, thickness)
        for number, patch in enumerate(self._patches):
            patch.set_visible(number < len(starts))


def mosaic(tiles: NDArray[Any], edge: tuple[int, int], fill: float) -> NDArray[Any]:
    """Pictures `[rows,columns,height,width]` as one.

    Each has an edge of so many pixels above and below, and left and right.

    >>> mosaic(np.ones([1, 2, 1, 1]), edge=(0, 1), fill=0).astype(int)
    array([[0, 1, 0, 0, 1, 0]])
    """
    sides = ((0, 0), (0, 0), (edge[0],) * 2, (edge[1],) * 2)
    apart = np.pad(tiles, sides, constant_values=fill)
    rows, columns, height, width = apart.shape
    joined: NDArray[Any] = apart.transpose(0, 2, 1, 3)
    return joined.reshape(rows * height, columns * width)


@final
class QuickCanvas(FigureCanvasAgg):
    """Draws a figure with a `_QuickRenderer`."""

    def get_renderer(self) -> Any:
        """One renderer, as long as the figure keeps its size."""
        width, height = self.figure.bbox.size
        key = (width, height, self.figure.dpi)
        if getattr(self, "_made_for", None) != key:
            make: Any = _QuickRenderer
            self._renderer = make(*key)
            self._made_for = key
        return self._renderer

    def draw(self) -> None:
        """Draws on paper, without a window."""
        self.renderer = self.get_renderer()
        self.renderer.clear()
        self.figure.draw(self.renderer)


@final
class _QuickRenderer(RendererAgg):
    """Writes upright and standing text from memory."""

    def draw_text(  # noqa: PLR0913, PLR0917 (matplotlib's own signature)
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        """Puts the image of a text where the text would be."""
        if ismath or angle not in (0, 90):
            slowly: Any = super().draw_text
            slowly(gc, x, y, s, prop, angle, ismath, mtext)
            return
        color = tuple(gc.get_rgb())
        image, down = _written(s, prop, angle == 90, color, float(self.dpi))
        left = round(x) - (down if angle == 90 else _EDGE_PX)
        below = image.shape[0] - (down if angle == 0 else image.shape[0] - _EDGE_PX)
        self.draw_image(gc, left, round(self.height - y) - below, image)


@lru_cache(maxsize=2048)
def _written(
    text: str,
    font: FontProperties,
    is_standing: bool,
    color: tuple[float, ...],
    dpi: float,
) -> tuple[NDArray[np.uint8], int]:
    """The image of a text, lowest row first, and how far its baseline is inside."""
    make: Any = RendererAgg
    ruler = make(1, 1, dpi)
    width, height, descent = ruler.get_text_width_height_descent(text, font, False)
    down = ceil(height - descent) + _EDGE_PX
    wide, high = ceil(width) + 2 * _EDGE_PX, down + ceil(descent) + _EDGE_PX
    if is_standing:
        paper, start = make(high, wide, dpi), (down, wide - _EDGE_PX)
    else:
        paper, start = make(wide, high, dpi), (_EDGE_PX, down)
    gc = paper.new_gc()
    gc.set_foreground(color)
    paper.draw_text(gc, *start, text, font, 90 if is_standing else 0)
    image = np.asarray(paper.buffer_rgba())[::-1].copy()
    image[image[..., 3] == 0] = 0
    return image, down
