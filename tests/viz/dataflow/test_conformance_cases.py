# SPDX-License-Identifier: Apache-2.0
"""Whatever the language can say, there is a flow for it and a place for each node."""

import pytest

from fedlearn_edu.testing.cases import cases
from fedlearn_edu.viz import NARROW_IN
from fedlearn_edu.viz.dataflow.drawing import graph
from fedlearn_edu.viz.dataflow.flow import Kind
from fedlearn_edu.viz.dataflow.from_ir import read
from fedlearn_edu.viz.dataflow.rows import plan
from tests.viz.drawn_text import check_text

PROGRAMS = {case.name.partition("-")[0]: case.computation for case in cases()}


@pytest.mark.parametrize("expanded", [False, True], ids=["written", "expanded"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_has_a_flow(name: str, expanded: bool) -> None:
    flow = read(PROGRAMS[name], expanded=expanded)
    assert [node.number for node in flow.nodes] == list(range(len(flow.nodes)))
    assert all(edge.source < edge.target for edge in flow.edges)
    assert any(node.kind is Kind.RESULT for node in flow.nodes)


@pytest.mark.parametrize("name", PROGRAMS)
def test_time_runs_down(name: str) -> None:
    flow = read(PROGRAMS[name], expanded=True)
    laid = plan(flow)
    assert all(laid.rows[edge.source] <= laid.rows[edge.target] for edge in flow.edges)
    taken = [(laid.column_of[node], row) for node, row in laid.rows.items()]
    assert len(set(taken)) == len(taken)


@pytest.mark.parametrize("name", list(PROGRAMS)[::12])
def test_some_of_them_are_drawn(name: str) -> None:
    check_text(graph(PROGRAMS[name], expanded=True, width_in=NARROW_IN))
