# SPDX-License-Identifier: Apache-2.0
"""Confusion matrices: shades and counts; `test_figures.py` has their words."""

import numpy as np
import pytest

from fedlearn_edu.viz.evaluation import draw_confusion
from tests.viz.drawn_text import drawn_texts


@pytest.mark.parametrize("classes", [1, 10, 40])
def test_counts_are_written_where_there_is_room(classes: int) -> None:
    figure = draw_confusion(np.eye(classes, dtype=int) * 100 + 7)
    texts = {text.get_text() for text, _ in drawn_texts(figure)}
    assert ("107" in texts) == (classes <= 10)


def test_shades_are_shares_of_a_row() -> None:
    (axes,) = draw_confusion(np.array([[8, 2, 0], [0, 10, 0], [0, 5, 5]])).axes
    np.testing.assert_allclose(
        np.asarray(axes.images[0].get_array()),
        [[0.8, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]],
    )
