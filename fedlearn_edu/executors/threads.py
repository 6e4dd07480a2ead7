# SPDX-License-Identifier: Apache-2.0
"""Threads: for a call as a whole, or for a participant, so that they work side by side.

One hop costs about 0.05 ms, so the layer belongs on top of a participant's stack. All
threads are daemons, and are used again. In a browser there are none.
"""

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar, final

from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.driving import Pending, drive, is_in_place
from fedlearn_edu.executors.wrapping import Work, WrappingExecutor

T = TypeVar("T")

_idle: list["SimpleQueue[Any]"] = []
if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_idle.clear)


def elsewhere(work: Callable[[], T]) -> Future[T]:
    """Does `work` on a thread that has nothing else to do, in the caller's context."""
    future = Future[T]()
    try:
        tasks = _idle.pop()
    except IndexError:
        tasks = SimpleQueue()
        threading.Thread(
            target=_serve, args=(tasks,), name="fedlearn-edu", daemon=True
        ).start()
    tasks.put((future, copy_context(), work))
    return future


def _serve(tasks: "SimpleQueue[Any]") -> None:
    while True:
        _do(*tasks.get())
        _idle.append(tasks)


def _do(future: Future[T], context: Context, work: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = context.run(work)
    except BaseException as error:
        future.set_exception(error)
        del future  # which holds the error, which holds this frame
    else:
        future.set_result(result)


@final
class Workers:
    """Threads that do what they are given in order, up to `count` things at once."""

    def __init__(self, count: int = 1) -> None:
        self._idle, self._tasks = count, deque[Any]()
        self._lock = threading.Lock()

    async def do(self, work: Callable[[], T]) -> T:
        """Does `work` on one of them; here, if what is driven has to stay here."""
        if is_in_place():
            return work()
        future = Future[T]()
        with self._lock:
            self._tasks.append((future, copy_context(), work))
            is_one_idle = self._idle > 0
            self._idle -= is_one_idle
        if is_one_idle:
            elsewhere(self._work_off)
        return await Pending(future)

    def _work_off(self) -> None:
        while True:
            with self._lock:
                if not self._tasks:
                    self._idle += 1
                    return
                task = self._tasks.popleft()
            _do(*task)


@final
class ThreadDelegatingExecutor(WrappingExecutor):
    """Runs its target on another thread, one thing after the other.

    Source: `tff.framework.ThreadDelegatingExecutor`.
    """

    def __init__(self, target_executor: Executor) -> None:
        super().__init__(target_executor)
        self._worker = Workers(1)

    async def around(self, what: str, work: Work, subject: Any) -> Any:
        """Runs `work()` on the thread."""
        return await self._worker.do(partial(drive, work))
