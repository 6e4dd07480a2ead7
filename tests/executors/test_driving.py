# SPDX-License-Identifier: Apache-2.0
"""Coroutines, driven from plain Python or awaited on an event loop."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from contextvars import ContextVar
from typing import Any

import pytest

from fedlearn_edu.errors import ContextError
from fedlearn_edu.executors.driving import Pending, drive, gather, prefetched
from fedlearn_edu.executors.participants import with_participant
from fedlearn_edu.executors.threads import Workers, elsewhere
from fedlearn_edu.types import CLIENTS
from tests.executors.examples import wait_for_threads
from tests.patience import PATIENCE_S

on_a_loop: Callable[[Any], Any] = lambda make: asyncio.run(make())  # noqa: E731
both_ways = pytest.mark.parametrize(
    "finish", [drive, on_a_loop], ids=["driven", "on a loop"]
)


async def made(value: Any) -> Any:
    return value


async def all_of(work: Any, count: int) -> list[Any]:
    with closing(prefetched(work, count)) as results:
        return [await each for each in results]


@both_ways
@pytest.mark.parametrize("values", [[], [1], [1, 2, 3, 4, 5]])
def test_results_come_in_order(finish: Any, values: list[int]) -> None:
    assert finish(lambda: gather(map(made, values))) == values
    assert finish(lambda: all_of(map(made, values), 2)) == values


@both_ways
def test_what_waits_lets_the_next_begin(finish: Any) -> None:
    """Each waits for the two others on its thread."""
    meeting = threading.Barrier(3, timeout=PATIENCE_S)

    async def meet(value: int) -> int:
        await Pending(elsewhere(meeting.wait))
        return value

    assert finish(lambda: gather(map(meet, range(3)))) == [0, 1, 2]
    assert finish(lambda: all_of(map(meet, range(6)), 2)) == [0, 1, 2, 3, 4, 5]


VAR: ContextVar[int] = ContextVar("var", default=0)


@both_ways
def test_context_variables_travel_and_stay(finish: Any) -> None:
    async def work(value: int) -> Any:
        VAR.set(value)
        found = await Pending(elsewhere(lambda: (VAR.get(), VAR.set(9))[0]))
        return found, VAR.get()

    assert finish(lambda: gather(map(work, [1, 2]))) == [(1, 1), (2, 2)]
    assert VAR.get() == 0


@both_ways
def test_the_first_error_in_order_is_raised_and_nothing_begins_after_one(
    finish: Any,
) -> None:
    begun, all_three = [], threading.Event()

    async def fail(number: int) -> None:
        begun.append(number)
        if number < 2:
            await Pending(elsewhere(lambda: all_three.wait(PATIENCE_S)))
        all_three.set()
        raise ValueError(f"error {number}")

    with pytest.raises(ValueError, match="error 0"):
        finish(lambda: gather(map(fail, range(5))))
    assert begun == [0, 1, 2]


@both_ways
def test_after_an_error_nothing_goes_on(finish: Any) -> None:
    one, other = Workers(), Workers()
    done, began = [], threading.Event()

    def fail() -> None:
        assert began.wait(PATIENCE_S)
        raise KeyError("mine")

    def slow() -> None:
        began.set()
        threading.Event().wait(0.05)
        done.append("slow")

    async def all_at_once() -> Any:
        later = [other.do(lambda: done.append("later")) for _ in range(5)]
        return await gather([one.do(fail), other.do(slow), *later])

    with pytest.raises(KeyError, match="mine"):
        finish(all_at_once)
    assert finish is on_a_loop or done == ["slow"]  # a loop may not be held up
    wait_for_threads()
    assert done == ["slow"]


def test_who_is_cancelled_ends_all_that_waits() -> None:
    hold, ended = threading.Event(), []

    async def work(number: int) -> None:
        try:
            await Pending(elsewhere(hold.wait))
        finally:
            ended.append(number)

    async def cancelled() -> None:
        task = asyncio.ensure_future(gather(map(work, range(3))))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(ended) == [0, 1, 2]

    asyncio.run(cancelled())
    hold.set()


def test_what_an_interrupt_keeps_from_beginning_leaves_nothing_to_await(
    recwarn: pytest.WarningsRecorder,
) -> None:
    async def interrupted() -> None:
        raise asyncio.CancelledError

    work = [interrupted, lambda: made(1), lambda: made(2)]
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(gather(with_participant(CLIENTS, 0, work)))
    assert [str(warning.message) for warning in recwarn] == []


def test_driving_needs_no_event_loop_and_is_done_inside_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A new one would belong to nobody, and some other test would be blamed for it."""

    def refuse(self: Any) -> None:
        raise AssertionError("a loop")

    async def work() -> tuple[Any, int]:
        await asyncio.sleep(0)  # others may have a turn: there are none
        there = await Pending(elsewhere(threading.get_ident))
        return there != threading.get_ident(), threading.get_ident()

    async def cell() -> Any:
        return drive(work)

    here = threading.get_ident()
    assert asyncio.run(cell()) == (True, here)
    monkeypatch.setattr(asyncio.BaseEventLoop, "__init__", refuse)
    assert drive(work) == (True, here)


def test_what_waits_on_a_loop_is_refused() -> None:
    ended = []

    async def sleepy() -> None:
        try:
            await asyncio.sleep(0.01)
        finally:
            ended.append(True)

    async def cell() -> None:
        drive(sleepy)

    with pytest.raises(ContextError, match="waits on an event loop"):
        asyncio.run(cell())
    assert ended


def test_generators_of_work_are_closed_before_an_error_is_seen() -> None:
    closed = []

    def work() -> Iterator[Any]:
        try:
            for number in range(3):
                yield made(number)
        finally:
            closed.append(True)

    async def read() -> None:
        with closing(prefetched(work(), 2)) as results:
            for each in results:
                raise ValueError(await each)

    with pytest.raises(ValueError, match="0"):
        drive(read)
    assert closed
