# SPDX-License-Identifier: Apache-2.0
"""An executor of one's own: it counts the calls that it passes on."""

from typing import Any

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Attempt, Case, Exercise, Mistake
from fedlearn_edu.course.lessons.stack.asking import (
    double,
    four_times,
    run_on,
    wait_for,
)
from fedlearn_edu.course.mistakes import gives, looks, raises
from fedlearn_edu.framework import (
    NumPyExecutor,
    RecordingExecutor,
    ReferenceResolvingExecutor,
    Tape,
    WrappingExecutor,
)


def _call_counter() -> Any:
    class CallCounter(WrappingExecutor):
        """Counts how often a function is called in its target."""

        def __init__(self, target: Any) -> None:
            super().__init__(target)
            self.calls = 0

        async def around(self, what: str, work: Any, subject: Any) -> Any:
            if what == "create_call":
                self.calls += 1
            return await work()

        def close(self) -> None:
            self.target.close()

    return CallCounter


def _result(kind: Any, number: float) -> Any:
    return wait_for(run_on(kind(NumPyExecutor()), double(), number, np.float32))


def _counted(kind: Any, runs: int) -> Any:
    counter = kind(NumPyExecutor())
    for _ in range(runs):
        wait_for(run_on(counter, double(), 1.0, np.float32))
    return counter.calls


def _counted_below(kind: Any) -> Any:
    counter = kind(NumPyExecutor())
    stack = ReferenceResolvingExecutor(counter)
    wait_for(run_on(stack, four_times(), 1.0, np.float32))
    return counter.calls


def _apart(kind: Any) -> list[Any]:
    counters = [kind(NumPyExecutor()), kind(NumPyExecutor())]
    wait_for(run_on(counters[0], double(), 1.0, np.float32))
    return [counter.calls for counter in counters]


def _passed_on(kind: Any) -> list[str]:
    tape = Tape()
    counter = kind(RecordingExecutor(NumPyExecutor(), tape))
    wait_for(run_on(counter, double(), 1.0, np.float32))
    return [event.what for event in tape]


def _counts_all_questions(attempt: Attempt) -> bool:
    return bool(attempt.inputs) and attempt.got == 4 * attempt.inputs[0]


CALL_COUNTER = Exercise(
    name="call_counter",
    title="an executor that counts",
    points=10,
    want=wants.subclass(WrappingExecutor, "a class derived from WrappingExecutor"),
    reference=_call_counter,
    cases=(
        Case("the result comes through", (21.0,), _result),
        Case("one call", (1,), _counted),
        Case("three calls", (3,), _counted),
        Case("nobody asked yet", (0,), _counted),
        Case("below a layer for names", (), _counted_below),
        Case("two counters count apart", (), _apart),
        Case("passes on each question once", (), _passed_on),
    ),
    mistakes=(
        raises(
            "`around` has to hand on what came of it: `return await work()`", "NoneType"
        ),
        raises(
            "`work()` only promises: `await` it, and return what comes", "coroutine"
        ),
        raises(
            "`work` has to be called: `await work()`",
            "can't be used in 'await'|method|function",
        ),
        looks(
            "all counters share one count: use `self.calls`",
            lambda answer: answer.calls > 0,
        ),
        Mistake(
            "you counted every question; only `create_call` is a call",
            _counts_all_questions,
        ),
        raises("`calls` alone is a new name: write `self.calls`", "UnboundLocal"),
        looks(
            "a call is passed on twice: `await work()` once, whatever the question",
            lambda answer: _passed_on(answer).count("create_call") > 1,
        ),
        gives(
            'nothing was counted: compare `what` with `"create_call"`, and add to '
            "`self.calls`",
            lambda runs: 0,
        ),
        gives(
            "you counted something else: values are embedded twice for each call",
            lambda runs: 2 * runs,
        ),
        gives(
            "this remembers only that there was a call, not how many",
            lambda runs: min(runs, 1),
        ),
    ),
    hints=(
        "`what` is the name of the question: which of the four is a call?",
        "If it is a call, `self.calls` grows by 1. In any case the work is done, and "
        "its result handed on.",
        "Fill the gaps:\n"
        '    if what == "...":\n'
        "        self.calls += 1\n"
        "    return await ...",
    ),
)
