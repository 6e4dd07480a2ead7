# SPDX-License-Identifier: Apache-2.0
"""Running a coroutine to its end from plain Python."""

import asyncio
import threading
from typing import Any

import pytest

from fedlearn_edu.executors.concurrency import is_inline, run_inline


async def answer() -> int:
    return 42


async def suspending() -> int:
    await asyncio.sleep(0)
    return 42


def test_a_coroutine_that_does_not_suspend_runs_on_this_thread() -> None:
    async def work() -> tuple[int, int, bool]:
        return await answer(), threading.get_ident(), is_inline()

    assert run_inline(work) == (42, threading.get_ident(), True)
    assert not is_inline()


def test_in_a_running_event_loop_it_takes_one_step() -> None:
    starts = []

    async def waiting() -> tuple[int, int]:
        starts.append(1)
        return await suspending(), threading.get_ident()

    async def outer() -> Any:
        return run_inline(answer), run_inline(waiting)

    at_once, (result, thread) = asyncio.run(outer())
    assert at_once == result == 42
    assert thread != threading.get_ident()  # this one was busy, so it ran again there
    assert len(starts) == 2


@pytest.mark.parametrize("suspends", [False, True])
def test_errors_come_out_as_they_are(suspends: bool) -> None:
    async def work() -> Any:
        if suspends:
            await asyncio.sleep(0)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run_inline(work)
    assert not is_inline()


def test_steps_can_be_nested() -> None:
    async def work() -> bool:
        inner: bool = run_inline(is_inline_async)
        return inner and is_inline()

    assert run_inline(work)
    assert not is_inline()


async def is_inline_async() -> bool:
    return is_inline()
