# SPDX-License-Identifier: Apache-2.0
"""Threads that are used again, and the executor that hands its work to one of them."""

import asyncio
import threading
import time
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.driving import drive, gather
from tests.executors.examples import CountingExecutor, call, run, wait_for_threads
from tests.patience import PATIENCE_S
from tests.programs import INT, failing, increment, seven

fw = fl.framework


@fl.np_computation
def which_thread() -> Any:
    return np.int64(threading.get_ident())


class Meeting(CountingExecutor):
    """Embeds something when others do so, too."""

    meeting = threading.Barrier(2, timeout=PATIENCE_S)

    async def around(self, what: str, work: Any, subject: Any) -> Any:
        """Waits for the others."""
        self.meeting.wait()
        return await work()


@pytest.mark.parametrize(
    ("together", "finish"),
    [
        (asyncio.gather, run),
        (lambda *work: gather(work), run),
        (lambda *work: gather(work), lambda work: drive(lambda: work)),
    ],
    ids=["on a loop", "gathered on a loop", "driven"],
)
def test_two_executors_work_side_by_side(together: Any, finish: Any) -> None:
    """Each waits until the other is running too; one after the other would hang."""
    executors = [fw.ThreadDelegatingExecutor(Meeting()) for _ in range(2)]

    async def both() -> Any:
        return await together(*[each.create_value(7, INT) for each in executors])

    assert [each.type_signature for each in finish(both())] == [INT, INT]


def test_one_executor_does_one_thing_after_the_other() -> None:
    running, most = [0], []

    class Slow(CountingExecutor):
        async def around(self, what: str, work: Any, subject: Any) -> Any:
            running[0] += 1
            most.append(running[0])
            time.sleep(0.002)
            running[0] -= 1
            return await work()

    executor = fw.ThreadDelegatingExecutor(Slow())

    async def several() -> Any:
        return await gather(call(executor, seven) for _ in range(5))

    assert drive(several) == [7] * 5
    assert set(most) == {1}


@pytest.mark.parametrize("finish", [run, lambda work: drive(lambda: work)])
def test_errors_come_back_from_the_thread_as_they_are(finish: Any) -> None:
    executor = fw.ThreadDelegatingExecutor(fw.NumPyExecutor())
    with pytest.raises(KeyError, match="mine") as caught:
        finish(call(executor, failing, np.int32(0)))
    assert caught.value.__notes__ == ["  in the computation failing"]
    assert finish(call(executor, increment, np.int32(1))) == 2


def test_what_leaf_code_drives_stays_on_its_thread() -> None:
    """The thread would wait for itself."""
    executor = fw.ThreadDelegatingExecutor(fw.NumPyExecutor())

    def ask(x: Any) -> Any:
        found = drive(lambda: call(executor, which_thread))
        return np.int64(found == threading.get_ident() != main)

    main = threading.get_ident()
    leaf = fl.np_computation(ask, INT, result=np.int64)
    assert drive(lambda: call(executor, leaf, np.int32(0))) == 1


def test_threads_are_used_again_and_do_not_keep_a_program_alive() -> None:
    leaf = fl.np_computation(lambda x: x, INT)
    with fl.timeout(60):
        leaf(1)
        wait_for_threads()
        before = set(threading.enumerate())
        for number in range(20):
            assert leaf(number) == number
            wait_for_threads()
    assert set(threading.enumerate()) <= before
    assert all(each.daemon for each in before if each.name == "fedlearn-edu")
