# SPDX-License-Identifier: Apache-2.0
"""One event loop, in one daemon thread, for every synchronous call of the process.

Notebooks run inside a loop of their own, where nobody may run another one; a loop in a
thread of ours needs no permission, and no patching.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from fedlearn_edu.errors import ContextError

T = TypeVar("T")

_lock = threading.Lock()
_running: dict[int, tuple[asyncio.AbstractEventLoop, threading.Thread]] = {}


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on the loop and waits for its result.

    An interrupt cancels the coroutine.

    Raises:
        ContextError: if called on the loop's own thread, which would wait for itself.
    """
    loop, thread = _loop()
    if threading.current_thread() is thread:
        coroutine.close()
        raise ContextError(
            "a synchronous call was made on the thread that runs all calls",
            expected="a call from your own code",
            do="inside an executor or a coroutine of ours, await the work instead",
        )
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise


def _loop() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    with _lock:
        # A forked process has the parent's memory but not its threads.
        if os.getpid() not in _running:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(
                target=loop.run_forever, name="fedlearn-edu-loop", daemon=True
            )
            thread.start()
            _running.clear()
            _running[os.getpid()] = (loop, thread)
        return _running[os.getpid()]
