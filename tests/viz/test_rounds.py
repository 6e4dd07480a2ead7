# SPDX-License-Identifier: Apache-2.0
"""The three figures of training in rounds: whole, labeled, readable at both widths."""

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from fedlearn_edu import viz
from tests.viz.drawn_text import check_text

WIDTHS = [viz.NARROW_IN, 7.0, viz.WIDE_IN]


def fake_losses(rounds: int, clients: int = 10) -> NDArray[np.float64]:
    steps = np.arange(rounds + 1)[:, None]
    losses: NDArray[np.float64] = np.exp(-0.01 * steps * np.arange(1, clients + 1))
    return 23.0 * losses


@pytest.mark.parametrize("width_in", WIDTHS)
@pytest.mark.parametrize("rounds", [0, 1, 2, 10, 300])
def test_curves_have_all_their_words(width_in: float, rounds: int) -> None:
    accuracy = np.linspace(0.1, 0.9, rounds + 1).tolist()
    figure = viz.draw_learning_curves(
        fake_losses(rounds), accuracy, accuracy, width_in=width_in
    )
    texts = check_text(figure)
    assert "loss (nats)" in texts
    assert texts.count("round (0: before training)") == 2
    assert "digits read correctly" in texts
    assert figure.get_size_inches()[0] == width_in


def test_curves_show_the_mean_and_the_spread_over_clients() -> None:
    losses = np.array([[2.0, 2.0, 2.0], [1.0, 0.0, 2.0]])
    figure = viz.draw_learning_curves(losses, [0.1, 0.5], [0.1, 0.4])
    texts = check_text(figure)
    for label in ("client 2, highest", "client 1, lowest", "mean of all"):
        assert label in texts
    assert {"training 50.0 %", "test 40.0 %"} <= set(texts)
    left, right = figure.axes
    assert left.lines[-1].get_ydata() == pytest.approx([2.0, 1.0])
    assert [len(axes.lines) for axes in (left, right)] == [4, 2]


def test_narrow_panels_stand_below_each_other() -> None:
    figure = viz.draw_learning_curves(
        fake_losses(3), [0.1] * 4, [0.1] * 4, width_in=viz.NARROW_IN
    )
    figure.draw_without_rendering()
    upper, lower = (axes.get_position() for axes in figure.axes)
    assert upper.y0 > lower.y1
    assert upper.x0 == pytest.approx(lower.x0)


@pytest.mark.parametrize(
    ("losses", "train", "test"),
    [([1.0, 2.0], [0.1, 0.2], [0.1, 0.2]), ([[1.0], [2.0]], [0.1, 0.2], [0.1])],
)
def test_curves_that_do_not_fit_are_refused(
    losses: object, train: list[float], test: list[float]
) -> None:
    with pytest.raises(viz.FigureDataError, match="do not fit together"):
        viz.draw_learning_curves(np.asarray(losses), train, test)


@pytest.mark.parametrize("width_in", WIDTHS)
@pytest.mark.parametrize("clients", [3, 10])
def test_client_bars_have_all_their_words(width_in: float, clients: int) -> None:
    before = [1.0] + [0.0] * (clients - 1)
    after = np.linspace(1.0, 0.55, clients).tolist()
    series = {"before training: calls everything 0": before, "after 10 rounds": after}
    texts = check_text(viz.draw_client_accuracy(series, width_in=width_in))
    assert set(series) <= set(texts)
    assert "100" in texts
    assert "55" in texts
    assert "own digits read correctly" in texts
    assert "client, and the only digit it holds" in texts


def test_client_bars_differ_by_more_than_color() -> None:
    series = {"before": [0.1], "alone": [0.2], "after": [0.3]}
    (axes,) = viz.draw_client_accuracy(series).axes
    assert len({patch.get_hatch() for patch in axes.patches}) == 3
    tops = [patch.get_extents().y1 for patch in axes.patches]
    assert tops == sorted(tops)


@pytest.mark.parametrize("width_in", WIDTHS)
def test_templates_have_all_their_words(width_in: float) -> None:
    weights = np.random.default_rng(0).normal(0, 0.02, [784, 10])
    texts = check_text(viz.draw_digit_templates(weights, width_in=width_in))
    assert set("0123456789") <= set(texts)
    assert "What the model looks for in each digit" in texts
    assert any("nats per inked pixel" in text for text in texts)


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


def test_templates_of_the_zero_model_are_white() -> None:
    check_text(viz.draw_digit_templates(np.zeros([784, 10])))


def test_weights_that_are_no_pictures_are_refused() -> None:
    with pytest.raises(viz.FigureDataError, match="not pictures") as caught:
        viz.draw_digit_templates(np.zeros([785, 10]))
    assert "(785, 10)" in str(caught.value)


def test_drawing_leaves_the_settings_of_the_caller_alone() -> None:
    before = dict(rcParams)
    viz.draw_client_accuracy({"after": [0.5, 0.6]})
    assert dict(rcParams) == before
