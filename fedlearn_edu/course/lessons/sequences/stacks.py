# SPDX-License-Identifier: Apache-2.0
"""Which stack runs a sequence operator, and in how many steps."""

from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import looks, raises
from fedlearn_edu.framework import (
    AsyncExecutionContext,
    ExecutorFactory,
    SyncExecutionContext,
    local_executor_factory,
)
from fedlearn_edu.simulation import Environment

AT_CLIENTS: Final = fl.type_at_clients(fl.SequenceType(np.float32))


def _step_by_step() -> Any:
    return SyncExecutionContext(
        local_executor_factory(support_sequence_ops=True, fuse=False)
    )


def _squared_in(context: SyncExecutionContext, data: Any) -> Any:
    """What a context makes of a program with both primitives in a federated body."""
    square = fl.np_computation(lambda reading: reading * reading, np.float32)

    @fl.federated_computation(AT_CLIENTS)
    def squares(readings: Any) -> Any:
        return fl.sequence_sum(fl.sequence_map(square, readings))

    with context:
        return squares(data)


def _takes_steps(context: SyncExecutionContext) -> str:
    fuses = context.factory.fuses
    return "several steps as one" if fuses else "one step at a time"


STEP_BY_STEP = Exercise(
    name="step_by_step",
    title="a stack to look into",
    points=5,
    want=wants.value(SyncExecutionContext, "a SyncExecutionContext"),
    reference=_step_by_step,
    cases=(
        Case("runs sequence operators", ([[1.0, 2.0], [3.0, 4.0, 5.0]],), _squared_in),
        Case("also for nobody", ([],), _squared_in),
        Case("takes one step at a time", do=_takes_steps),
    ),
    mistakes=(
        looks(
            "this is a factory, it only builds stacks: put it into a "
            "`fl.framework.SyncExecutionContext`",
            lambda answer: isinstance(answer, ExecutorFactory),
        ),
        looks(
            "this is an environment, from `fl.simulation`: make a context, with the "
            "factory from `fl.framework`",
            lambda answer: isinstance(answer, Environment),
        ),
        looks(
            "this one is awaited: take `SyncExecutionContext`, which waits for you",
            lambda answer: isinstance(answer, AsyncExecutionContext),
        ),
        looks("this is the function or the class itself: call it, with ( )", callable),
        raises(
            "the sequence layer is not there: say support_sequence_ops=True",
            "UnsupportedIntrinsicError",
        ),
        looks(
            "it runs, but in one piece: switch fusing off with fuse=False",
            lambda answer: answer.factory.fuses,
        ),
    ),
    hints=(
        "Two things inside each other: a factory with both switches set, and a context "
        "around it.",
        "The layer is added by support_sequence_ops=True; the steps stay apart with "
        "fuse=False.",
        "Fill the gaps:\n"
        "    factory = fl.framework.local_executor_factory(\n"
        "        support_sequence_ops=..., fuse=...\n"
        "    )\n"
        "    step_by_step = fl.framework.SyncExecutionContext(...)",
    ),
)
