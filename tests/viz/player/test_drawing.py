# SPDX-License-Identifier: Apache-2.0
"""What the picture of a tape draws; `tests/viz/test_figures.py` has its words."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.viz import style
from fedlearn_edu.viz.player.drawing import MILLISECONDS, TapePicture
from fedlearn_edu.viz.player.timeline import Timeline
from tests.executors.rounds import picky
from tests.viz.drawn_text import check_text
from tests.viz.player.tapes import event, tape_of_a_round


def test_a_failure_is_crossed() -> None:
    with fl.record() as tape, pytest.raises(ZeroDivisionError):
        picky(0)
    lines = fl.viz.draw_tape(tape).axes[0].lines
    assert [line.get_marker() for line in lines].count("X") == 1


def test_the_cursor_is_where_the_bar_is() -> None:
    story = Timeline(tape_of_a_round(2))
    picture = TapePicture(story, style.EXPLORER_IN)
    style.keep_layout(picture.figure)
    left, top, width, height = picture.box(0)
    inside = picture.lanes.get_position()
    assert left == pytest.approx(inside.x0)
    assert top == pytest.approx(1 - inside.y1)
    assert height == pytest.approx(inside.height / len(story.lanes) / 3)
    assert width == pytest.approx(inside.width / len(story))
    lefts = [picture.box(step)[0] for step in range(len(story))]
    assert (np.diff(lefts) > 0).all()
    last, _, width, _ = picture.box(len(story) - 1)
    assert last + width == pytest.approx(inside.x1)


def test_time_can_be_milliseconds() -> None:
    story = Timeline(tape_of_a_round(2))
    picture = TapePicture(story, style.EXPLORER_IN, MILLISECONDS)
    assert "time (ms)" in check_text(picture.figure)
    first, last = story.events[0].start_s, max(e.end_s for e in story.events)
    assert picture.lanes.get_xlim() == pytest.approx((0, 1000 * (last - first)))


def test_leaf_code_has_the_thickest_bars() -> None:
    """Told apart by their height, so in each theme, however narrow they are."""
    story = Timeline(tape_of_a_round(1))
    picture = TapePicture(story, style.EXPLORER_IN)
    heights: dict[bool, set[float]] = {True: set(), False: set()}
    paths: list[Any] = list(picture.lanes.collections[0].get_paths())
    for seen, path in zip(story.events, paths, strict=True):
        if seen.layer == "leaf":
            is_call = seen.what == "create_call"
            heights[is_call].add(round(path.get_extents().height, 3))
    (code,), (other,) = heights[True], heights[False]
    assert code > 3 * other


def test_clients_that_run_together_are_hatched_from_the_call_on() -> None:
    tape: Any = SimpleNamespace(
        events=(
            event(0, layer="leaf"),
            event(1, layer="federating", participant="all", end_s=9.0),
            event(2, layer="leaf"),
            event(
                3, layer="federating", participant="all", what="batched_call", caller=1
            ),
        )
    )
    picture = TapePicture(Timeline(tape), style.EXPLORER_IN)
    check_text(picture.figure)
    (batch,) = picture.lanes.patches
    assert batch.get_hatch()
    box = batch.get_extents().transformed(picture.lanes.transData.inverted())
    assert (box.x0, box.x1) == pytest.approx((2, 5))  # step 2 is the call
    assert picture.lanes.get_yticklabels()[-1].get_text() == "clients"


@fl.np_computation(np.float32)
def square(x: Any) -> Any:
    return x * x


@pytest.mark.parametrize("width_in", [style.WIDE_IN, 6.4])
def test_operators_of_a_sequence_are_both_named(width_in: float) -> None:
    """As lesson 6 speaks of both, and points at the picture."""
    squares = fl.federated_computation(
        lambda s: fl.sequence_sum(fl.sequence_map(square, s)),
        fl.SequenceType(np.float32),
    )
    player = fl.viz.explore_run(squares, [1.0, 2.0, 3.0])
    texts = check_text(TapePicture(player.timeline, width_in).figure)
    assert {"1 sequence_map", "2 sequence_reduce"} <= set(texts)
