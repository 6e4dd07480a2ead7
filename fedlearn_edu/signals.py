# SPDX-License-Identifier: Apache-2.0
"""Whose error it is: of the code that ran, or of a signal that came in the middle.

A handler of `SIGALRM`, or Ctrl-C, raises wherever the main thread happens to be, also
in leaf code. What it raises is for whoever has set it up: it is no error of that code,
and nothing is tried again because of it.
"""

import opcode
import signal
from functools import partial
from traceback import walk_tb
from types import CodeType
from typing import Any

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
