# SPDX-License-Identifier: Apache-2.0
"""The picture has all its words and the numbers of the report, at both widths."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu import viz
from tests.benchmarks.results import made_up
from tests.viz.drawn_text import check_text

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return made_up(lambda _table, key: 0.01 * len(key))


@pytest.mark.parametrize("width_in", [viz.NARROW_IN, viz.WIDE_IN])
def test_picture_has_all_its_words(results: dict[str, Any], width_in: float) -> None:
    from benchmarks.picture import draw

    figure = draw(results, width_in=width_in)
    texts = check_text(figure)
    assert texts.count("ours, placed") == 3
    assert texts.count("ms per training round") == 3
    assert {"µs per client and round", "clients", "NumPy"} <= set(texts)
    assert figure.get_size_inches()[0] == width_in


def test_dots_are_the_times_of_the_rows(results: dict[str, Any]) -> None:
    from benchmarks.picture import draw

    first, *_, last = draw(results).axes
    times = [float(np.asarray(line.get_xdata())[0]) for line in first.lines]
    keys = ["operators, lists, step by step", "operators, lists", "fed_avg"]
    assert times[:3] == pytest.approx([10 * len(key) for key in keys])
    assert last.lines[0].get_ydata() == pytest.approx([9000, 1000, 1100, 1050])
