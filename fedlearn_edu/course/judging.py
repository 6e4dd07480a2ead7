# SPDX-License-Identifier: Apache-2.0
"""Tries an answer: what kind of thing it is, case by case, and why it failed.

Each case has a time limit, or a loop without an end would never return. The limit
interrupts the main thread as Ctrl-C does, so it works on every system, and a federated
computation that is running is cancelled by it; an answer that catches the interrupt is
interrupted again. What already runs in another thread, inside NumPy or TensorFlow,
cannot be stopped; the message says what to do then. In a browser, without other
threads, a clock is looked at instead.
"""

import _thread
import inspect
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, suppress
from dataclasses import dataclass, replace
from functools import partial
from types import FrameType
from typing import Any, Final, final

import numpy as np

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.contexts.clock import Limit
from fedlearn_edu.course import slips
from fedlearn_edu.course.exercise import (
    REFERENCE,
    Attempt,
    Case,
    Exercise,
    Failure,
    Unanswered,
    call,
    is_left_open,
    shown,
)
from fedlearn_edu.errors import FedLearnError, TracingError, is_yours, line_of, one_line
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.comparison import alike, to_plain

PASSED: Final = "passed"
FAILED: Final = "failed"
NOT_RUN: Final = "not run"

_ENDLESS = (
    "a loop without an end? If the computer stays busy, restart the kernel, "
    "and run the cells above again"
)
_TIMES = 3
"""How many limits may pass on the clock while other programs have the processor."""
_AGAIN_S = 1.0
"""How long after the bell rang it rings again."""


@final
@dataclass(frozen=True)
class Row:
    """One line of the table: a case, and how it went."""

    name: str
    outcome: str


@final
@dataclass(frozen=True)
class Verdict:
    """How every case went, and the first failure."""

    exercise: Exercise
    rows: tuple[Row, ...]
    failure: Failure | None

    @property
    def is_right(self) -> bool:
        """Whether every case passed."""
        return self.failure is None

    @property
    def is_answered(self) -> bool:
        """Whether there was anything to try."""
        return self.failure is None or bool(self.failure.got)


def judge(exercise: Exercise, answer: Any) -> Verdict:
    """Tries every case on an answer, and explains the first failure."""
    failure = _failure(exercise, answer)
    if failure is not None:
        rows = [Row(exercise.want.name, FAILED if failure.got else NOT_RUN)]
        rows += [Row(case.name, NOT_RUN) for case in exercise.cases]
        return Verdict(exercise, tuple(rows), failure)
    rows = [Row(exercise.want.name, PASSED)]
    for case in exercise.cases:
        if failure is not None and failure.likely == _ENDLESS:
            rows.append(Row(case.name, NOT_RUN))
            continue
        found = _try(exercise, answer, case)
        if found == _unanswered(exercise):
            return judge(exercise, Unanswered(exercise.name))
        rows.append(Row(case.name, PASSED if found is None else FAILED))
        failure = failure or found
    return Verdict(exercise, tuple(rows), failure)


def _failure(exercise: Exercise, answer: Any) -> Failure | None:
    """Why an answer cannot be tried, `None` if it can."""
    failure = exercise.want.failure(answer)
    if isinstance(answer, Unanswered) and answer.error is not None:
        attempt = Attempt(answer, error=answer.error)
        return _undefined(exercise, attempt, answer.error)
    if answer is None or answer is ... or isinstance(answer, Unanswered):
        failure = _unanswered(exercise)
    elif _is_reference(exercise, answer):
        put = "the checkpoint put it there: run the cell with your own answer again, "
        failure = Failure("your answer", REFERENCE, f"{put}then this one")
    if failure is None or isinstance(answer, Unanswered):
        return failure
    return replace(failure, likely=_likely(exercise, Attempt(answer)) or failure.likely)


def _undefined(exercise: Exercise, attempt: Attempt, error: BaseException) -> Failure:
    """What the cell of the answer raised, so that there is nothing to try."""
    lines, likely = _lines(error), _likely(exercise, attempt)
    cure = (not likely and getattr(error, "do", None)) or "mend the cell of your answer"
    return Failure(
        lines.pop("expected", "an answer that can be defined"),
        _told(error, is_cured=bool(likely)),
        likely,
        **lines,
        do=f"{cure}; run your cell until it shows no error, then this one",
    )


def _is_reference(exercise: Exercise, answer: Any) -> bool:
    if answer is not exercise.solution:
        return False
    # A learner may have made the same number or placement.
    is_made = inspect.isfunction(answer) or isinstance(answer, Computation)
    return is_made or exercise.reference() is not answer


def _unanswered(exercise: Exercise) -> Failure:
    return Failure(
        "",
        "",
        do=f"`{exercise.name}` is not answered yet: write your answer in the cell "
        "above, under this name, run that cell until it shows no error, then this one",
    )


def _try(exercise: Exercise, answer: Any, case: Case) -> Failure | None:
    inputs = case.inputs()
    expected = case.on(exercise.solution, inputs)
    written = ", ".join(map(shown, inputs))
    # Only where the case calls the answer with them is that what was done.
    written = f"{exercise.name}({written})" if case.do is call else written
    failed = partial(Failure, shown(expected), inputs=written)
    try:
        # A grader gives no points to a cell that writes on stderr.
        with time_limit(exercise.limit_s), redirect_stderr(sys.stdout):
            got = case.on(answer, inputs)
    except TookTooLongError as error:
        return failed(f"nothing: {error}", _ENDLESS)
    except (Exception, SystemExit) as error:
        if is_left_open(error):
            return _unanswered(exercise)
        likely = _likely(exercise, Attempt(answer, inputs, error=error))
        lines = {
            name: text for name, text in _lines(error).items() if name != "expected"
        }
        return failed(_told(error, is_cured=bool(likely)), likely, **lines)
    if alike(got, expected):
        return None
    attempt = Attempt(answer, inputs, got)
    likely = _likely(exercise, attempt) or _form(got, expected)
    return failed(shown(got), likely or slips.of_result(attempt, expected))


def _lines(error: BaseException) -> dict[str, str]:
    """What an error of the library says besides; of others, which line raised them."""
    if not isinstance(error, FedLearnError):
        return {"where": line_of(error) or ""}
    lines = {name: getattr(error, name) for name in ("expected", "found", "where")}
    told = {name: f"{text}" for name, text in lines.items() if text is not None}
    return {n: text if n == "where" else one_line(text) for n, text in told.items()}


def _told(error: BaseException, *, is_cured: bool) -> str:
    """An error in one line, with its cure, unless the exercise knows a better one."""
    if isinstance(error, FedLearnError):
        do = f"; {error.do}" if error.do and not is_cured else ""
        return f"{type(error).__name__}: {error.summary}{do}"
    try:
        first = (str(error).splitlines() or [""])[0]
    except Exception:  # of its `__str__`
        first = ""
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _likely(exercise: Exercise, attempt: Attempt) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a mistake that is tried on strange inputs
        spotted = (each.says for each in exercise.mistakes if each.spotted(attempt))
        told = next(spotted, "")
    error = attempt.error
    if isinstance(error, TracingError):  # of a leaf that failed on ones
        error = error.__cause__ or error
    if told or error is None or isinstance(error, FedLearnError | TookTooLongError):
        return told
    return slips.of_error(attempt.answer, error)


def _form(got: Any, expected: Any) -> str:
    """What can be said of any wrong result: it is missing, unread, `nan`, misshapen."""
    if got is None:
        return "nothing came back: is there a `return`, in each branch of an `if`?"
    if isinstance(got, Iterator):
        return "this is an iterator, not a list: put `list(…)` around it"
    if _has_nan(got) and not _has_nan(expected):
        return "`nan` is not a number: was something divided by zero?"
    with suppress(Exception):  # an attribute may be anything
        if got.shape != expected.shape and not expected.shape:
            return f"one number is asked for, and these are {got.size}: sum, or mean?"
        if got.shape != expected.shape:
            return f"the shape is {got.shape}, and should be {expected.shape}"
    return ""


def _has_nan(thing: Any) -> bool:
    try:
        numbers = np.asarray(to_plain(thing))
        return numbers.dtype.kind in "fc" and bool(np.isnan(numbers).any())
    except Exception:  # it holds no numbers
        return False


@final
class TookTooLongError(Exception):
    """An answer did not end in time."""


def time_limit(seconds: float) -> AbstractContextManager[None]:
    """Raises `TookTooLongError` in a block that takes longer; main thread only.

    >>> with time_limit(0.05):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    ...
    fedlearn_edu.course.judging.TookTooLongError: not after 0.05 seconds
    """
    late = TookTooLongError(f"not after {seconds:g} seconds")
    return Limit(seconds, lambda: late) if is_browser() else _bell(seconds, late)


@contextmanager
def _bell(seconds: float, late: TookTooLongError) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    keys, tracer = signal.getsignal(signal.SIGINT), sys.gettrace()
    bell = _Bell(seconds, keys)
    signal.signal(signal.SIGINT, bell.hear)
    threading.Thread(target=bell.ring, daemon=True).start()
    try:
        yield
    except BaseException:
        if not bell.rang:
            raise
    finally:
        with bell.lock:  # from here on it is silent
            bell.over.set()
        sys.settrace(tracer)
        signal.signal(signal.SIGINT, keys)
    if bell.rang:  # whatever came of it
        raise late from None


@final
class _Bell:
    """Interrupts the main thread, again and again: a bare `except` catches that, too.

    Once an interrupt was caught, each line of the answer raises another one.
    """

    def __init__(self, seconds: float, keys: Any) -> None:
        self._seconds, self._keys = seconds, keys
        self.rang, self.over, self.lock = False, threading.Event(), threading.Lock()

    def ring(self) -> None:
        """Rings when time is up, until it is over."""
        began = time.process_time()
        for _ in range(_TIMES):
            if self.over.wait(self._seconds):
                return
            if time.process_time() - began > 0.8 * self._seconds:
                break
        while True:
            with self.lock:
                if self.over.is_set():
                    return
                self.rang = True
                _interrupt()
            self.over.wait(_AGAIN_S)

    def hear(self, number: int, frame: FrameType | None) -> None:
        """The signal: the bell, or whoever presses Ctrl-C."""
        if not self.rang:
            if callable(self._keys):
                self._keys(number, frame)
        elif frame is not None and frame.f_code.co_filename not in _LEAVING:
            self.insist(frame)
            raise _Rung(self)

    def insist(self, frame: FrameType | None) -> None:
        """Has the answer interrupted at its next line, wherever that is."""
        if self.over.is_set():
            return
        while frame is not None:
            if is_yours(frame.f_code.co_filename):
                frame.f_trace = self._stop
            frame = frame.f_back
        sys.settrace(self._stop)

    def _stop(self, frame: FrameType, _event: str, _argument: Any) -> None:
        # Cleaning up is left to the library: it gives up what runs elsewhere.
        if not self.over.is_set() and is_yours(frame.f_code.co_filename):
            raise _Rung(self)


@final
class _Rung(KeyboardInterrupt):
    """The interrupt of a bell, which insists when this was caught and dropped."""

    def __init__(self, bell: _Bell) -> None:
        self._bell = bell

    def __del__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._bell.insist(sys._getframe())


_LEAVING: Final = (__file__, contextmanager.__code__.co_filename)
"""What is interrupted here is at its end."""


def _interrupt() -> None:
    if not hasattr(signal, "pthread_kill"):
        _thread.interrupt_main()
        return
    # A real signal also ends the wait for another thread.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
