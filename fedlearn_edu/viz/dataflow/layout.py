# SPDX-License-Identifier: Apache-2.0
"""From rows to inches: columns, the boxes in them, and the tracks beside the boxes.

x runs to the right and y runs *down*, both in inches from the upper left corner.
"""

from dataclasses import dataclass
from typing import final

from fedlearn_edu.viz.dataflow.blocks import Block, block
from fedlearn_edu.viz.dataflow.flow import Flow, Kind
from fedlearn_edu.viz.dataflow.rows import Column, Net, Plan, Side

TRACK_IN = 0.14
PILE_IN = 0.04
_EDGE_IN, _GAP_IN, _PAD_IN = 0.06, 0.13, 0.07
_HEADER_IN = 0.36
_LANE_SHARE, _MIDDLE_SHARE = 0.33, 0.34
_MAX_BOX_IN = 3.4
_TEXT_IN = 0.05
_BARE_MIDDLE_IN = 0.3
_PORT = 0.55


@final
@dataclass(frozen=True)
class Strip:
    """A column: its edges, and those of its boxes."""

    left: float
    right: float
    box_left: float
    box_right: float

    @property
    def center(self) -> float:
        """The middle of its boxes."""
        return (self.box_left + self.box_right) / 2


@final
@dataclass(frozen=True)
class Layout:
    """Where everything is, in inches.

    Attributes:
        strips: the columns.
        y: of each row: its middle, the height of messages' arrows.
        top: where the columns begin, their headers included.
        bottom: where they end.
        blocks: what is written in each node.
    """

    flow: Flow
    plan: Plan
    strips: dict[Column, Strip]
    y: list[float]
    top: float
    bottom: float
    blocks: dict[int, Block]

    def row_y(self, number: int) -> float:
        """The middle of a node."""
        return self.y[self.plan.rows[number]]

    def box(self, number: int) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of a node that is no message."""
        strip, text = self.strips[self.plan.column_of[number]], self.blocks[number]
        y = self.row_y(number)
        return strip.box_left, y - text.up_in, strip.box_right, y + text.down_in

    def track_x(self, net: Net) -> float:
        """Where a net runs down."""
        strip = self.strips[net.column]
        to_right = (net.side is Side.INNER) == (net.column is not Column.CLIENTS)
        way = (net.track + 1) * TRACK_IN
        return strip.box_right + PILE_IN + way if to_right else strip.box_left - way

    def side_x(self, net: Net) -> float:
        """The side of the boxes that a net begins and ends at."""
        strip = self.strips[net.column]
        to_right = (net.side is Side.INNER) == (net.column is not Column.CLIENTS)
        return strip.box_right if to_right else strip.box_left

    def port_y(self, number: int) -> float:
        """Where lines from above enter a box: higher than where others leave it."""
        text = self.blocks[number]
        return self.row_y(number) - _PORT * text.up_in


def layout(flow: Flow, plan: Plan, width_in: float, top: float) -> Layout:
    """Lays a plan out on a page so wide, from `top` on."""
    strips = _strips(plan, width_in)
    blocks = {}
    for node in flow.nodes:
        strip = strips[plan.column_of[node.number]]
        room = strip.box_right - strip.box_left - 2 * _TEXT_IN
        if node.kind is Kind.MESSAGE:
            room = strip.box_right - strip.box_left + _TEXT_IN
        blocks[node.number] = block(flow, node, room)
    y, edge = [], top + _HEADER_IN
    for row in range(plan.height):
        here = [blocks[n] for n, at in plan.rows.items() if at == row]
        up = max(text.up_in for text in here)
        down = max(text.down_in for text in here)
        y.append(edge + _GAP_IN + up)
        edge = y[-1] + down + _GAP_IN
    return Layout(flow, plan, strips, y, top, edge + _GAP_IN, blocks)


def _strips(plan: Plan, width_in: float) -> dict[Column, Strip]:
    whole = width_in - 2 * _EDGE_IN
    widths = dict(zip(plan.columns, _widths(plan, whole), strict=True))
    left, strips = _EDGE_IN, {}
    for column, width in widths.items():
        inner = plan.tracks(column, Side.INNER) * TRACK_IN + _PAD_IN
        outer = plan.tracks(column, Side.OUTER) * TRACK_IN + _PAD_IN
        before, after = (inner, outer) if column is Column.CLIENTS else (outer, inner)
        after += PILE_IN
        spare = max(0.0, width - before - after - _MAX_BOX_IN) / 2
        box_left, box_right = left + before + spare, left + width - after - spare
        strips[column] = Strip(left, left + width, box_left, box_right)
        left += width
    return strips


def _widths(plan: Plan, whole: float) -> list[float]:
    if len(plan.columns) == 1:
        return [whole]
    if Column.MIDDLE not in plan.columns:
        return [whole / len(plan.columns)] * len(plan.columns)
    if len(plan.columns) == 2:
        return [whole / 2] * 2
    return [_LANE_SHARE * whole, _MIDDLE_SHARE * whole, _LANE_SHARE * whole]
