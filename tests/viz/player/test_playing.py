# SPDX-License-Identifier: Apache-2.0
"""Play, replay, draw: what people call, and what they are told if it cannot be."""

from html import escape
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import viz
from tests.executors.rounds import picky
from tests.programs import INTS, increment, seven, total


def test_a_computation_is_run_once_and_shown() -> None:
    calls = []

    @fl.np_computation(np.int32)
    def seen(x: Any) -> Any:
        calls.append(int(x))
        return x

    calls.clear()
    player = viz.explore_run(seen, 5)
    assert (player.result, player.error, calls) == (5, None, [5])
    player.set(step=len(player.timeline))
    assert calls == [5]


def test_there_may_be_clients_that_no_argument_counts() -> None:
    program = fl.federated_computation(
        lambda: fl.federated_sum(fl.federated_value(2, fl.CLIENTS))
    )
    assert viz.explore_run(program).result == 0
    player = viz.explore_run(program, default_num_clients=3)
    assert (player.result, player.error) == (6, None)
    assert "for 3 clients" in player.timeline.summary()


def test_clients_may_be_put_into_groups() -> None:
    program = fl.federated_computation(fl.federated_sum, INTS)
    flat, groups = (viz.explore_run(program, [1] * 5, max_fanout=n) for n in (100, 2))
    assert flat.result == groups.result == 5
    assert len(flat.timeline) < len(groups.timeline)


@pytest.mark.parametrize("is_typed", [True, False], ids=["typed", "without a type"])
def test_what_is_bound_to_an_environment_is_played(is_typed: bool) -> None:
    plain: Any = increment if is_typed else fl.np_computation(lambda x: x + 1)
    with fl.simulation.local_executor_factory() as environment:
        bound = environment.create_computation(plain)
        player = viz.explore_run(bound, np.int32(4))
        assert (player.result, player.error) == (5, None)
        assert player.sentence.startswith("step 1 of")
        assert bound.home is environment


def test_an_error_is_the_end_of_the_tape() -> None:
    player = viz.explore_run(picky, 0)
    assert player.result is None
    assert isinstance(player.error, ZeroDivisionError)
    assert "calls picky, and fails" in player.sentence
    assert "ZeroDivisionError: no" in player._value.value
    assert player.step == len(player.timeline)


def test_an_error_of_ours_shows_its_four_parts() -> None:
    program = fl.federated_computation(
        lambda v: fl.federated_mean(v), fl.type_at_clients(np.float32)
    )
    player = viz.explore_run(program, [])
    assert isinstance(player.error, fl.FedLearnError)
    for line in str(player.error).splitlines():
        assert escape(line) in player._value.value


def test_records_can_be_inside_of_each_other() -> None:
    with fl.record() as outer:
        with fl.record() as inner:
            increment(1)
        assert (len(outer), len(inner) > 0) == (0, True)
        increment(2)
    increment(3)  # on no tape: what is recorded does not stay the default
    assert len(inner) == len(outer)


ODD: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "no argument": (seven, (), 7),
    "text": (fl.federated_computation(lambda: "Hello"), (), b"Hello"),
    "a sequence read once": (total, ((n for n in [1, 2, 3]),), 6),
    "a function as argument": (
        fl.federated_computation(
            lambda fn, x: fn(x), fl.FunctionType(np.int32, np.int32), np.int32
        ),
        (increment, 4),
        5,
    ),
    "secure": (
        fl.federated_computation(
            lambda v: fl.federated_secure_sum_bitwidth(v, 8), INTS
        ),
        ([1, 2, 3],),
        6,
    ),
    "nobody": (fl.federated_computation(fl.federated_sum, INTS), ([],), 0),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_programs_can_be_stepped_through_to_the_end(name: str) -> None:
    program, arguments, expected = ODD[name]
    player = viz.explore_run(program, *arguments)
    assert (player.result, player.error) == (expected, None)
    for step in range(1, len(player.timeline) + 1):
        player.set(step=step)
        assert player.sentence.startswith(f"step {step} of {len(player.timeline)}")
