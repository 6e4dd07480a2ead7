# SPDX-License-Identifier: Apache-2.0
"""Where nodes and arrows go: every program has a place for each node."""

import pytest

from fedlearn_edu.dataflow.flow import Kind, Lane
from fedlearn_edu.dataflow.from_ir import read
from fedlearn_edu.testing.cases import cases
from fedlearn_edu.viz.dataflow.layout import LEFT, RIGHT, layout, place
from tests.viz.dataflow import programs

SERVER, CLIENTS = (Lane.SERVER, RIGHT), (Lane.CLIENTS, LEFT)


def test_arrows_in_each_others_way_take_different_tracks() -> None:
    ways = place(read(programs.select)).ways
    assert [way.track for way in ways if way.gutter == SERVER] == [0, 1, 2]


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
