# SPDX-License-Identifier: Apache-2.0
"""What the figures of training in rounds compute; `test_figures.py` has their words."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from fedlearn_edu import viz
from tests.viz.records import four_runs, history, measured

NAN = float("nan")


def drawn(axes: Axes) -> list[Any]:
    """The curves: inside of the axes, with markers that are no crosses."""
    inside = [line for line in axes.lines if line.get_transform() == axes.transData]
    return [line for line in inside if line.get_marker() not in {"None", "X"}]


def band_of(axes: Axes) -> Any:
    patch: Any = axes.patches[0]
    return patch.get_xy()


def test_clients_are_their_mean_and_a_band() -> None:
    losses = [[2.0, 2.0, 2.0], [1.0, 0.0, 2.0], [NAN, 1.0, 2.0]]
    (axes,) = viz.draw_curves({"clients": losses}).axes
    (line,) = drawn(axes)
    np.testing.assert_array_equal(line.get_ydata(), [2.0, 1.0, NAN])
    assert {tuple(point) for point in band_of(axes)} == {(0, 2), (1, 0), (1, 2)}


def test_client_bars_differ_by_more_than_color() -> None:
    series = {"before": [0.1], "alone": [0.2], "after": [0.3]}
    (axes,) = viz.draw_client_accuracy(series).axes
    assert len({(p.get_hatch(), p.get_facecolor()) for p in axes.patches}) == 3


def test_templates_share_one_map_with_white_at_zero() -> None:
    weights = np.random.default_rng(0).normal(0.01, 0.02, [784, 10])
    figure = viz.draw_digit_templates(weights)
    images = figure.axes[0].images
    limits = {image.get_clim() for image in images}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low == -high
    assert isinstance(images[0], AxesImage)
    red, green, blue, _ = images[0].get_cmap()(0.5)
    assert min(red, green, blue) > 0.95
    np.testing.assert_array_equal(
        np.asarray(images[3].get_array()), weights[:, 3].reshape(28, 28)
    )


def test_four_runs_are_told_apart_by_more_than_color() -> None:
    lines = drawn(viz.draw_curves(four_runs()).axes[0])
    assert len({line.get_marker() for line in lines}) == 4
    assert len({str(line.get_linestyle()) for line in lines}) == 4


def test_curves_begin_with_round_one_and_have_their_band() -> None:
    figure = viz.draw_curves(history([0.25, 0.5, 0.75]))
    upper, lower = figure.axes
    (line,) = drawn(upper)
    assert list(line.get_xdata()) == [1, 2, 3]
    assert list(line.get_ydata()) == [0.25, 0.5, 0.75]
    band = band_of(upper)
    np.testing.assert_allclose(band[:3], [[1, 0.15], [2, 0.4], [3, 0.65]])
    assert not np.any(band_of(lower))


def test_curves_are_drawn_at_the_rounds_of_the_history() -> None:
    figure = viz.draw_curves({"each": measured(1, 2, 3), "some": measured(5, 10)})
    each, some = drawn(figure.axes[0])
    assert list(each.get_xdata()) == [1, 2, 3]
    assert list(some.get_xdata()) == [5, 10]
    assert figure.axes[0].get_xlim()[1] > 10


def test_an_axis_begins_before_training_if_that_was_measured() -> None:
    (axes,) = viz.draw_curves(measured(0, 1)).axes
    assert axes.get_xlim()[0] <= 0
    assert axes.get_xlabel() == "round (0: before training)"
