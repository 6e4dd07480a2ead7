# SPDX-License-Identifier: Apache-2.0
"""`draw_local_steps`: parabolas of clients, and the steps down each of them.

That the numbers are those lesson 11a speaks of is in `tests/lessons`.
"""

import numpy as np

from fedlearn_edu import viz

CLIENTS = [(1.0, 4.0), (3.0, 3.0)]
ROUND = [[2.0, 2.2, 2.38], [2.0, 1.1, 1.02]]


def test_steps_stand_on_the_loss_of_their_client() -> None:
    [axes] = viz.draw_local_steps(CLIENTS, [ROUND]).axes
    for number, ((x, y), walked) in enumerate(zip(CLIENTS, ROUND, strict=True)):
        [line] = (each for each in axes.lines if each.get_label() == f"client {number}")
        places, heights = np.array(line.get_data())
        assert places.tolist() == walked
        np.testing.assert_allclose(heights, (x * np.array(walked) - y) ** 2)


def test_all_that_is_drawn_is_within_the_axes() -> None:
    """Also where one round goes far, and its mean is worse than where anybody ends."""
    far = [[0.0, 9.0], [0.0, 1.0]]
    for axes in viz.draw_local_steps(CLIENTS, [ROUND, far]).axes:
        low, high = axes.get_xlim()
        curve = np.asarray(axes.lines[0].get_xdata())
        assert curve.min() <= low < high <= curve.max()
        for line in axes.lines:
            if line.get_marker() != "None":
                places, heights = np.array(line.get_data())
                assert low < places.min() <= places.max() < high
                assert heights.max() < axes.get_ylim()[1]
