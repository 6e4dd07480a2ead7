# SPDX-License-Identifier: Apache-2.0
"""A canvas for pictures that move: what it wrote once, it remembers as an image.

Half of the time a small figure takes goes into its letters, and from one move to the
next nearly all of them are the same. Nothing else is different from matplotlib's own
canvas.
"""

from functools import lru_cache
from math import ceil
from typing import Any, final

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.font_manager import FontProperties
from numpy.typing import NDArray

_EDGE_PX = 4


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
        """Draws on white paper."""
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
