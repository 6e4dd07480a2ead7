# SPDX-License-Identifier: Apache-2.0
"""Where the boxes of `draw_passes` go: a column for each stage, or list after list.

In inches from the upper left corner; y runs down.
"""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from fedlearn_edu.viz.dataflow.stages import Stage, Step
from fedlearn_edu.viz.dataflow.text import LINE_IN, PLAIN, QUIET, Line, wrapped

EDGE_IN, PAD_IN, TAG_IN = 0.1, 0.05, 0.5
_GAP_IN, RIBBON_IN = 0.09, 0.5


@final
@dataclass(frozen=True)
class Box:
    """A step on the page: its edges, and its lines."""

    left: float
    top: float
    right: float
    bottom: float
    lines: tuple[Line, ...]

    @property
    def middle(self) -> float:
        """Halfway between top and bottom."""
        return (self.top + self.bottom) / 2


def side_by_side(
    found: tuple[Stage, ...], width_in: float, top: float
) -> list[list[Box]]:
    """Columns; each step is level with those it was made of, as far as possible."""
    count = len(found)
    width = (width_in - 2 * EDGE_IN - (count - 1) * RIBBON_IN) / count
    top += 2 * LINE_IN + EDGE_IN
    columns: list[list[Box]] = []
    for index, stage in enumerate(found):
        left = EDGE_IN + index * (width + RIBBON_IN)
        column: list[Box] = []
        for step in stage.steps:
            lines = tuple(wrapped(step.name, PLAIN, width - TAG_IN - PAD_IN))
            height = len(lines) * LINE_IN + 2 * PAD_IN
            edge = column[-1].bottom + _GAP_IN if column else top
            middles = [columns[-1][i].middle for i in step.comes_from if columns]
            if len(middles) > 1:
                edge = max(edge, float(np.mean(middles)) - height / 2)
            elif middles:
                edge = max(edge, columns[-1][step.comes_from[0]].top)
            column.append(Box(left, edge, left + width, edge + height, lines))
        columns.append(column)
    if len(columns) > 1:
        columns[0] = _beside_heirs(columns[0], columns[1], found[1].steps)
    return columns


def _beside_heirs(
    first: list[Box], second: list[Box], steps: tuple[Step, ...]
) -> list[Box]:
    """The first column, each box level with those that it was written out as."""
    moved: list[Box] = []
    for place, box in enumerate(first):
        heirs = zip(second, steps, strict=True)
        middles = [heir.middle for heir, step in heirs if place in step.comes_from]
        height = box.bottom - box.top
        top = moved[-1].bottom + _GAP_IN if moved else box.top
        if middles:
            top = max(top, float(np.mean(middles)) - height / 2)
        moved.append(replace(box, top=top, bottom=top + height))
    return moved


def below(found: tuple[Stage, ...], width_in: float, top: float) -> list[list[Box]]:
    """One list after the other; a step says the numbers of those it was made of."""
    columns: list[list[Box]] = []
    edge = top
    for stage in found:
        edge += 2 * LINE_IN + EDGE_IN
        column: list[Box] = []
        for place, step in enumerate(stage.steps):
            text = f"{place + 1}. {step.name}"
            room = width_in - 2 * EDGE_IN - TAG_IN - 2 * PAD_IN
            lines = wrapped(text, PLAIN, room)
            lines += wrapped(_made_of(step, stage), QUIET, room)
            bottom = edge + len(lines) * LINE_IN + 2 * PAD_IN
            right = width_in - EDGE_IN
            column.append(Box(EDGE_IN, edge, right, bottom, tuple(lines)))
            edge = bottom + _GAP_IN
        edge += EDGE_IN
        columns.append(column)
    return columns


def _made_of(step: Step, stage: Stage) -> str:
    """By number, the steps above that a step was made of; nothing if it is the same."""
    numbers = ", ".join(str(place + 1) for place in step.comes_from)
    if len(step.comes_from) > 1:
        return f"from {numbers} above, now one"
    heirs = [other for other in stage.steps if other.comes_from == step.comes_from]
    return f"from {numbers} above" if step.comes_from and len(heirs) > 1 else ""
