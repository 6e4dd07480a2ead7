# SPDX-License-Identifier: Apache-2.0
"""A sheet measured in inches, for drawings with a lane for clients and one for servers.

Each move wipes it and draws everything again, without axes, ticks or a layout.
"""

import math
from typing import Any, final

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Polygon

from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import CLIENTS, INK, SERVER

HEAD_IN, FOOT_IN = 0.68, 0.62
"""The space above and below the rows of a drawing."""

_BOX: dict[str, Any] = {"facecolor": "white", "edgecolor": INK, "linewidth": 1.2}


def written(value: float) -> str:
    """A number as it is written in drawings and sentences.

    >>> written(-1938472), written(2.50)
    ('−1,938,472', '2.5')
    """
    text = f"{value:,}" if isinstance(value, int) else f"{value + 0.0:.5g}"
    return text.replace("-", "\N{MINUS SIGN}")


@final
class Canvas:
    """A figure of one sheet; (0, 0) is the lower left corner, lengths are inches."""

    width = style.EXPLORER_IN

    def __init__(self) -> None:
        self.height = 1.0
        self.figure = Figure(figsize=(self.width, self.height), facecolor="white")
        self._axes = self.figure.add_axes((0, 0, 1, 1))

    def wipe(self, height_in: float) -> None:
        """Empties the sheet, and makes it at least this high."""
        # In whole eighths of an inch, heights in pixels do not depend on rounding.
        self.height = math.ceil(8 * height_in) / 8
        self.figure.set_size_inches(self.width, self.height)
        self._axes.clear()
        self._axes.set_axis_off()
        self._axes.set(xlim=(0, self.width), ylim=(0, self.height))

    def text(self, x: float, y: float, text: str, **look: Any) -> None:
        """Writes one line; by default centered on (x, y)."""
        settings: dict[str, Any] = {"size": style.FONT_PT, "ha": "center", "color": INK}
        self._axes.text(x, y, text, va="center_baseline", **(settings | look))

    def box(
        self, left: float, bottom: float, width: float, height: float, **look: Any
    ) -> None:
        """A box with rounded corners."""
        shape = {"boxstyle": "round,pad=0,rounding_size=0.06"}
        sides = (left, bottom), width, height
        self._axes.add_patch(FancyBboxPatch(*sides, **(_BOX | shape | look)))

    def message(
        self, left: float, bottom: float, width: float, height: float, **look: Any
    ) -> None:
        """A box with a point on its right, for something sent."""
        top, right, point = bottom + height, left + width, min(0.16, height / 2)
        corners = [
            (left, bottom),
            (right - point, bottom),
            (right, bottom + height / 2),
            (right - point, top),
            (left, top),
        ]
        self._axes.add_patch(Polygon(corners, joinstyle="round", **(_BOX | look)))

    def arrow(
        self, begin: tuple[float, float], end: tuple[float, float], **look: Any
    ) -> None:
        """A straight arrow."""
        settings: dict[str, Any] = {"color": INK, "linewidth": 1.8, "arrowstyle": "-|>"}
        ends: dict[str, Any] = {"mutation_scale": 13, "shrinkA": 0, "shrinkB": 0}
        self._axes.add_patch(FancyArrowPatch(begin, end, **(settings | ends | look)))

    def lanes(self, clients_end: float, server_left: float, server: str) -> None:
        """The background of the clients, and that of the server, with their names."""
        bottom = FOOT_IN + 0.06
        for name, color, left, right in (
            ("CLIENTS", CLIENTS, 0.04, clients_end),
            (server, SERVER, server_left, self.width - 0.04),
        ):
            sides = (left, bottom, right - left, self.height - bottom - 0.06)
            self.box(*sides, facecolor=color, alpha=0.16, lw=0)
            self.text(left + 0.1, self.height - 0.24, name, ha="left", weight="bold")

    def result(self, text: str, frame: str, **look: Any) -> None:
        """The result below the lanes, in a frame of this color."""
        sides = (0.05, 0.06, self.width - 0.1, FOOT_IN - 0.12)
        self.box(*sides, edgecolor=frame, linewidth=2)
        self.text(self.width / 2, FOOT_IN / 2, text, **look)
