# SPDX-License-Identifier: Apache-2.0
"""What the figures of training in rounds compute; `test_figures.py` has their words."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from fedlearn_edu import viz
from fedlearn_edu.learning.history import History
from fedlearn_edu.viz import colors, style
from tests.viz.drawn_text import check_text
from tests.viz.records import four_runs, history, measured

NAN = float("nan")


def drawn_in(axes: Axes, color: str) -> Any:
    """The heights of the line in a color."""
    lines = [line for line in axes.lines if line.get_color() == color]
    return np.asarray(lines[0].get_ydata()).tolist()


def test_curves_show_the_mean_and_the_spread_over_clients() -> None:
    losses = np.array([[2.0, 2.0, 2.0], [1.0, 0.0, 2.0]])
    figure = viz.draw_learning_curves(losses, [0.1, 0.5], [0.1, 0.4])
    labels = {"client 2 (max) 2", "client 1 (min) 0", "mean of all 1"}
    assert labels | {"training 50 %", "test 40 %"} <= set(check_text(figure))
    assert drawn_in(figure.axes[0], colors.SERVER) == [2.0, 1.0]
    assert len(figure.axes[0].lines) - len(figure.axes[1].lines) == 3


def test_client_bars_differ_by_more_than_color() -> None:
    series = {"before": [0.1], "alone": [0.2], "after": [0.3]}
    (axes,) = viz.draw_client_accuracy(series).axes
    assert len({patch.get_hatch() for patch in axes.patches}) == 3
    tops = [patch.get_extents().y1 for patch in axes.patches]
    assert tops == sorted(tops)


def test_templates_share_one_map_with_white_at_zero() -> None:
    weights = np.random.default_rng(0).normal(0.01, 0.02, [784, 10])
    figure = viz.draw_digit_templates(weights)
    images = [axes.images[0] for axes in figure.axes[:10]]
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


def test_what_is_no_number_is_a_gap() -> None:
    losses = [[1.0, 2.0], [0.5, 1.0], [NAN, 2.0]]
    figure = viz.draw_learning_curves(losses, [0.1, 0.5, NAN], [NAN] * 3)
    mean = drawn_in(figure.axes[0], colors.SERVER)
    np.testing.assert_array_equal(mean, [1.5, 0.75, NAN])


def test_many_clients_are_counted_not_listed() -> None:
    figure = viz.draw_client_accuracy({"after": np.linspace(0.2, 0.9, 40).tolist()})
    assert style.said(figure).endswith("after: 40 clients, 20% to 90%.")


# `draw_run`: columns of histories as curves, with what is missing said.


def drawn(axes: Axes) -> list[Any]:
    """The curves that have points."""
    return [line for line in axes.lines if np.size(line.get_xdata())]


def band_of(axes: Axes) -> Any:
    patch: Any = axes.patches[0]
    return patch.get_xy()


def test_four_runs_are_told_apart_by_more_than_color() -> None:
    lines = drawn(viz.draw_run(four_runs()).axes[0])
    assert len({line.get_marker() for line in lines}) == 4
    assert len({str(line.get_linestyle()) for line in lines}) == 4


def test_curves_begin_with_round_one_and_have_their_band() -> None:
    figure = viz.draw_run(history([0.25, 0.5, 0.75]))
    upper, lower = figure.axes
    (line,) = drawn(upper)
    assert list(line.get_xdata()) == [1, 2, 3]
    assert list(line.get_ydata()) == [0.25, 0.5, 0.75]
    band = band_of(upper)
    np.testing.assert_allclose(band[:3], [[1, 0.15], [2, 0.4], [3, 0.65]])
    assert len(band_of(lower)) <= 2


def test_curves_are_drawn_at_the_rounds_of_the_history() -> None:
    figure = viz.draw_run({"each": measured(1, 2, 3), "some": measured(5, 10)})
    each, some = drawn(figure.axes[0])
    assert list(each.get_xdata()) == [1, 2, 3]
    assert list(some.get_xdata()) == [5, 10]
    assert figure.axes[0].get_xlim()[1] > 10
    assert style.said(figure) == "loss, after 10 rounds: each 3 in round 3; some 4.5."


def test_a_band_is_drawn_at_the_rounds_of_the_history() -> None:
    rows = [{**row, "round": 5 * row["round"]} for row in history([0.4, 0.6]).rows]
    accuracy, _ = viz.draw_run(History.of(rows)).axes
    assert sorted({x for x, _ in band_of(accuracy)}) == [5, 10]


def test_an_axis_begins_before_training_if_that_was_measured() -> None:
    (axes,) = viz.draw_run(measured(0, 1)).axes
    assert axes.get_xlim()[0] <= 0
    assert axes.get_xlabel() == "round (0: before training)"
