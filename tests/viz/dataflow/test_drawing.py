# SPDX-License-Identifier: Apache-2.0
"""What pictures of programs draw; `tests/viz/test_figures.py` has their words."""

from collections.abc import Callable

import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from fedlearn_edu.viz.colors import CLIENTS_EDGE
from fedlearn_edu.viz.dataflow.drawing import draw_graph
from fedlearn_edu.viz.dataflow.passes import draw_passes
from tests.viz.dataflow import programs


def test_message_that_reveals_a_single_client_is_three_thin_arrows() -> None:
    arrows = [
        arrow.get_linewidth()
        for arrow in draw_graph(programs.gather).findobj(FancyArrowPatch)
        if arrow.get_edgecolor() == to_rgba(CLIENTS_EDGE)
    ]
    assert sorted(arrows) == [1.3] * (3 + 6) + [3.2] * 2  # two go on from each


@pytest.mark.parametrize("draw", [draw_graph, draw_passes])
def test_a_figure_that_is_given_is_drawn_in(draw: Callable[..., Figure]) -> None:
    given, new = Figure(figsize=(3.0, 3.0)), draw(programs.average)
    assert draw(programs.average, figure=given) is given
    assert given.get_label() == new.get_label()
    assert (given.get_size_inches() == new.get_size_inches()).all()
