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
    steps = [each for each in axes.lines if each.get_label() == "_steps"]
    for (x, y), walked, line in zip(CLIENTS, ROUND, steps, strict=True):
        places, heights = np.array(line.get_data())
        assert places.tolist() == walked
        np.testing.assert_allclose(heights, (x * np.array(walked) - y) ** 2)


def test_all_that_is_drawn_is_within_the_axes() -> None:
    """Also where one round goes far, and its mean is worse than where anybody ends."""
    far = [[0.0, 9.0], [0.0, 1.0]]
    for axes in viz.draw_local_steps(CLIENTS, [ROUND, far]).axes:
        marks = [each for each in axes.lines if each.get_linestyle() == "None"]
        for point in np.concatenate([np.array(each.get_data()).T for each in marks]):
            assert axes.viewLim.contains(*point)
