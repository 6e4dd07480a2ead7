# SPDX-License-Identifier: Apache-2.0
"""The four questions that run a program on an executor; they serve all exercises."""

import inspect
import warnings
from collections.abc import Awaitable
from functools import cache
from traceback import clear_frames
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.contexts.event_loop import run
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Attempt, Case, Exercise, Mistake
from fedlearn_edu.course.mistakes import gives, looks, raises
from fedlearn_edu.framework import (
    ExecutorValue,
    NumPyExecutor,
    RecordingExecutor,
    ReferenceResolvingExecutor,
    Tape,
)
from fedlearn_edu.language.computation import Computation

NEVER_AWAITED: Final = "a coroutine that nobody awaited"
NUMBERS: Final = fl.SequenceType(np.float32)


async def run_on(executor: Any, program: Any, data: Any, type_: Any) -> Any:
    """Runs a program on data of a type: the reference answer."""
    fn = await executor.create_value(program)
    arg = await executor.create_value(data, type_)
    result = await executor.create_call(fn, arg)
    return await result.compute()


def wait_for(work: Any) -> Any:
    """What an awaitable gives; warnings about forgotten `await`s are not needed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            result = run(_finished(work)) if inspect.isawaitable(work) else work
        except Exception as error:
            # What holds a forgotten coroutine goes now, while warnings are off.
            clear_frames(error.__traceback__)
            if isinstance(error, AttributeError):
                error.obj = None
            raise
        if inspect.iscoroutine(result):
            result.close()
            return NEVER_AWAITED
        return result


async def _finished(work: Awaitable[Any]) -> Any:
    return await work


@cache
def double() -> Computation:
    """Leaf code: twice a number."""
    program: Computation = fl.np_computation(lambda x: x * np.float32(2), np.float32)
    return program


@cache
def four_times() -> Computation:
    """A function of functions: no leaf knows it."""
    return fl.federated_computation(lambda x: double()(double()(x)), np.float32)


@cache
def _negative() -> Computation:
    """Leaf code for a type of its own."""
    program: Computation = fl.np_computation(lambda x: -x, np.int32)
    return program


def _on_leaf(answer: Any, number: float) -> Any:
    return wait_for(answer(NumPyExecutor(), double(), number, np.float32))


def _on_two_layers(answer: Any, number: float) -> Any:
    stack = ReferenceResolvingExecutor(NumPyExecutor())
    return wait_for(answer(stack, four_times(), number, np.float32))


def _with_whole_number(answer: Any, number: int) -> Any:
    return wait_for(answer(NumPyExecutor(), _negative(), number, np.int32))


def _questions(answer: Any) -> list[str]:
    tape = Tape()
    leaf = RecordingExecutor(NumPyExecutor(), tape)
    wait_for(answer(leaf, double(), 1.0, np.float32))
    return sorted(event.what for event in tape)


def _is_handle(attempt: Attempt) -> bool:
    return isinstance(attempt.got, ExecutorValue)


def _is_never_awaited(attempt: Attempt) -> bool:
    return isinstance(attempt.got, str) and attempt.got == NEVER_AWAITED


def _asks_nobody(attempt: Attempt) -> bool:
    return isinstance(attempt.got, list) and not attempt.got


RUN_ON = Exercise(
    name="run_on",
    title="four questions to any executor",
    points=10,
    want=wants.function(4),
    reference=lambda: run_on,
    cases=(
        Case("leaf code on the leaf", (21.0,), _on_leaf),
        Case("another number", (-0.5,), _on_leaf),
        Case("a function of functions, one layer up", (3.0,), _on_two_layers),
        Case("a whole number", (7,), _with_whole_number),
        Case("asks what has to be asked", (), _questions),
    ),
    mistakes=(
        Mistake(
            "this is a handle, not a number: `compute()` is the fourth question",
            _is_handle,
        ),
        Mistake(
            "an `await` is missing before the last step: this is a promise of a number",
            _is_never_awaited,
        ),
        raises(
            "you called the program yourself, and nobody asked the executor",
            "synchronous call",
        ),
        raises("an `await` is missing: all four questions need one", "coroutine"),
        raises(
            "data need their type: it is the second argument of `create_value`",
            "needs a type",
        ),
        raises(
            "`create_call` takes the function first, then its argument",
            "only functions can be called",
        ),
        raises(
            "embed the data, too: the executor can only use handles that it made",
            "type_signature|very executor",
        ),
        Mistake(
            "you called the program yourself, and nobody asked the executor",
            _asks_nobody,
        ),
        raises(
            "take the type that is handed in, `type_`: the data are not always numbers "
            "of the same kind",
            "NotAssignable",
        ),
        raises(
            "an executor has no `compute`: ask the handle for its value",
            "Executor' object has no attribute 'compute'",
        ),
        raises(
            "you asked another executor than the one that is handed in",
            "own leaf code only",
        ),
        gives("these are the data; the program did not run", lambda number: number),
        gives(
            "you called `double`: take the program that is handed in", lambda n: 2 * n
        ),
        gives(
            "this is for the 21 from above: take the data that are handed in",
            lambda number: 42.0,
        ),
        looks(
            "a function that waits for others begins with `async def`",
            lambda answer: not inspect.iscoroutinefunction(answer),
        ),
    ),
    hints=(
        "It is the cell above the exercise, with other names.",
        "Embed the program, embed the data with their type, call, compute. "
        "Put `await` before each.",
        "Fill the gaps:\n"
        "    fn = await executor.create_value(program)\n"
        "    arg = await executor.create_value(..., ...)\n"
        "    result = await executor.create_call(fn, ...)\n"
        "    return await result...",
    ),
)
