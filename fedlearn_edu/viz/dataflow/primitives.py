# SPDX-License-Identifier: Apache-2.0
"""Puts lanes, boxes, lines and messages on a page."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from fedlearn_edu.viz import colors
from fedlearn_edu.viz.dataflow.flow import Edge, Kind, Lane, Node
from fedlearn_edu.viz.dataflow.layout import PILE_IN, Layout
from fedlearn_edu.viz.dataflow.rows import Column, Net
from fedlearn_edu.viz.dataflow.text import LINE_IN, NAME, Line, font

COLORS = {
    Column.SERVER: colors.SERVER,
    Column.CLIENTS: colors.CLIENTS,
    Column.MIDDLE: colors.QUIET,
}
_HEADINGS = {
    Column.SERVER: "SERVER",
    Column.CLIENTS: "CLIENTS × n",
    Column.MIDDLE: "what travels",
}
_LANE_ALPHA, _FILL_ALPHA = 0.09, 0.3
_THIN, _THICK = 1.3, 3.2
_DASHES = (0, (2.4, 1.0))
_BASELINE_IN = 0.145
_HEADER_IN = 0.2
_ROUND = {Kind.STEP: 0.04, Kind.PARAMETER: 0.16, Kind.CONSTANT: 0.16, Kind.RESULT: 0.16}


def write(
    axes: Axes, lines: Sequence[Line], x: float, top: float, align: str = "center"
) -> None:
    """Lines below each other, from `top` on."""
    for index, line in enumerate(lines):
        axes.text(
            x,
            top + index * LINE_IN + _BASELINE_IN,
            line.text,
            color=line.style.color,
            fontproperties=font(line.style),
            ha=align,
            va="baseline",
            zorder=5,
        )


def lane(axes: Axes, where: Layout, column: Column) -> None:
    """The ground a column stands on, and its heading."""
    strip = where.strips[column]
    heading = _HEADINGS[column]
    if column is Column.MIDDLE:
        if not any(node.kind is Kind.MESSAGE for node in where.flow.nodes):
            heading = "no placement"
    else:
        ground = Rectangle(
            (strip.left, where.top),
            strip.right - strip.left,
            where.bottom - where.top,
            facecolor=colors_of(column, _LANE_ALPHA),
            edgecolor="none",
            zorder=0,
        )
        axes.add_patch(ground)
        bar = (strip.left, where.top), strip.right - strip.left, 0.05
        axes.add_patch(Rectangle(*bar, facecolor=COLORS[column], edgecolor="none"))
    center = (strip.left + strip.right) / 2
    write(axes, [Line(heading, NAME)], center, where.top + _HEADER_IN - 0.08)


def colors_of(column: Column, alpha: float) -> tuple[float, float, float]:
    """The color of a column mixed with white, so that nothing shines through."""
    code = COLORS[column].lstrip("#")
    parts = [int(code[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (1 - alpha * (1 - part) for part in parts)
    return red, green, blue


def node(axes: Axes, where: Layout, node: Node) -> None:
    """A box, a pill, a bare value, or a message."""
    if node.kind is Kind.MESSAGE:
        message(axes, where, node)
        return
    left, top, right, _ = where.box(node.number)
    if node.kind is not Kind.VALUE:
        _frame(axes, where.plan.column_of[node.number], node, where.box(node.number))
    write(axes, where.blocks[node.number].above, (left + right) / 2, top + 0.07)


def _frame(
    axes: Axes, column: Column, node: Node, box: tuple[float, float, float, float]
) -> None:
    left, top, right, bottom = box
    radius = min(_ROUND[node.kind], (bottom - top) / 2)
    copies = (2, 1, 0) if node.lane is Lane.CLIENTS else (0,)
    for copy in copies:
        shift = copy * PILE_IN
        is_step = node.kind is Kind.STEP
        fill = colors_of(column, _FILL_ALPHA) if is_step else (1.0, 1.0, 1.0)
        patch = FancyBboxPatch(
            (left + shift, top + shift),
            right - left,
            bottom - top,
            boxstyle=f"round,pad=0,rounding_size={radius}",
            facecolor=fill,
            edgecolor=COLORS[column],
            linewidth=1.6 if node.kind is not Kind.RESULT else 2.6,
            zorder=3 - copy * 0.1,
        )
        axes.add_patch(patch)


def straight(axes: Axes, where: Layout, edge: Edge) -> None:
    """An arrow down to the next node of a column."""
    *_, bottom = where.box(edge.source)
    left, top, right, _ = where.box(edge.target)
    x = (left + right) / 2
    if where.flow.nodes[edge.source].lane is Lane.CLIENTS:
        bottom += 2 * PILE_IN
    _arrow(axes, (x, bottom), (x, top))


def net(axes: Axes, where: Layout, net: Net) -> None:
    """Lines that share a track: from all sources down to all sinks."""
    x, side = where.track_x(net), where.side_x(net)
    strip = where.strips[net.column]
    edge = strip.left if net.column is Column.CLIENTS else strip.right
    heights = []
    for number in net.sources:
        y = where.row_y(number)
        heights.append(y)
        is_message = where.flow.nodes[number].kind is Kind.MESSAGE
        _line(axes, (edge if is_message else side, y), (x, y))
    for number in net.sinks:
        if where.flow.nodes[number].kind is Kind.MESSAGE:
            y = where.row_y(number)
            is_inside = net.column is Column.MIDDLE
            _line(axes, (x, y), (x if is_inside else edge, y))
        else:
            y = _entry_y(where, net, number)
            _arrow(axes, (x, y), (side, y))
        heights.append(y)
    _line(axes, (x, min(heights)), (x, max(heights)))


def _entry_y(where: Layout, net: Net, number: int) -> float:
    """Level with the source if that is beside it, else above the middle."""
    rows = where.plan.rows
    if any(rows[source] == rows[number] for source in net.sources):
        return where.row_y(number)
    return where.port_y(number)


def message(axes: Axes, where: Layout, node: Node) -> None:
    """A thick dashed arrow across the middle, with what it carries."""
    strip = where.strips[Column.MIDDLE]
    y, text = where.row_y(node.number), where.blocks[node.number]
    origin = where.flow.sent_from(node)
    start, end = strip.left, strip.right
    if node.lane is not Lane.CLIENTS:
        start, end = end, start
    column = {Lane.SERVER: Column.SERVER, Lane.CLIENTS: Column.CLIENTS}.get(
        origin, Column.MIDDLE
    )
    if column is Column.MIDDLE:
        start += 0.14 if start < end else -0.14
        axes.plot([start], [y], "o", color=COLORS[column], markersize=7, zorder=4)
    patch = FancyArrowPatch(
        (start, y),
        (end, y),
        arrowstyle="-|>,head_length=7,head_width=4.5",
        shrinkA=0,
        shrinkB=0,
        mutation_scale=1,
        linewidth=_THICK,
        linestyle=_DASHES,
        color=COLORS[column],
        zorder=4,
    )
    axes.add_patch(patch)
    center = strip.center
    write(axes, text.above, center, y - text.up_in)
    write(axes, text.below, center, y + text.down_in - len(text.below) * LINE_IN)


def _line(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.plot(
        [start[0], end[0]],
        [start[1], end[1]],
        color=colors.INK,
        linewidth=_THIN,
        solid_capstyle="projecting",
        zorder=2,
    )


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    patch = FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>,head_length=5,head_width=3",
        shrinkA=0,
        shrinkB=0,
        mutation_scale=1,
        linewidth=_THIN,
        color=colors.INK,
        zorder=3,
    )
    axes.add_patch(patch)
