# SPDX-License-Identifier: Apache-2.0
"""The leaf code that is running for a call, and whether the call was given up.

No thread can be stopped from outside: leaf code that is running when a call is given up
goes on until it returns. None is started after that, and the error names what was
running, and at which client.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, final


@final
class Call:
    """One call of a computation.

    Attributes:
        name: what is called.
        seconds: how long it may take; `None` for as long as it takes.
    """

    def __init__(
        self,
        name: str = "the call",
        seconds: float | None = None,
        abandon: Callable[[], None] = lambda: None,
    ) -> None:
        """`abandon` is called if work of it goes on after it was given up."""
        self.name, self.seconds, self._abandon = name, seconds, abandon
        self._under_way: dict[object, str] = {}
        self._awaited: set[Future[Any]] = set()
        self.is_given_up = False

    def give_up(self) -> list[str]:
        """Lets no more leaf code start; says what is under way, the oldest first."""
        self.is_given_up = True
        left = list(self._under_way.values())
        if [one for one in self._awaited.copy() if not one.cancel()] or left:
            self._abandon()
        return left

    def begin(self, work: object, name: str) -> None:
        """Notes that leaf code starts; cancels it if the call was given up."""
        self.go_on()
        self._under_way[work] = name + place.get()

    def go_on(self) -> None:
        """Cancels what may never end by itself, if the call was given up."""
        if self.is_given_up:
            raise asyncio.CancelledError

    def end(self, work: object) -> None:
        """Notes that it has ended."""
        self._under_way.pop(work, None)

    def wait(self, future: Future[Any]) -> None:
        """Waits for what another thread does; giving up the call cancels it."""
        self._awaited.add(future)
        try:
            if self.is_given_up:
                future.cancel()
            with suppress(CancelledError):
                future.exception()
        finally:
            self._awaited.discard(future)


# What runs by hand belongs to no call, which is never given up.
NO_CALL = Call("a call")
call: ContextVar[Call] = ContextVar("call", default=NO_CALL)
# Set while a graph waits for the element that a generator is making.
graph_is_waiting: ContextVar[bool] = ContextVar("graph_is_waiting", default=False)
# " at client 3", for the leaf code that is run there.
place: ContextVar[str] = ContextVar("place", default="")


@final
class underway:  # noqa: N801 (reads like a function: `with underway("train"):`)
    """Leaf code of that name runs in this block, for the current call."""

    def __init__(self, name: str) -> None:
        self._name, self._call = name, call.get()

    def __enter__(self) -> None:
        self._call.begin(self, self._name)

    def __exit__(self, *exception: object) -> None:
        self._call.end(self)
