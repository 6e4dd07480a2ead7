# SPDX-License-Identifier: Apache-2.0
"""A time limit without threads and signals, for a browser: it looks at the clock.

`sys.monitoring` (Python 3.12 and later) calls it when a function begins and when a loop
goes round. So Python code is stopped wherever it is, as by Ctrl-C; what runs inside of
NumPy is not, and is too late when it returns. Earlier Pythons only see the latter.
"""

import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import CodeType
from typing import Any, final
from weakref import WeakSet, finalize

_GRACE_S = 1.0
"""How long code may clean up; then it is interrupted wherever it is."""

_TOOL = 4  # of six; the numbers below belong to debuggers, coverage and profilers
# What is raised in a callback of these would be lost, with a word on stderr; and what
# is raised before an `__exit__` begins, as in `contextlib`, leaves a block undone.
_LET_BE = {
    __file__,
    contextmanager.__code__.co_filename,
    WeakSet.add.__code__.co_filename,
    finalize.detach.__code__.co_filename,
}
_monitoring: Any = getattr(sys, "monitoring", None)
# What the page does while code waits is not in the block, nor are other threads.
_running: ContextVar[tuple["Limit", ...]] = ContextVar("running", default=())


@final
class Limit:
    """Interrupts its block once it has run for so many seconds; `None` never does.

    Args:
        seconds: how long it may run.
        late: makes the error that the block then ends in. It is called at that moment,
            so it can see what is under way.
    """

    def __init__(self, seconds: float | None, late: Callable[[], Exception]) -> None:
        self._seconds = float("inf") if seconds is None else seconds
        self._late = late
        self._error: Exception | None = None

    def __enter__(self) -> None:
        self._end = time.monotonic() + self._seconds
        # A browser's own lets the page go on, which must not be interrupted.
        self._sleep = time.sleep
        time.sleep = getattr(time.sleep, "__wrapped__", time.sleep)
        self._outer: Token[Any] = _running.set((*_running.get(), self))
        _watch(self._seconds)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        _running.reset(self._outer)
        _unwatch()
        time.sleep = self._sleep
        if error is None:
            self.rings(time.monotonic())
        if self._error is not None:
            raise self._error from None

    def rings(self, now: float) -> bool:
        """Notes that time is up, and whether to interrupt the block for it now."""
        if now < self._end:
            return False
        if self._error is None:
            self._end = now + _GRACE_S
            self._error = self._late()
        return True


def _look(code: CodeType, *_: object) -> object:
    if code.co_filename in _LET_BE or code.co_name == "__del__":
        return _monitoring.DISABLE
    now = time.monotonic()
    if True in [limit.rings(now) for limit in _running.get()]:  # each of them notes it
        raise KeyboardInterrupt
    return None


def _watch(seconds: float) -> None:
    if _monitoring is None or seconds == float("inf") or _monitoring.get_tool(_TOOL):
        return
    _monitoring.use_tool_id(_TOOL, __name__)
    events = _monitoring.events
    for event in (events.JUMP, events.PY_START):
        _monitoring.register_callback(_TOOL, event, _look)
    _monitoring.set_events(_TOOL, events.JUMP | events.PY_START)


def _unwatch() -> None:
    """Stops at the end of the outermost limit."""
    if not _running.get() and _monitoring and _monitoring.get_tool(_TOOL) == __name__:
        _monitoring.set_events(_TOOL, 0)
        _monitoring.free_tool_id(_TOOL)
