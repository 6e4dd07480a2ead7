# SPDX-License-Identifier: Apache-2.0
"""Lesson 06b: which stack of executors runs a sequence operator, and how."""

from contextlib import ContextDecorator
from functools import cache
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import MACHINE, Case, Exercise, Lesson
from fedlearn_edu.course.lessons.stack import OF_FRAMEWORK
from fedlearn_edu.course.mistakes import (
    NO_RETURN,
    gives,
    looks,
    raises,
    returns,
    typed,
    usual,
)
from fedlearn_edu.errors import FedLearnError, UnsupportedIntrinsicError
from fedlearn_edu.framework import (
    AsyncExecutionContext,
    ExecutorFactory,
    SyncExecutionContext,
    local_executor_factory,
)
from fedlearn_edu.language.context_stack import current_context
from fedlearn_edu.simulation import Environment

READINGS: Final = fl.SequenceType(np.float32)
AT_CLIENTS: Final = fl.type_at_clients(READINGS)


@cache
def plain() -> SyncExecutionContext:
    """A context without the sequence layer."""
    return SyncExecutionContext(local_executor_factory())


@cache
def layered() -> SyncExecutionContext:
    """A context with the sequence layer."""
    return SyncExecutionContext(local_executor_factory(support_sequence_ops=True))


def _warm_counts() -> Any:
    @fl.np_computation(READINGS)
    def warm_at_home(readings: Any) -> Any:
        return np.int32(sum(reading > 21 for reading in readings))

    @fl.federated_computation(AT_CLIENTS)
    def warm_counts(readings: Any) -> Any:
        return fl.federated_map(warm_at_home, readings)

    return warm_counts


def _without_the_layer(answer: Any, data: Any) -> list[int]:
    with plain():
        return [int(count) for count in answer(data)]


def _each(count: Any) -> Any:
    """A function of the clients' readings: what `count` makes of each."""
    return lambda clients: [int(count(readings)) for readings in clients]


WARM_COUNTS = Exercise(
    name="warm_counts",
    title="a count without the layer",
    points=10,
    want=wants.computation("({float32*}@CLIENTS -> {int32}@CLIENTS)"),
    reference=_warm_counts,
    cases=(
        Case("two homes", ([[18.0, 22.0, 25.5], [23.0]],), _without_the_layer),
        Case("21 is not above 21", ([[21.0, 21.5], [21.0]],), _without_the_layer),
        Case("a home without readings", ([[], [22.0]],), _without_the_layer),
        Case("no clients", ([],), _without_the_layer),
    ),
    mistakes=usual(
        "a sequence operator is still in the federated body: leave only "
        "`federated_map` there",
        raises("UnsupportedIntrinsicError"),
        "a home's whole sequence is one argument of `warm_at_home`, and no reading: "
        "`federated_map` gives each home's to it",
        raises("sequence_map cannot use"),
        "a sequence is no array: loop over its readings",
        raises("SequenceList"),
        "`return` is inside the loop, and only the first reading counts",
        _each(lambda readings: sum(r > 21 for r in readings[:1])),
        "a reading of exactly 21 is not above 21",
        _each(lambda readings: sum(r >= 21 for r in readings)),
        "you added up the warm readings: count them",
        _each(lambda readings: sum(r for r in readings if r > 21)),
        "you counted all readings, warm or not",
        _each(len),
        "you counted the cold readings",
        _each(lambda readings: sum(r <= 21 for r in readings)),
        "this is 1 if there is any warm reading: count all of them",
        _each(lambda readings: any(r > 21 for r in readings)),
        "this is one number at the server: each home keeps its own count",
        typed("({float32*}@CLIENTS -> int32@SERVER)"),
        "this is one number for each reading: add them up",
        raises("depends on the size of its input"),
        "a count is a whole number of 32 bits: put `np.int32(…)` around it",
        typed(
            "({float32*}@CLIENTS -> {int64}@CLIENTS)",
            "({float32*}@CLIENTS -> {float32}@CLIENTS)",
            "({float32*}@CLIENTS -> {bool}@CLIENTS)",
        ),
    ),
    hints=(
        "The stack has no layer for sequences, but each of its leaves runs any Python "
        "code on a whole sequence. So let the leaf count.",
        "`sum_in_leaf` above is made in the same way: an `np_computation` that takes a "
        "whole sequence, and a `federated_map`.",
        "In leaf code, `readings` is something to loop over:\n"
        "    return np.int32(sum(... for reading in readings))\n"
        "and in the federated body each client runs it:\n"
        "    return fl.federated_map(..., ...)",
        "What is 1 for a warm reading, and 0 for another one?\n"
        "    return np.int32(sum(... for reading in readings))\n"
        "and then:\n"
        "    return fl.federated_map(warm_at_home, readings)",
    ),
)


def runs_on(context: SyncExecutionContext, program: Any, data: Any) -> bool:
    """Whether a context runs a program, or refuses it: the reference answer."""
    try:
        with context:
            program(data)
    except UnsupportedIntrinsicError:
        return False
    return True


@cache
def sum_in_leaf() -> Any:
    """A sequence operator in leaf code."""
    sum_at_home = fl.np_computation(fl.sequence_sum, READINGS)
    return fl.federated_computation(
        lambda readings: fl.federated_map(sum_at_home, readings), AT_CLIENTS
    )


@cache
def sum_in_body() -> Any:
    """A sequence operator in a federated body."""
    return fl.federated_computation(fl.sequence_sum, AT_CLIENTS)


def _asked(context: Any, program: Any) -> Any:
    return lambda answer, data: answer(context(), program(), data)


def _what_becomes_of_an_error(answer: Any) -> str:
    try:
        answer(layered(), sum_in_body(), [["warm"]])
    except FedLearnError:
        return "comes through"
    return "is kept quiet"


def _where_it_ran(answer: Any) -> list[str]:
    """Where an answer calls a program that only looks at the current context."""
    mine, outer, data = plain(), current_context(), [["some data"]]
    seen: list[str] = []

    def program(given: Any) -> list[float]:
        where = {id(mine): "inside", id(outer): "outside"}
        seen.append(where.get(id(current_context()), "in another"))
        seen.extend(["on other data"] * (given != data))
        return []

    answer(mine, program, data)
    return seen


RUNS_ON = Exercise(
    name="runs_on",
    title="runs, or is refused",
    points=15,
    want=wants.function(3),
    reference=lambda: runs_on,
    cases=(
        Case("leaf code, no layer", ([[1.0], [2.0]],), _asked(plain, sum_in_leaf)),
        Case("an operator, no layer", ([[1.0], [2.0]],), _asked(plain, sum_in_body)),
        Case("an operator, the layer", ([[1.0]],), _asked(layered, sum_in_body)),
        Case("no clients", ([],), _asked(layered, sum_in_body)),
        Case("any other error", (), _what_becomes_of_an_error),
    ),
    mistakes=usual(
        "`program(data)` was never called: it has to be tried",
        looks(lambda answer: not _where_it_ran(answer)),
        "the program ran outside of the context: call it in `with context:`",
        looks(lambda answer: "outside" in _where_it_ran(answer)),
        "the program ran in another context: take the one handed in, `with context:`",
        looks(lambda answer: "in another" in _where_it_ran(answer)),
        "the program got other data: hand it those of this call, `program(data)`",
        looks(lambda answer: "on other data" in _where_it_ran(answer)),
        "a context is not called: write `with context:`, and in it `program(data)`",
        raises("not callable"),
        "the refusal is not caught: put `try:` around it, and "
        "`except UnsupportedIntrinsicError:` below",
        raises("UnsupportedIntrinsicError"),
        "only a refusal is to be caught: name `UnsupportedIntrinsicError` after "
        "`except`, and let all other errors through",
        gives(lambda: "is kept quiet"),
        "this is what the program returned: return True or False",
        returns(lambda got, *_: not isinstance(got, bool)),
        "a program that returns an empty list, or 0, has run, too",
        returns(lambda got, clients: got is False and not clients),
        "True and False are swapped",
        returns(lambda got, clients: got is False and len(clients) == 2),
        "True is returned also after a refusal",
        returns(lambda got, *_: got is True),
        *NO_RETURN,
    ),
    hints=(
        "Try it, and see whether the stack objects. An error can be caught.",
        "`try:` and `except …:` are Python's own. The name of the error is in the "
        "first cell, and `with plain:` is in the cells before the refusal.",
        "Fill the gaps:\n"
        "    try:\n"
        "        with ...:\n"
        "            ...\n"
        "    except UnsupportedIntrinsicError:\n"
        "        return ...\n"
        "    return ...",
        "What is to be tried?\n"
        "    try:\n"
        "        with context:\n"
        "            ...\n"
        "    except UnsupportedIntrinsicError:\n"
        "        return False\n"
        "    return True",
    ),
)


def _step_by_step() -> Any:
    return SyncExecutionContext(
        local_executor_factory(support_sequence_ops=True, fuse=False)
    )


def _squared_in(context: SyncExecutionContext, data: Any) -> Any:
    """What a context makes of a program with both primitives in a federated body."""
    square = fl.np_computation(lambda reading: reading * reading, np.float32)

    squares = fl.federated_computation(
        lambda readings: fl.sequence_sum(fl.sequence_map(square, readings)), AT_CLIENTS
    )
    with context:
        return squares(data)


def _takes_steps(context: SyncExecutionContext) -> str:
    fuses = context.factory.fuses
    return "several steps as one" if fuses else "one step at a time"


STEP_BY_STEP = Exercise(
    name="step_by_step",
    title="a stack to look into",
    points=10,
    want=wants.value(SyncExecutionContext, "a SyncExecutionContext"),
    reference=_step_by_step,
    cases=(
        Case("runs sequence operators", ([[1.0, 2.0], [3.0, 4.0, 5.0]],), _squared_in),
        Case("no clients", ([],), _squared_in),
        Case("takes one step at a time", do=_takes_steps),
    ),
    mistakes=usual(
        "this is an environment, from `fl.simulation`: make a context, with the "
        "factory from `fl.framework`",
        looks(lambda answer: isinstance(answer, Environment)),
        "this is a factory, it only builds stacks: put it into a "
        "`fl.framework.SyncExecutionContext`",
        looks(lambda answer: isinstance(answer, ExecutorFactory)),
        "this one is awaited: take `SyncExecutionContext`, which waits for you",
        looks(lambda answer: isinstance(answer, AsyncExecutionContext)),
        "`record` writes down what happens in a stack: make a `SyncExecutionContext`",
        looks(lambda answer: isinstance(answer, ContextDecorator)),
        *OF_FRAMEWORK,
        "the factory has the switches: `local_executor_factory(…)` takes both",
        raises("SyncExecutionContext was called with"),
        "this is the function or the class itself: call it, with ( )",
        looks(callable),
        "the sequence layer is not there: say support_sequence_ops=True",
        raises("UnsupportedIntrinsicError"),
        "it runs, but in one piece: switch fusing off with fuse=False",
        looks(lambda answer: answer.factory.fuses),
    ),
    hints=(
        "Two things, one inside the other: a factory with both switches set, and a "
        "context around it.",
        "The cell that makes `plain` and `layered` has the form, and the switch for "
        "the layer. The second switch is named in the text above the exercise.",
        "Fill the gaps:\n"
        "    factory = framework.local_executor_factory(\n"
        "        support_sequence_ops=..., fuse=...\n"
        "    )\n"
        "    step_by_step = framework.SyncExecutionContext(...)",
        "Is the switch for fusing on or off?\n"
        "    factory = framework.local_executor_factory(\n"
        "        support_sequence_ops=True, fuse=...\n"
        "    )\n"
        "    step_by_step = framework.SyncExecutionContext(factory)",
    ),
)


LESSON: Final = Lesson(
    name="06b_sequence_executors",
    title="Why does the same program run here and fail there?",
    minutes=35,
    goals=(
        "say who runs a sequence operator, and who never sees it",
        "read why a stack refuses a program, and mend it in two ways",
        "choose between one step at a time and several steps as one",
    ),
    path=MACHINE,
    needs="lessons 5 and 6a",
    exercises=(WARM_COUNTS, RUNS_ON, STEP_BY_STEP),
    outcomes={"leaf-calls": "2 times, and 5 times", "plain": "only `sum_in_leaf`"},
)
