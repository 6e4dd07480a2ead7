# SPDX-License-Identifier: Apache-2.0
"""Where everything goes: time runs down, one column per lane, messages in between.

A node has one row of its column. A line that does not simply go down to the next node
runs on a track: inner tracks join a lane with messages, outer ones join its nodes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import final

from fedlearn_edu.viz.dataflow.flow import Edge, Flow, Kind, Lane, Node


@final
class Column(Enum):
    """From left to right."""

    SERVER = "SERVER"
    MIDDLE = "between"
    CLIENTS = "CLIENTS"


@final
class Side(Enum):
    """Of a column: towards the messages, or away from them."""

    INNER = "inner"
    OUTER = "outer"


@final
@dataclass(frozen=True)
class Net:
    """Lines that share one track.

    Attributes:
        column: beside whose nodes it runs.
        side: of that column.
        sources: numbers of the nodes it comes from.
        sinks: numbers of the nodes it leads to.
        track: counted from the nodes.
    """

    column: Column
    side: Side
    sources: tuple[int, ...]
    sinks: tuple[int, ...]
    track: int = 0


@final
@dataclass(frozen=True)
class Plan:
    """The rows of all nodes, and the ways of all lines.

    Attributes:
        columns: that are used.
        rows: node number to row.
        column_of: node number to column.
        straight: edges that go down to the next node of a column.
        nets: all the others, messages' own lines left out.
    """

    columns: tuple[Column, ...]
    rows: dict[int, int]
    column_of: dict[int, Column]
    straight: tuple[Edge, ...]
    nets: tuple[Net, ...]

    @property
    def height(self) -> int:
        """How many rows there are."""
        return max(self.rows.values(), default=-1) + 1

    def tracks(self, column: Column, side: Side) -> int:
        """How many tracks run on this side of a column."""
        found = [n.track for n in self.nets if (n.column, n.side) == (column, side)]
        return max(found, default=-1) + 1


def plan(flow: Flow) -> Plan:
    """Lays a flow out in rows."""
    columns = _columns(flow)
    column_of = {node.number: _column(node, columns) for node in flow.nodes}
    rows = _rows(flow, column_of)
    straight, nets = [], []
    for column in columns:
        down, around = _inside(flow, column, column_of, rows)
        straight += down
        joined = around + _towards_messages(flow, column, column_of)
        for side in Side:
            nets += _on_tracks([net for net in joined if net.side is side], rows)
    return Plan(columns, rows, column_of, tuple(straight), tuple(nets))


def _columns(flow: Flow) -> tuple[Column, ...]:
    lanes = flow.lanes
    used = {
        Column.SERVER: Lane.SERVER in lanes,
        Column.MIDDLE: Lane.UNPLACED in lanes
        or any(node.kind is Kind.MESSAGE for node in flow.nodes),
        Column.CLIENTS: Lane.CLIENTS in lanes,
    }
    return tuple(column for column in Column if used[column]) or (Column.MIDDLE,)


def _column(node: Node, columns: tuple[Column, ...]) -> Column:
    if node.kind is Kind.MESSAGE:
        return Column.MIDDLE
    places = {
        Lane.SERVER: Column.SERVER,
        Lane.CLIENTS: Column.CLIENTS,
        Lane.UNPLACED: Column.MIDDLE,
    }
    return places[node.lane]


def _rows(flow: Flow, column_of: dict[int, Column]) -> dict[int, int]:
    """Each node in the first row that is free, below what it needs."""
    free = dict.fromkeys(Column, 0)
    rows: dict[int, int] = {}
    for node in flow.nodes:
        column = column_of[node.number]
        row = free[column]
        below = 0 if _is_beside_message(flow, node) else 1
        for before in flow.into(node):
            if column_of[before.number] is column:
                row = max(row, rows[before.number] + 1)
            elif node.kind is Kind.MESSAGE:
                row = max(row, rows[before.number])
            else:
                row = max(row, rows[before.number] + below)
        rows[node.number] = row
        free[column] = row + 1
    return rows


def _is_beside_message(flow: Flow, node: Node) -> bool:
    """Whether one message leads to the node, and none away."""
    arriving = [n for n in flow.into(node) if n.kind is Kind.MESSAGE]
    leaving = [n for n in flow.out_of(node) if n.kind is Kind.MESSAGE]
    return len(arriving) == 1 and not leaving


def _inside(
    flow: Flow, column: Column, column_of: dict[int, Column], rows: dict[int, int]
) -> tuple[list[Edge], list[Net]]:
    """Lines between nodes of one column: straight down, or around others."""
    taken = sorted(rows[number] for number, c in column_of.items() if c is column)
    straight: list[Edge] = []
    around: dict[int, list[int]] = {}
    for edge in flow.edges:
        ends = (edge.source, edge.target)
        is_inside = all(column_of[number] is column for number in ends)
        if not is_inside or _is_message(flow, *ends):
            continue
        if _next(taken, rows[edge.source]) == rows[edge.target]:
            straight.append(edge)
        else:
            around.setdefault(edge.source, []).append(edge.target)
    nets = [Net(column, Side.OUTER, (s,), tuple(t)) for s, t in around.items()]
    return straight, nets


def _is_message(flow: Flow, *numbers: int) -> bool:
    return any(flow.nodes[number].kind is Kind.MESSAGE for number in numbers)


def _next(taken: list[int], row: int) -> int:
    return next((each for each in taken if each > row), -1)


def _towards_messages(
    flow: Flow, column: Column, column_of: dict[int, Column]
) -> list[Net]:
    """Lines that join the nodes of a column with messages."""
    leaving: dict[tuple[int, Side], list[int]] = {}
    arriving: dict[tuple[int, ...], list[int]] = {}
    for node in flow.nodes:
        if column_of[node.number] is column and node.kind is not Kind.MESSAGE:
            for message in flow.out_of(node):
                if message.kind is Kind.MESSAGE:
                    key = node.number, _side(column, message)
                    leaving.setdefault(key, []).append(message.number)
        elif node.kind is Kind.MESSAGE and node.lane.value == column.value:
            sinks = tuple(n.number for n in flow.out_of(node))
            arriving.setdefault(sinks, []).append(node.number)
    nets = [Net(column, side, (s,), tuple(t)) for (s, side), t in leaving.items()]
    nets += [Net(column, Side.INNER, tuple(s), t) for t, s in arriving.items() if t]
    return nets


def _side(column: Column, message: Node) -> Side:
    """On the left of the middle begins what goes to the clients."""
    is_left = column is Column.MIDDLE and message.lane is Lane.CLIENTS
    return Side.OUTER if is_left else Side.INNER


def _on_tracks(nets: Iterable[Net], rows: dict[int, int]) -> list[Net]:
    """Gives each net the first track on which nothing is in its way."""
    done: list[Net] = []
    for net in sorted(nets, key=lambda net: _span(net, rows)):
        track = 0
        while any(
            other.track == track and _collide(other, net, rows) for other in done
        ):
            track += 1
        done.append(Net(net.column, net.side, net.sources, net.sinks, track))
    return done


def _span(net: Net, rows: dict[int, int]) -> tuple[int, int]:
    ends = [rows[number] for number in (*net.sources, *net.sinks)]
    return min(ends), max(ends)


def _collide(one: Net, other: Net, rows: dict[int, int]) -> bool:
    (low, high), (start, end) = _span(one, rows), _span(other, rows)
    if high == start and set(one.sinks) & set(other.sources):
        return False  # it ends above the middle of a box, where the other begins
    return low <= end and start <= high
