# SPDX-License-Identifier: Apache-2.0
"""Coroutines without an event loop: a call is driven on the thread that makes it.

Executors are asynchronous, so that what waits for another thread, or for another
machine, lets others begin meanwhile. Only a `Pending` waits; all else runs to its end
when it is driven. Awaited by hand, on an event loop of yours, executors work there.

What is driven inside of leaf code stays *in place*, on its own thread: leaf code waits
for it, and a worker it would wait for may be the one that runs the leaf code.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from concurrent.futures import Future
from contextlib import closing
from contextvars import copy_context
from math import inf
from typing import Any, Generic, TypeVar, final

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.errors import ContextError
from fedlearn_edu.executors import underway
from fedlearn_edu.signals import is_from_outside

T = TypeVar("T")


class _Here(threading.local):
    """How many coroutines this thread drives, one inside of the other."""

    def __init__(self) -> None:
        # Threads that Python did not begin, such as TensorFlow's, run leaf code.
        thread = threading.current_thread()
        self.depth = int(isinstance(thread, threading._DummyThread))


_here = _Here()


def is_inside() -> bool:
    """Whether leaf code asks, or what runs it."""
    return _here.depth > 0


def is_in_place() -> bool:
    """Whether all work has to be done on this thread."""
    return _here.depth > 1 or is_browser()


def drive(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs `make()` to its end on this thread, and waits where it waits.

    Raises:
        ContextError: if it waits on an event loop: there is none.
    """
    outer = _here.depth
    try:
        _here.depth = outer + 1
        with closing(make()) as coroutine:
            while True:
                pending = coroutine.send(None)
                if isinstance(pending, Pending):
                    pending.wait()
                elif pending is not None:  # else it only let others have a turn
                    raise ContextError(
                        "a call waits on an event loop, and there is none",
                        expected="work that ends, or that blocks its thread",
                        do="await it before the call, and pass the result; inside an "
                        "executor, block: time.sleep instead of asyncio.sleep",
                    )
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        _here.depth = outer


@final
class Pending(Generic[T]):
    """What another thread makes, to be awaited; `begin` is called before any wait."""

    def __init__(
        self, future: Future[T], begin: Callable[[], None] = lambda: None
    ) -> None:
        self._future, self._begin = future, begin

    def __await__(self) -> Generator[Any, None, T]:
        try:
            if not is_inside():
                self._begin()
                done = asyncio.wrap_future(self._future)
                # Some errors would be copied on the way, and lose their notes.
                yield from asyncio.gather(done, return_exceptions=True)
            elif not self._future.done():
                yield self
            if self._future.cancelled():
                raise asyncio.CancelledError
            return self._future.result()
        finally:
            # Is it awaited no more? It never begins, or has ended from here on.
            if not self._future.cancel() and is_inside():
                self.wait()

    def wait(self) -> None:
        """Blocks this thread until it is there."""
        self._begin()
        underway.call.get().wait(self._future)


@final
class Begun(Generic[T]):
    """Work that ran until it had to wait, to be awaited; perhaps it has ended."""

    __slots__ = ("_context", "_coroutine", "_pending", "_result", "ended", "error")

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine, self._context = coroutine, copy_context()
        self.error: Exception | None = None
        self.ended = False
        self._step()

    def _step(self) -> None:
        self._pending: Any = None
        try:
            self._pending = self._context.run(self._coroutine.send, None)
        except StopIteration as end:
            self._result: T = end.value
            self.ended = True
        except Exception as error:
            if is_from_outside(error):
                raise
            self.error, self.ended = error, True

    def __await__(self) -> Generator[Any, None, T]:
        try:
            while not self.ended:
                pending = self._pending
                yield pending
                if self._pending is pending:  # it may be awaited twice
                    self._step()
        except BaseException:
            self.close()
            raise
        if self.error is not None:
            raise self.error
        return self._result

    def close(self) -> None:
        """Ends it where it stands."""
        self._context.run(self._coroutine.close)


async def gather(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in order; what waits lets the next begin.

    The first error in order is raised, on every run; after an error nothing begins.
    """
    with closing(prefetched(work)) as results:
        return [await each for each in results]


def prefetched(
    work: Iterable[Coroutine[Any, Any, T]], count: float = inf
) -> Generator[Awaitable[T], None, None]:
    """The same one by one; up to `count` of those that follow have begun meanwhile."""
    begun: deque[Begun[T]] = deque()
    try:
        for one in work:
            begun.append(Begun(one))
            if begun[-1].error is not None:
                break
            while begun and (begun[0].ended or len(begun) > count):
                yield begun.popleft()
        while begun:
            yield begun.popleft()
    finally:
        for left in reversed(begun):  # the last ones have not begun on a thread
            left.close()
