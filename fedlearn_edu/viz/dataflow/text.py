# SPDX-License-Identifier: Apache-2.0
"""Words in a narrow place: types made short, sizes made readable, lines broken.

Text is measured by the very renderer that draws it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

from fedlearn_edu.types import FederatedType, SequenceType, StructType, Type
from fedlearn_edu.viz import colors, style

_DPI = 100
_PIECES = re.compile(r"[^ ,]*(?:, ?| |$)")
_SMALL_PIECES = re.compile(r"[^_=.]*(?:[_=.]|$)")
_SIZES = re.compile(r"([\d.]+) ([kMGT]?B)\b")
_KILO = 1000
MAX_TYPE_CHARS = 72
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


def short(type_: Type, limit: int = MAX_TYPE_CHARS) -> str:
    """The notation of a type, deep or long structures cut short.

    >>> import fedlearn_edu as fl
    >>> short(fl.parse_type("<w=<a=float32,b=float32>,n=int32>"), 20)
    '<w=<…>,n=int32>'
    """
    text = str(type_)
    if len(text) <= limit:
        return text
    text = _outline(type_, _Depth(2))
    if len(text) <= limit:
        return text
    text = _outline(type_, _Depth(1))
    if len(text) <= limit:
        return text
    head, _, _ = text[: limit - 4].rpartition(",")
    return f"{head},…{text[-1] if text[-1] != '>' else ''}>"


def names_only(type_: Type) -> str:
    """The notation with names in the place of what structures hold.

    >>> import fedlearn_edu as fl
    >>> names_only(fl.parse_type("<w=float32[784,10],n=int32>*"))
    '<w,n>*'
    """
    match type_:
        case StructType():
            pairs = type_.items()
            return "<" + ",".join(n or names_only(t) for n, t in pairs) + ">"
        case SequenceType(element=element):
            return names_only(element) + "*"
        case _:
            return str(type_)


@final
@dataclass(frozen=True)
class _Depth:
    levels: int


def _outline(type_: Type, depth: _Depth) -> str:
    match type_:
        case StructType() if len(type_) and not depth.levels:
            return "<…>"
        case StructType():
            inner = _Depth(depth.levels - 1)
            fields = ((n, _outline(t, inner)) for n, t in type_.items())
            return "<" + ",".join(f"{n}={t}" if n else t for n, t in fields) + ">"
        case SequenceType(element=element):
            return _outline(element, depth) + "*"
        case FederatedType(member=member):
            return str(type_).replace(str(member), _outline(member, depth))
        case _:
            return str(type_)


def size_text(size: int | None) -> str:
    """A number of bytes for people; nothing if it is not known.

    >>> size_text(4), size_text(31400), size_text(1_234_567), size_text(None)
    ('4 B', '31.4 kB', '1.23 MB', '')
    """
    if size is None:
        return ""
    if size < _KILO:
        return f"{size} B"
    amount, units = size / _KILO, iter(("kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"))
    while amount >= _KILO - 0.5:
        amount /= _KILO
        next(units)
    return f"{amount:.3g} {next(units)}"


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
