# SPDX-License-Identifier: Apache-2.0
"""`draw_run`: columns of histories as curves, with what is missing said."""

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from fedlearn_edu import viz
from fedlearn_edu.learning.history import History, HistoryError
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.viz import style
from tests.viz.drawn_text import check_figure

NAN = float("nan")


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
