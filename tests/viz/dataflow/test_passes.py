# SPDX-License-Identifier: Apache-2.0
"""What the compiler makes of each step, and the picture of it."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.compiler.normal_form import to_normal_form
from fedlearn_edu.dataflow.from_ir import as_program
from fedlearn_edu.testing.cases import cases
from fedlearn_edu.viz.dataflow.passes import draw_passes
from fedlearn_edu.viz.dataflow.stages import normalized, stages
from tests.viz.drawn_text import check_figure

PROGRAMS = {case.name.partition("-")[0]: case.computation for case in cases()}


def test_every_step_comes_from_somewhere() -> None:
    for name, program in PROGRAMS.items():
        for before, after in pairwise(stages(program.tree)):
            origins = [place for step in after.steps for place in step.comes_from]
            assert all(step.comes_from for step in after.steps), name
            assert set(origins) <= set(range(len(before.steps))), name


def test_a_program_in_normal_form_stays_as_it_is() -> None:
    """Names are the same in the stages, so steps are found again by them."""
    for name, program in PROGRAMS.items():
        once = normalized(as_program(program.tree))
        assert to_normal_form(once) == once, name


@pytest.mark.tensorflow
def test_what_a_client_does_becomes_one_step() -> None:
    @fl.tf_computation(np.float32)
    def double(x: Any) -> Any:
        return 2.0 * x

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def program(x: Any) -> Any:
        return fl.federated_mean(fl.federated_map(double, fl.federated_map(double, x)))

    found = stages(program.tree)
    titles = ["as written", "expanded", "joined", "fused"]
    assert [stage.title for stage in found] == titles
    joined, fused = found[2].steps, found[3].steps
    assert [(s.name, s.comes_from) for s in joined] == [
        ("double + federated_aggregate", (0, 1, 2, 3, 4)),
        ("mean", (5,)),
    ]
    assert not joined[0].is_leaf
    assert (fused[0].name, fused[0].is_leaf) == (joined[0].name, True)
    figure = draw_passes(program)
    check_figure(figure)
    assert figure.get_label() == (
        "program: 3 steps as written, 6 steps expanded, 2 steps joined, 2 steps fused. "
        "double, double, federated_value, federated_zip, federated_aggregate became "
        "one."
    )


@pytest.mark.tensorflow
def test_a_program_without_placements_becomes_one_leaf() -> None:
    @fl.tf_computation(np.float32)
    def double(x: Any) -> Any:
        return 2.0 * x

    program = fl.federated_computation(lambda x: double(double(x)), np.float32)
    written, fused = stages(program.tree)
    assert [step.name for step in written.steps] == ["double", "double"]
    assert [(s.comes_from, s.is_leaf) for s in fused.steps] == [((0, 1), True)]
