# SPDX-License-Identifier: Apache-2.0
"""The aggregation tree: its root is what the library's own stacks give."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu import framework, viz
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.aggregation_run import (
    AggregationRun,
    Kind,
    grouped,
    run_aggregation,
)
from tests.viz.drawn_text import check_figure

ONE_TO_FIVE = [1, 2, 3, 4, 5]
ADD = fl.np_computation(lambda a, b: a + b, np.int64, np.int64)
SAME = fl.np_computation(lambda a: a, np.int64)


def add_up(zero: int) -> Any:
    return fl.federated_computation(
        lambda v: fl.federated_aggregate(v, np.int64(zero), ADD, ADD, SAME),
        fl.type_at_clients(np.int64),
    )


@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(st.integers(-99, 99), min_size=1, max_size=12),
    zero=st.integers(-9, 9),
    fan_out=st.integers(2, 13),
)
def test_the_result_is_that_of_a_stack_with_this_fanout(
    values: list[int], zero: int, fan_out: int
) -> None:
    run = run_aggregation(values, zero, fan_out)
    factory = framework.local_executor_factory(max_fanout=fan_out)
    with framework.SyncExecutionContext(factory):
        assert run.result == add_up(zero)(values)
    with framework.ReferenceContext():
        flat = add_up(zero)(values)
    assert run_aggregation(values, zero, None).result == flat
    folding = sum(not server.below for server in run.servers)
    assert run.result == flat + zero * (folding - 1)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(2, 13))
def test_every_client_is_folded_once_in_its_group(count: int, fan_out: int) -> None:
    run = run_aggregation(list(range(count)), 0, fan_out)
    folding = 0
    for server in run.servers:
        if not server.below:
            mine = [s.other for s in run.steps if s.who == server.name]
            first, last = server.clients
            assert mine[: last - first] == list(range(first, last))
            folding += 1
    accumulated = [s.other for s in run.steps if s.kind is Kind.ACCUMULATE]
    assert sorted(accumulated) == list(range(count))
    assert sum(s.kind is Kind.MERGE for s in run.steps) == folding - 1
    assert [s.kind for s in run.steps].index(Kind.REPORT) == len(run.steps) - 1
    assert all(
        s.result == s.state + s.other for s in run.steps if s.kind is not Kind.REPORT
    )


@pytest.mark.parametrize(
    ("fan_out", "result"), [(None, 16), (6, 16), (5, 16), (4, 17), (3, 17), (2, 18)]
)
def test_sixteen_seventeen_and_eighteen(fan_out: int | None, result: int) -> None:
    assert run_aggregation(ONE_TO_FIVE, 1, fan_out).result == result
    assert run_aggregation(ONE_TO_FIVE, 0, fan_out).result == 15


def test_who_is_in_which_group() -> None:
    left = (((0, 1), (2, 3)), ((4, 5), (6, 7)))
    assert grouped(6, 6) == ((0, 1, 2, 3, 4, 5),)
    assert grouped(5, 6) is None
    assert grouped(12, 2) == (left, (((8, 9), (10, 11)),))


def steps_in_words(run: AggregationRun) -> list[str]:
    return [f"{s.who}: {s.state} + {s.other} = {s.result}" for s in run.steps[:-1]]


def test_steps_by_twos() -> None:
    assert steps_in_words(run_aggregation(ONE_TO_FIVE, 1, 2)) == [
        "server 0.0: 1 + 1 = 2",
        "server 0.0: 2 + 2 = 4",
        "server 0.1: 1 + 3 = 4",
        "server 0.1: 4 + 4 = 8",
        "server 0: 4 + 8 = 12",
        "server 1.0: 1 + 5 = 6",
        "server: 12 + 6 = 18",
    ]


@pytest.mark.parametrize(
    ("step", "width"),
    [(0, 4.5), (7, 4.5), (None, 4.5), (None, 6.4), (None, 10.0)],
    ids=["begin", "middle", "end", "end-wider", "end-wide"],
)
@pytest.mark.parametrize(
    ("values", "zero", "fan_out"),
    [
        (ONE_TO_FIVE, 1, 2),
        ([-1.25] * 12, 2.5, 2),
        (list(range(1, 13)), 0, 3),
        ([7], 1, None),
        ([123456789.0, -0.001], 1, 2),
    ],
    ids=["five", "twelve", "threes", "one", "long"],
)
def test_the_picture_is_whole(
    values: list[float], zero: float, fan_out: Any, step: Any, width: float
) -> None:
    figure = viz.draw_aggregation(
        values, zero=zero, fan_out=fan_out, step=step, width_in=width
    )
    texts = check_figure(figure)
    assert "CLIENTS" in texts
    assert any(text.startswith("report: ") for text in texts)


def test_numbers_appear_with_their_steps() -> None:
    def equations(step: int) -> set[str]:
        figure = viz.draw_aggregation(ONE_TO_FIVE, zero=1, fan_out=2, step=step)
        return {text for text in check_figure(figure) if " = " in text}

    assert equations(0) == set()
    assert equations(1) == {"1 + 1 = 2"}
    assert equations(5) - equations(4) == {"4 + 8 = 12"}
    assert equations(7) - equations(6) == {"12 + 6 = 18"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"values": []}, "over a few clients"),
        ({"values": [1] * 13}, "over a few clients"),
        ({"values": 7}, "over a few clients"),
        ({"values": [math.nan]}, "no number"),
        ({"values": ["a"]}, "no number"),
        ({"zero": math.inf}, "no number"),
        ({"fan_out": 1}, "a group of one is no group"),
        ({"fan_out": 2.5}, "a group of one is no group"),
    ],
    ids=["none", "many", "number", "nan", "text", "infinite", "alone", "half"],
)
@pytest.mark.parametrize("make", ["draw_aggregation", "explore_aggregation"])
def test_bad_arguments_are_named(make: str, options: Any, said: str) -> None:
    with pytest.raises(style.FigureDataError, match=said):
        getattr(viz, make)(**options)


def test_moves_change_picture_and_sentence() -> None:
    explorer = viz.explore_aggregation()
    assert explorer.sentence.endswith("Every grouping gives 15.")
    shown = explorer.children[-1].value
    explorer.controls["zero"].source.value = 1
    assert explorer.sentence.endswith(
        "16 in one, 18 with fan-out 2, 17 with 3, 17 with 4."
    )
    assert explorer.children[-1].value != shown
    explorer.controls["fan_out"].source.value = 2
    assert explorer.sentence.startswith("Step 8 of 8: The server reports 18.")
    explorer.controls["step"].source.value = 5
    assert explorer.sentence == "Step 5 of 8: 4 and 8, of two groups, are merged: 12."
    explorer.set(step=3)
    assert "A group has 1 and accumulates client 2's 3: 4." in explorer.sentence
    explorer.set(step=0)
    assert explorer.sentence == "Step 0 of 8: 3 groups begin from zero = 1."


def test_play_moves_the_steps_and_the_preset_makes_eighteen() -> None:
    explorer = viz.explore_aggregation()
    play, preset, _ = explorer.children[1].children[-3:]
    play.value = 2
    assert explorer.sentence.startswith("Step 2 of 6")
    explorer.set(step=6)
    preset.click()
    assert explorer.sentence.startswith("Step 8 of 8: The server reports 18.")
    assert play.max == 8


@pytest.mark.parametrize("step", ["a", 2.5, 2.0, True])
def test_a_step_is_a_whole_number(step: Any) -> None:
    with pytest.raises(viz.FigureDataError, match="no such step"):
        viz.draw_aggregation(step=step)


def test_counts_may_be_those_of_numpy() -> None:
    two: Any = np.int64(2)
    figure = viz.draw_aggregation(fan_out=two, step=two)
    plain = viz.draw_aggregation(fan_out=2, step=2)
    assert style.said(figure) == style.said(plain)
