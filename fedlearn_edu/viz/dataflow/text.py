# SPDX-License-Identifier: Apache-2.0
"""Lines of text: how wide they are, and where they are broken."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import final

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from fedlearn_edu.viz import colors, style

LINE_IN = 0.2
_BREAKS = (
    re.compile(r"[^ ,]*(?:, ?| |$)"),
    re.compile(r"(?:[^_=.]|\.(?=\d))*(?:[_=.]|$)"),
)
_SIZES = re.compile(r"([\d.]+) ([kMGT]?B)\b")


@final
@dataclass(frozen=True)
class Style:
    """How a line looks."""

    weight: str = "normal"
    color: str = colors.INK


NAME = Style("bold")
PLAIN = Style()
QUIET = Style(color=colors.QUIET)


@final
@dataclass(frozen=True)
class Line:
    """One line of text."""

    text: str
    style: Style


def wrapped(text: str, look: Style, width_in: float) -> list[Line]:
    """The text in lines that fit, broken at commas and spaces if possible."""
    text = _SIZES.sub("\\1\N{NO-BREAK SPACE}\\2", text)
    lines = [""]
    for piece in _pieces(text, look, width_in):
        if _width(lines[-1] + piece.rstrip(), look) <= width_in:
            lines[-1] += piece
        else:
            lines.append(piece)
    return [Line(line.strip(), look) for line in lines if line.strip()]


def _pieces(text: str, look: Style, width_in: float, depth: int = 0) -> Iterator[str]:
    """What lines are made of: as long as possible, each short enough for one."""
    if depth and _width(text.rstrip(), look) <= width_in:
        yield text
    elif depth < len(_BREAKS):
        for piece in _BREAKS[depth].findall(text):
            yield from _pieces(piece, look, width_in, depth + 1)
    else:
        yield from text


@lru_cache(maxsize=4096)
def _width(text: str, look: Style) -> float:
    """The width of a line in inches."""
    width, *_ = text_to_path.get_text_width_height_descent(text, font(look), False)
    return float(width) / 72


@lru_cache
def font(look: Style) -> FontProperties:
    """The font of a line."""
    return FontProperties(family="DejaVu Sans", size=style.FONT_PT, weight=look.weight)
