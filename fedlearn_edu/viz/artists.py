# SPDX-License-Identifier: Apache-2.0
"""Parts of pictures that move: made once, and then told what to show.

`Texts` are texts as matplotlib draws them, a third of a millisecond each. `Stamps` look
the same, but are not laid out: for tables of numbers that have to follow a slider.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.transforms import (
    ScaledTranslation,
    Transform,
    blended_transform_factory,
)
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.viz.colors import INK
from fedlearn_edu.viz.style import FONT_PT

Words = Sequence[tuple[float, float, str]]
"""What to write where: (x, y, text)."""

_FONT = FontProperties(family="DejaVu Sans", size=FONT_PT)
_PLAIN = {"va": "center", "size": FONT_PT, "family": "DejaVu Sans", "parse_math": False}


def blended(axes: Axes, along: str, off_in: float, across: Axes | None = None) -> Any:
    """Data along one axis; across it the edge of the axes, and so many inches more."""
    figure: Any = axes.figure
    edge = (across or axes).transAxes
    if along == "x":
        move = ScaledTranslation(0, off_in, figure.dpi_scale_trans)
        return blended_transform_factory(axes.transData, edge) + move
    move = ScaledTranslation(off_in, 0, figure.dpi_scale_trans)
    return blended_transform_factory(edge, axes.transData) + move


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

    def show(self, words: Words) -> None:
        """Writes these, and nothing else."""
        while len(self._made) < len(words):
            made = self._axes.text(0, 0, "", transform=self._transform, **self._look)
            self._made.append(made)
        for text, (x, y, word) in zip(self._made, words, strict=False):
            text.set(x=x, y=y, text=word, visible=True)
        for text in self._made[len(words) :]:
            text.set_visible(False)


@final
class Stamps(Artist):
    """Short texts without matplotlib's layout, which takes most of their time."""

    def __init__(
        self,
        axes: Axes,
        *,
        transform: Transform | None = None,
        ha: str = "center",
        color: str = INK,
    ) -> None:
        super().__init__()
        self._words: Words = ()
        self._align = {"left": 0.0, "center": 0.5, "right": 1.0}[ha]
        self._color = color
        axes.add_artist(self)
        self.set_transform(transform or axes.transData)
        self.set_clip_on(False)
        self.set_zorder(3)

    def show(self, words: Words) -> None:
        """Writes these, and nothing else."""
        self._words = tuple(words)
        self.stale = True

    def draw(self, renderer: Any) -> None:
        """Writes the words where they are; matplotlib calls it."""
        if not self._words:
            return
        points = self.get_transform().transform([(x, y) for x, y, _ in self._words])
        gc = renderer.new_gc()
        gc.set_foreground(self._color)
        height, descent = _extent("lp", float(renderer.dpi))[1:]
        for (x, y), (_, _, word) in zip(points, self._words, strict=True):
            left = x - self._align * _extent(word, float(renderer.dpi))[0]
            below = renderer.height - y + height / 2 - descent
            renderer.draw_text(gc, left, below, word, _FONT, 0)
        gc.restore()


@lru_cache(maxsize=4096)
def _extent(word: str, dpi: float) -> tuple[float, float, float]:
    """Width, height and descent of a word, in pixels."""
    make: Any = RendererAgg
    found: tuple[float, float, float]
    found = make(1, 1, dpi).get_text_width_height_descent(word, _FONT, False)
    return found


@final
class Bars:
    """Bars from zero, of one thickness: lying ones, or standing ones."""

    def __init__(self, axes: Axes, color: str, *, lying: bool = False) -> None:
        self._axes, self._lying = axes, lying
        self._patches: list[Any] = []
        self._color = color

    def show(self, places: ArrayLike, lengths: ArrayLike, thickness: float) -> None:
        """One bar at each place; where the length is NaN there is none."""
        starts = np.asarray(places, float) - thickness / 2
        sizes = np.nan_to_num(np.asarray(lengths, float))
        draw = self._axes.barh if self._lying else self._axes.bar
        while len(self._patches) < len(starts):
            self._patches += draw([0], [0], color=self._color).patches
        for patch, start, size in zip(self._patches, starts, sizes, strict=False):
            if self._lying:
                patch.set_bounds(0, start, size, thickness)
            else:
                patch.set_bounds(start, 0, thickness, size)
        for patch in self._patches[len(starts) :]:
            patch.set_bounds(0, 0, 0, 0)


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
