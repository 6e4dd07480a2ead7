# SPDX-License-Identifier: Apache-2.0
"""What privacy costs: epsilon over the rounds, and how far a budget goes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.curves import (
    LABEL_IN,
    MOST_CURVES,
    Curve,
    CurvePanel,
    end,
    shortened,
)

_PANEL_IN, _HEAD_IN, _FOOT_IN, _AXIS_IN = 2.3, 0.42, 0.62, 0.85
_LEAST_PANEL_IN, _SIGN_IN, _CHAR_IN, _VALUE_CHARS = 0.6, 0.3, 0.1, 6

Epsilons = Run | History | Sequence[float] | NDArray[np.float64]


@short_traceback
@style.in_our_look
def draw_epsilon(
    epsilons: Epsilons | Mapping[str, Epsilons],
    *,
    budget: float | None = None,
    width_in: float = 7.0,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws epsilon after each round, and the line that it may not cross.

    Args:
        epsilons: A number for each round from 1 on, as `accounting.epsilon_by_round`
            returns them, or a run or history with that column; or up to four by name.
        budget: The epsilon of the budget; `None` for no line.
        width_in: Width in inches.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    >>> print(draw_epsilon({"q = 0.1": [1.0, 1.5, 1.9]}, budget=1.6).get_label())
    Epsilon by round. q = 0.1: 1 after round 1, 1.9 after round 3, within the budget of
    1.6 until round 2.

    Raises:
        FigureDataError: if there is nothing to draw, or something is no number.
        HistoryError: if a history has no epsilons: its run had no budget.
    """
    width_in = style.width_of(figure, width_in)
    curves = _curves(epsilons)
    if budget is not None:
        style.check_numbers([budget], "budget", "an epsilon, or None")
    size_in = (width_in, _HEAD_IN + _PANEL_IN + _FOOT_IN)
    paper = figure or Figure(figsize=size_in)
    names_in = min(LABEL_IN, width_in - _AXIS_IN - _LEAST_PANEL_IN, _names_in(curves))
    inner_in = width_in - _AXIS_IN - names_in
    axes = style.add_axes(paper, (_AXIS_IN, _FOOT_IN, inner_in, _PANEL_IN), size_in)
    axes.set_title("Privacy spent")
    axes.set_ylabel("epsilon")
    last = max(len(curve.values) for curve in curves)
    panel = CurvePanel(axes, _PANEL_IN, is_share=False, first=1)
    panel.show(curves, last)
    if budget is not None:
        axes.axhline(budget, color=colors.ALARM, ls=(0, (6, 2)), lw=1.3)
        axes.set_ylim(0, max(axes.get_ylim()[1], 1.15 * budget))
        panel.show_ends(curves)
        _name_the_line(axes, budget, curves, last)
    sentence = " ".join(_said(curve, budget) for curve in curves)
    return style.say_of(paper, figure, f"Epsilon by round. {sentence}")


def _names_in(curves: Sequence[Curve]) -> float:
    """Room for the names and their last values: short ones leave more for the panel."""
    longest = max(len(shortened(curve.name)) for curve in curves)
    return _SIGN_IN + (longest + _VALUE_CHARS) * _CHAR_IN


def _name_the_line(
    axes: Axes, budget: float, curves: Sequence[Curve], last: int
) -> None:
    """At its right end, on the side where a rising curve has not been."""
    ends = [point[1] for curve in curves if (point := end(curve))]
    side = "top" if max(ends) > budget else "bottom"
    paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
    look: Any = {"color": colors.ALARM, "ha": "right", "va": side, "bbox": paper}
    shift = 3 if side == "bottom" else -4
    axes.annotate(
        f"budget {budget:g}",
        (last, budget),
        (0, shift),
        textcoords="offset points",
        **look,
    )


def _curves(epsilons: Any) -> list[Curve]:
    named = epsilons if isinstance(epsilons, Mapping) else {"epsilon": epsilons}
    if not 1 <= len(named) <= MOST_CURVES:
        raise style.FigureDataError(
            "there are no epsilons to draw, or too many",
            expected=f"1 to {MOST_CURVES} of them by name",
            found=describe(epsilons),
            where="epsilons",
        )
    return [_curve(str(name), each) for name, each in named.items()]


def _curve(name: str, each: Any) -> Curve:
    if isinstance(each, Run):
        each = each.history
    if isinstance(each, History):
        each = each["epsilon"]
    expected = "an epsilon for each round from 1 on"
    values = style.check_numbers(each, "epsilons", expected)
    if values.ndim != 1 or not np.isfinite(values).any():
        raise style.FigureDataError(
            "there are no epsilons to draw",
            expected=expected,
            found=f"numbers of shape {list(values.shape)}",
            where=name,
            do="accounting.epsilon_by_round(…), or run with Options(budget=…)",
        )
    return Curve(name, values, measured=np.arange(1, len(values) + 1))


def _said(curve: Curve, budget: float | None) -> str:
    """Where a curve begins and ends, and how long it stays within the budget."""
    numbers, last = curve.rounds[curve.known], end(curve)
    assert last is not None
    first = f"{curve.values[curve.known][0]:.3g} after round {numbers[0]}"
    until = f", {last[1]:.3g} after round {last[0]}" if len(numbers) > 1 else ""
    return f"{curve.name}: {first}{until}{_within(curve, budget)}."


def _within(curve: Curve, budget: float | None) -> str:
    if budget is None:
        return ""
    inside = curve.rounds[curve.known & (curve.values <= budget)]
    if not len(inside):
        return f", never within the budget of {budget:g}"
    if len(inside) == curve.known.sum():
        return f", within the budget of {budget:g}"
    return f", within the budget of {budget:g} until round {inside[-1]}"
