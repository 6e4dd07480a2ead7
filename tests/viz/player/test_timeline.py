# SPDX-License-Identifier: Apache-2.0
"""A tape as plain data: lanes and bars, what is lit, what is said, what has moved."""

from itertools import groupby
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.recording import Tape
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.viz.player.timeline import Timeline, bars_of, ends_of, lanes_of
from tests.executors.examples import run
from tests.executors.rounds import picky
from tests.programs import INTS, add, increment
from tests.viz.player.tapes import event, tape_of_a_round


def test_a_lane_has_a_row_for_each_layer() -> None:
    events = [
        event(0, layer="participant"),
        event(1, layer="leaf"),
        event(2, layer="x"),
    ]
    lanes = lanes_of(events)
    bars = bars_of(events, lanes)
    assert lanes[0].layers == ("participant", "leaf", "x")
    assert bars.top.tolist() == [0, 1 / 3, 2 / 3]
    assert bars.bottom.tolist() == [1 / 3, 2 / 3, 1]


def test_a_bar_ends_where_the_last_began_that_it_contains() -> None:
    events = [
        event(0, start_s=0.0, end_s=5.0),
        event(1, start_s=1.0, end_s=2.0),
        event(2, start_s=3.0, end_s=9.0),
        event(3, start_s=4.0, end_s=4.5),
    ]
    assert ends_of(events).tolist() == [4, 2, 4, 4]


@pytest.fixture(scope="module")
def story() -> Timeline:
    return Timeline(tape_of_a_round(3, 2))


def lit_text(story: Timeline, step: int) -> set[str]:
    """The nodes that are lit, in words."""
    listing = story.programs[step]
    assert listing is not None
    found = set()
    for place in story.lit[step]:
        node = listing.nodes[place]
        called = node.function if isinstance(node, ir.Call) else node
        name = getattr(called, "uri", "") or type(called).__name__
        found.add(called.code.name if isinstance(called, ir.Leaf) else name)
    return found


def steps(story: Timeline, layer: str, what: str, detail: str) -> list[int]:
    return [
        i
        for i, e in enumerate(story.events)
        if (e.layer, e.what, e.detail) == (layer, what, detail)
    ]


def test_a_function_rewritten_on_its_way_lights_what_called_for_it() -> None:
    def body(k: Any, v: Any) -> Any:
        plus_k = fl.federated_computation(lambda x: add(x, k), np.int32)
        return fl.federated_map(plus_k, v)

    with fl.record() as tape:
        fl.federated_computation(body, np.int32, INTS)(10, [1])
    story = Timeline(tape)
    (sent,) = [
        i
        for i, e in enumerate(story.events)
        if e.layer == "participant" and e.detail == "Lambda, captured k: int32"
    ]
    assert lit_text(story, sent) == {"federated_map"}
    (added,) = steps(story, "leaf", "create_call", "add")
    assert lit_text(story, added) == {"add"}


def test_each_call_has_its_own_program() -> None:
    with fl.record() as tape:
        increment(1)
        add(1, 2)
        increment(3)
    programs = [key for key, _ in groupby(Timeline(tape).programs)]
    names = [program.name for program in programs if program is not None]
    assert names == ["increment", "add", "increment"]
    assert programs[0] is programs[2]


def test_a_step_in_words(story: Timeline) -> None:
    at = steps(story, "leaf", "create_call", "step")[2]
    assert story.sentence(at) == (
        f"step {at + 1} of {len(story)}, in federated_map: client 1 (leaf) calls step; "
        "60 B have gone to clients, 0 B have come back"
    )
    assert story.sentence(len(story) - 1).endswith("84 B have come back")


def test_of_clients_that_fail_the_first_is_the_failure() -> None:
    program = fl.federated_computation(lambda v: fl.federated_map(picky, v), INTS)
    with fl.record() as tape, pytest.raises(ZeroDivisionError):
        program([1, 0, 0])
    story = Timeline(tape)
    failed = story.failure()
    assert failed is not None
    event = story.events[failed]
    assert (event.layer, event.participant) == ("leaf", "clients[1]")


def test_a_tape_that_was_wound_back_midway_can_be_shown() -> None:
    fw, tape = fl.framework, Tape(keep_values=True)
    executor = fw.RecordingExecutor(fw.NumPyExecutor(), tape)

    async def work() -> None:
        fn = await executor.create_value(increment)
        arg = await executor.create_value(np.int32(1), fl.to_type(np.int32))
        tape.clear()
        await (await executor.create_call(fn, arg)).compute()

    run(work())
    story = Timeline(tape)
    assert [story.lit[step] for step in range(len(story))] == [(), ()]
    assert "calls increment" in story.sentence(0)
