# SPDX-License-Identifier: Apache-2.0
"""Words in a narrow place: how wide they are, and where lines are broken."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

from fedlearn_edu.viz import colors, style

_DPI = 100
_PIECES = re.compile(r"[^ ,]*(?:, ?| |$)")
_SMALL_PIECES = re.compile(r"[^_=.]*(?:[_=.]|$)")
_SIZES = re.compile(r"([\d.]+) ([kMGT]?B)\b")
LINE_IN = 0.2


@final
@dataclass(frozen=True)
class Style:
    """How a piece of text looks."""

    color: str = colors.INK
    is_bold: bool = False
    is_italic: bool = False
    size_pt: float = style.FONT_PT


NAME = Style(is_bold=True)
PLAIN = Style()
QUIET = Style(colors.QUIET)


@final
@dataclass(frozen=True)
class Line:
    """One line of text."""

    text: str
    style: Style


def wrapped(text: str, look: Style, width_in: float) -> list[Line]:
    """The text in lines that fit, broken at commas and spaces if possible."""
    if not text:
        return []
    whole = _SIZES.sub("\\1\N{NO-BREAK SPACE}\\2", text)
    return [Line(line, look) for line in _broken(whole, width_in, look)]


def _broken(text: str, width_in: float, look: Style) -> list[str]:
    lines = [""]
    for piece in _pieces(text, width_in, look):
        if _fits(lines[-1] + piece.rstrip(), width_in, look):
            lines[-1] += piece
        else:
            lines.append(piece)
    return [line.strip() for line in lines if line.strip()]


def _pieces(text: str, width_in: float, look: Style) -> list[str]:
    """What lines are made of; each fits into one."""
    found: list[str] = []
    splits: list[Callable[[str], list[str]]] = [_PIECES.findall, _SMALL_PIECES.findall]
    for piece in splits[0](text):
        if _fits(piece.rstrip(), width_in, look):
            found.append(piece)
            continue
        for part in splits[1](piece):
            fits = _fits(part.rstrip(), width_in, look)
            found += [part] if fits else list(part)
    return [piece for piece in found if piece]


def _fits(text: str, width_in: float, look: Style) -> bool:
    return width_of(text, look) <= width_in


@lru_cache(maxsize=4096)
def width_of(text: str, look: Style) -> float:
    """The width of a line of text in inches."""
    width, _, _ = _renderer().get_text_width_height_descent(text, font(look), False)
    return float(width) / _DPI


@lru_cache(maxsize=1)
def _renderer() -> Any:
    return RendererAgg(1, 1, _DPI)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=32)
def font(look: Style) -> FontProperties:
    """The font of a piece of text."""
    return FontProperties(
        family="DejaVu Sans",
        size=look.size_pt,
        weight="bold" if look.is_bold else "normal",
        style="italic" if look.is_italic else "normal",
    )
