# SPDX-License-Identifier: Apache-2.0
"""Every program has a picture in which all text is whole, on a page and on a phone."""

import pytest

from fedlearn_edu.viz import NARROW_IN, WIDE_IN
from fedlearn_edu.viz.dataflow.drawing import graph
from tests.viz.dataflow import programs
from tests.viz.drawn_text import check_figure


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN], ids=str)
@pytest.mark.parametrize("name", programs.ALL)
def test_text_is_whole(name: str, width_in: float) -> None:
    figure = graph(programs.ALL[name], width_in=width_in)
    texts = check_figure(figure)
    assert figure.get_size_inches()[0] == width_in
    assert any("result" in text for text in texts)


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN], ids=str)
@pytest.mark.parametrize("name", ["average", "secret", "fold", "back_and_forth"])
def test_expanded_text_is_whole(name: str, width_in: float) -> None:
    plain = graph(programs.ALL[name], width_in=width_in)
    expanded = graph(programs.ALL[name], expanded=True, width_in=width_in)
    check_figure(expanded)
    assert expanded.get_label() != "" != plain.get_label()
