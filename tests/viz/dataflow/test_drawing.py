# SPDX-License-Identifier: Apache-2.0
"""Every program has a picture in which all text is whole, on a page and on a phone."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.viz import NARROW_IN, WIDE_IN, FigureDataError
from fedlearn_edu.viz.dataflow.drawing import draw_graph
from tests.viz.dataflow import programs
from tests.viz.drawn_text import check_figure


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN], ids=str)
@pytest.mark.parametrize("name", programs.ALL)
def test_text_is_whole(name: str, width_in: float) -> None:
    figure = draw_graph(programs.ALL[name], width_in=width_in)
    texts = check_figure(figure)
    assert figure.get_size_inches()[0] == width_in
    assert any("result" in text for text in texts)


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN], ids=str)
@pytest.mark.parametrize("name", ["average", "secret", "fold", "back_and_forth"])
def test_expanded_text_is_whole(name: str, width_in: float) -> None:
    plain = draw_graph(programs.ALL[name], width_in=width_in)
    expanded = draw_graph(programs.ALL[name], expanded=True, width_in=width_in)
    check_figure(expanded)
    assert expanded.get_label() != "" != plain.get_label()


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
    with pytest.raises(
        FigureDataError, match="only a computation with types"
    ) as raised:
        draw_graph(found)
    assert str(raised.value.do).startswith(cure)


def test_a_picture_has_room_for_so_much_and_no_more() -> None:
    @fl.federated_computation(np.float32)
    def long(x: Any) -> Any:
        for _ in range(75):
            x = programs.double(x)
        return x

    with pytest.raises(FigureDataError, match="too long for one picture"):
        draw_graph(long)
