# SPDX-License-Identifier: Apache-2.0
"""Event loops in daemon threads: calls run there, and callers may wait for them.

A notebook is inside an event loop already, and Python allows only one per thread; a
loop in a thread of ours needs no patching. Usually there is one, which is reused.
Further ones exist while several calls run at once, or while leaf code makes a call.
In a browser, where there are no threads, each call has a loop on the caller's own.
"""

import asyncio
import inspect
import os
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from traceback import walk_tb
from typing import Any, Generic, TypeVar, final

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.contexts import clock
from fedlearn_edu.errors import ComputationTimeoutError, ContextError
from fedlearn_edu.executors import underway
from fedlearn_edu.executors.callers_loop import run_here
from fedlearn_edu.executors.concurrency import outcome, settled
from fedlearn_edu.types.sequences import in_generator

T = TypeVar("T")
Work = Coroutine[Any, Any, T]
# Above this number asynchronous calls share loops: each costs a thread, and files.
_MAX_LOOPS = 32


@final
@dataclass(frozen=True)
class Terms:
    """How long a call may take, and what to do when it is given up."""

    callee: str = "the call"
    timeout: float | None = None
    abandon: Callable[[], None] = lambda: None


@final
@dataclass(frozen=True, eq=False)
class _Worker:
    loop: asyncio.AbstractEventLoop
    pid: int
    calls: set[underway.Call] = field(default_factory=set)

    def is_held_up(self) -> bool:
        """Whether leaf code of a call that was given up may still occupy it."""
        return any(call.is_given_up for call in self.calls.copy())


_lock = threading.Lock()
_workers: list[_Worker] = []
_threads: set[int] = set()


AS_LONG_AS_IT_TAKES = Terms()


def run(work: Work[T], terms: Terms = AS_LONG_AS_IT_TAKES) -> T:
    """Runs a coroutine on a loop of ours and waits for its result.

    Whatever is raised here meanwhile, by Ctrl-C or a signal, cancels the coroutine.

    Raises:
        ContextError: if called on a loop's own thread, which would wait for itself.
        ComputationTimeoutError: if it takes longer than it may.
    """
    is_ours = _is_ours() and not in_generator.get()
    if is_ours or underway.graph_is_waiting.get():
        work.close()
        raise ContextError(
            "a synchronous call was made on a thread that runs calls",
            expected="a call from your own code",
            do="in a generator, compute the elements without calls, or beforehand; "
            "inside an executor or a coroutine of ours, await the work instead",
        )
    if is_browser():
        return _run_here(work, terms)
    running = _Running(work, terms)
    try:
        found = running.begin().result(terms.timeout)
    except BaseException as error:
        *_, (last, _) = walk_tb(error.__traceback__)
        if isinstance(error, TimeoutError) and last.f_code is Future.result.__code__:
            raise running.late() from None
        running.give_up()
        raise
    return outcome(found)


async def run_async(work: Work[T], terms: Terms) -> T:
    """Runs a coroutine on a loop of ours, while the caller's own loop goes on.

    Cancelling it returns at once.

    Raises:
        ComputationTimeoutError: if it takes longer than it may.
    """
    if is_browser():
        return _run_here(work, terms)
    running = _Running(work, terms, _MAX_LOOPS)
    try:
        waiting = asyncio.wrap_future(running.begin())
        done, _ = await asyncio.wait([waiting], timeout=terms.timeout)
    except BaseException:
        running.give_up()
        raise
    if not done:
        raise running.late()
    return outcome(waiting.result())


@final
class _Running(Generic[T]):
    """Work for a worker."""

    def __init__(
        self, work: Work[T], terms: Terms, max_loops: float = float("inf")
    ) -> None:
        self._terms, self._call, self._work = terms, underway.Call(terms.callee), work
        self._worker = _take(self._call, max_loops)
        self._future: Future[T | Exception] | None = None

    def begin(self) -> "Future[T | Exception]":
        """Hands it over."""
        steps = _steps(self._worker, self._call, self._work)
        self._future = asyncio.run_coroutine_threadsafe(steps, self._worker.loop)
        return self._future

    def give_up(self) -> list[str]:
        """Ends it as soon as can be; says which leaf code is still under way."""
        left = self._call.give_up()
        if self._future is not None:  # else a signal came in between
            self._future.cancel()
        self._worker.loop.call_soon_threadsafe(self._forget)
        self._terms.abandon()
        return left

    def _forget(self) -> None:
        """Closes a coroutine that never began: it cannot report its own end."""
        if inspect.getcoroutinestate(self._work) == inspect.CORO_CREATED:
            self._work.close()
            self._worker.calls.discard(self._call)

    def late(self) -> ComputationTimeoutError:
        """Gives it up, and names what is still running."""
        under_way = self.give_up()
        return _too_late(self._terms.callee, self._terms.timeout, under_way)


async def _steps(worker: _Worker, call: underway.Call, work: Work[T]) -> T | Exception:
    # A worker is idle again when its work is over, which may be after the call.
    underway.call.set(call)
    try:
        return await settled(work)
    except (SystemExit, KeyboardInterrupt) as error:
        # It would end the thread of the loop, which serves all other calls, too.
        return ContextError("the call tried to end the program", found=error)
    finally:
        worker.calls.discard(call)


def _too_late(
    callee: str, seconds: float | None, under_way: Sequence[str]
) -> ComputationTimeoutError:
    oldest, *others = under_way or ["no leaf code"]
    goes_on = "; the code goes on in its thread, for Python cannot stop one"
    more = f", and {len(others)} more" if others else ""
    return ComputationTimeoutError(
        f"{callee} did not end in time",
        expected=f"a result within {seconds:g} s",
        found=f"still running: {oldest}{more}",
        do="look there for what does not end, or allow more time"
        + ("" if is_browser() else goes_on),
    )


def _is_ours() -> bool:
    """Whether this is what runs a call: its thread, or else the code below it."""
    if is_browser():
        return underway.call.get() is not None
    return threading.get_ident() in _threads


def _run_here(work: Work[T], terms: Terms) -> T:
    """Runs a coroutine where there are no threads; a limit interrupts leaf code."""
    call = underway.Call(terms.callee)

    def late() -> ComputationTimeoutError:
        return _too_late(terms.callee, terms.timeout, call.give_up())

    async def steps() -> T:
        underway.call.set(call)
        return await work

    try:
        with clock.Limit(terms.timeout, late):
            return run_here(steps())
    except (KeyboardInterrupt, ComputationTimeoutError):
        terms.abandon()
        raise


def _take(call: underway.Call, max_loops: float) -> _Worker:
    """A worker that has nothing to do, or else a new one, or the least busy one."""
    with _lock:
        # A forked process has the parent's memory but not its threads.
        _workers[:] = [worker for worker in _workers if worker.pid == os.getpid()]
        able = [worker for worker in _workers if not worker.is_held_up()]
        worker = min(able, key=lambda worker: len(worker.calls), default=None)
        if worker is None or (worker.calls and len(able) < max_loops):
            worker = _Worker(asyncio.new_event_loop(), os.getpid())
            _workers.append(worker)
            threading.Thread(
                target=_serve,
                args=(worker.loop,),
                name="fedlearn-edu-loop",
                daemon=True,
            ).start()
        worker.calls.add(call)
        return worker


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    _threads.add(threading.get_ident())
    try:
        loop.run_forever()
    finally:
        loop.close()
        _threads.discard(threading.get_ident())
