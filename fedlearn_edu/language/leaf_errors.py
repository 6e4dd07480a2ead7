# SPDX-License-Identifier: Apache-2.0
"""Where leaf code runs, Python's own signals are kept in."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, final

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.errors import ComputationFailedError
from fedlearn_edu.signals import is_from_outside


@final
class contained(AbstractContextManager[Any, None]):  # noqa: N801 (reads like a function)
    """Makes an error of Python's own signals, where leaf code of that name raises them.

    Outside, `StopIteration` ends a loop or a coroutine, `CancelledError` a task, and
    `SystemExit` the thread that serves all other calls, too. What a signal raises is
    no error of that code, nor, in a browser, is the interrupt of a time limit.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __exit__(self, _: object, error: object, trace: TracebackType | None) -> None:
        is_stop = isinstance(error, StopIteration | StopAsyncIteration)
        if error is None or (isinstance(error, Exception) and not is_stop):
            return
        is_late = is_browser() and isinstance(error, KeyboardInterrupt)
        if is_late or (isinstance(error, BaseException) and is_from_outside(error)):
            return
        did = f"raised Python's own {type(error).__name__}"
        cure = "return a value, or raise an error such as ValueError"
        if is_stop:
            cure = "give next() a default, next(it, None), or read with a for loop"
        elif isinstance(error, SystemExit | KeyboardInterrupt):
            did = "tried to end the program"
        raise ComputationFailedError(
            f"{self._name} {did}",
            expected="a result, or an error that says what is wrong",
            found=repr(error),
            do=cure,
        ).with_traceback(trace) from None
