# SPDX-License-Identifier: Apache-2.0
"""Curves over rounds in one panel: up to four, each with its name where it ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.artists import Texts

MOST_CURVES = 4
ROUND_LABEL = "round (0: before training)"

_STYLES: tuple[Any, ...] = ("-", "--", ":", "-.")
_MARKERS = ("o", "s", "^", "D")
_SIGNS = (
    "\N{BLACK CIRCLE}",
    "\N{BLACK SQUARE}",
    "\N{BLACK UP-POINTING TRIANGLE}",
    "\N{BLACK DIAMOND}",
)
_MOST_MARKERS = 12
_NAME_CHARS = 17


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """One line.

    Attributes:
        name: written where it ends.
        values: one per round, from the round `first` on; NaN where nothing is known.
        first: the round of the first value.
        diverged: the round in which numbers stopped being numbers, if they did.
        measured: the round of each value, where some rounds have none.
    """

    name: str
    values: NDArray[np.float64]
    first: int = 0
    diverged: int | None = None
    measured: NDArray[np.int64] | None = None

    @property
    def rounds(self) -> NDArray[np.int64]:
        """The rounds of the values."""
        return self.rounds_of(len(self.values))

    def rounds_of(self, count: int) -> NDArray[np.int64]:
        """The first so many rounds."""
        if self.measured is not None:
            return self.measured[:count]
        return self.first + np.arange(count)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which values are numbers."""
        known: NDArray[np.bool_] = np.isfinite(self.values)
        return known


@final
class CurvePanel:
    """Lines that grow, a band around one of them, and a mark at one round."""

    def __init__(
        self, axes: Axes, height_in: float, *, is_share: bool, first: int = 0
    ) -> None:
        """Draws what stays.

        Args:
            axes: With room of `LABEL_IN` at their right.
            height_in: Their height in inches.
            is_share: Whether values are shares 0..1, shown in percent.
            first: The round the axis begins with; 0 is the state before training.
        """
        self._axes, self._height_in, self._is_share = axes, height_in, is_share
        self._first = first
        (self._band,) = axes.fill([0], [0], color=colors.CLIENTS, alpha=0.25, lw=0)
        (self._at,) = axes.plot([], [], color=colors.INK, lw=1, ls=(0, (2, 2)))
        self._lines = [_line(axes, number) for number in range(MOST_CURVES)]
        (self._crosses,) = axes.plot([], [], "X", color=colors.ALARM, ms=11, mec="w")
        right = axes.transAxes
        figure: Any = axes.figure
        marks, names = (
            right + ScaledTranslation(at_in, 0, figure.dpi_scale_trans)
            for at_in in (0.07, 0.24)
        )
        self._signs = [
            Texts(axes, transform=marks, ha="left", color=color)
            for color in colors.MODELS
        ]
        self._names = Texts(axes, transform=names, ha="left")
        self._note = Texts(axes, transform=axes.transAxes)
        axes.set_xlabel("round" if first else ROUND_LABEL)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
        axes.grid(axis="y", color="#E3E3E3")
        if is_share:
            axes.set_ylim(0, 1)
            axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))

    def show(
        self,
        curves: Sequence[Curve],
        last_round: int,
        *,
        at: int | None = None,
        band: NDArray[np.float64] | None = None,
        note: str = "",
    ) -> None:
        """Draws these curves, up to four.

        Args:
            curves: In the order of their colors.
            last_round: How far the axis goes.
            at: A round to mark.
            band: `[rounds,2]`, low and high, in the rounds of the first curve.
            note: Written where the curves would be.
        """
        last = max(last_round, self._first + 1)
        room = 0.02 * (last - self._first)
        self._axes.set_xlim(self._first - room, last + room)
        if not self._is_share:
            self._fit(curves, band)
        for line, curve in zip(self._lines, curves, strict=False):
            line.set_data(curve.rounds, curve.values)
            line.set_markevery(max(1, len(curve.values) // _MOST_MARKERS))
        for line in self._lines[len(curves) :]:
            line.set_data([], [])
        self._at.set_data(
            *(([], []) if at is None else ([at] * 2, _limits(self._axes)))
        )
        self._show_band(curves, band)
        self._show_crosses(curves)
        self._show_ends(curves)
        self._note.show([(0.5, 0.62, note)] if note else [])

    def _fit(self, curves: Sequence[Curve], band: NDArray[np.float64] | None) -> None:
        seen = [curve.values[curve.known] for curve in curves]
        seen += [] if band is None else [band[np.isfinite(band)]]
        joined = np.concatenate([np.zeros(1), *seen])
        low, high = float(joined.min()), float(joined.max())
        edge = 0.05 * (high - low) or 1.0
        self._axes.set_ylim(low - edge if low < 0 else 0, high + edge)

    def _show_band(
        self, curves: Sequence[Curve], band: NDArray[np.float64] | None
    ) -> None:
        if band is None or not len(band):
            self._band.set_xy(np.zeros([1, 2]))
            return
        known = np.isfinite(band).all(axis=1)
        rounds = curves[0].rounds_of(len(band))[known]
        low, high = band[known].T
        there = np.stack([rounds, low], axis=1)
        back = np.stack([rounds, high], axis=1)[::-1]
        self._band.set_xy(np.concatenate([there, back]))

    def _show_crosses(self, curves: Sequence[Curve]) -> None:
        ends = [end(curve) for curve in curves if curve.diverged is not None]
        points = [point for point in ends if point]
        self._crosses.set_data([x for x, _ in points], [y for _, y in points])

    def _show_ends(self, curves: Sequence[Curve]) -> None:
        low, high = _limits(self._axes)
        found = [
            ((point[1] - low) / (high - low), number, _label(curve, self._is_share))
            for number, curve in enumerate(curves)
            if (point := end(curve))
        ]
        found.sort()
        gap = 1.35 * style.FONT_PT / 72 / self._height_in
        heights = style.spread([height for height, _, _ in found], gap)
        for signs in self._signs:
            signs.show([])
        for height, (_, number, _) in zip(heights, found, strict=True):
            self._signs[number].show([(1.0, height, _SIGNS[number])])
        names = [(1.0, y, name) for y, (_, _, name) in zip(heights, found, strict=True)]
        self._names.show(names)


LABEL_IN = 2.2
"""Room at the right of a panel, for the longest name and its value."""


def end(curve: Curve) -> tuple[int, float] | None:
    """The last point that is a number: (round, value)."""
    places = np.flatnonzero(curve.known)
    if not len(places):
        return None
    last = places[-1]
    return int(curve.rounds[last]), float(curve.values[last])


def shortened(name: str, most: int = _NAME_CHARS) -> str:
    """A name cut in its middle, so that both ends can be read.

    >>> shortened("FedAvg with many local epochs")
    'FedAvg w…l epochs'
    """
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def _line(axes: Axes, number: int) -> Any:
    (line,) = axes.plot(
        [],
        [],
        color=colors.MODELS[number],
        ls=_STYLES[number],
        marker=_MARKERS[number],
        ms=5,
    )
    return line


def _label(curve: Curve, is_share: bool) -> str:
    point = end(curve)
    assert point is not None
    value = f"{100 * point[1]:.0f} %" if is_share else f"{point[1]:.3g}"
    return f"{shortened(curve.name)} {value}"


def _limits(axes: Axes) -> tuple[float, float]:
    low, high = axes.get_ylim()
    return float(low), float(high)
