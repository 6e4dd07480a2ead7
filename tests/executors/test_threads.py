# SPDX-License-Identifier: Apache-2.0
"""A thread of its own for a participant."""

import asyncio
import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ExecutorError
from fedlearn_edu.executors.concurrency import run_inline
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
