# SPDX-License-Identifier: Apache-2.0
"""A sheet of paper measured in inches: boxes, text and arrows, for drawings of flows.

Everything on it is wiped and drawn again on each move: there are no axes, ticks or
layouts. What moves often is written with stamps, which is several times as quick.
"""

import math
from typing import Any, final

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Polygon

from fedlearn_edu.viz import style
from fedlearn_edu.viz.artists import Stamps
from fedlearn_edu.viz.colors import INK

ARROW_PT = 1.8
Word = tuple[float, float, str]


def whole_eighths(length_in: float) -> float:
    """A length that is no less: in pixels it is the same however it is rounded.

    >>> whole_eighths(2.3)
    2.375
    """
    return math.ceil(8 * length_in) / 8


@final
class Canvas:
    """A figure of one sheet; (0, 0) is the lower left corner, lengths are inches."""

    def __init__(
        self, width_in: float, height_in: float, *, stamped: bool = False
    ) -> None:
        self.width, self.height, self._stamped = width_in, height_in, stamped
        self._stamps: dict[tuple[str, str], tuple[Stamps, list[Word]]] = {}
        self.figure = Figure(figsize=(width_in, height_in), facecolor="white")
        self._axes = self.figure.add_axes((0, 0, 1, 1))
        self.wipe()

    def wipe(self, height_in: float | None = None) -> None:
        """Takes everything off the sheet, which may get another height."""
        if height_in is not None and height_in != self.height:
            self.height = height_in
            self.figure.set_size_inches(self.width, height_in)
        self._axes.clear()
        self._stamps.clear()
        self._axes.set_axis_off()
        self._axes.set_xlim(0, self.width)
        self._axes.set_ylim(0, self.height)

    def text(self, x: float, y: float, text: str, **look: Any) -> None:
        """Writes one line; by default centered on (x, y)."""
        settings: dict[str, Any] = {
            "ha": "center",
            "va": "center_baseline",
            "size": style.FONT_PT,
            "color": INK,
        }
        if self._stamped and not look.keys() - {"ha", "color"}:
            self._stamp((x, y, text), look.get("ha", "center"), look.get("color", INK))
        else:
            self._axes.text(x, y, text, **(settings | look))

    def _stamp(self, word: Word, ha: str, color: str) -> None:
        if (ha, color) not in self._stamps:
            stamps = Stamps(self._axes, ha=ha, color=color)
            self._stamps[ha, color] = stamps, []
        stamps, words = self._stamps[ha, color]
        words.append(word)
        stamps.show(words)

    def box(
        self, left: float, bottom: float, width: float, height: float, **look: Any
    ) -> None:
        """A box with round corners."""
        settings: dict[str, Any] = {
            "facecolor": "white",
            "edgecolor": INK,
            "linewidth": 1.2,
        }
        shape = "round,pad=0,rounding_size=0.06"
        self._axes.add_patch(
            FancyBboxPatch(
                (left, bottom), width, height, boxstyle=shape, **(settings | look)
            )
        )

    def arrow(
        self, begin: tuple[float, float], end: tuple[float, float], **look: Any
    ) -> None:
        """A straight arrow."""
        settings: dict[str, Any] = {
            "color": INK,
            "linewidth": ARROW_PT,
            "arrowstyle": "-|>",
        }
        scale: dict[str, Any] = {"mutation_scale": 13, "shrinkA": 0, "shrinkB": 0}
        self._axes.add_patch(FancyArrowPatch(begin, end, **(settings | scale | look)))

    def message(
        self, left: float, bottom: float, width: float, height: float, **look: Any
    ) -> None:
        """A box with a point at its right: something on its way."""
        settings: dict[str, Any] = {
            "facecolor": "white",
            "edgecolor": INK,
            "linewidth": 1.2,
        }
        top, right, point = bottom + height, left + width, min(0.16, height / 2)
        corners = [
            (left, bottom),
            (right - point, bottom),
            (right, bottom + height / 2),
            (right - point, top),
            (left, top),
        ]
        self._axes.add_patch(Polygon(corners, joinstyle="round", **(settings | look)))
