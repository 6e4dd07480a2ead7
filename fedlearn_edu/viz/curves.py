# SPDX-License-Identifier: Apache-2.0
"""Curves over rounds in one panel, below their names and last values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
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

_MOST_MARKED, _MARKERS = 21, 9
_KEY_IN, _LINE_IN, _CHAR_IN = 0.6, 0.2, 0.088
_KEYS: Any = {"loc": "lower left", "bbox_to_anchor": (0, 1), "handlelength": 2.8}
_KEYS |= {"borderpad": 0, "borderaxespad": 0.4, "labelspacing": 0.3}
_AXIS_IN = 0.8  # left of the axes, and right of them


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """One line.

    Attributes:
        name: written above, with its last number.
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
        self,
        axes: Axes,
        title: str,
        *,
        is_share: bool,
        first: int = 0,
        width_in: float = style.EXPLORER_IN,
        keys: tuple[int, int] = (2, 2),
    ) -> None:
        """Draws the fixed parts.

        Args:
            axes: Whose layout makes room for the title, and for keys below it.
            title: Above them.
            is_share: Whether values are shares 0..1, shown in percent.
            first: The round the axis begins with; 0 is the state before training.
            width_in: Of the panel; names are cut to what has room.
            keys: Their rows and columns.
        """
        self._axes, self._is_share, self._first = axes, is_share, first
        self._inner_in, self._columns = width_in - _AXIS_IN, keys[1]
        axes.set_title(title, pad=72 * _LINE_IN * keys[0] + 6)
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
        self.show([Curve("", np.array([0.001]))], 100)  # room for long numbers

    def show(
        self, curves: Sequence[Curve], last_round: float, *, at: int | None = None
    ) -> None:
        """Draws these curves, as many as there are looks.

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
        """Writes names and last values, as the ends are below each other."""
        begun = [curve for curve in curves if len(curve.values)]
        begun.sort(key=lambda each: (each.end or (0, -math.inf))[1], reverse=True)
        columns, named = max(1, min(self._columns, len(begun))), {}
        for curve in begun:
            end = curve.end[1] if curve.end else math.nan
            told = f"{100 * end:.1f} %" if self._is_share else f"{end:.3g}"
            told = told.replace("-", "\N{MINUS SIGN}") if curve.end else "no number"
            room_in = self._inner_in / columns - _KEY_IN - _CHAR_IN * (len(told) + 3)
            line = self._lines[curves.index(curve)].line
            named[line] = f"{shortened(curve.name, room_in)}: {told}"
        self._axes.legend(named.keys(), named.values(), ncols=columns, **_KEYS)


@final
class _Line:
    """One curve and its band; made once."""

    def __init__(self, axes: Axes, look: dict[str, Any]) -> None:
        self._color = look["color"]
        of_clients: Any = {"color": colors.CLIENTS_EDGE, "zorder": 0}
        (self._band,) = axes.fill([0], [0], lw=0, alpha=0.2, **of_clients)
        (self._edges,) = axes.plot([], [], lw=0.6, **of_clients)
        (self.line,) = axes.plot([], [], **look)

    def show(self, curve: Curve | None) -> None:
        """Draws this curve, or none."""
        for artist in (self._band, self._edges, self.line):
            artist.set_visible(curve is not None)
        if curve is None:
            return
        self.line.set_data(curve.rounds, curve.values)
        self.line.set_color(curve.color or self._color)
        count = len(curve.values)
        step = 1 if count <= _MOST_MARKED else math.ceil(count / _MARKERS)
        self.line.set_markevery(list(range(count)[::-step]))
        low, high = curve.edges[:, :2], curve.edges[:, ::2]
        self._band.set_xy([*low, *high[::-1]] or [(0, 0)])
        self._edges.set_data(*np.concatenate([low, [(np.nan, np.nan)], high]).T)


@style.in_our_look
def curve_panels(
    titles: Mapping[str, bool], keys: tuple[int, int] = (1, 2)
) -> tuple[Figure, list[CurvePanel]]:
    """Panels below each other, laid out once.

    Args:
        titles: Each with whether its panel is of shares.
        keys: Rows and columns of names in each.
    """
    rows = len(titles)
    figure, axes = style.new_figure(style.EXPLORER_IN, 3.25 * rows, rows)
    pairs = zip(axes, titles.items(), strict=True)
    panels = [CurvePanel(x, title, is_share=y, keys=keys) for x, (title, y) in pairs]
    style.keep_layout(figure)
    return figure, panels


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


def shortened(name: str, room_in: float) -> str:
    """A name cut in its middle, so that there is room for it.

    >>> shortened("FedAvg with many local epochs", 1.5)
    'FedAvg w…l epochs'
    """
    half = (int(room_in / _CHAR_IN) - 1) // 2
    fits = len(name) * _CHAR_IN <= room_in
    return name if fits else f"{name[:half]}…{name[-half:]}"


def lay_out(paper: style.Paper) -> None:
    """Lets the layout find the places of all panels; then names can find theirs."""
    figure: Any = paper.figure
    if engine := figure.get_layout_engine():
        engine.execute(figure)
