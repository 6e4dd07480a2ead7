# SPDX-License-Identifier: Apache-2.0
"""Curves over rounds in one panel, each with its name where it ends."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
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

_MOST_MARKERS = 9
_LABEL_LINES = 2.7
_CHARS_PER_IN, _LEAST_IN = 4, 4.5


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
        band: `[values,2]`, the lowest and the highest client of the values.
        stopped: why there are no more values, if something ended them.
    """

    name: str
    values: NDArray[np.float64]
    diverged: int | None = None
    measured: NDArray[Any] | None = None
    color: str | None = None
    band: NDArray[np.float64] | None = None
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

    def __init__(
        self, axes: Axes, *, is_share: bool, first: int = 0, width_in: float = _LEAST_IN
    ) -> None:
        """Draws the fixed parts.

        Args:
            axes: In a figure with room at their right, or whose layout makes it.
            is_share: Whether values are shares 0..1, shown in percent.
            first: The round the axis begins with; 0 is the state before training.
            width_in: Of the panel with its names, which are cut to what has room.
        """
        self._axes, self._is_share, self._first = axes, is_share, first
        self._width_in = width_in
        (self._at,) = axes.plot([], [], color=colors.INK, lw=1, ls=(0, (2, 2)))
        (self._crosses,) = axes.plot([], [], "X", color=colors.ALARM, ms=11, mec="w")
        self._lines: list[_Line] = []
        style.dress(axes)
        axes.set_xlabel("round" if first else "round (0: before training)")
        ticks = MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1)
        axes.xaxis.set_major_locator(ticks)
        if is_share:
            axes.set_ylim(-0.02, 1.02)
            axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
            axes.yaxis.set_major_formatter(lambda x, _: f"{100 * x:.3g} %")

    def show(
        self, curves: Sequence[Curve], last_round: float, *, at: int | None = None
    ) -> None:
        """Draws these curves, as many as there are looks.

        It comes after the layout: names find their places by the height of the panel.

        Args:
            curves: In the order of their looks.
            last_round: How far the axis goes.
            at: A round to mark.
        """
        room = 0.02 * (last_round - self._first) or 0.5
        self._axes.set_xlim(self._first - room, last_round + room)
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

    def _fit(self, curves: Sequence[Curve]) -> None:
        """Gives room to zero, and to these curves and their bands."""
        seen = [np.append(c.values[c.known], c.edges[:, 1:]) for c in curves]
        joined = np.concatenate([[0.0], *seen])
        low, high = joined.min(), joined.max()
        edge = 0.05 * (high - low or abs(high) or 1.0)
        self._axes.set_ylim(low - edge, high + edge)

    def _name_ends(self, curves: Sequence[Curve]) -> None:
        """Writes names and values beside the ends; names without one at the bottom."""
        low, high = self._axes.get_ylim()
        begun = [(c.end, at) for at, c in enumerate(curves) if len(c.values)]
        ends = sorted((end[1] if end else low, at) for end, at in begun)
        heights = [(value - low) / (high - low) for value, _ in ends]
        height_in = self._axes.bbox.height / self._axes.figure.dpi
        gap = _LABEL_LINES * style.FONT_PT / 72 / height_in
        for (value, at), beside in zip(ends, spread(heights, gap), strict=True):
            end, name = curves[at].end, shortened(curves[at].name, self._width_in)
            told = f"{100 * value:.0f} %" if self._is_share else f"{value:.3g}"
            told = told.replace("-", "\N{MINUS SIGN}") if end else "no number"
            self._lines[at].name(end, beside, f"{name}\n{told}")


@final
class _Line:
    """One curve, its band, and its name with a key; made once."""

    def __init__(self, axes: Axes, look: dict[str, Any]) -> None:
        self._color = look["color"]
        of_clients: Any = {"color": colors.CLIENTS_EDGE, "zorder": 0}
        (self._band,) = axes.fill([0], [0], lw=0, alpha=0.2, **of_clients)
        (self._edges,) = axes.plot([], [], lw=0.6, **of_clients)
        (self._line,) = axes.plot([], [], **look)
        # Beyond the axes: inches across, shares of their height along.
        panel: Any = axes
        across = panel.figure.dpi_scale_trans + ScaledTranslation(1, 0, panel.transAxes)
        place: Any = blended_transform_factory(across, panel.transAxes)
        # Without markers, and the line to it thin and gray: neither seems to be data.
        key: Any = {"marker": "", "clip_on": False}
        (self._key,) = axes.plot([], [], transform=place, **(look | key))
        self._name = axes.text(0, 0, "", va="center", transform=place)
        thin = {"arrowstyle": "-", "color": colors.QUIET, "lw": 0.8}
        to: Any = {"textcoords": place, "arrowprops": thin | {"shrinkA": 0}}
        self._leader = axes.annotate("", (0, 0), (0, 0), zorder=1, **to)

    def show(self, curve: Curve | None) -> None:
        """Draws this curve, or none."""
        for artist in (self._band, self._edges, self._line):
            artist.set_visible(curve is not None)
        for told in (self._key, self._name, self._leader):
            told.set_visible(False)
        if curve is None:
            return
        color = curve.color or self._color
        self._line.set_data(curve.rounds, curve.values)
        numbers = range(len(curve.values))
        step = math.ceil(len(numbers) / _MOST_MARKERS) or 1
        self._line.set_markevery(list(numbers[::-step]))
        for artist in (self._line, self._key):
            artist.set_color(color)
        low, high = curve.edges[:, :2], curve.edges[:, ::2]
        self._band.set_xy([*low, *high[::-1]] or [(0, 0)])
        self._edges.set_data(*np.concatenate([low, [(np.nan, np.nan)], high]).T)

    def name(self, end: tuple[float, float] | None, beside: float, told: str) -> None:
        """Writes this at a height beside the panel, with a line from the end to it."""
        self._leader.set(visible=end is not None, position=(0.18, beside))
        self._leader.xy = end or (0, 0)
        self._key.set(visible=True, data=([0.22, 0.5], [beside] * 2))
        self._name.set(visible=True, text=told, position=(0.57, beside))


@style.in_our_look
def curve_panels(titles: Mapping[str, bool]) -> tuple[Figure, list[CurvePanel]]:
    """Panels below each other, laid out once.

    Args:
        titles: Each with whether its panel is of shares.
    """
    rows = len(titles)
    figure, axes = style.new_figure(style.EXPLORER_IN, 3.25 * rows, rows)
    pairs = zip(axes, titles.items(), strict=True)
    panels = [new_panel(each, title, is_share=x) for each, (title, x) in pairs]
    style.keep_layout(figure)
    return figure, panels


def new_panel(axes: Axes, title: str, *, is_share: bool) -> CurvePanel:
    """A panel with the longest of names, for which the layout is to make room."""
    axes.set_title(title)
    panel = CurvePanel(axes, is_share=is_share)
    panel.show([Curve("n" * int(_CHARS_PER_IN * _LEAST_IN), np.ones(1))], 1)
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


def shortened(name: str, panel_in: float) -> str:
    """A name cut in its middle, so that it fits beside a panel.

    >>> shortened("FedAvg with many local epochs", 4.5)
    'FedAvg w…l epochs'
    """
    half = int(_CHARS_PER_IN * panel_in - 1) // 2
    return name if len(name) <= 2 * half + 1 else f"{name[:half]}…{name[-half:]}"


def lay_out(paper: style.Paper) -> None:
    """Lets the layout find the places of all panels; then names can find theirs."""
    figure: Any = paper.figure
    if engine := figure.get_layout_engine():
        engine.execute(figure)
