# SPDX-License-Identifier: Apache-2.0
"""The loop in a thread of ours that serves synchronous calls."""

import asyncio
import threading
from typing import Any

import pytest

from fedlearn_edu.contexts import event_loop
from tests.patience import PATIENCE_S
from tests.programs import at_once, in_another_process


async def answer(value: Any) -> Any:
    await asyncio.sleep(0)
    return value, threading.current_thread()


def test_work_is_done_in_a_daemon_thread_that_is_used_again() -> None:
    (one, thread), (two, again) = event_loop.run(answer(1)), event_loop.run(answer(2))
    assert (one, two) == (1, 2)
    assert thread is again
    assert thread.daemon
    assert thread is not threading.current_thread()


def test_it_works_inside_a_running_loop() -> None:
    async def outer() -> Any:
        return event_loop.run(answer(1))[0]

    assert asyncio.run(outer()) == 1


def test_errors_come_out_as_they_are() -> None:
    async def failing() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        event_loop.run(failing())
    assert event_loop.run(answer(1))[0] == 1


def test_two_threads_call_at_once_without_waiting_for_each_other() -> None:
    meeting = threading.Barrier(2, timeout=PATIENCE_S)

    async def meet(value: int) -> int:
        meeting.wait()
        return value

    assert at_once(lambda i: event_loop.run(meet(i)), range(2)) == [0, 1]


INTERRUPT = """
import asyncio, signal, sys, threading
from fedlearn_edu.contexts import event_loop

cleaned_up = threading.Event()

async def interrupted():
    while sys._current_frames()[threading.main_thread().ident].f_code.co_name != "wait":
        await asyncio.sleep(0)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    try:
        await asyncio.Event().wait()
    finally:
        cleaned_up.set()

async def answer():
    return 42

try:
    event_loop.run(interrupted())
except KeyboardInterrupt:
    print("interrupted", cleaned_up.wait(), event_loop.run(answer()))
"""


def test_an_interrupt_cancels_what_is_running() -> None:
    assert in_another_process(INTERRUPT) == "interrupted True 42\n"
