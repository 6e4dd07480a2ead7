# SPDX-License-Identifier: Apache-2.0
"""Where everything goes: time runs down, a column for each lane, messages in between.

A node has one row of its column. The arrow to the node right below is straight; others
run in the gutters left and right of the nodes, each on a track.
x runs to the right and y runs *down*, both in inches from the upper left corner.
"""

from dataclasses import dataclass, replace
from itertools import count
from operator import itemgetter
from typing import final

from fedlearn_edu.dataflow.flow import Edge, Flow, Lane, Node
from fedlearn_edu.viz.dataflow.captions import label, label_below
from fedlearn_edu.viz.dataflow.primitives import LINE_IN, Line, Point

PILE_IN = 0.04
PAD_IN = 0.07
_TRACK_IN, _EDGE_IN, _GAP_IN, _HEADER_IN = 0.12, 0.06, 0.13, 0.36
_SHARES = {1: (1.0,), 2: (0.5, 0.5), 3: (0.33, 0.34, 0.33)}
_MAX_BOX_IN = 3.4
_TEXT_IN = 0.05
_PORTS = 0.7, 0.5, 0.3  # of the way from the middle of a box to its edge

LEFT, RIGHT = -1, 1
Gutter = tuple[Lane, int]  # beside the nodes of a column


@final
@dataclass(frozen=True)
class Strip:
    """A column on the page: its edges, and those of its boxes."""

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
class Box:
    """A node on the page.

    Attributes:
        node: what is shown.
        strip: the column it is in.
        y: its middle; the height of a message's arrow.
        above: the lines in it; of a message, those above its arrow.
        below: of a message, those below its arrow.
    """

    node: Node
    strip: Strip
    y: float
    above: list[Line]
    below: list[Line]

    @property
    def top(self) -> float:
        """Its upper edge, or that of a message's words."""
        return self.y - _reach(self.above, self.node)

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + _reach(self.below or self.above, self.node)


@final
@dataclass(frozen=True)
class Arrow:
    """A line from `source`; without a head it goes on, around a corner or away."""

    start: Point
    end: Point
    source: Node
    has_head: bool


@final
@dataclass(frozen=True)
class Way:
    """Edges that run on the same track, counted from the nodes of a column."""

    gutter: Gutter
    track: int
    edges: tuple[Edge, ...]


@final
@dataclass(frozen=True)
class Grid:
    """The row of each node, the edges straight down, and the ways of all others."""

    rows: list[int]
    straight: list[Edge]
    ways: list[Way]


@final
@dataclass(frozen=True)
class Layout:
    """A flow on the page: its columns from `top` to `bottom`, boxes, and arrows."""

    strips: dict[Lane, Strip]
    boxes: list[Box]
    arrows: list[Arrow]
    top: float
    bottom: float


def layout(flow: Flow, width_in: float, top: float) -> Layout:
    """Lays a flow out on a page of this width, from `top` down."""
    grid = place(flow)
    strips = _strips(flow.columns, grid.ways, width_in)
    boxes = [_box(flow, node, strips[node.column]) for node in flow.nodes]
    middles, bottom = [], top + _HEADER_IN
    for row in range(max(grid.rows) + 1):
        here = [box for box in boxes if grid.rows[box.node.number] == row]
        middles.append(bottom + _GAP_IN - min(box.top for box in here))
        bottom = middles[-1] + max(box.bottom for box in here) + _GAP_IN
    boxes = [replace(box, y=middles[grid.rows[box.node.number]]) for box in boxes]
    arrows = [_down(boxes[edge.source], boxes[edge.target]) for edge in grid.straight]
    for way in grid.ways:
        arrows += _around(boxes, strips[way.gutter[0]], way)
    return Layout(strips, boxes, arrows, top, bottom + _GAP_IN)


def place(flow: Flow) -> Grid:
    """Gives each node a row, and the edges that need one a track for each source."""
    rows, straight = _rows(flow), list[Edge]()
    groups: dict[tuple[Gutter, int], list[Edge]] = {}
    for edge in flow.edges:
        source, target = flow.nodes[edge.source], flow.nodes[edge.target]
        if _is_straight(flow, rows, source, target):
            straight.append(edge)
            continue
        gutter = source.lane, _side(source, target)
        groups.setdefault((gutter, edge.source), []).append(edge)
    found = [(gutter, edges) for (gutter, _), edges in groups.items()]
    return Grid(rows, straight, _ways(flow, rows, found))


def _ways(
    flow: Flow, rows: list[int], groups: list[tuple[Gutter, list[Edge]]]
) -> list[Way]:
    """Each group of edges on the first track of its gutter that is free."""

    def end_of(edge: Edge) -> int:
        # In half rows: a box is entered above its middle, where its own arrows begin.
        return 2 * rows[edge.target] - (not flow.nodes[edge.target].is_message)

    spans = [
        (min(2 * rows[edge.source] for edge in edges), max(map(end_of, edges)))
        for _, edges in groups
    ]
    ways, ends = list[Way](), dict[tuple[Gutter, int], int]()
    order = sorted(zip(spans, groups, strict=True), key=itemgetter(0))
    for (start, end), (gutter, edges) in order:
        track = next(i for i in count() if ends.get((gutter, i), -1) < start)
        ends[gutter, track] = max(start, end)
        ways.append(Way(gutter, track, tuple(edges)))
    return ways


def _rows(flow: Flow) -> list[int]:
    """The row of each node: the first free one below all that it needs."""
    free, rows = dict.fromkeys(Lane, 0), list[int]()
    for node in flow.nodes:
        row, is_level = free[node.column], node.is_message or _is_beside(flow, node)
        for before in flow.into(node):
            is_below = before.column is node.column or not is_level
            row = max(row, rows[before.number] + is_below)
        rows.append(row)
        free[node.column] = row + 1
    return rows


def _is_beside(flow: Flow, node: Node) -> bool:
    """Whether one message leads to the node, and none away."""
    arriving = [before for before in flow.into(node) if before.is_message]
    return len(arriving) == 1 and not any(n.is_message for n in flow.out_of(node))


def _is_straight(flow: Flow, rows: list[int], source: Node, target: Node) -> bool:
    """Whether both are boxes of a column with nothing between them."""
    start, end = rows[source.number], rows[target.number]
    is_free = not any(
        node.column is source.lane and start < rows[node.number] < end
        for node in flow.nodes
    )
    return is_free and not (source.is_message or target.is_message)


def _side(source: Node, target: Node) -> int:
    """Arrows to and from messages run on the side of the messages, others opposite."""
    if not (source.is_message or target.is_message):
        return RIGHT if source.lane is Lane.CLIENTS else LEFT
    if source.lane is Lane.UNPLACED:
        return LEFT if target.lane is Lane.CLIENTS else RIGHT
    return RIGHT if source.lane is Lane.SERVER else LEFT


def _strips(columns: list[Lane], ways: list[Way], width_in: float) -> dict[Lane, Strip]:
    gutters = [gutter for gutter, _ in {(way.gutter, way.track) for way in ways}]
    left, strips = _EDGE_IN, {}
    for column, share in zip(columns, _SHARES[len(columns)], strict=True):
        width = share * (width_in - 2 * _EDGE_IN)
        before = gutters.count((column, LEFT)) * _TRACK_IN + PAD_IN
        after = gutters.count((column, RIGHT)) * _TRACK_IN + PAD_IN + PILE_IN
        spare = max(0.0, width - before - after - _MAX_BOX_IN) / 2
        inner = left + before + spare, left + width - after - spare
        strips[column] = Strip(left, left + width, *inner)
        left += width
    return strips


def _box(flow: Flow, node: Node, strip: Strip) -> Box:
    """A node at the height 0."""
    width = strip.box_right - strip.box_left
    width += _TEXT_IN if node.is_message else -2 * _TEXT_IN
    below = label_below(node, width) if node.is_message else []
    return Box(node, strip, 0.0, label(flow, node, width), below)


def _reach(lines: list[Line], node: Node) -> float:
    """How far lines reach from the middle of a node."""
    height = len(lines) * LINE_IN
    return (height if node.is_message else height / 2) + PAD_IN


def _down(source: Box, target: Box) -> Arrow:
    pile = 2 * PILE_IN * (source.node.lane is Lane.CLIENTS)
    x = source.strip.center
    ends = (x, source.bottom + pile), (x, target.top)
    return Arrow(*ends, source.node, has_head=True)


def _around(boxes: list[Box], strip: Strip, way: Way) -> list[Arrow]:
    """From all sources to the track, down it, and on to all targets."""
    (column, side), out = way.gutter, (way.track + 1) * _TRACK_IN
    x = strip.box_left - out if side == LEFT else strip.box_right + PILE_IN + out
    beside = strip.box_left if side == LEFT else strip.box_right
    beyond = strip.left if side == LEFT else strip.right
    if column is Lane.UNPLACED:
        beyond = x
    heights, arrows, source = [], [], boxes[way.edges[0].source]
    node, port = source.node, _PORTS[way.track % len(_PORTS)]
    for edge in way.edges:
        target = boxes[edge.target]
        start, end = (
            beyond if each.node.is_message else beside for each in (source, target)
        )
        first, last = source.y, target.y
        if first != last and not node.is_message:  # below where others end
            first += port * (source.bottom - source.y)
        if source.y != last and not target.node.is_message:
            last -= port * (target.y - target.top)
        arrows.append(Arrow((start, first), (x, first), node, has_head=False))
        has_head = not target.node.is_message
        arrows.append(Arrow((x, last), (end, last), node, has_head))
        heights += [first, last]
    arrows.append(Arrow((x, min(heights)), (x, max(heights)), node, has_head=False))
    return [arrow for arrow in dict.fromkeys(arrows) if arrow.start != arrow.end]
