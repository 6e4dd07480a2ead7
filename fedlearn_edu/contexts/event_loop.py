# SPDX-License-Identifier: Apache-2.0
"""Event loops in daemon threads, one for each synchronous call that is under way.

Notebooks run inside a loop of their own, where nobody may run another one; a loop in a
thread of ours needs no permission, and no patching. Usually there is one, used again
and again. Further ones exist while several threads call at once, or while code inside a
call (a generator that feeds TensorFlow, say) makes a call of its own from another
thread.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar, final

from fedlearn_edu.errors import ContextError
from fedlearn_edu.types.plain import reading

T = TypeVar("T")


@final
@dataclass(frozen=True)
class _Worker:
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    pid: int


_lock = threading.Lock()
_idle: list[_Worker] = []
_threads: set[int] = set()


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on a loop of ours and waits for its result.

    An interrupt cancels the coroutine.

    Raises:
        ContextError: if called on a loop's own thread, which would wait for itself.
    """
    # A generator of the user's is read here; its calls are the user's, too.
    if threading.get_ident() in _threads and not reading.get():
        coroutine.close()
        raise ContextError(
            "a synchronous call was made on a thread that runs calls",
            expected="a call from your own code",
            do="inside an executor or a coroutine of ours, await the work instead",
        )
    worker = _take()
    future = asyncio.run_coroutine_threadsafe(_work(worker, coroutine), worker.loop)
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise


async def _work(worker: _Worker, coroutine: Coroutine[Any, Any, T]) -> T:
    # The worker is idle again when its work is over, be it later than the call.
    try:
        return await _guarded(coroutine)
    finally:
        with _lock:
            _idle.append(worker)


async def _guarded(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        return await coroutine
    except (SystemExit, KeyboardInterrupt) as error:
        # It would end the loop's thread, and nobody would ever be answered again.
        raise ContextError("the call tried to end the program", found=error) from None


def _take() -> _Worker:
    with _lock:
        # A forked process has the parent's memory but not its threads.
        _idle[:] = [worker for worker in _idle if worker.pid == os.getpid()]
        return _idle.pop() if _idle else _start()


def _start() -> _Worker:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(
        target=_serve, args=(loop,), name="fedlearn-edu-loop", daemon=True
    )
    thread.start()
    return _Worker(loop, thread, os.getpid())


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    _threads.add(threading.get_ident())
    try:
        loop.run_forever()
    finally:
        loop.close()
        _threads.discard(threading.get_ident())
