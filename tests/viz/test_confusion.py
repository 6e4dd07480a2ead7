# SPDX-License-Identifier: Apache-2.0
"""Confusion matrices: shades, counts and the mistake that is named."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fedlearn_edu.viz import style
from fedlearn_edu.viz.evaluation import ConfusionPanel, worst
from tests.viz.drawn_text import check_text


def shown(matrix: NDArray[np.int64]) -> tuple[Figure, Axes]:
    figure, (axes,) = style.new_figure(style.NARROW_IN, style.NARROW_IN)
    ConfusionPanel(axes).show(matrix)
    return figure, axes


@pytest.mark.parametrize("classes", [1, 10, 40])
def test_counts_are_written_where_there_is_room(classes: int) -> None:
    figure, _ = shown(np.eye(classes, dtype=int) * 100 + 7)
    assert ("107" in check_text(figure)) == (classes <= 10)


def test_shades_are_shares_of_a_row() -> None:
    _, axes = shown(np.array([[8, 2, 0], [0, 10, 0], [0, 5, 5]]))
    np.testing.assert_allclose(
        np.asarray(axes.images[0].get_array()),
        [[0.8, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]],
    )


def test_the_most_frequent_mistake_is_named() -> None:
    assert worst(np.eye(2, dtype=int)) == "No mistakes."
    assert worst(np.array([[0, 1], [0, 0]])) == "Most often 0 is taken for 1: once."
    assert worst(np.array([[8, 2], [0, 9]])).endswith("0 is taken for 1: 2 times.")
