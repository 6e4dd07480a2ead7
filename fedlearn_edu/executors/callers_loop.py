# SPDX-License-Identifier: Apache-2.0
"""An event loop on the caller's own thread, for a browser: there is no other thread.

The loop of the page is running there already, and cannot be waited for; nothing below
a context needs it. So while ours runs, the caller's loop and task are set aside.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, final

from fedlearn_edu.executors import messages

T = TypeVar("T")


def run_here(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, in the middle of whatever runs on this thread.

    Raises:
        ContextError: if it waits for what cannot come while nothing else runs.
    """
    # A runner also ends what is left over: tasks, and generators that are half read.
    with _set_aside(), asyncio.Runner(loop_factory=CallersLoop) as runner:
        return runner.get_loop().run_until_complete(work)


@contextmanager
def _set_aside() -> Iterator[None]:
    """In this block, nothing runs as far as asyncio knows."""
    loop, sleep = asyncio._get_running_loop(), time.sleep
    task = None if loop is None else asyncio.current_task(loop)
    if loop is not None and task is not None:
        asyncio.tasks._leave_task(loop, task)
    asyncio._set_running_loop(None)
    # In a browser, sleeping is a task of the loop set aside, and would never end.
    time.sleep = getattr(sleep, "__wrapped__", sleep)
    try:
        yield
    finally:
        time.sleep = sleep
        asyncio._set_running_loop(loop)
        if loop is not None and task is not None:
            asyncio.tasks._enter_task(loop, task)


@final
class CallersLoop(asyncio.BaseEventLoop):
    """Runs tasks and timers; there are no devices, processes or other threads."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _NoDevices()

    def _process_events(self, event_list: list[Any]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody has to be woken up."""


class _NoDevices:
    """A selector that has nothing to wait for but the next timer."""

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise messages.nothing_to_wait_for()
        if timeout > 0:
            time.sleep(timeout)
        return []
