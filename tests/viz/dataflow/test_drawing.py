# SPDX-License-Identifier: Apache-2.0
"""Every program has a picture in which all text is whole, on a page and on a phone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

import fedlearn_edu as fl
from fedlearn_edu.viz import NARROW_IN, WIDE_IN, FigureDataError
from fedlearn_edu.viz.colors import CLIENTS
from fedlearn_edu.viz.dataflow.drawing import draw_graph
from fedlearn_edu.viz.dataflow.passes import draw_passes
from fedlearn_edu.viz.dataflow.server_view import draw_server_view
from fedlearn_edu.viz.style import said
from tests.viz.dataflow import programs
from tests.viz.drawn_text import check_figure


@pytest.mark.parametrize("name", programs.ALL)
def test_text_is_whole_on_a_phone(name: str) -> None:
    figure = draw_graph(programs.ALL[name], width_in=NARROW_IN)
    assert any("result" in text for text in check_figure(figure))
    assert figure.get_size_inches()[0] == NARROW_IN


@pytest.mark.parametrize("name", ["average", "secret", "fold", "back_and_forth"])
def test_expanded_text_is_whole_on_a_page(name: str) -> None:
    plain = draw_graph(programs.ALL[name])
    expanded = draw_graph(programs.ALL[name], expanded=True)
    check_figure(expanded)
    assert expanded.get_size_inches()[0] == WIDE_IN
    assert expanded.get_label() != "" != plain.get_label()


def test_message_that_reveals_a_single_client_is_three_thin_arrows() -> None:
    figure = draw_graph(programs.gather)
    arrows = [
        arrow.get_linewidth()
        for arrow in figure.findobj(FancyArrowPatch)
        if arrow.get_edgecolor() == to_rgba(CLIENTS)
    ]
    assert sorted(arrows) == [1.3] * 3 + [3.2] * 2
    legend = "Three thin arrows: the server sees"
    assert any(legend in text for text in check_figure(figure))
    assert "each client sends x (float32, 4 B), one by one: each is seen;" in (
        said(figure)
    )
    assert not any(legend in t for t in check_figure(draw_graph(programs.average)))


@pytest.mark.parametrize("width_in", [NARROW_IN, WIDE_IN])
def test_what_the_server_sees_is_a_picture(width_in: float) -> None:
    figure = draw_server_view(programs.gather, width_in=width_in)
    assert "masked: only the sum is seen" in " ".join(check_figure(figure))
    alone, joined, together = (
        [p for p in figure.findobj(FancyArrowPatch) if p.get_linewidth() == width]
        for width in (1.3, 1.8, 3.2)
    )
    assert (len(alone), len(joined), len(together)) == (3, 6, 2)
    assert len({str(p.get_linestyle()) for p in joined}) == 2
    assert said(figure).startswith("gather: the server sees each client's x.")


@pytest.mark.parametrize("draw", [draw_graph, draw_passes])
def test_a_figure_that_is_given_is_drawn_in(draw: Callable[..., Figure]) -> None:
    given, new = Figure(figsize=(3.0, 3.0)), draw(programs.average)
    assert draw(programs.average, figure=given) is given
    assert given.get_label() == new.get_label()
    assert (given.get_size_inches() == new.get_size_inches()).all()


@pytest.mark.parametrize(
    ("found", "cure"),
    [
        (fl.federated_computation(lambda x: x), "give it types"),
        (lambda x: x, "decorate a function"),
        (3, "decorate a function"),
        (None, "decorate a function"),
    ],
    ids=["polymorphic", "function", "number", "None"],
)
def test_only_computations_with_types_have_a_picture(found: Any, cure: str) -> None:
    for draw in (draw_graph, draw_passes):
        with pytest.raises(FigureDataError, match="computation with types") as raised:
            draw(found)
        assert str(raised.value.do).startswith(cure)


def test_a_picture_has_room_for_so_much_and_no_more() -> None:
    @fl.federated_computation(np.float32)
    def long(x: Any) -> Any:
        for _ in range(75):
            x = programs.double(x)
        return x

    with pytest.raises(FigureDataError, match="too long for one picture"):
        draw_graph(long)
