# SPDX-License-Identifier: Apache-2.0
"""`passes`: a program before and after each pass of the compiler, side by side.

A step is one box, and a ribbon leads from it to what became of it.
"""

from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Polygon

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.viz import style
from fedlearn_edu.viz.dataflow import ink
from fedlearn_edu.viz.dataflow.drawing import check_computation, page
from fedlearn_edu.viz.dataflow.panels import (
    EDGE_IN,
    PAD_IN,
    TAG_IN,
    Box,
    below,
    side_by_side,
)
from fedlearn_edu.viz.dataflow.record import Lane
from fedlearn_edu.viz.dataflow.rows import Column
from fedlearn_edu.viz.dataflow.stages import Stage, Step, stages
from fedlearn_edu.viz.dataflow.text import LINE_IN, NAME, QUIET, Line, wrapped

_MAX_STEPS = 120
_RIBBON_ALPHA, _JOINED_ALPHA = 0.1, 0.38
_LEGEND = (
    "S is the server, C are the clients; S→C and C→S travel between them. "
    "A filled box is one leaf: one piece of code for one runtime."
)
_LETTERS = {Lane.SERVER: "S", Lane.CLIENTS: "C", Lane.UNPLACED: "–"}
_COLUMNS = {
    Lane.SERVER: Column.SERVER,
    Lane.CLIENTS: Column.CLIENTS,
    Lane.UNPLACED: Column.MIDDLE,
}


@short_traceback
@style.in_our_look
def passes(comp: Computation, *, width_in: float = style.WIDE_IN) -> Figure:
    """Draws a program as it was written, and after each pass of the compiler.

    Side by side if there is room, else below each other with numbers. Passes that
    change nothing are left out.

    Args:
        comp: With types.
        width_in: Width in inches; the height follows from the program.

    Raises:
        FigureDataError: if it is no computation with types, or too long for a picture.

    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> @fl.federated_computation(fl.type_at_clients(np.float32))
    ... def average(values):
    ...     return fl.federated_mean(values)
    >>> print(fl.viz.passes(average).get_label())
    average: 1 step as written, 4 steps expanded.
    """
    found = stages(check_computation(comp).tree)
    longest = max(len(stage.steps) for stage in found)
    if longest > _MAX_STEPS:
        raise style.FigureDataError(
            "this program is too long for one picture",
            expected=f"at most {_MAX_STEPS} steps",
            found=f"{longest} in {comp.__name__}",
            do="draw the computations that it calls, one by one",
        )
    heading = wrapped(comp.__name__, NAME, width_in - 2 * EDGE_IN)
    heading += wrapped(_LEGEND, QUIET, width_in - 2 * EDGE_IN)
    top = len(heading) * LINE_IN + 3 * EDGE_IN
    is_wide = width_in >= style.STACK_BELOW_IN
    boxes = (
        side_by_side(found, width_in, top) if is_wide else below(found, width_in, top)
    )
    bottom = max([box.bottom for column in boxes for box in column], default=top)
    figure, axes = page(width_in, bottom + 2 * EDGE_IN)
    ink.write(axes, heading, EDGE_IN, EDGE_IN, align="left")
    _draw(axes, found, boxes, with_ribbons=is_wide)
    return style.say(figure, sentence(comp.__name__, found))


def sentence(name: str, found: tuple[Stage, ...]) -> str:
    """How many steps there are after each pass, and what became one."""
    counts = [f"{_counted(len(stage.steps))} {stage.title}" for stage in found]
    said = f"{name}: {', '.join(counts)}."
    for before, after in pairwise(found):
        for step in after.steps:
            if len(step.comes_from) > 1:
                names = [before.steps[place].name for place in step.comes_from]
                said += f" {', '.join(names)} became one."
    return said


def _counted(steps: int) -> str:
    return f"{steps} step{'s' * (steps != 1)}"


def _draw(
    axes: Axes,
    found: tuple[Stage, ...],
    columns: list[list[Box]],
    *,
    with_ribbons: bool,
) -> None:
    level = min((column[0].top for column in columns if column), default=0.0)
    for index, (stage, column) in enumerate(zip(found, columns, strict=True)):
        if column:
            _write_title(axes, stage, column[0], level if with_ribbons else None)
        for step, box in zip(stage.steps, column, strict=True):
            _draw_step(axes, step, box)
            if with_ribbons and index:
                _draw_ribbons(axes, stage.steps, step, box, columns[index - 1])


def _write_title(axes: Axes, stage: Stage, first: Box, level: float | None) -> None:
    top = first.top if level is None else level
    title = f"{stage.title}: {_counted(len(stage.steps))}"
    lines = [Line(title, NAME), Line(stage.about, QUIET)]
    ink.write(axes, lines, first.left, top - 2 * LINE_IN - PAD_IN, align="left")


def _draw_step(axes: Axes, step: Step, box: Box) -> None:
    column = _COLUMNS[step.start]
    travels = step.start is not step.end
    patch = FancyBboxPatch(
        (box.left, box.top),
        box.right - box.left,
        box.bottom - box.top,
        boxstyle="round,pad=0,rounding_size=0.04",
        facecolor=ink.colors_of(column, 0.3) if step.is_leaf else "white",
        edgecolor=ink.COLORS[column],
        linewidth=2.4 if travels else 1.4,
        linestyle=(0, (2.4, 1.0)) if travels else "solid",
        zorder=3,
    )
    axes.add_patch(patch)
    letters = [_LETTERS[step.start], _LETTERS[step.end]]
    tag = "→".join(letters if travels else letters[:1])
    middle = box.middle - LINE_IN / 2
    ink.write(axes, [Line(tag, NAME)], box.left + TAG_IN / 2, middle)
    ink.write(axes, box.lines, box.left + TAG_IN, box.top + PAD_IN, align="left")


def _draw_ribbons(
    axes: Axes, steps: tuple[Step, ...], step: Step, box: Box, before: list[Box]
) -> None:
    """From each box a step was made of to its share of the step's left side."""
    for place in step.comes_from:
        heirs = [other for other in steps if place in other.comes_from]
        source = before[place]
        part = next(i for i, other in enumerate(heirs) if other is step)
        start = _share(source, part, len(heirs))
        end = _share(box, step.comes_from.index(place), len(step.comes_from))
        changes = len(heirs) > 1 or len(step.comes_from) > 1
        corners = [
            (source.right, start[0]),
            (box.left, end[0]),
            (box.left, end[1]),
            (source.right, start[1]),
        ]
        alpha = _JOINED_ALPHA if changes else _RIBBON_ALPHA
        color = ink.COLORS[_COLUMNS[step.start]]
        axes.add_patch(Polygon(corners, facecolor=color, alpha=alpha, zorder=1))


def _share(box: Box, part: int, parts: int) -> tuple[float, float]:
    height = (box.bottom - box.top) / parts
    return box.top + part * height, box.top + (part + 1) * height
