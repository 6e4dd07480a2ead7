# SPDX-License-Identifier: Apache-2.0
"""Threads of participants, and coroutines that are run from plain Python."""

import asyncio
import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ExecutorError
from fedlearn_edu.executors.concurrency import is_inline, run_inline
from tests.executors.examples import CountingExecutor, call, run
from tests.patience import PATIENCE_S
from tests.programs import INT, failing, increment, seven

fw = fl.framework


@fl.np_computation
def which_thread() -> Any:
    return np.int64(threading.get_ident())


def over(target: Any = None) -> Any:
    return fw.ThreadDelegatingExecutor(target or fw.NumPyExecutor())


def test_leaf_code_runs_on_the_thread_of_its_executor() -> None:
    one, other = over(), over()
    threads = [run(call(executor, which_thread)) for executor in (one, one, other)]
    assert threads[0] == threads[1] != threads[2]
    assert threading.get_ident() not in threads
    for executor in (one, other):
        executor.close()


def test_two_executors_work_side_by_side() -> None:
    """Each waits until the other is running too; one after the other would hang."""
    meeting = threading.Barrier(2, timeout=PATIENCE_S)

    class Meeting(CountingExecutor):
        async def around(self, what: str, work: Any, subject: Any) -> Any:
            if what == "create_call":
                meeting.wait()
            return await work()

    executors = [over(Meeting()), over(Meeting())]

    async def both() -> Any:
        return await asyncio.gather(*(call(executor, seven) for executor in executors))

    assert run(both()) == [7, 7]
    for executor in executors:
        executor.close()


def test_errors_come_back_from_the_thread() -> None:
    executor = over()
    with pytest.raises(KeyError, match="mine"):
        run(call(executor, failing, np.int32(0)))
    assert run(call(executor, increment, np.int32(1))) == 2
    executor.close()


def test_while_being_stepped_work_stays_on_the_thread_of_the_reader() -> None:
    executor = over()
    assert run_inline(lambda: call(executor, which_thread)) == threading.get_ident()
    executor.close()


def test_closing_ends_the_thread_and_closes_the_target() -> None:
    target = CountingExecutor()
    executor = over(target)
    thread = executor._thread
    executor.close()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert target.times_closed == 1
    with pytest.raises(ExecutorError, match="closed"):
        run(executor.create_value(np.int32(1), INT))


def test_an_executor_that_is_forgotten_leaves_no_thread_behind() -> None:
    executor = over()
    thread, forgotten = executor._thread, weakref.ref(executor)
    del executor
    gc.collect()
    thread.join(PATIENCE_S)
    assert forgotten() is None
    assert not thread.is_alive()


# ----------------------------------------
# Running a coroutine to its end from plain Python


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
