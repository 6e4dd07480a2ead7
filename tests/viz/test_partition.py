# SPDX-License-Identifier: Apache-2.0
"""The numbers that `draw_partition` shows are those of `describe_skew`."""

import numpy as np

from fedlearn_edu import viz
from fedlearn_edu.simulation import partitions
from fedlearn_edu.viz import style
from tests.viz.drawn_text import check_figure

LABELS = np.repeat([0, 1, 2], [4, 4, 2])
SHARES = [[0, 1, 4], [2, 3], [5, 6, 7, 8, 9]]


def test_numbers_are_those_of_the_partition() -> None:
    texts = check_figure(viz.draw_partition(LABELS, SHARES, width_in=style.EXPLORER_IN))
    skew = partitions.describe_skew(LABELS, SHARES)
    for number in (*skew.sizes, *skew.histogram[skew.histogram > 0]):
        assert str(number) in texts
    assert {f"{share:.2f}" for share in skew.total_variation} <= set(texts)


def test_shades_are_shares_of_what_a_client_holds() -> None:
    figure = viz.draw_partition(LABELS, SHARES)
    (image,) = (axes.images[0] for axes in figure.axes if axes.images)
    np.testing.assert_allclose(
        np.asarray(image.get_array()),
        [[2 / 3, 1 / 3, 0.0], [1.0, 0.0, 0.0], [0.0, 0.6, 0.4]],
    )


def test_a_number_has_a_bar_of_one_length_in_any_partition() -> None:
    columns = [viz.draw_partition(LABELS, x).axes[-1] for x in ([[0]], [range(10)])]
    one_label, all_labels = (axes.patches[0].get_window_extent() for axes in columns)
    assert 2 * one_label.width < all_labels.width


def test_counts_that_would_touch_are_left_out() -> None:
    wide = np.tile(np.arange(10), 5000)
    shown = viz.draw_partition(wide, partitions.iid(wide, 2), width_in=viz.NARROW_IN)
    assert not any(len(text) == 4 and text.isdigit() for text in check_figure(shown))
