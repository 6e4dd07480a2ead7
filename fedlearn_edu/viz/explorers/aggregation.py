# SPDX-License-Identifier: Apache-2.0
"""A `federated_aggregate` step by step: who folds whom, and what is merged."""

from collections.abc import Sequence
from typing import Any, final

import ipywidgets as widgets
from matplotlib.figure import Figure

from fedlearn_edu.errors import describe, is_whole_number, short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.aggregation_drawing import AggregationDrawing
from fedlearn_edu.viz.explorers.aggregation_run import (
    AggregationRun,
    check_aggregation,
    run_aggregation,
)
from fedlearn_edu.viz.explorers.aggregation_words import words
from fedlearn_edu.viz.explorers.canvas import Canvas
from fedlearn_edu.viz.explorers.controls import button, limits_around, slider, stops
from fedlearn_edu.viz.explorers.explorer import Explorer

_ONE_TO_FIVE = (1, 2, 3, 4, 5)
_MOST_ZERO = 5
_STEP_MS = 900
_COMPARED = (2, 3, 4)
# With more, a drawing takes more than 100 ms: it follows when a handle is let go.
_LIVE_CLIENTS = 8


@short_traceback
@style.in_our_look
def draw_aggregation(
    values: Sequence[float] = _ONE_TO_FIVE,
    *,
    zero: float = 0,
    fan_out: int | None = None,
    step: int | None = None,
    width_in: float = style.EXPLORER_IN,
) -> Figure:
    """Draws how a `federated_aggregate` adds up these values, from a real run.

    `accumulate` and `merge` both add, `report` changes nothing. A `zero` other than 0
    counts once for each group of clients:

    >>> from fedlearn_edu import viz
    >>> figure = viz.draw_aggregation([1, 2, 3, 4, 5], zero=1, fan_out=2)
    >>> figure.get_label()[-62:]
    'per group: 16 in one, 18 with fan-out 2, 17 with 3, 17 with 4.'

    Args:
        values: One number per client, at most 12.
        zero: Where every fold begins.
        fan_out: `max_fanout` of the stack: from this many clients on they are put into
            groups, and the groups into groups; `None` is a single group.
        step: How many steps are drawn; by default all of them.
        width_in: Width in inches.

    Raises:
        FigureDataError: for no values or too many, for what is no finite number up to a
            billion, for a fan-out below 2, and for a step that is no whole number.
    """
    style.check_width(width_in)
    held, start, most = check_aggregation(values, zero, fan_out)
    run = run_aggregation(held, start, most)
    shown = _shown(step, len(run.steps))
    picture = AggregationPicture(held, width_in)
    sentence = picture.show(zero=start, fan_out=most, step=shown)
    return style.say(picture.figure, sentence)


def _shown(step: Any, last: int) -> int:
    if step is None:
        return last
    if not is_whole_number(step):
        raise style.FigureDataError(
            "there is no such step of the aggregation",
            expected=f"a whole number from 0 to {last}",
            found=describe(step),
            where="step",
            do="leave it out, and all steps are drawn",
        )
    return max(0, min(int(step), last))


@short_traceback
def explore_aggregation(
    values: Sequence[float] = _ONE_TO_FIVE,
    *,
    zero: float = 0,
    fan_out: int | None = None,
) -> Explorer:
    """Shows `draw_aggregation` under sliders: zero, the fan-out, and the step.

    >>> explorer = explore_aggregation([1, 2, 3], fan_out=2)
    >>> explorer.set(step=4)
    >>> print(explorer.sentence)
    Step 4 of 5: 3 and 3, of two groups, are merged: 6.

    Args:
        values: One number per client, at most 12.
        zero: Where every fold begins, at first.
        fan_out: As in `draw_aggregation`, at first.

    Raises:
        FigureDataError: as `draw_aggregation`.
    """
    held, start, most = check_aggregation(values, zero, fan_out)
    alone = (
        len(held) + 1
    )  # from so many clients on there would be groups: there are not
    sizes = {f"{n}": n for n in range(2, alone)} | {"one group": alone}
    chosen = alone if most is None else min(most, alone)
    last = len(run_aggregation(held, start, chosen).steps)
    live = len(held) <= _LIVE_CLIENTS
    limits = limits_around([start], -_MOST_ZERO, _MOST_ZERO)
    controls = {
        "zero": slider("zero", start, *limits, 1),
        "fan_out": stops("fan-out", chosen, sizes),
        "step": slider("step", last, 0, last, live=live),
    }
    play = widgets.Play(value=last, min=0, max=last, interval=_STEP_MS)
    widgets.link((play, "value"), (controls["step"].source, "value"))
    moving = (*controls["step"].box.children, play)

    def fit(change: Any) -> None:
        _fit_steps(moving, len(run_aggregation(held, 0, change.new).steps))

    controls["fan_out"].source.observe(fit, "value")
    preset = button("zero = 1, fan-out 2", "1 + … + 5 is 16, 17 or 18, not 15")
    picture = AggregationPicture(held, stamped=True)
    title = "A federated_aggregate, step by step"
    explorer = Explorer(title, picture, controls, extras=[play, preset])
    preset.on_click(lambda _: explorer.set(zero=1, fan_out=2))
    return explorer


def _fit_steps(moving: Sequence[Any], last: int) -> None:
    """Lets the slider over steps end at the last one; at the end it stays there."""
    was_at_end = moving[0].value == moving[0].max
    for each in moving:
        each.max = last
    if was_at_end:
        moving[0].value = last


@final
class AggregationPicture:
    """The drawing of aggregations of the same values."""

    def __init__(
        self,
        values: Sequence[float],
        width_in: float = style.EXPLORER_IN,
        *,
        stamped: bool = False,
    ) -> None:
        self._values = tuple(values)
        self._canvas = Canvas(width_in, 1.0, stamped=stamped)
        self.figure = self._canvas.figure
        self._runs: dict[tuple[float, int | None], AggregationRun] = {}

    @style.in_our_look
    def show(self, *, zero: float, fan_out: int | None, step: int) -> str:
        """Draws the run after so many steps; returns the last of them in words."""
        run = self._run(zero, fan_out)
        step, others = min(step, len(run.steps)), {}
        if step == len(run.steps):
            others = {n: self._run(zero, n).result for n in self._fan_outs()}
        drawing = AggregationDrawing(self._canvas.width, run, step)
        self._canvas.wipe(drawing.height)
        drawing.draw(self._canvas)
        return words(run, step, others)

    def _run(self, zero: float, fan_out: int | None) -> AggregationRun:
        if (key := (zero, fan_out)) not in self._runs:
            self._runs[key] = run_aggregation(self._values, zero, fan_out)
        return self._runs[key]

    def _fan_outs(self) -> list[int | None]:
        return [None, *(n for n in _COMPARED if n <= len(self._values))]
