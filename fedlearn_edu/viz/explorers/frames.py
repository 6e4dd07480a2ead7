# SPDX-License-Identifier: Apache-2.0
"""Views that take seconds: a generator yields better ones in the background.

It has a thread of its own, or in a browser a turn whenever nothing else has one. When
the controls move, what they say now takes its place.
"""

import asyncio
import atexit
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import lru_cache
from threading import Event, RLock, Thread
from typing import final
from weakref import WeakSet

from matplotlib.figure import Figure

from fedlearn_edu import framework
from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.errors import FedLearnError, short_traceback
from fedlearn_edu.language.context_stack import Context

_REDRAW_SECONDS, _LAST_SECONDS = 0.3, 20.0

View = Figure | str
"""What is shown: a figure, or HTML."""
Frame = tuple[View, str]
"""What there is to see, and that in words."""
Frames = Generator[Frame | None, None, None]
"""Frames, the last one final; work may be ended at each yield, also of `None`."""


@final
class StillRunningError(FedLearnError, TimeoutError):
    """Work did not end within the time it was waited for."""


@lru_cache(maxsize=1)
def explorers_context() -> framework.SyncExecutionContext:
    """The context that explorers run their own programs in, whatever the reader set up.

    There is one for all of them, which keeps what it compiled.
    """
    factory = framework.local_executor_factory(support_sequence_ops=True)
    return framework.SyncExecutionContext(factory)


_all: "WeakSet[Follower]" = WeakSet()


@atexit.register
def _end_all() -> None:
    """Stops running work: a thread inside TensorFlow would abort the interpreter."""
    running = [each for each in _all if each.is_running]
    for each in running:
        each.stop()
    for each in running:
        with suppress(StillRunningError):
            each.wait(_LAST_SECONDS)


@final
class Follower:
    """Shows the frames of one generator at a time: a new one ends the one before.

    Attributes:
        error: what the last one failed with, `None` if it did not.
    """

    def __init__(
        self,
        show: Callable[[Frame | Exception], None],
        where: Callable[[], Context] = explorers_context,
    ) -> None:
        """Nothing is followed yet.

        Args:
            show: Called a few times a second with the newest frame, and with the last
                one, or with what went wrong.
            where: The context for the computations of the work.
        """
        _all.add(self)
        self._show, self._where, self._lock = show, where, RLock()
        self._wanted: Frames | None = None
        self._now: Frames | None = None
        self._latest: Frame | None = None
        self._shown_at = 0.0
        self._is_idle, self._is_seen = Event(), Event()
        self._is_idle.set()
        self._turns: asyncio.Task[None] | None = None
        self.error: Exception | None = None

    @property
    def is_running(self) -> bool:
        """Whether there may be more to come."""
        return not self._is_idle.is_set()

    def follow(self, frames: Frames, patience_s: float) -> bool:
        """Begins with these; returns whether one was seen within so many seconds."""
        with self._lock:
            self._wanted, self.error, self._shown_at = frames, None, 0.0
            self._is_seen.clear()
            begins = self._is_idle.is_set()
            self._is_idle.clear()
        if not is_browser():
            if begins:
                Thread(target=self._go_on, name="explorer", daemon=True).start()
            return self._is_seen.wait(patience_s)
        until = time.monotonic() + patience_s
        while not self._is_seen.is_set() and time.monotonic() < until and self._step():
            pass
        with suppress(RuntimeError):  # no loop is running: `wait` takes the steps
            loop = asyncio.get_running_loop()
            self._turns = loop.create_task(self._take_turns())
        return self._is_seen.is_set()

    def stop(self) -> None:
        """Ends what is followed, at its next yield."""
        with self._lock:
            self._wanted = None

    @short_traceback
    def wait(self, timeout: float = 60.0) -> None:
        """Waits for the last frame, at most `timeout` seconds.

        Raises:
            StillRunningError: if it has not come by then.
        """
        if is_browser():
            until = time.monotonic() + timeout
            while time.monotonic() < until and self._step():
                pass
        if not self._is_idle.wait(0 if is_browser() else timeout):
            raise StillRunningError(
                "the work has not ended yet",
                expected=f"an end within {timeout:g} s",
                found="that it goes on",
                do="wait longer",
            )

    def _go_on(self) -> None:
        while self._step():
            pass

    async def _take_turns(self) -> None:
        """Takes step after step, in turn with whatever else there is to do."""
        while self._step():
            await asyncio.sleep(0)

    def _step(self) -> bool:
        """Takes one step of what is wanted now; returns whether there is another."""
        with self._lock:
            if self._now is not self._wanted:
                if self._now is not None:
                    self._now.close()
                self._now, self._latest = self._wanted, None
            if (frames := self._now) is None:
                self._is_idle.set()
                self._is_seen.set()
                return False
        try:
            with self._where():
                frame = next(frames)
        except StopIteration:
            return self._end(frames, self._latest)
        except Exception as error:  # shown to the reader, whatever it is
            self.error = error if frames is self._wanted else None
            return self._end(frames, error)
        self._latest = frame or self._latest
        if frame and time.monotonic() - self._shown_at > _REDRAW_SECONDS:
            self._tell(frames, frame)
            self._latest = None
        return True

    def _tell(self, frames: Frames, seen: Frame | Exception) -> None:
        """Shows it, unless something else is wanted by now."""
        with self._lock:
            if frames is self._wanted:
                self._show(seen)
                self._shown_at = time.monotonic()
                self._is_seen.set()

    def _end(self, frames: Frames, last: Frame | Exception | None) -> bool:
        """Shows the last, and has nothing wanted any more unless there is something."""
        with self._lock:
            if last is not None:
                self._tell(frames, last)
            if frames is self._wanted:
                self._wanted = None
        return True
