# SPDX-License-Identifier: Apache-2.0
"""The tape: who was asked what, in which order."""

import asyncio
import dataclasses
import gc
import weakref
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.recording import Event, Tape
from tests.executors.examples import call, run
from tests.programs import add, at_once, increment, local

fw = fl.framework


def test_every_contract_call_is_an_event() -> None:
    tape = Tape()
    executor = fw.RecordingExecutor(
        fw.NumPyExecutor(), tape, layer="leaf", participant="server"
    )
    pair = fl.Struct.named(a=np.int32(1), b=np.int32(2))

    async def work() -> None:
        value = await executor.create_value(pair, add.type_signature.parameter)
        first = await executor.create_selection(value, name="a")
        struct = await executor.create_struct({"a": first, "b": first})
        fn = await executor.create_value(add)
        await (await executor.create_call(fn, struct)).compute()

    run(work())
    assert [(event.what, event.type, event.detail) for event in tape] == [
        ("create_value", "<a=int32,b=int32>", ""),
        ("create_selection", "int32", "a"),
        ("create_struct", "<a=int32,b=int32>", ""),
        ("create_value", "(<a=int32,b=int32> -> int32)", "add"),
        ("create_call", "int32", "add"),
        ("compute", "int32", "2"),
    ]
    assert {(event.layer, event.participant) for event in tape} == {("leaf", "server")}


def test_events_are_frozen() -> None:
    event = Event(0, "leaf", "server", "compute", "int32", 0.0, 0.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.number = 1  # type: ignore[misc]


def test_a_tape_can_be_read_wound_back_and_used_again() -> None:
    tape = Tape()
    executor = fw.RecordingExecutor(fw.NumPyExecutor(), tape)
    run(call(executor, increment, np.int32(1)))
    assert [len(tape), len(list(tape.events)), len(list(tape))] == [4, 4, 4]
    assert repr(tape) == "<tape of 4 events>"
    tape.clear()
    assert list(tape) == []
    executor.close()
    run(call(executor, increment, np.int32(1)))
    assert [event.number for event in tape] == [0, 1, 2, 3, 4]
    assert tape.events[0].what == "close"
    assert {event.layer for event in tape} == {"NumPyExecutor"}


@pytest.mark.parametrize("keeps", [False, True], ids=["forgets", "keeps"])
def test_a_tape_keeps_values_only_if_asked(keeps: bool) -> None:
    made = []

    @fl.np_computation(np.int32)
    def ones(n: Any) -> Any:
        array = np.ones(1000, np.float32)
        made.append(weakref.ref(array))
        return array

    made.clear()
    tape = Tape(keep_values=True) if keeps else Tape()
    with local(tape=tape):
        ones(3)
    gc.collect()
    assert [ref() is not None for ref in made] == [keeps]
    calls = [event for event in tape if event.layer != "context"]
    assert len(calls) >= 4
    for event in calls:
        assert (event.given is not None, event.made is not None) == (keeps, keeps)


def test_a_tape_takes_events_from_many_threads() -> None:
    tape = Tape()
    executor = fw.RecordingExecutor(fw.NumPyExecutor(), tape)

    def work(number: int) -> None:
        for i in range(20):
            asyncio.run(call(executor, increment, np.int32(i)))

    at_once(work, range(4))
    assert sorted(event.number for event in tape) == list(range(4 * 20 * 4))


def test_a_call_that_fails_is_an_event_that_names_the_error() -> None:
    tape = Tape()
    executor = fw.RecordingExecutor(fw.NumPyExecutor(), tape)
    with pytest.raises(TypeError):
        run(executor.create_value("text", fl.to_type(np.int32)))
    [event] = tape
    assert (event.what, event.type) == ("create_value", "")
    assert (event.detail, event.error) == ("text", "TypeMismatchError")


def test_a_handle_that_no_event_made_is_not_the_first_ones() -> None:
    tape = Tape()
    inner = fw.RecordingExecutor(fw.NumPyExecutor(), tape)
    outer = fw.ThreadDelegatingExecutor(inner)
    value = run(outer.create_value(1, fl.to_type(np.int32)))
    assert (value.made_by, value.value.made_by) == (None, 0)
    outer.close()


def test_a_function_that_captured_values_says_so_when_it_travels() -> None:
    tape = Tape()
    captured = fw.ir.Literal(np.float32(0.5), fl.to_type(np.float32), "rate")
    function = fw.ir.Lambda(None, None, captured)
    run(
        fw.RecordingExecutor(
            fw.ReferenceResolvingExecutor(fw.NumPyExecutor()), tape
        ).create_value(function)
    )
    [event] = tape
    assert event.detail == "Lambda, captured rate: float32"
