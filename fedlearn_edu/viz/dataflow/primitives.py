# SPDX-License-Identifier: Apache-2.0
"""What pictures are made of: a page in inches, lines of text, frames, and arrows."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.textpath import text_to_path

from fedlearn_edu.dataflow.flow import Lane
from fedlearn_edu.viz import colors, style

COLORS = {
    Lane.SERVER: colors.SERVER,
    Lane.CLIENTS: colors.CLIENTS_EDGE,
    Lane.UNPLACED: colors.QUIET,
}
FILLS = COLORS | {Lane.CLIENTS: colors.CLIENTS}
Point = tuple[float, float]
DASHES = (0, (2.4, 1.0))
THICK: dict[str, Any] = {
    "arrowstyle": "-|>,head_length=7,head_width=4.5",
    "linewidth": 3.2,
}
EDGE_IN = 0.1
_BAR_IN, _HEADING_IN = 0.05, 0.12
_BASELINE_IN = 0.145
LINE_IN = 0.2
_BREAKS = (
    re.compile(r"(?:\[[^\]]*\]|[^ ,])*(?:, ?| |$)"),  # a shape stays together
    re.compile(r"\[?(?:[^_=.[]|\.(?=\d))*(?:[_=.]|(?=\[)|$)"),
    re.compile(r"[^,]*(?:,|$)"),
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
QUIET = Style(color="#505050")  # also read on a tint


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
        if width_of(lines[-1] + piece.rstrip(), look) <= width_in:
            lines[-1] += piece
        else:
            lines.append(piece)
    return [Line(line.strip(), look) for line in lines if line.strip()]


def _pieces(text: str, look: Style, width_in: float, depth: int = 0) -> Iterator[str]:
    """What lines are made of: as long as possible, each short enough for one."""
    if depth and width_of(text.rstrip(), look) <= width_in:
        yield text
    elif depth < len(_BREAKS):
        for piece in _BREAKS[depth].findall(text):
            yield from _pieces(piece, look, width_in, depth + 1)
    else:
        yield from text


@lru_cache(maxsize=4096)
def width_of(text: str, look: Style) -> float:
    """The width of a line in inches."""
    width, *_ = text_to_path.get_text_width_height_descent(text, _font(look), False)
    return float(width) / 72


@lru_cache
def _font(look: Style) -> FontProperties:
    """The font of a line."""
    return FontProperties(family="DejaVu Sans", size=style.FONT_PT, weight=look.weight)


def page(
    width: float, height: float, figure: Figure | None, heading: list[Line]
) -> tuple[Figure, Axes]:
    """A figure, and axes over all of it, in inches from the upper left corner.

    Args:
        width: In inches.
        height: In inches.
        figure: To be made so large and used; otherwise a new one.
        heading: Its first lines.
    """
    # Safe from rounding: half a dot more than a whole number of them.
    height = (math.ceil(height * style.DPI) + 0.5) / style.DPI
    figure = Figure() if figure is None else figure
    figure.set_size_inches(width, height)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    write(axes, heading, EDGE_IN, EDGE_IN, align="left")
    return figure, axes


def column(
    axes: Axes, lane: Lane, heading: str, corners: tuple[float, float, float, float]
) -> None:
    """The ground of a lane, from left and top to right and bottom, and its heading."""
    left, top, right, bottom = corners
    if lane is not Lane.UNPLACED:
        grounds = {bottom - top: style.tint(FILLS[lane], 0.09), _BAR_IN: COLORS[lane]}
        for height, color in grounds.items():
            size = right - left, height
            axes.add_patch(Rectangle((left, top), *size, color=color, zorder=0))
    write(axes, [Line(heading, NAME)], (left + right) / 2, top + _HEADING_IN)


def write(
    axes: Axes, lines: Sequence[Line], x: float, top: float, align: str = "center"
) -> None:
    """Lines below each other, from `top` on."""
    for index, line in enumerate(lines):
        axes.text(
            x,
            top + index * LINE_IN + _BASELINE_IN,
            line.text,
            color=line.style.color,
            fontproperties=_font(line.style),
            ha=align,
            va="baseline",
            zorder=5,
        )


def frame(
    axes: Axes,
    corners: tuple[float, float, float, float],
    lane: Lane,
    *,
    radius: float = 0.04,
    is_filled: bool = False,
    **look: Any,
) -> None:
    """A rectangle with round corners, from left and top to right and bottom."""
    left, top, right, bottom = corners
    patch = FancyBboxPatch(
        (left, top),
        right - left,
        bottom - top,
        boxstyle=f"round,pad=0,rounding_size={min(radius, (bottom - top) / 2)}",
        facecolor=style.tint(FILLS[lane], 0.2) if is_filled else "white",
        edgecolor=COLORS[lane],
        **{"zorder": 3, **look},
    )
    axes.add_patch(patch)


def arrow(axes: Axes, start: Point, end: Point, **look: Any) -> None:
    """A line with a head at its end."""
    thin: dict[str, Any] = {
        "arrowstyle": "-|>,head_length=5,head_width=3",
        "linewidth": 1.3,
        "color": colors.INK,
    }
    patch = FancyArrowPatch(
        start, end, shrinkA=0, shrinkB=0, mutation_scale=1, zorder=4, **{**thin, **look}
    )
    axes.add_patch(patch)
