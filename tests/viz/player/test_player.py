# SPDX-License-Identifier: Apache-2.0
"""The player, driven without a browser."""

import time
from base64 import b64decode
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.viz.player.player import Player
from tests.viz.player.tapes import tape_of_a_round


@pytest.fixture
def player() -> Any:
    return fl.viz.explore_tape(tape_of_a_round(3, 2))


def html(player: Player) -> dict[str, str]:
    """What the front end is sent, by name."""
    names = ("_picture", "_cursor", "_said", "_listing", "_value")
    sent = {name[1:]: getattr(player, name).value for name in names}
    return {name: value.replace("<wbr>", "") for name, value in sent.items()}


def test_it_begins_at_the_first_step(player: Player) -> None:
    assert player.step == 1
    assert player.sentence.startswith("step 1 of 423: the stack (context) compiled")
    shown = html(player)
    assert 'role="status"' in shown["said"]
    assert player.sentence in shown["said"]
    assert "<img" in shown["picture"]
    assert "<strong>train</strong>" in shown["listing"]


def test_a_move_sends_all_but_the_picture(player: Player) -> None:
    player.set(step=100)
    before = html(player)
    player.set(step=170)
    after = html(player)
    assert {name for name in before if before[name] == after[name]} == {"picture"}
    assert "step 170 of 423" in after["said"]
    assert "▶" in after["listing"]
    assert sum(len(after[name]) for name in after if name != "picture") < 10_000
    player.set(zoom=100)  # the picture is of the steps around the cursor
    assert player._drawn.lanes.get_xlim() == (101, 201)
    player.set(step=423)
    assert player._drawn.lanes.get_xlim() == (401, 424)


def test_buttons_step_and_stop_at_the_ends(player: Player) -> None:
    steps = []
    for name in ("previous", "next", "next", "last", "next", "previous", "first"):
        player.buttons[name].click()
        steps.append(player.step)
    assert steps == [1, 2, 3, 423, 423, 422, 1]


def test_filtered_steps_are_skipped(player: Player) -> None:
    picture = html(player)["picture"]
    player.set(layer="leaf", who="client 1")
    assert html(player)["picture"] != picture
    meant = [
        i + 1
        for i, e in enumerate(player.timeline.events)
        if (e.layer, e.participant) == ("leaf", "clients[1]")
    ]
    assert player.step == 1  # a filter moves nothing
    player.buttons["next"].click()
    assert player.step == meant[0]
    player.buttons["last"].click()
    assert player.step == meant[-1]
    player.set(step=meant[3] + 1)
    player.buttons["previous"].click()
    assert player.step == meant[3]


def test_playing_goes_from_one_meant_step_to_the_next(player: Player) -> None:
    player.set(layer="leaf")
    leaf = [i + 1 for i, e in enumerate(player.timeline.events) if e.layer == "leaf"]
    assert player.play.max == len(leaf) - 1
    for place in (5, 6, 7):
        player.play.value = place
        assert player.step == leaf[place]
    player.set(speed=10)
    assert player.play.step == 10
    player.set(step=leaf[20])
    assert player.play.value == 20


def test_a_filter_that_leaves_nothing_says_so(player: Player) -> None:
    player.set(layer="leaf", who="all")
    assert 'No step of "all" is in the layer "leaf"' in player.sentence
    pressed = [player.play, *player.buttons.values()]
    assert all(each.disabled for each in pressed)
    player.buttons["next"].click()
    assert player.step == 1
    player.set(who="client 1")
    assert "No step" not in player.sentence
    assert not any(each.disabled for each in pressed)


def test_the_value_and_the_bytes_are_those_of_the_step(player: Player) -> None:
    events = player.timeline.events
    called = [(e.detail, str(e.what)) for e in events]
    last = called[::-1].index(("step", "create_call"))
    player.set(step=len(events) - last)
    shown = html(player)["value"]
    assert "b=2.0" in shown
    assert "&lt;w=float32[4],b=float32&gt;" in shown
    assert "server → clients  60 B" in shown
    player.set(step=len(events))
    assert "clients → server  84 B" in html(player)["value"]


def test_without_a_front_end_there_is_a_picture_and_a_sentence(player: Player) -> None:
    player.set(step=50)
    bundle = player._repr_mimebundle_()
    assert b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["text/plain"] == player.sentence
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_an_empty_tape_is_a_player_that_says_so() -> None:
    player = fl.viz.explore_tape(fl.framework.Tape())
    assert html(player)["picture"].count('while it ran."') == 2  # all it says, by theme
    for button in player.buttons.values():
        button.click()
    assert "image/png" in player._repr_mimebundle_()


def test_ten_thousand_events_open_and_move_quickly() -> None:
    tape = tape_of_a_round(100, 2)
    assert len(tape) > 10_000
    start = time.thread_time()
    player = fl.viz.explore_tape(tape)
    assert time.thread_time() - start < 2.0
    slowest = 0.0
    for step in range(1, len(tape), 500):
        start = time.thread_time()
        player.set(step=step)
        slowest = max(slowest, time.thread_time() - start)
    assert slowest < 0.1
