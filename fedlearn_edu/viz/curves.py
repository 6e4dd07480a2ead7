# SPDX-License-Identifier: Apache-2.0
"""Curves over rounds in one panel: up to four, each with its name where it ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.artists import Texts

MOST_CURVES = 4
ROUND_LABEL = "round (0: before training)"

_STYLES: tuple[Any, ...] = ("-", "--", ":", "-.")
_MARKERS = ("o", "s", "^", "D")
_SIGNS = "●■▲◆"
_MOST_MARKERS = 12
_NAME_CHARS = 17


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """One line.

    Attributes:
        name: written where it ends.
        values: one per round, from round 0 on; NaN where nothing is known.
        diverged: the round in which numbers stopped being numbers, if they did.
        measured: the round of each value, where some rounds have none.
        color: of the line; by default that of its place among the curves.
    """

    name: str
    values: NDArray[np.float64]
    diverged: int | None = None
    measured: NDArray[np.int64] | None = None
    color: str | None = None

    @property
    def rounds(self) -> NDArray[np.int64]:
        """The rounds of the values."""
        return self.rounds_of(len(self.values))

    def rounds_of(self, count: int) -> NDArray[np.int64]:
        """The first so many rounds."""
        if self.measured is not None:
            return self.measured[:count]
        return np.arange(count)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which values are numbers."""
        return np.asarray(np.isfinite(self.values))


@final
class CurvePanel:
    """Lines that grow, a band around one of them, and a mark at one round."""

    def __init__(
        self, axes: Axes, height_in: float, *, is_share: bool, first: int = 0
    ) -> None:
        """Draws the fixed parts.

        Args:
            axes: With room of `LABEL_IN` at their right.
            height_in: Their height in inches.
            is_share: Whether values are shares 0..1, shown in percent.
            first: The round the axis begins with; 0 is the state before training.
        """
        self._axes, self._is_share, self._first = axes, is_share, first
        (self._band,) = axes.fill([0], [0], color=colors.CLIENTS, alpha=0.25, lw=0)
        (self._at,) = axes.plot([], [], color=colors.INK, lw=1, ls=(0, (2, 2)))
        self._lines: list[Any] = []
        for ls, marker in zip(_STYLES, _MARKERS, strict=True):
            self._lines += axes.plot([], [], ls=ls, marker=marker, ms=5)
        (self._crosses,) = axes.plot([], [], "X", color=colors.ALARM, ms=11, mec="w")
        self._gap = 1.35 * style.FONT_PT / 72 / height_in
        figure: Any = axes.figure
        corner: Any = axes.transAxes
        inches = figure.dpi_scale_trans
        beside, names = (
            corner + ScaledTranslation(at_in, 0, inches) for at_in in (0.07, 0.24)
        )
        self._signs = [Texts(axes, transform=beside, ha="left") for _ in _SIGNS]
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
        looks = zip(self._lines, curves, colors.MODELS, strict=False)
        for line, curve, color in looks:
            line.set_data(curve.rounds, curve.values)
            line.set_color(curve.color or color)
            line.set_markevery(max(1, len(curve.values) // _MOST_MARKERS))
        for line in self._lines[len(curves) :]:
            line.set_data([], [])
        marked: Any = ([], []) if at is None else ([at] * 2, self._axes.get_ylim())
        self._at.set_data(*marked)
        self._show_band(curves, band)
        self._show_crosses(curves)
        self.show_ends(curves)
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
        points = np.array([*filter(None, ends)]).reshape(-1, 2)
        self._crosses.set_data(*points.T)

    def show_ends(self, curves: Sequence[Curve]) -> None:
        """Writes a sign and a name beside each end; labels that touch move apart.

        It comes after all that changes the axes.
        """
        low, high = self._axes.get_ylim()
        ends = {at: point for at, c in enumerate(curves) if (point := end(c))}
        order = sorted(ends, key=lambda at: ends[at][1])
        wanted = [(ends[at][1] - low) / (high - low) for at in order]
        heights = dict(zip(order, spread(wanted, self._gap), strict=True))
        for at, (sign, texts) in enumerate(zip(_SIGNS, self._signs, strict=True)):
            shown = [(1.0, heights[at], sign)] if at in heights else []
            texts.show(shown, self._lines[at].get_color())
        self._names.show(
            [(1.0, y, _label(curves[at], self._is_share)) for at, y in heights.items()]
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Moves ascending heights at least `gap` apart, whole labels within 0..1.

    Each moves as little as it can, in squares (isotonic regression): labels that touch
    form a group, which stays centered on its mean.

    >>> spread([0.0, 0.5, 0.5], gap=0.25)
    [0.125, 0.375, 0.625]
    """
    count = len(heights)
    stacked = gap * (np.arange(count) + 0.5)
    free = np.asarray(heights) - stacked
    fitted = [
        max(
            min(free[first : end + 1].mean() for end in range(at, count))
            for first in range(at + 1)
        )
        for at in range(count)
    ]
    within = np.maximum(np.minimum(fitted, 1 - gap * count), 0)
    return [float(height) for height in within + stacked]


LABEL_IN = 2.2
"""Room at the right of a panel, for the longest name and its value."""


_PANEL_IN, _HEAD_IN, _LEFT_IN, _FOOT_IN = 2.2, 0.42, 0.85, 0.7


@style.in_our_look
def curve_panels(titles: Mapping[str, bool]) -> tuple[Figure, list[CurvePanel]]:
    """Panels below each other: titles, each with whether its panel is of shares."""
    row_in, width_in = _HEAD_IN + _PANEL_IN + _FOOT_IN, style.EXPLORER_IN
    height_in = float(np.ceil(8 * len(titles) * row_in) / 8)
    figure, panels = Figure(figsize=(width_in, height_in), facecolor="white"), []
    for row, (title, is_share) in enumerate(titles.items(), 1):
        corner_in = _LEFT_IN, height_in - row * row_in + _FOOT_IN
        size_in = width_in - _LEFT_IN - LABEL_IN, _PANEL_IN
        axes = style.add_axes(figure, (*corner_in, *size_in))
        axes.set_title(title)
        panels.append(CurvePanel(axes, _PANEL_IN, is_share=is_share))
    return figure, panels


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


def _label(curve: Curve, is_share: bool) -> str:
    point = end(curve)
    assert point is not None
    value = f"{100 * point[1]:.0f} %" if is_share else f"{point[1]:.3g}"
    return f"{shortened(curve.name)} {value}"
