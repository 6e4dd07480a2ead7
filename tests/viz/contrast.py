# SPDX-License-Identifier: Apache-2.0
"""How well what a figure shows can be seen in either theme: ratios of WCAG 2.2."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from fedlearn_edu.viz import pictures

_WEIGHTS = [0.2126, 0.7152, 0.0722]
_OF_TEXT, _OF_MARKS = 4.5, 3.0


def linear(color: Any) -> Any:
    """How much light red, green and blue send, 0..1 each."""
    rgb = np.asarray(color, float)
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(first: Any, second: Any) -> float:
    """From 1 to 21."""
    dark, light = sorted(float(linear(color) @ _WEIGHTS) for color in (first, second))
    return (light + 0.05) / (dark + 0.05)


def in_both_themes(color: Any) -> list[Any]:
    """A color, on white paper if it is not opaque, and the same in a dark theme."""
    *rgb, alpha = to_rgba(color)
    light = 1 - alpha * (1 - np.array(rgb))
    pixel = np.round(255 * light).astype(np.uint8)[None, None]
    return [light, pictures.in_the_dark(pixel)[0, 0] / 255]


_PAPERS = in_both_themes("white")


def visibility(color: Any) -> float:
    """The contrast with the paper, in the theme where it is the least."""
    pairs = zip(in_both_themes(color), _PAPERS, strict=True)
    return min(contrast(each, paper) for each, paper in pairs)


def check_contrast(figure: Figure, texts: list[tuple[Text, Bbox]]) -> None:
    """Asserts 4.5 for text on what is behind it, and 3 for each line and each area."""
    words = [each for each in texts if any(map(str.isalnum, each[0].get_text()))]
    weak = []
    for theme, pixels in enumerate(pictures.for_themes(figure, figure.dpi)):
        for text, box in words:
            behind = _most_frequent(pixels, box) / 255
            found = contrast(in_both_themes(text.get_color())[theme], behind)
            if found < _OF_TEXT:
                weak.append(f"{text.get_text()!r}: {found:.1f} in theme {theme}")
    for what, colors in _marks(figure):
        if (found := max(map(visibility, colors))) < _OF_MARKS:
            weak.append(f"{what}: {found:.1f}")
    assert not weak, "; ".join(weak)


def _most_frequent(pixels: Any, box: Bbox) -> Any:
    high = len(pixels)
    left, right = max(0, int(box.x0)), max(1, int(np.ceil(box.x1)))
    top, bottom = max(0, int(high - box.y1)), int(np.ceil(high - box.y0))
    inside = pixels[top:bottom, left:right].reshape(-1, 3)
    colors, counts = np.unique(inside, axis=0, return_counts=True)
    return colors[counts.argmax()]


def _is_seen(artist: Any) -> bool:
    """Whether it is there, and more than the ground on which the others stand."""
    return bool(artist.get_visible() and artist.get_zorder() > 0)


def _marks(figure: Figure) -> Iterator[tuple[str, list[Any]]]:
    """Lines and areas that say something, each with the colors one could see it by."""
    for axes in figure.axes:
        for line in filter(_is_seen, axes.lines):
            if len(np.ravel(line.get_xdata())):
                face: Any = line.get_markerfacecolor()
                marker = [line.get_markeredgecolor(), face]
                has_marker = line.get_marker() not in ("None", "", None)
                yield f"a line, {line}", [line.get_color(), *marker * has_marker]
        for patch in filter(_is_seen, axes.patches):
            edge = patch.get_edgecolor()
            outline = [edge] if patch.get_linewidth() else []
            yield f"an area, {patch}", [patch.get_facecolor(), *outline]
