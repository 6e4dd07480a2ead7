# SPDX-License-Identifier: Apache-2.0
"""Where nodes and arrows go: every program has a place for each node."""

import pytest

from fedlearn_edu.dataflow.flow import Edge, Kind, Lane
from fedlearn_edu.dataflow.from_ir import read
from fedlearn_edu.testing.cases import cases
from fedlearn_edu.viz import NARROW_IN
from fedlearn_edu.viz.dataflow.drawing import draw_graph
from fedlearn_edu.viz.dataflow.layout import LEFT, RIGHT, Way, layout, place
from tests.viz.dataflow import programs
from tests.viz.drawn_text import check_text

SERVER, CLIENTS = (Lane.SERVER, RIGHT), (Lane.CLIENTS, LEFT)


def test_one_round_of_training() -> None:
    grid = place(read(programs.train))
    assert grid.rows == [0, 1, 0, 0, 1, 2, 2, 2]
    assert grid.straight == [Edge(2, 5)]
    assert grid.ways == [
        Way(SERVER, 0, (Edge(0, 3),)),
        Way(CLIENTS, 0, (Edge(3, 5), Edge(4, 5))),
        Way(SERVER, 0, (Edge(1, 4),)),
        Way(SERVER, 0, (Edge(6, 7),)),
        Way(CLIENTS, 0, (Edge(5, 6),)),
    ]


def test_without_communication_there_is_one_column() -> None:
    flow = read(programs.chain)
    grid = place(flow)
    assert (flow.columns, grid.ways) == ([Lane.UNPLACED], [])
    assert grid.rows == list(range(len(flow.nodes)))


def test_arrows_in_each_others_way_take_different_tracks() -> None:
    ways = place(read(programs.select)).ways
    assert [way.track for way in ways if way.gutter == SERVER] == [0, 1]


def test_arrows_keep_clear_of_what_is_written() -> None:
    for program in programs.ALL.values():
        laid = layout(read(program, named=set()), 4.5, 0.0)
        for arrow in laid.arrows:
            left, right = sorted([arrow.start[0], arrow.end[0]])
            top, bottom = sorted([arrow.start[1], arrow.end[1]])
            for box in laid.boxes:
                is_left = right <= box.strip.box_left
                is_right = left >= box.strip.box_right
                assert is_left or is_right or bottom <= box.top or top >= box.bottom


PROGRAMS = {case.name.partition("-")[0]: case.computation for case in cases()}


@pytest.mark.parametrize("expanded", [False, True], ids=["written", "expanded"])
def test_every_program_has_a_flow_and_time_runs_down(expanded: bool) -> None:
    for name, program in PROGRAMS.items():
        flow = read(program, named=set() if expanded else None)
        rows = place(flow).rows
        assert [node.number for node in flow.nodes] == list(range(len(rows))), name
        for edge in flow.edges:
            assert edge.source < edge.target, name
            assert rows[edge.source] <= rows[edge.target], name
        assert any(node.kind is Kind.RESULT for node in flow.nodes), name
        taken = {(node.column, rows[node.number]) for node in flow.nodes}
        assert len(taken) == len(rows), name


@pytest.mark.parametrize("name", list(PROGRAMS)[::24])
def test_some_of_them_are_drawn(name: str) -> None:
    check_text(draw_graph(PROGRAMS[name], expanded=True, width_in=NARROW_IN))
