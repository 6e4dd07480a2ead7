# SPDX-License-Identifier: Apache-2.0
"""Draws a `DriftPlane`: a fan of paths, where their mean is, and a matrix of cosines.

The axes are those of the longest paths, so that between numbers of passes it is the
paths, the new model and the matrix that move.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import CLIENTS, INK, SERVER, SIGNED_MAP
from fedlearn_edu.viz.explorers.apart import apart
from fedlearn_edu.viz.explorers.drift_plane import DriftPlane

_SIDE_BY_SIDE_FROM_IN = 6.0
_EVERY_TICK_UP_TO = 5
_NOWHERE = np.full((1, 2), np.nan)
_LABEL_IN = 0.24
_MARGIN = 0.3
_ARC = np.linspace(-np.pi / 2, np.pi / 2, 61)


@final
@dataclass(frozen=True)
class Boxes:
    """Where the parts are: left, bottom, width, height in inches."""

    size: tuple[float, float]
    plane: tuple[float, float, float, float]
    matrix: tuple[float, float, float, float]
    cosines: tuple[float, float, float, float]


def _boxes(width_in: float) -> Boxes:
    if width_in < _SIDE_BY_SIDE_FROM_IN:
        side, low = width_in - 1.0, 4.75
        return Boxes(
            (width_in, low + side + 0.4),
            (0.75, low, side, side),
            (0.75, 1.55, 2.2, 2.2),
            (3.1, 1.55, 0.13, 2.2),
        )
    side = (width_in - 1.75) * 0.66
    left, low = side + 1.4, 1.3
    small = width_in - left - 0.2
    return Boxes(
        (width_in, low + side + 0.4),
        (0.75, low, side, side),
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
        self._matrix = self._axes(boxes.matrix)
        self._bar = self._axes(boxes.cosines)
        self._prepare_matrix(self._bar)
        self._prepare_plane()
        self._shown: DriftPlane | None = None
        self._paths: list[tuple[Line2D, Line2D, Text]] = []
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
        axes.set_title("How far clients go in a round")
        axes.set_xlabel("the way the mean goes (length of weights)")
        axes.set_ylabel("away from it (length of weights)")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter(lambda y, _: f"{abs(y):g}")
        (self._arc,) = axes.plot([], [], color=INK, lw=1.2, ls=(0, (4, 3)), zorder=2)
        self._old, self._new = (
            axes.plot([], [], ls="none", color=SERVER, zorder=zorder)[0]
            for zorder in (7, 8)
        )
        self._old.set(marker="o", ms=9, mfc="white", mew=2.2)
        self._new.set(marker="*", ms=18, mec="white", mew=0.8)
        path = Line2D([], [], color=CLIENTS, lw=1.8, marker="o", ms=4)
        self.figure.legend(
            [path, self._old, self._new, self._arc],
            [
                "a client, pass by pass",
                "old model",
                "mean: new model",
                "the mean, if all went one way",
            ],
            loc="lower left",
            ncols=2 if not self._narrow else 1,
            frameon=False,
            fontsize=style.FONT_PT,
            columnspacing=1.2,
            handlelength=2.0,
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
        for axes in (self._plane, self._matrix, self._bar):
            axes.set_visible(is_visible)

    def show(self, plane: DriftPlane, epochs: int) -> None:
        """Shows the round with so many passes over each client's examples."""
        if plane is not self._shown:
            self._forget()
            self._message.set_text("")
            self._set_visible(True)
            self._set_limits(plane)
            self._make_room(len(plane.examples))
            self._shown = plane
        for path, leader, label in self._paths:
            path.set_data(*_NOWHERE.T)
            leader.set_data(*_NOWHERE.T)
            label.set_visible(False)
        paths, mean = plane.paths(epochs), np.array([plane.gone(epochs), 0.0])
        taken = np.stack([np.zeros(2), mean])
        places = apart(paths[:, -1], taken, self._label_gap())
        for walked, place, lines in zip(paths, places, self._paths, strict=False):
            path, leader, label = lines
            path.set_data(*walked.T)
            leader.set_data(*np.stack([walked[-1], place]).T)
            label.set_position(place)
            label.set_visible(True)
        self._old.set_data([0.0], [0.0])
        self._new.set_data(*mean[:, None])
        reach = plane.walked(epochs)
        self._arc.set_data(reach * np.cos(_ARC), reach * np.sin(_ARC))
        self._image.set_data(plane.cosines(epochs))

    def _label_gap(self) -> float:
        """How far apart labels are, in units of the plane, which is a square."""
        low, high = self._plane.get_xlim()
        width_in = self._plane.get_position().width * self.figure.get_figwidth()
        return float(_LABEL_IN * (high - low) / width_in)

    def _forget(self) -> None:
        self._shown = None

    def _set_limits(self, plane: DriftPlane) -> None:
        """A square with room for the longest paths, and for what goes backwards."""
        ends = np.abs(plane.paths(len(plane.means))[:, -1])
        half = float(np.linalg.norm(ends, axis=1).max()) * (1 + _MARGIN) or 1.0
        self._plane.set_xlim(-half / 2, 1.5 * half)
        self._plane.set_ylim(-half, half)

    def _make_room(self, count: int) -> None:
        """A path and a mark for each client, and room for all in the matrix."""
        axes = self._plane
        for client in range(len(self._paths), count):
            (path,) = axes.plot([], [], color=CLIENTS, lw=1.8, zorder=3)
            path.set(marker="o", ms=4)
            (leader,) = axes.plot([], [], color=CLIENTS, lw=0.9, zorder=4)
            leader.set(marker="o", markevery=[-1], ms=15, mfc="white", mew=1)
            label = axes.text(0, 0, str(client), ha="center", va="center", zorder=5)
            self._paths.append((path, leader, label))
        edge = count - 0.5
        self._image.set_extent((-0.5, edge, edge, -0.5))
        self._matrix.set_xlim(-0.5, edge)
        self._matrix.set_ylim(edge, -0.5)
        ticks = range(0, count, 2 if count > _EVERY_TICK_UP_TO else 1)
        self._matrix.set_xticks(ticks)
        self._matrix.set_yticks(ticks)
