# SPDX-License-Identifier: Apache-2.0
"""Confusion matrices: counts, shades and words."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu.viz import style
from fedlearn_edu.viz.evaluation import draw_confusion
from tests.viz.drawn_text import check_figure

MATRIX = np.array([[8, 2, 0], [0, 10, 0], [0, 5, 5]])


@pytest.mark.parametrize("classes", [1, 2, 10, 40])
def test_a_matrix_has_all_its_words(classes: int) -> None:
    matrix = np.eye(classes, dtype=int) * 100 + 7
    texts = check_figure(draw_confusion(matrix))
    assert {"true class", "predicted class", "Confusion matrix", "0"} <= set(texts)
    assert ("107" in texts) == (classes <= 10)


def test_shades_are_shares_of_a_row() -> None:
    (axes,) = draw_confusion(MATRIX).axes
    np.testing.assert_allclose(
        np.asarray(axes.images[0].get_array()),
        [[0.8, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]],
    )


def test_it_says_the_most_frequent_mistake() -> None:
    words = style.said(draw_confusion(MATRIX))
    assert words.startswith("23 of 30 examples are taken for what they are (76.7%).")
    assert words.endswith("Most often 2 is taken for 1: 5 times.")


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.zeros([2, 2], int), "There are no examples."),
        (np.eye(2, dtype=int), "(100.0%). No mistakes."),
        (np.array([[0, 1], [0, 0]]), "(0.0%). Most often 0 is taken for 1: once."),
    ],
    ids=["empty", "right", "wrong"],
)
def test_odd_matrices_are_said(matrix: Any, words: str) -> None:
    figure = draw_confusion(matrix)
    check_figure(figure)
    assert style.said(figure).endswith(words)
