# SPDX-License-Identifier: Apache-2.0
"""Tells errors of the code that ran from those of a signal that came in the middle.

A handler of `SIGALRM`, or Ctrl-C, raises wherever the main thread happens to be, also
in leaf code. That is no error of this code: it is given no place (`add_place`), and
nothing is tried again because of it. The other way round, leaf code may raise what
Python takes for a signal of its own, such as `StopIteration`: `contained` makes an
error of it.
"""

import opcode
import signal
from contextlib import AbstractContextManager
from functools import partial
from traceback import walk_tb
from types import CodeType, TracebackType
from typing import Any, final

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.errors import ComputationFailedError, FedLearnError

_RAISE = opcode.opmap["RAISE_VARARGS"]


def is_from_outside(error: BaseException) -> bool:
    """Whether a signal raised it, and no code that was called."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    if not codes:
        return False
    if isinstance(error, KeyboardInterrupt) and not _is_by_statement(error):
        return True
    handlers = {_code_of(signal.getsignal(each)) for each in signal.valid_signals()}
    return not handlers.isdisjoint(codes)


def _is_by_statement(error: BaseException) -> bool:
    """Whether a `raise` raised it; Python's own handler of Ctrl-C has none."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = trace and trace.tb_frame.f_code.co_code
    return bool(trace and code and code[trace.tb_lasti] == _RAISE)


def _code_of(handler: Any) -> CodeType | None:
    while isinstance(handler, partial):
        handler = handler.func
    if not hasattr(handler, "__code__"):  # an object that can be called
        handler = type(handler).__call__
    code = getattr(handler, "__code__", None)
    return code if isinstance(code, CodeType) else None


def add_place(error: Exception, place: str) -> Exception:
    """The error, which says where it happened: in its `where`, or else in a note."""
    if is_from_outside(error):
        return error
    if not isinstance(error, FedLearnError):
        error.add_note(f"  {place}")
    else:
        error.where = place if error.where is None else f"{error.where}, {place}"
    return error


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
