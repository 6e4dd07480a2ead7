# SPDX-License-Identifier: Apache-2.0
"""Whatever the language can say, there is a flow for it and a place for each node."""

import pytest

from fedlearn_edu.testing.cases import cases
from fedlearn_edu.viz import NARROW_IN
from fedlearn_edu.viz.dataflow.drawing import draw_graph
from fedlearn_edu.viz.dataflow.flow import Kind
from fedlearn_edu.viz.dataflow.from_ir import read
from fedlearn_edu.viz.dataflow.layout import place
from tests.viz.drawn_text import check_text

PROGRAMS = {case.name.partition("-")[0]: case.computation for case in cases()}


@pytest.mark.parametrize("expanded", [False, True], ids=["written", "expanded"])
def test_every_program_has_a_flow_and_time_runs_down(expanded: bool) -> None:
    for name, program in PROGRAMS.items():
        flow = read(program, expanded=expanded)
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
