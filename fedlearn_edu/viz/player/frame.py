# SPDX-License-Identifier: Apache-2.0
"""The empty picture of a tape: what is above what, in inches, and the keys to it."""

import textwrap
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedlearn_edu.viz.colors import INK
from fedlearn_edu.viz.style import FONT_PT

CHAR_IN = 0.088
_LINE_IN = 1.45 * FONT_PT / 72
_BYTES_IN, _BELOW_IN, _RIGHT_IN = 0.85, 0.55, 0.34
_MAX_LABEL_CHARS = 16
_LINES = "#C8C8C8"


@final
class Frame:
    """A figure: words, keys, names of operators, lanes, keys, bytes, from the top.

    Attributes:
        figure: the whole.
        lanes: one unit high for each lane, the first on top.
        bytes: below them.
        inches: how wide both are.
        names_y: the height of the names, as a part of the figure's.
        keys_y: that of the keys above them.
    """

    def __init__(self, labels: Sequence[str], words: str, width_in: float) -> None:
        shown = [_short(label) for label in labels]
        lines = textwrap.wrap(words, int((width_in - 0.2) / CHAR_IN))
        left = max([9, *map(len, shown)]) * CHAR_IN + 0.2
        lanes_in = max(2, len(labels)) * _lane_in(len(labels))
        above, middle = (len(lines) + 2.6) * _LINE_IN, 2.0 * _LINE_IN
        height = above + lanes_in + middle + _BYTES_IN + _BELOW_IN
        self.figure = Figure(figsize=(width_in, height))
        self.inches = width_in - left - _RIGHT_IN

        def place(bottom_in: float, height_in: float) -> Axes:
            corner = (left / width_in, bottom_in / height)
            size = (self.inches / width_in, height_in / height)
            return self.figure.add_axes((*corner, *size))

        self.lanes = place(_BELOW_IN + _BYTES_IN + middle, lanes_in)
        self.bytes = place(_BELOW_IN, _BYTES_IN)
        self.names_y = self.lanes.get_position().y1 + 0.1 * _LINE_IN / height
        self.keys_y = self.names_y + 0.9 * _LINE_IN / height
        for i, line in enumerate(lines):
            y = 1 - (0.07 + i * _LINE_IN) / height
            self.figure.text(0.1 / width_in, y, line, va="top")
        self._set_up_lanes(shown)
        self.bytes.tick_params(labelsize=FONT_PT, colors=INK)

    def keys(self, y: float, keys: list[Any], labels: list[str]) -> None:
        """A line of keys above a height, from the left edge of the figure on."""
        self.figure.legend(
            keys,
            labels,
            loc="lower left",
            bbox_to_anchor=(0, y),
            ncols=len(labels),
            frameon=False,
            fontsize=FONT_PT,
            handlelength=1.3,
            handletextpad=0.4,
            columnspacing=0.9,
            borderpad=0.2,
            borderaxespad=0.2,
        )

    def _set_up_lanes(self, labels: list[str]) -> None:
        axes, count = self.lanes, len(labels)
        axes.set_ylim(max(1, count), 0)
        axes.set_yticks(np.arange(count) + 0.5, labels)
        axes.tick_params(axis="y", length=0, labelsize=FONT_PT, colors=INK)
        axes.tick_params(axis="x", bottom=False, labelbottom=False)
        axes.spines[["bottom", "left"]].set_visible(False)
        for i in range(count + 1):
            axes.axhline(i, color=_LINES, linewidth=0.8, zorder=0)

    def line_at(self, x: float) -> None:
        """A thin line through all lanes."""
        self.lanes.axvline(x, color=_LINES, linewidth=0.8, zorder=0)


def _lane_in(count: int) -> float:
    return 0.5 if count <= 5 else 0.32 if count <= 14 else 0.22


def _short(label: str) -> str:
    if len(label) <= _MAX_LABEL_CHARS:
        return label
    return label[: _MAX_LABEL_CHARS - 1] + "…"
