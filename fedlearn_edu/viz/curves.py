# SPDX-License-Identifier: Apache-2.0
"""Curves over rounds in one panel, each with its name where it ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from matplotlib.transforms import ScaledTranslation, blended_transform_factory
from numpy.typing import NDArray

from fedlearn_edu.viz import colors, style

MOST_CURVES = 4

# Later lines and markers are smaller: where two curves agree, both are seen.
_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
LOOKS: tuple[dict[str, Any], ...] = tuple(
    {"color": color, "ls": dash, "marker": marker, "lw": width, "ms": size}
    for color, dash, marker, width, size in zip(
        colors.MODELS,
        _DASHES,
        ("o", "s", "^", "D", "v", "P"),
        (2.8, 2.4, 2.4, 2.0, 1.8, 1.6),
        (8.0, 5.5, 6.0, 4.5, 5.5, 5.5),
        strict=True,
    )
)
"""How each curve looks, in their order."""

_MOST_MARKERS = 8
_LABEL_LINES = 2.7
_NAME_CHARS = 17
_LONGEST = "without noise"


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """One line.

    Attributes:
        name: written where it ends.
        values: one per round, from round 0 on; NaN where nothing is known.
        diverged: the round in which numbers stopped being numbers, if they did.
        measured: the round of each value, where some rounds have none; or what else
            the values are drawn over.
        color: of the line; by default that of its place among the curves.
        band: `[values,2]`, the lowest and the highest of what the values are means of.
        band_color: by default that of the line.
        stopped: why there are no more values, if something ended them.
    """

    name: str
    values: NDArray[np.float64]
    diverged: int | None = None
    measured: NDArray[Any] | None = None
    color: str | None = None
    band: NDArray[np.float64] | None = None
    band_color: str | None = None
    stopped: str | None = None

    @property
    def rounds(self) -> NDArray[Any]:
        """The rounds of the values."""
        return np.arange(len(self.values)) if self.measured is None else self.measured

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which values are numbers."""
        return np.asarray(np.isfinite(self.values))

    @property
    def end(self) -> tuple[float, float] | None:
        """The last point that is a number: (round, value)."""
        places = np.flatnonzero(self.known)
        if not len(places):
            return None
        return float(self.rounds[places[-1]]), float(self.values[places[-1]])

    @property
    def edges(self) -> NDArray[np.float64]:
        """`[rounds,3]`: round, lowest and highest, where a band is known."""
        band = np.zeros([0, 2]) if self.band is None else self.band
        rows = zip(self.rounds, band, strict=False)
        found = [(at, *ends) for at, ends in rows if np.isfinite(ends).all()]
        return np.array(found, float).reshape(-1, 3)


@final
class CurvePanel:
    """Curves that grow, bands around them, and a mark at one round."""

    def __init__(self, axes: Axes, *, is_share: bool, first: int = 0) -> None:
        """Draws the fixed parts.

        Args:
            axes: In a figure with room at their right, or whose layout makes it.
            is_share: Whether values are shares 0..1, shown in percent.
            first: The round the axis begins with; 0 is the state before training.
        """
        self._axes, self._is_share, self._first = axes, is_share, first
        (self._at,) = axes.plot([], [], color=colors.INK, lw=1, ls=(0, (2, 2)))
        (self._crosses,) = axes.plot([], [], "X", color=colors.ALARM, ms=11, mec="w")
        look: Any = {"ha": "center", "va": "center", "transform": axes.transAxes}
        self._note = axes.text(0.5, 0.62, "", **look)
        self._lines: list[_Line] = []
        style.dress(axes)
        axes.set_xlabel("round" if first else "round (0: before training)")
        axes.xaxis.set_major_locator(
            MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10])
        )
        if is_share:
            axes.set_ylim(-0.02, 1.02)
            axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))

    def show(
        self,
        curves: Sequence[Curve],
        last_round: float,
        *,
        at: int | None = None,
        note: str = "",
    ) -> None:
        """Draws these curves, as many as there are looks.

        It comes after the layout: names find their places by the height of the panel.

        Args:
            curves: In the order of their looks.
            last_round: How far the axis goes.
            at: A round to mark.
            note: Written where the curves would be.
        """
        last = max(last_round, self._first + 1)
        room = 0.02 * (last - self._first)
        self._axes.set_xlim(self._first - room, last + room)
        if not self._is_share:
            self._fit(curves)
        for look in LOOKS[len(self._lines) : len(curves)]:
            self._lines.append(_Line(self._axes, look))
        for line, curve in zip_longest(self._lines, curves):
            line.show(curve)
        self._name_ends(curves)
        marked: Any = ([], []) if at is None else ([at] * 2, self._axes.get_ylim())
        self._at.set_data(*marked)
        ends = [curve.end for curve in curves if curve.diverged is not None]
        self._crosses.set_data(*np.array([*filter(None, ends)]).reshape(-1, 2).T)
        self._note.set_text(note)

    def _fit(self, curves: Sequence[Curve]) -> None:
        seen = [curve.values[curve.known] for curve in curves]
        seen += [curve.edges[:, 1:].ravel() for curve in curves]
        joined = np.concatenate([np.zeros(1), *seen])
        low, high = float(joined.min()), float(joined.max())
        edge = 0.05 * (high - low) or 1.0
        self._axes.set_ylim(low - edge, high + edge)

    def _name_ends(self, curves: Sequence[Curve]) -> None:
        """Writes names and values beside the ends; labels that touch move apart."""
        low, high = self._axes.get_ylim()
        found = [(curve.end, at) for at, curve in enumerate(curves)]
        ends = sorted((end[1], at) for end, at in found if end is not None)
        heights = [(value - low) / (high - low) for value, _ in ends]
        height_in = self._axes.bbox.height / self._axes.figure.dpi
        gap = _LABEL_LINES * style.FONT_PT / 72 / height_in
        places = zip(heights, spread(heights, gap), strict=True)
        for (value, at), (end, beside) in zip(ends, places, strict=True):
            told = f"{100 * value:.0f} %" if self._is_share else f"{value:.3g}"
            told = told.replace("-", "\N{MINUS SIGN}")
            label = f"{shortened(curves[at].name)}\n{told}"
            self._lines[at].name(end, beside, label)


@final
class _Line:
    """One curve, its band, and its name with a piece of it; made once."""

    def __init__(self, axes: Axes, look: dict[str, Any]) -> None:
        self._color = look["color"]
        (self._band,) = axes.fill([0], [0], lw=0, alpha=0.2, zorder=0)
        (self._edges,) = axes.plot([], [], lw=0.6)
        (self._line,) = axes.plot([], [], **look)
        # Beyond the axes: inches across, shares of their height along.
        figure: Any = axes.figure
        corner: Any = axes.transAxes
        across = figure.dpi_scale_trans + ScaledTranslation(1, 0, corner)
        place: Any = blended_transform_factory(across, corner)
        key: Any = {"ls": "-", "lw": 1.2, "markevery": [1], "clip_on": False}
        (self._key,) = axes.plot([], [], transform=place, **(look | key))
        self._name = axes.text(0, 0, "", va="center", transform=place)

    def show(self, curve: Curve | None) -> None:
        """Draws this curve, or none."""
        for artist in (self._band, self._edges, self._line):
            artist.set_visible(curve is not None)
        self._key.set_visible(False)
        self._name.set_visible(False)
        if curve is None:
            return
        color = curve.color or self._color
        self._line.set_data(curve.rounds, curve.values)
        self._line.set_markevery(max(1, len(curve.values) // _MOST_MARKERS))
        for artist in (self._line, self._key):
            artist.set_color(color)
        for artist in (self._band, self._edges):
            artist.set_color(curve.band_color or color)
        low, high = curve.edges[:, :2], curve.edges[:, ::2]
        self._band.set_xy([*low, *high[::-1]] or [(0, 0)])
        self._edges.set_data(*np.concatenate([low, [(np.nan, np.nan)], high]).T)

    def name(self, end: float, beside: float, told: str) -> None:
        """Writes this at a height beside the panel, with a line from the end to it."""
        self._key.set_data([0.05, 0.2], [end, beside])
        self._name.set(text=told, position=(0.32, beside))
        self._key.set_visible(True)
        self._name.set_visible(True)


@style.in_our_look
def curve_panels(titles: Mapping[str, bool]) -> tuple[Figure, list[CurvePanel]]:
    """Panels below each other, laid out once.

    Args:
        titles: Each with whether its panel is of shares.
    """
    rows = len(titles)
    figure, axes = style.new_figure(style.EXPLORER_IN, 3.25 * rows, rows)
    panels = [
        new_panel(each, title, is_share=is_share)
        for each, (title, is_share) in zip(axes, titles.items(), strict=True)
    ]
    style.keep_layout(figure)
    return figure, panels


def new_panel(axes: Axes, title: str, *, is_share: bool) -> CurvePanel:
    """A panel with a name as `_LONGEST` is, for which the layout is to make room."""
    axes.set_title(title)
    panel = CurvePanel(axes, is_share=is_share)
    panel.show([Curve(_LONGEST, np.ones(1))], 1)
    return panel


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


def shortened(name: str) -> str:
    """A name cut in its middle, so that both ends can be read.

    >>> shortened("FedAvg with many local epochs")
    'FedAvg w…l epochs'
    """
    half = (_NAME_CHARS - 1) // 2
    return name if len(name) <= _NAME_CHARS else f"{name[:half]}…{name[-half:]}"


def lay_out(paper: style.Paper) -> None:
    """Lets the layout find the places of all panels, as it will do when they are shown.

    Then names can find theirs.
    """
    figure: Any = paper.figure
    if engine := figure.get_layout_engine():
        engine.execute(figure)
