# SPDX-License-Identifier: Apache-2.0
"""Calls: on the caller's thread if they can; elsewhere if they may be given up.

On the caller's thread, Ctrl-C and a debugger reach leaf code itself. A time limit needs
another thread, and so does leaf code of TensorFlow, inside of which Python sees no
Ctrl-C. No thread can be stopped: `run` waits for so long, then the call is given up and
starts nothing more (`executors/underway.py`). A browser has a clock only (`clock.py`).
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.contexts import clock
from fedlearn_edu.errors import ComputationTimeoutError, ContextError
from fedlearn_edu.executors import underway
from fedlearn_edu.executors.driving import drive, is_inside
from fedlearn_edu.executors.threads import elsewhere

T = TypeVar("T")
Make = Callable[[], Coroutine[Any, Any, T]]
# So many asynchronous calls of a loop are under way at once: each costs a thread.
_AT_ONCE = 32
_turns: WeakKeyDictionary[Any, asyncio.Semaphore] = WeakKeyDictionary()


def run(make: Make[T], call: underway.Call, *, stays: bool) -> T:
    """Drives a call to its end; on the caller's thread if it may stay there.

    Raises:
        ComputationTimeoutError: if it takes longer than it may.
        ContextError: if a graph waits for the caller, and the call needs a graph, too.
    """
    if underway.graph_is_waiting.get() and not stays:
        raise ContextError(
            "a generator that a TensorFlow graph reads called TensorFlow",
            expected="elements that are made without it: the graph waits for them",
            found=call.name,
            do="compute the elements in NumPy, or before the call",
        )

    def driven() -> T:
        underway.call.set(call)
        return drive(make)

    late = partial(_too_late, call)
    try:
        if is_browser():
            with clock.Limit(call.seconds, late):
                return copy_context().run(driven)
        if call.seconds is None and (stays or is_inside()):
            return copy_context().run(driven)
        future = elsewhere(driven)
        if not wait([future], call.seconds).done:
            raise late()
        return future.result()
    except BaseException:
        call.give_up()
        raise


async def run_async(make: Make[T], call: underway.Call) -> T:
    """Makes a call on another thread, while the caller's loop goes on.

    Cancelling it returns at once.

    Raises:
        ComputationTimeoutError: if it takes longer than it may.
    """
    work = partial(run, make, call, stays=True)
    if is_browser():
        return work()
    turns = _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_AT_ONCE))
    async with turns:
        future = elsewhere(work)
        try:  # asyncio would copy some errors
            await asyncio.gather(asyncio.wrap_future(future), return_exceptions=True)
        except asyncio.CancelledError:
            call.give_up()
            raise
        return future.result()


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs any coroutine to its end: on an event loop, on a thread of ours."""
    if is_browser():
        return drive(lambda: coroutine)
    return elsewhere(partial(asyncio.run, coroutine)).result()


def _too_late(call: underway.Call) -> ComputationTimeoutError:
    oldest, *others = call.give_up() or ["no leaf code"]
    goes_on = "; the code goes on in its thread, for Python cannot stop one"
    more = f", and {len(others)} more" if others else ""
    return ComputationTimeoutError(
        f"{call.name} did not end in time",
        expected=f"a result within {call.seconds:g} s",
        found=f"still running: {oldest}{more}",
        do="look there for what does not end, or allow more time"
        + ("" if is_browser() else goes_on),
    )
