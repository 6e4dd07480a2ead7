# SPDX-License-Identifier: Apache-2.0
"""The log is in order and complete: without the computation it says the result."""

from itertools import pairwise

import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.recording import look
from fedlearn_edu.testing.case import Case
from fedlearn_edu.testing.cases import cases
from fedlearn_edu.testing.comparison import difference
from tests.executors.examples import call, run
from tests.executors.replaying import results_of
from tests.executors.rounds import clients, model, picky, train
from tests.programs import increment

NUMPY_CASES = list(cases())


def check_order(tape: fl.framework.Tape) -> None:
    """Operands were made by earlier events of the same layer, callers are open."""
    events = tape.events
    assert [event.number for event in events] == list(range(len(events)))
    assert all(one.start_s <= next_.start_s for one, next_ in pairwise(events))
    by_number: dict[int | None, fl.framework.Event] = dict(enumerate(events))
    for event in events:
        for number in event.operands:
            made = by_number[number]
            assert made.end_s <= event.start_s
            assert (made.layer, made.participant) == (event.layer, event.participant)
        if event.caller is not None:
            caller = by_number[event.caller]
            assert event.caller < event.number
            assert caller.start_s <= event.start_s
            assert event.end_s <= caller.end_s


@pytest.mark.parametrize("case", NUMPY_CASES, ids=lambda case: case.name)
def test_a_replay_gives_what_the_run_gave(case: Case) -> None:
    """Few clients run in one group, more in groups of groups."""
    with fl.record(max_fanout=3) as tape:
        result = case.run()
    check_order(tape)
    [replayed] = results_of(tape)
    assert difference(replayed, result) is None


@pytest.mark.parametrize(
    ("num_clients", "num_batches", "fanout"), [(1, 1, 100), (3, 4, 100), (10, 2, 4)]
)
def test_each_client_calls_what_its_data_ask_for(
    num_clients: int, num_batches: int, fanout: int
) -> None:
    """A step per batch, one count, and one product for each number of the mean."""
    with fl.record(max_fanout=fanout) as tape:
        train(model(), clients(num_clients, num_batches))
    calls = [
        (event.participant, event.detail)
        for event in tape
        if (event.layer, event.what) == ("leaf", "create_call")
        and event.participant.startswith("clients")
    ]
    local_calls = {"step": num_batches, "count": 1, "multiply": 2}
    assert len(calls) == num_clients * sum(local_calls.values())
    for name, times in local_calls.items():
        for client in range(num_clients):
            assert calls.count((f"clients[{client}]", name)) == times


def test_callers_are_known_across_threads() -> None:
    fw, tape = fl.framework, fl.framework.Tape()
    inner = fw.RecordingExecutor(fw.NumPyExecutor(), tape, layer="leaf")
    threaded = fw.ThreadDelegatingExecutor(inner)
    outer = fw.RecordingExecutor(threaded, tape, layer="outer")
    run(call(outer, increment, 1))
    threaded.close()
    asked = [event.number for event in tape if event.layer == "outer"]
    leaf = [event for event in tape if event.layer == "leaf" and event.what != "close"]
    assert len(asked) == 4
    assert [event.caller for event in leaf] == asked


def test_a_call_that_failed_has_no_result_but_an_error() -> None:
    with fl.record() as tape, pytest.raises(ZeroDivisionError):
        picky(0)
    assert results_of(tape) == []
    failed = [event for event in tape if isinstance(event.made, ZeroDivisionError)]
    assert {event.error for event in failed} == {"ZeroDivisionError"}


def test_several_calls_and_none() -> None:
    with fl.record() as tape:
        assert results_of(tape) == []
        assert [increment(1), increment(5)] == [2, 6]
    assert results_of(tape) == [2, 6]


def test_looking_leaves_no_trace() -> None:
    with fl.record() as tape:
        increment(1)
    before = len(tape)
    [made] = [e.made for e in tape if (e.layer, e.what) == ("leaf", "create_call")]
    assert look(made) == 2
    assert len(tape) == before
