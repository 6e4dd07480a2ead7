# SPDX-License-Identifier: Apache-2.0
"""Who has a lane, and where bars lie."""

import pytest

from fedlearn_edu.viz.player.timeline import bars_of, ends_of, lanes_of
from tests.viz.player.tapes import event, tape_of_a_round


def test_everybody_has_a_lane_clients_last_and_in_order() -> None:
    lanes = lanes_of(tape_of_a_round(11).events)
    labels = [lane.label for lane in lanes]
    assert labels == ["all", "unplaced", "server", *(f"client {i}" for i in range(11))]
    assert lanes[0].layers == ("context", "reference_resolving", "federating")
    assert lanes[3].layers == ("participant", "sequence", "leaf")


@pytest.mark.parametrize(
    ("count", "labels"),
    [
        (30, ["client 0", "client 29"]),
        (31, ["clients 0–3", "clients 28–30"]),
        (100, ["clients 0–9", "clients 90–99"]),
    ],
)
def test_many_clients_share_lanes(count: int, labels: list[str]) -> None:
    events = [event(i, participant=f"clients[{i}]") for i in range(count)]
    lanes = lanes_of(events)
    assert [lanes[0].label, lanes[-1].label] == labels
    assert sum(len(lane.participants) for lane in lanes) == count
    assert len(lanes) <= 30


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


def test_what_clients_do_together_is_in_each_of_their_lanes() -> None:
    events = [
        event(0, participant="clients[0]"),
        event(1, participant="clients[1]"),
        event(2, participant="all", layer="federating", what="batched_call"),
    ]
    bars = bars_of(events, lanes_of(events))
    assert bars.event.tolist() == [0, 1, 2, 2, 2]
    assert bars.lane.tolist() == [1, 2, 0, 1, 2]


def test_clients_that_only_ran_together_have_one_lane() -> None:
    events = [event(0, participant="all", layer="federating", what="batched_call")]
    assert [lane.label for lane in lanes_of(events)] == ["all", "clients"]


def test_nobody_has_a_lane_on_an_empty_tape() -> None:
    assert lanes_of([]) == ()
    assert len(bars_of([], ()).event) == 0
