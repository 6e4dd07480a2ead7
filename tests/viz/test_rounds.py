# SPDX-License-Identifier: Apache-2.0
"""The figures of training in rounds: whole, labeled, readable at both widths."""

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from fedlearn_edu import viz
from fedlearn_edu.learning.history import History, HistoryError
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.viz import colors, style
from tests.viz.drawn_text import check_figure, check_text

NAN = float("nan")
WIDTHS = [viz.NARROW_IN, 7.0, viz.WIDE_IN]


def drawn_in(axes: Axes, color: str) -> Any:
    """The heights of the line in a color."""
    lines = [line for line in axes.lines if line.get_color() == color]
    return np.asarray(lines[0].get_ydata()).tolist()


def fake_losses(rounds: int, clients: int = 10) -> NDArray[np.float64]:
    steps = np.arange(rounds + 1)[:, None]
    losses: NDArray[np.float64] = np.exp(-0.01 * steps * np.arange(1, clients + 1))
    return 23.0 * losses


@pytest.mark.parametrize(
    ("rounds", "width_in"), [(0, 10.0), (1, 4.5), (2, 7.0), (300, 4.5), (300, 10.0)]
)
def test_curves_have_all_their_words(rounds: int, width_in: float) -> None:
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
    labels = {"client 2 (max) 2", "client 1 (min) 0", "mean of all 1"}
    assert labels | {"training 50 %", "test 40 %"} <= set(texts)
    assert drawn_in(figure.axes[0], colors.SERVER) == [2.0, 1.0]
    assert len(figure.axes[0].lines) - len(figure.axes[1].lines) == 3


def test_narrow_panels_stand_below_each_other() -> None:
    figure = viz.draw_learning_curves(
        fake_losses(3), [0.1] * 4, [0.1] * 4, width_in=viz.NARROW_IN
    )
    figure.draw_without_rendering()
    upper, lower = (axes.get_position() for axes in figure.axes)
    assert upper.y0 > lower.y1
    assert upper.x0 == pytest.approx(lower.x0)


@pytest.mark.parametrize(("clients", "width_in"), [(3, 7.0), (10, 4.5), (10, 10.0)])
def test_client_bars_have_all_their_words(clients: int, width_in: float) -> None:
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


def test_curves_are_said() -> None:
    losses = [[2.0, 4.0], [NAN, 2.0], [1.0, 1.0]]
    figure = viz.draw_learning_curves(losses, [0.1, 0.4, 0.5], [0.0, 0.3, NAN])
    check_figure(figure)
    assert style.said(figure) == (
        "The mean loss of 2 clients goes from 3 to 1 nats in 2 rounds. Read correctly "
        "are 50.0% of the training examples (10.0% before) and an unknown share of the "
        "test examples (0.0% before). 2 values are not a number."
    )


@pytest.mark.parametrize("width_in", WIDTHS)
def test_what_is_no_number_is_a_gap_and_a_note(width_in: float) -> None:
    losses = [[1.0, 2.0], [0.5, 1.0], [NAN, 2.0]]
    figure = viz.draw_learning_curves(
        losses, [0.1, 0.5, NAN], [NAN] * 3, width_in=width_in
    )
    texts = check_figure(figure)
    assert {"client 1 (max) 1", "mean, round 1 0.75"} <= set(texts)
    assert "training, round 1 50 %" in texts
    assert not any(text.startswith("test ") for text in texts)
    assert any("gaps: no number" in text for text in texts)
    mean = drawn_in(figure.axes[0], colors.SERVER)
    np.testing.assert_array_equal(mean, [1.5, 0.75, NAN])


def test_curves_without_any_number_are_a_picture() -> None:
    figure = viz.draw_learning_curves([[NAN]], [NAN], [NAN])
    check_figure(figure)
    assert style.said(figure).endswith("3 values are not a number.")


def test_client_bars_are_said() -> None:
    figure = viz.draw_client_accuracy({"before": [1, 0], "after": [0.9, NAN]})
    assert "\N{EN DASH}" in check_figure(figure)
    assert style.said(figure) == (
        "Own digits read correctly, by client. before: 0 100%, 1 0%. "
        "after: 0 90%, 1 \N{EN DASH}."
    )
    figure = viz.draw_client_accuracy({"after": np.linspace(0.2, 0.9, 40).tolist()})
    assert style.said(figure).endswith("after: 40 clients, 20% to 90%.")


def test_templates_are_said() -> None:
    weights = np.zeros([784, 2])
    weights[29, 1], weights[57, 0] = 0.25, -0.5
    figure = viz.draw_digit_templates(weights)
    assert style.said(figure) == (
        "Weights of 2 classes as pictures of 28 by 28 pixels. The strongest for a "
        "class: 0.25 (class 1, row 1, column 1); the strongest against one: -0.5 "
        "(class 0, row 2, column 1)."
    )
    white = viz.draw_digit_templates(np.zeros([784, 10]))
    check_text(white)
    assert style.said(white).endswith(
        "The strongest for a class: none; the strongest against one: none."
    )


# `draw_run`: columns of histories as curves, with what is missing said.


def history(accuracies: list[float], **more: Any) -> History:
    return History.of(
        {
            "round": number + 1,
            "loss_per_example": 9.0,
            "test.loss_per_example": 2.0 / (number + 1),
            "test.accuracy_per_example": share,
            "test.accuracy_lowest": share - 0.1,
            "test.accuracy_highest": share + 0.1,
            **more,
        }
        for number, share in enumerate(accuracies)
    )


def four() -> dict[str, Run]:
    return {
        f"an algorithm with a very long name, number {n}": Run(
            None, history=history([0.2 + 0.1 * n, 0.5])
        )
        for n in range(4)
    }


def drawn(axes: Axes) -> list[Any]:
    """The curves that have points."""
    return [line for line in axes.lines if np.size(line.get_xdata())]


def band_of(axes: Axes) -> Any:
    patch: Any = axes.patches[0]
    return patch.get_xy()


@pytest.mark.parametrize(
    ("rounds", "width_in"), [(1, 10.0), (2, 7.0), (300, 4.5), (300, 10.0)]
)
def test_a_run_has_all_its_words(rounds: int, width_in: float) -> None:
    shares = np.linspace(0.1, 0.9, rounds).tolist()
    figure = viz.draw_run(Run(None, history=history(shares)), width_in=width_in)
    texts = check_figure(figure)
    assert "test: accuracy per example" in texts
    assert "test: loss per example (nats)" in texts
    assert f"run {100 * shares[-1]:.0f} %" in texts
    assert texts.count("round") == 2


@pytest.mark.parametrize("width_in", [viz.NARROW_IN, viz.WIDE_IN])
def test_four_runs_are_told_apart_by_more_than_color(width_in: float) -> None:
    figure = viz.draw_run(four(), width_in=width_in)
    texts = check_figure(figure)
    assert sum("number 0" in text or "umber 0" in text for text in texts) == 2
    lines = drawn(figure.axes[0])
    assert len({line.get_marker() for line in lines}) == 4
    assert len({str(line.get_linestyle()) for line in lines}) == 4
    assert "an algorithm with a very long name, number 3" in style.said(figure)


def test_curves_begin_with_round_one_and_have_their_band() -> None:
    figure = viz.draw_run(history([0.25, 0.5, 0.75]))
    upper, lower = figure.axes
    (line,) = drawn(upper)
    assert list(line.get_xdata()) == [1, 2, 3]
    assert list(line.get_ydata()) == [0.25, 0.5, 0.75]
    band = band_of(upper)
    np.testing.assert_allclose(band[:3], [[1, 0.15], [2, 0.4], [3, 0.65]])
    assert len(band_of(lower)) <= 2


def test_what_was_not_measured_is_said() -> None:
    figure = viz.draw_run(history([0.25, 0.5, NAN]))
    check_figure(figure)
    assert "run 50.0% in round 2 (1 without a number)" in style.said(figure)


def test_a_run_of_no_numbers_is_a_picture_that_says_so() -> None:
    figure = viz.draw_run(history([NAN, NAN]))
    assert "no number in any round" in check_figure(figure)
    assert "run has no number in any round" in style.said(figure)


def test_a_stopped_run_says_why() -> None:
    run = Run(None, history=history([0.5]), stopped="by hand")
    assert "stopped: by hand" in style.said(viz.draw_run(run))


def test_a_single_panel_is_as_wide_as_the_picture() -> None:
    [axes] = viz.draw_run(history([0.5]), columns=["loss_per_example"]).axes
    [left, right] = viz.draw_run(history([0.5])).axes
    assert axes.get_position().x0 == left.get_position().x0
    assert axes.get_position().x1 == right.get_position().x1


def test_columns_can_be_chosen() -> None:
    figure = viz.draw_run(history([0.5, 0.6]), columns=["loss_per_example", "round"])
    texts = check_figure(figure)
    assert {"loss per example (nats)", "round"} <= set(texts)
    with pytest.raises(HistoryError, match="no such column"):
        viz.draw_run(history([0.5]), columns=["nothing"])


def measured(*rounds: float) -> History:
    rows = [{"round": at, "loss": 9.0 / (n + 1)} for n, at in enumerate(rounds)]
    return History.of(rows)


def test_curves_are_drawn_at_the_rounds_of_the_history() -> None:
    named = {"each": measured(1, 2, 3), "some": measured(5, 10)}
    figure = viz.draw_run(named)
    check_figure(figure)
    each, some = drawn(figure.axes[0])
    assert list(each.get_xdata()) == [1, 2, 3]
    assert list(some.get_xdata()) == [5, 10]
    assert figure.axes[0].get_xlim()[1] > 10
    assert style.said(figure) == ("loss, after 10 rounds: each 3 in round 3; some 4.5.")


def test_a_band_is_drawn_at_the_rounds_of_the_history() -> None:
    rows = [{**row, "round": 5 * row["round"]} for row in history([0.4, 0.6]).rows]
    accuracy, _ = viz.draw_run(History.of(rows)).axes
    assert sorted({x for x, _ in band_of(accuracy)}) == [5, 10]


def test_an_axis_begins_before_training_if_that_was_measured() -> None:
    (axes,) = viz.draw_run(measured(0, 1)).axes
    assert axes.get_xlim()[0] <= 0
    assert axes.get_xlabel() == "round (0: before training)"


@pytest.mark.parametrize(
    "rounds",
    [(2, 1), (1, 1), (1, 1.5), (-1, 0), (1, NAN)],
    ids=["backward", "twice", "half", "negative", "nan"],
)
def test_rounds_that_are_not_in_order_are_refused(rounds: tuple[float, ...]) -> None:
    with pytest.raises(viz.FigureDataError, match="not in order") as caught:
        viz.draw_run(measured(*rounds))
    assert "found: " in str(caught.value)
