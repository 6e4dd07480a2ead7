# SPDX-License-Identifier: Apache-2.0
"""`draw_passes`: a program before and after each pass of the compiler.

A step is a box, and a ribbon leads from it to what became of it. On a narrow page the
stages follow each other, and numbers say what a step was made of.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import Any, final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from fedlearn_edu.dataflow.flow import Lane
from fedlearn_edu.errors import counted, short_traceback
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.viz import style
from fedlearn_edu.viz.dataflow import primitives
from fedlearn_edu.viz.dataflow.drawing import check_computation, too_long
from fedlearn_edu.viz.dataflow.primitives import (
    EDGE_IN,
    LINE_IN,
    NAME,
    PLAIN,
    QUIET,
    Line,
    wrapped,
)
from fedlearn_edu.viz.dataflow.stages import Stage, Step, stages

_PAD_IN, _TAG_IN, _GAP_IN, _RIBBON_IN = 0.05, 0.5, 0.09, 0.5
_SIDES_IN = _TAG_IN + 2 * _PAD_IN
_TITLE_IN = 2 * LINE_IN + EDGE_IN
_MAX_STEPS = 120
_CHANGED = 0.3
_LEGEND = (
    "S is the server, C are the clients; S→C and C→S travel between them. "
    "A filled box is one leaf: one piece of code for one runtime."
)
_LETTERS = {Lane.SERVER: "S", Lane.CLIENTS: "C", Lane.UNPLACED: "–"}


@final
@dataclass(frozen=True)
class Box:
    """A step on the page: its edges in inches, y running down, and its lines."""

    step: Step
    left: float
    right: float
    top: float
    lines: list[Line]

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + len(self.lines) * LINE_IN + 2 * _PAD_IN

    @property
    def middle(self) -> float:
        """Halfway between top and bottom."""
        return (self.top + self.bottom) / 2


@short_traceback
@style.in_our_look
def draw_passes(
    comp: Computation, *, width_in: float = style.WIDE_IN, figure: Figure | None = None
) -> Figure:
    """Draws a program as it was written, and after each pass of the compiler.

    Side by side if there is room, else below each other with numbers. Passes that
    change nothing are left out.

    Args:
        comp: With types.
        width_in: Width in inches; the height follows from the program.
        figure: An empty one to draw in, such as `plt.figure()`; it is made as large as
            the picture. By default a new one.

    Raises:
        FigureDataError: if it is no computation with types, or too long for a picture.

    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> @fl.federated_computation(fl.type_at_clients(np.float32))
    ... def average(values):
    ...     return fl.federated_mean(values)
    >>> print(fl.viz.draw_passes(average).get_label())
    average: 1 step as written, 4 steps expanded.
    """
    style.check_width(width_in)
    found = stages(check_computation(comp).tree)
    longest = max(len(stage.steps) for stage in found)
    if longest > _MAX_STEPS:
        raise too_long(comp.__name__, longest, _MAX_STEPS, "steps")
    heading = wrapped(comp.__name__, NAME, width_in - 2 * EDGE_IN)
    heading += wrapped(_LEGEND, QUIET, width_in - 2 * EDGE_IN)
    top = len(heading) * LINE_IN + 3 * EDGE_IN
    is_wide = width_in >= style.STACK_BELOW_IN
    columns = (side_by_side if is_wide else below)(found, width_in, top + _TITLE_IN)
    bottom = max([box.bottom for column in columns for box in column], default=top)
    figure, axes = primitives.page(width_in, bottom + 2 * EDGE_IN, figure, heading)
    for stage, column in zip(found, columns, strict=True):
        if column:
            first = top + _TITLE_IN if is_wide else column[0].top
            _draw_stage(axes, stage, column, first)
    for before, after in pairwise(columns if is_wide else []):
        _draw_ribbons(axes, before, after)
    return style.say(figure, sentence(comp.__name__, found))


def sentence(name: str, found: tuple[Stage, ...]) -> str:
    """How many steps there are after each pass, and what became one."""
    counts = [f"{counted(len(stage.steps), 'step')} {stage.title}" for stage in found]
    said = f"{name}: {', '.join(counts)}."
    for before, after in pairwise(found):
        for step in after.steps:
            if len(step.comes_from) > 1:
                names = [before.steps[place].name for place in step.comes_from]
                said += f" {', '.join(names)} became one."
    return said


def side_by_side(
    found: Sequence[Stage], width_in: float, top: float
) -> list[list[Box]]:
    """A column for each stage, its steps level with those they were made of."""
    width = (width_in - 2 * EDGE_IN + _RIBBON_IN) / len(found) - _RIBBON_IN
    columns = []
    for index, stage in enumerate(found):
        left = EDGE_IN + index * (width + _RIBBON_IN)
        labels = [wrapped(step.name, PLAIN, width - _SIDES_IN) for step in stage.steps]
        columns.append(_stack(stage.steps, labels, (left, left + width), top))
    longest = max(range(len(found)), key=lambda index: len(columns[index]))
    for index in reversed(range(longest)):
        places = range(len(columns[index]))
        heirs = [_heirs(place, columns[index + 1]) for place in places]
        columns[index] = _beside(columns[index], heirs)
    for index in range(longest + 1, len(found)):
        before, steps = columns[index - 1], found[index].steps
        origins = [[before[place] for place in step.comes_from] for step in steps]
        columns[index] = _beside(columns[index], origins)
    return columns


def below(found: Sequence[Stage], width_in: float, top: float) -> list[list[Box]]:
    """One list after another; a step says the numbers of those it was made of."""
    edges, columns = (EDGE_IN, width_in - EDGE_IN), []
    room = width_in - 2 * EDGE_IN - _SIDES_IN
    for stage in found:
        labels = [
            wrapped(f"{place}. {step.name}", PLAIN, room)
            + wrapped(_made_of(step, stage), QUIET, room)
            for place, step in enumerate(stage.steps, start=1)
        ]
        columns.append(_stack(stage.steps, labels, edges, top))
        last = columns[-1][-1].bottom if columns[-1] else top
        top = last + _GAP_IN + EDGE_IN + _TITLE_IN
    return columns


def _stack(
    steps: Sequence[Step],
    labels: Sequence[list[Line]],
    edges: tuple[float, float],
    top: float,
) -> list[Box]:
    """Boxes right below each other."""
    boxes: list[Box] = []
    for step, lines in zip(steps, labels, strict=True):
        boxes.append(Box(step, *edges, top, lines))
        top = boxes[-1].bottom + _GAP_IN
    return boxes


def _beside(column: list[Box], others: list[list[Box]]) -> list[Box]:
    """The column, each box moved down to the height of the others it belongs to."""
    moved: list[Box] = []
    for box, own in zip(column, others, strict=True):
        top = moved[-1].bottom + _GAP_IN if moved else box.top
        if own:
            middle = fmean(other.middle for other in own)
            top = max(top, middle - (box.bottom - box.top) / 2)
        moved.append(replace(box, top=top))
    return moved


def _heirs(place: int, after: list[Box]) -> list[Box]:
    """What a step became, in the stage after it."""
    return [box for box in after if place in box.step.comes_from]


def _made_of(step: Step, stage: Stage) -> str:
    """By number, the steps above that a step was made of; nothing if it is the same."""
    numbers = ", ".join(str(place + 1) for place in step.comes_from)
    if len(step.comes_from) > 1:
        return f"from {numbers} above, now one"
    heirs = [other for other in stage.steps if other.comes_from == step.comes_from]
    return f"from {numbers} above" if step.comes_from and len(heirs) > 1 else ""


def _draw_stage(axes: Axes, stage: Stage, column: list[Box], top: float) -> None:
    title = f"{stage.title}: {counted(len(stage.steps), 'step')}"
    lines = [Line(title, NAME), Line(stage.about, QUIET)]
    left, above = column[0].left, top - 2 * LINE_IN - _PAD_IN
    primitives.write(axes, lines, left, above, align="left")
    for box in column:
        step, travels = box.step, box.step.start is not box.step.end
        look: dict[str, Any] = {"linewidth": 1.4}
        if travels:
            look = {"linewidth": 2.4, "linestyle": primitives.DASHES}
        corners = box.left, box.top, box.right, box.bottom
        primitives.frame(axes, corners, step.start, is_filled=step.is_leaf, **look)
        letters = [_LETTERS[step.start], _LETTERS[step.end]]
        tag = [Line("→".join(letters if travels else letters[:1]), NAME)]
        primitives.write(axes, tag, box.left + _TAG_IN / 2, box.middle - LINE_IN / 2)
        start = box.left + _TAG_IN, box.top + _PAD_IN
        primitives.write(axes, box.lines, *start, align="left")


def _draw_ribbons(axes: Axes, before: list[Box], after: list[Box]) -> None:
    """From each box a step was made of to its share of the step's left side."""
    for box in after:
        for part, place in enumerate(box.step.comes_from):
            source, whole = before[place], len(box.step.comes_from)
            heirs, where = _heirs(place, after), box.step.start
            top, bottom = _share(source, heirs.index(box), len(heirs))
            start, end = _share(box, part, whole)
            if max(whole, len(heirs)) == 1:  # a line: it is the same step
                top = bottom = source.middle
                start = end = box.middle
            x = source.right, box.left, box.left, source.right
            corners = [*zip(x, (top, start, end, bottom), strict=True)]
            look: Any = {"fc": style.tint(primitives.FILLS[where], _CHANGED), "lw": 1}
            look |= {"ec": primitives.COLORS[where], "zorder": 1}
            axes.add_patch(Polygon(corners, **look))


def _share(box: Box, part: int, whole: int) -> tuple[float, float]:
    height = (box.bottom - box.top) / whole
    return box.top + part * height, box.top + (part + 1) * height
