# SPDX-License-Identifier: Apache-2.0
"""A figure as PNG and as HTML for both themes, with words for those who cannot see it.

A page has each picture twice, and shows the one that suits its theme. For a dark theme
paper and ink change places, and hues stay:

    a color = a share of white + a share of black + a share of a pure hue
            → dark paper       + pale ink         + the same hue, in these shares

Photographs, such as digits, keep their pixels. A phone gets the figure drawn anew, for
its width, unless somebody has changed the figure since it was drawn.
"""

from base64 import b64encode
from collections.abc import Iterator
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from fedlearn_edu.viz.artists import QuickCanvas
from fedlearn_edu.viz.style import DPI, is_photograph, narrow_twin, one_at_a_time, said

Pixels = NDArray[np.uint8]
"""`[height,width,3]`: red, green and blue."""

_SHOWN_DPI = 110  # ten inches are as wide as the page of a notebook
FAST_DPI = 100
_LEAST_SHARE = 0.57  # of its width: 11 points are then as high as 7 to 8
_NARROW_PX = 640
_MOST_COLORS = 256

_WHITE = np.arange(256) / 255
_PAPER = np.round(0x12 * _WHITE).astype(np.uint8)
_INK = np.round(0xED * (1 - _WHITE)).astype(np.uint8)

# Where no style sheet is read, `hidden` leaves the picture on white.
FOR_THE_THEME = (
    '<style>:is(body[data-jp-theme-light="false"],.vscode-dark) .fl-light{display:none}'
    ':is(body[data-jp-theme-light="false"],.vscode-dark) .fl-dark{display:inline}'
    "</style>"
)


def png(figure: Figure) -> tuple[bytes, dict[str, int]]:
    """The figure as PNG at 150 dots per inch, and the size it is shown in, in pixels.

    The same figure gives the same bytes: no date and no version is kept.
    """
    light, _ = _drawn(figure, DPI)
    return _encoded(light), {"width": _shown_px(figure), "height": _shown_px(figure, 1)}


def html(figure: Figure) -> str | None:
    """The figure as HTML with its words; `None` if it has none.

    In a narrow column it shrinks as long as its text can be read, then it scrolls.
    """
    if not said(figure):
        return None
    twin = narrow_twin(figure)
    wide = for_themes(figure, DPI)
    narrow = for_themes(twin, DPI) if twin else (None, None)
    width_px = _shown_px(figure)
    look = f'width="{width_px}" style="max-width:100%;height:auto'
    look += '"' if twin else f';min-width:{round(_LEAST_SHARE * width_px)}px"'
    shown = (
        _source(small) + _img(figure, _encoded(_few_colors(large)), look)
        for large, small in zip(wide, narrow, strict=True)
    )
    return f'<div style="overflow-x:auto">{_by_theme(shown)}</div>'


def moving(figure: Figure) -> tuple[str, bytes]:
    """The same for pictures that move, quickly, and the usual PNG in it."""
    look = 'style="max-width:100%;height:auto"'
    both = [_encoded(each, compress_level=1) for each in for_themes(figure, FAST_DPI)]
    return _by_theme(_img(figure, each, look) for each in both), both[0]


def for_themes(figure: Figure, dpi: float) -> tuple[Pixels, Pixels]:
    """The figure for the usual theme, and for a dark theme."""
    light, kept = _drawn(figure, dpi)
    dark = in_the_dark(light)
    for place in kept:
        dark[place] = light[place]
    return light, dark


def _drawn(figure: Figure, dpi: float) -> tuple[Pixels, list[Any]]:
    """The figure on its paper, and where in it the photographs are.

    The canvas of a window is put back; a figure without one keeps the quick one.
    """
    with one_at_a_time:
        # Drawing is no change: see `narrow_twin`.
        before = figure.canvas, figure.dpi, figure.stale_callback
        figure.stale_callback = None
        if not isinstance(figure.canvas, QuickCanvas):
            QuickCanvas(figure)
        figure.dpi = dpi
        try:
            canvas: Any = figure.canvas
            canvas.draw()
            drawn = np.array(canvas.buffer_rgba())
            kept = [*_photographs(figure, len(drawn))]
        finally:
            window, figure.dpi, figure.stale_callback = before
            if type(window) is not FigureCanvasBase:
                figure.set_canvas(window)
    return _on_white(drawn), kept


def _on_white(drawn: NDArray[np.uint8]) -> Pixels:
    """Without what a figure of the reader's lets shine through."""
    colors, opacity = drawn[..., :3], drawn[..., 3:]
    if (opacity == 255).all():
        return colors
    seen: Pixels = np.round(255 + (colors - 255.0) * (opacity / 255)).astype(np.uint8)
    return seen


def in_the_dark(light: Pixels) -> Pixels:
    """Colors as a dark theme has them.

    >>> in_the_dark(np.array([[[255, 255, 255], [0, 0, 0], [255, 128, 0]]], np.uint8))
    array([[[ 18,  18,  18],
            [237, 237, 237],
            [255, 128,   0]]], dtype=uint8)
    """
    red, green, blue = light[..., 0], light[..., 1], light[..., 2]
    least = np.minimum(np.minimum(red, green), blue)
    most = np.maximum(np.maximum(red, green), blue)
    dark: Pixels = light + (_PAPER[least] + _INK[most] - least)[..., None]
    return dark


def _photographs(figure: Figure, height: int) -> Iterator[tuple[slice, slice]]:
    """The rows and columns of each, in the pixels of the figure as it is now."""
    for axes in figure.axes:
        for image in filter(is_photograph, axes.images):
            box = image.get_window_extent()
            left, right = (max(0, round(x)) for x in (box.x0, box.x1))
            top, bottom = (max(0, round(height - y)) for y in (box.y1, box.y0))
            yield slice(top, bottom), slice(left, right)


def _shown_px(figure: Figure, side: int = 0) -> int:
    return round(_SHOWN_DPI * float(figure.get_size_inches()[side]))


def _few_colors(pixels: Pixels) -> Image.Image:
    """The same picture of few colors, which is small."""
    return Image.fromarray(pixels).quantize(
        _MOST_COLORS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
    )


def _encoded(picture: Pixels | Image.Image, **how: Any) -> bytes:
    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    buffer = BytesIO()
    image.save(buffer, format="png", **how)
    return buffer.getvalue()


def _img(figure: Figure, data: bytes, look: str) -> str:
    return f'<img alt="{escape(said(figure))}" src="{_uri(data)}" {look}>'


def _source(small: Pixels | None) -> str:
    """What a narrow page shows instead, if there is something."""
    if small is None:
        return ""
    uri = _uri(_encoded(_few_colors(small)))
    return f'<source media="(max-width:{_NARROW_PX}px)" srcset="{uri}">'


def _uri(data: bytes) -> str:
    return f"data:image/png;base64,{b64encode(data).decode()}"


def _by_theme(shown: Iterator[str]) -> str:
    light, dark = shown
    return (
        f'{FOR_THE_THEME}<picture class="fl-light">{light}</picture>'
        f'<picture class="fl-dark" hidden>{dark}</picture>'
    )
