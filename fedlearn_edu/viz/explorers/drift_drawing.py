# SPDX-License-Identifier: Apache-2.0
"""Draws a `DriftPlane`: paths over contours of the loss, and a matrix of cosines.

The contours are drawn anew for another plane only; between numbers of passes the paths,
the new model and the matrix move.
"""

from dataclasses import dataclass
from itertools import chain
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import CLIENTS, INK, SERVER, SIGNED_MAP
from fedlearn_edu.viz.explorers.apart import apart
from fedlearn_edu.viz.explorers.drift_plane import DriftPlane

_SIDE_BY_SIDE_FROM_IN = 6.0
_LEVELS = 9
_EVERY_TICK_UP_TO = 5
_LOSS_MAP = "Greys"
_NOWHERE = np.full((1, 2), np.nan)
_LABEL_IN = 0.2


@final
@dataclass(frozen=True)
class Boxes:
    """Where the parts are: left, bottom, width, height in inches."""

    size: tuple[float, float]
    plane: tuple[float, float, float, float]
    losses: tuple[float, float, float, float]
    matrix: tuple[float, float, float, float]
    cosines: tuple[float, float, float, float]


def _boxes(width_in: float) -> Boxes:
    if width_in < _SIDE_BY_SIDE_FROM_IN:
        side, low = width_in - 1.75, 4.55
        return Boxes(
            (width_in, low + side + 0.4),
            (0.75, low, side, side),
            (0.85 + side, low, 0.13, side),
            (0.75, 1.35, 2.2, 2.2),
            (3.1, 1.35, 0.13, 2.2),
        )
    side = (width_in - 2.35) * 0.66
    left, low = side + 2.0, 1.35
    small = width_in - left - 0.2
    return Boxes(
        (width_in, low + side + 0.4),
        (0.75, low, side, side),
        (0.85 + side, low, 0.13, side),
        (left, low + side - small, small, small),
        (left, low + side - small - 0.78, small, 0.13),
    )


@final
class DriftDrawing:
    """A figure of one plane, which can be moved to another."""

    def __init__(self, width_in: float) -> None:
        boxes = _boxes(width_in)
        size = boxes.size[0], np.ceil(8 * boxes.size[1]) / 8
        self.figure = Figure(figsize=size, facecolor="white")
        self._narrow = boxes.cosines[2] < boxes.cosines[3]
        self._plane = self._axes(boxes.plane)
        self._losses = self._axes(boxes.losses)
        self._matrix = self._axes(boxes.matrix)
        self._bar = self._axes(boxes.cosines)
        self._prepare_matrix(self._bar)
        self._prepare_plane()
        self._shown: DriftPlane | None = None
        self._contours: list[Any] = []
        self._paths: list[tuple[Line2D, Line2D, Line2D]] = []
        self._message = self.figure.text(0.5, 0.6, "", ha="center", va="center")

    def _axes(self, box: tuple[float, float, float, float]) -> Axes:
        width, height = self.figure.get_size_inches()
        left, bottom, wide, high = box
        where = (left / width, bottom / height, wide / width, high / height)
        axes = self.figure.add_axes(where)
        axes.tick_params(labelsize=style.FONT_PT, colors=INK)
        for side in ("top", "right"):
            axes.spines[side].set_visible(True)
        return axes

    def _prepare_plane(self) -> None:
        axes = self._plane
        axes.set_title("One round, seen in a plane")
        axes.set_xlabel("along 1st component (weights)")
        axes.set_ylabel("along 2nd component (weights)")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(4))
        self._old, self._new, self._low = (
            axes.plot([], [], ls="none", color=color, zorder=zorder)[0]
            for zorder, color in ((7, SERVER), (6, SERVER), (5, INK))
        )
        self._old.set(marker="o", ms=9, mfc="white", mew=2.2)
        self._new.set(marker="*", ms=18, mec="white", mew=0.8)
        self._low.set(marker="P", ms=10, mec="white", mew=0.8)
        path = Line2D([], [], color=CLIENTS, lw=1.8)
        self.figure.legend(
            [path, self._old, self._new, self._low],
            ["a client's local steps", "old model", "new model", "lowest loss here"],
            loc="lower left",
            ncols=2,
            frameon=False,
            fontsize=style.FONT_PT,
            columnspacing=1.2,
            handlelength=1.4,
        )

    def _prepare_matrix(self, bar: Axes) -> None:
        axes, norm = self._matrix, Normalize(-1, 1)
        self._image = axes.imshow(np.zeros((1, 1)), cmap=SIGNED_MAP, norm=norm)
        axes.set_title("Cosines")
        axes.set_xlabel("client")
        kind = "vertical" if self._narrow else "horizontal"
        mapped = ScalarMappable(norm, SIGNED_MAP)
        self.figure.colorbar(mapped, cax=bar, orientation=kind, ticks=[-1, 0, 1])

    def say(self, message: str) -> None:
        """Shows a message in place of a plane."""
        self._forget()
        self._message.set_text(message)
        self._set_visible(False)

    def _set_visible(self, is_visible: bool) -> None:
        for axes in (self._plane, self._losses, self._matrix, self._bar):
            axes.set_visible(is_visible)

    def show(self, plane: DriftPlane, epochs: int) -> None:
        """Shows the round with so many passes over each client's examples."""
        if plane is not self._shown:
            self._forget()
            self._message.set_text("")
            self._set_visible(True)
            self._draw_contours(plane)
            self._make_room(len(plane.steps))
            self._shown = plane
        for line in chain.from_iterable(self._paths):
            line.set_data(*_NOWHERE.T)
        walked = [
            steps[: batches * epochs + 1]
            for steps, batches in zip(plane.steps, plane.batches, strict=True)
        ]
        ends = np.array([steps[-1] for steps in walked])
        taken = np.stack([np.zeros(2), plane.means[epochs - 1]])
        places = apart(ends, taken, self._label_gap())
        for steps, place, lines in zip(walked, places, self._paths, strict=False):
            path, leader, label = lines
            path.set_data(*steps.T)
            leader.set_data(*np.stack([steps[-1], place]).T)
            label.set_data(*place[:, None])
        self._old.set_data([0.0], [0.0])
        self._new.set_data(*plane.means[epochs - 1][:, None])
        self._low.set_data(*plane.lowest[:, None])
        self._image.set_data(plane.cosines[epochs - 1])

    def _label_gap(self) -> float:
        """How far apart labels are, in units of the plane, which is a square."""
        low, high = self._plane.get_xlim()
        width_in = self._plane.get_position().width * self.figure.get_figwidth()
        return float(_LABEL_IN * (high - low) / width_in)

    def _forget(self) -> None:
        for artist in self._contours:
            artist.remove()
        self._contours, self._shown = [], None

    def _draw_contours(self, plane: DriftPlane) -> None:
        axes = self._plane
        x, y = plane.side + plane.corner[0], plane.side + plane.corner[1]
        levels = np.linspace(plane.losses.min(), plane.losses.max(), _LEVELS)
        norm = Normalize(levels[0], levels[-1] * 1.6)
        filled = axes.contourf(x, y, plane.losses, levels, cmap=_LOSS_MAP, norm=norm)
        lines = axes.contour(x, y, plane.losses, levels, colors="white", linewidths=0.8)
        self._contours = [filled, lines]
        axes.set_xlim(x[0], x[-1])
        axes.set_ylim(y[0], y[-1])
        self._losses.clear()
        self.figure.colorbar(filled, cax=self._losses).set_label("loss (nats)")
        self._losses.yaxis.set_major_locator(MaxNLocator(5))
        self._losses.tick_params(labelsize=style.FONT_PT)

    def _make_room(self, count: int) -> None:
        """A path and a mark for each client, and room for all in the matrix."""
        axes = self._plane
        for client in range(len(self._paths), count):
            (path,) = axes.plot([], [], color=CLIENTS, lw=1.8, zorder=3)
            path.set(marker="o", markevery=[-1], ms=4)
            (leader,) = axes.plot([], [], color=CLIENTS, lw=0.9, zorder=4)
            leader.set(marker="o", markevery=[-1], ms=13, mfc="white", mew=1)
            (label,) = axes.plot([], [], ls="none", color=INK, zorder=5)
            label.set(marker=f"${client}$", ms=7, mew=0.3)
            self._paths.append((path, leader, label))
        edge = count - 0.5
        self._image.set_extent((-0.5, edge, edge, -0.5))
        self._matrix.set_xlim(-0.5, edge)
        self._matrix.set_ylim(edge, -0.5)
        ticks = range(0, count, 2 if count > _EVERY_TICK_UP_TO else 1)
        self._matrix.set_xticks(ticks)
        self._matrix.set_yticks(ticks)
