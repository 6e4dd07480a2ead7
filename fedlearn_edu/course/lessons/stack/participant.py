# SPDX-License-Identifier: Apache-2.0
"""The stack of one participant: a leaf, names, sequences, and names again."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.lessons.stack.asking import (
    NUMBERS,
    double,
    four_times,
    run_on,
    wait_for,
)
from fedlearn_edu.course.mistakes import looks, raises
from fedlearn_edu.framework import (
    Executor,
    NumPyExecutor,
    RecordingExecutor,
    ReferenceResolvingExecutor,
    SequenceExecutor,
    Tape,
)
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.viz.executors import layer_of

_NAMES: Final = "ReferenceResolvingExecutor"
_SEQUENCES: Final = "SequenceExecutor"
_LEAF: Final = "NumPyExecutor"


def participant_stack(leaf: Executor) -> Executor:
    """The stack of one participant: the reference answer."""
    names = ReferenceResolvingExecutor(leaf)
    return ReferenceResolvingExecutor(SequenceExecutor(names))


def names_of(executor: Executor) -> list[str]:
    """The classes of a chain of executors, from the top."""
    layer, names = layer_of(executor), []
    while True:
        names.append(layer.name)
        if len(layer.below) != 1:
            return names
        layer = layer.below[0][2]


@cache
def _sum_of_doubles() -> Computation:
    add = fl.np_computation(lambda a, b: a + b, np.float32, np.float32)
    step = fl.federated_computation(
        lambda a, b: add(a, double()(b)), np.float32, np.float32
    )
    return fl.federated_computation(
        lambda values: fl.sequence_reduce(values, 0.0, step), NUMBERS
    )


def _four_times(answer: Any, number: float) -> Any:
    stack = answer(NumPyExecutor())
    return wait_for(run_on(stack, four_times(), number, np.float32))


def _reduce(answer: Any, values: Sequence[float]) -> Any:
    stack = answer(NumPyExecutor())
    return wait_for(run_on(stack, _sum_of_doubles(), values, NUMBERS))


def _names(answer: Any) -> list[str]:
    return names_of(answer(NumPyExecutor()))


def _leaf_is_used(answer: Any) -> bool:
    tape = Tape()
    stack = answer(RecordingExecutor(NumPyExecutor(), tape))
    wait_for(run_on(stack, double(), 1.0, np.float32))
    return len(tape) > 0


def _built(*names: str) -> Any:
    return lambda answer: _names(answer) == list(names)


PARTICIPANT_STACK = Exercise(
    name="participant_stack",
    title="the stack of one participant",
    points=10,
    want=wants.function(1),
    reference=lambda: participant_stack,
    cases=(
        Case("runs a function of functions", (21.0,), _four_times),
        Case("reduces a sequence", ([1.0, 2.0, 4.0],), _reduce),
        Case("reduces an empty sequence", ([],), _reduce),
        Case("stands on the leaf it is given", (), _leaf_is_used),
        Case("has these layers, from the top", (), _names),
    ),
    mistakes=(
        looks(
            "hand in the function itself; this is what it returns",
            lambda answer: isinstance(answer, Executor),
        ),
        looks(
            "this is a class: put what is below it in parentheses",
            lambda answer: isinstance(answer(NumPyExecutor()), type),
        ),
        raises("nothing came back: is there a `return`?", "NoneType"),
        raises("write `def` alone: to put executors together asks nobody", "coroutine"),
        looks("this is the leaf alone", _built(_LEAF)),
        looks(
            "there is no layer for sequences: put a `SequenceExecutor` on top, and "
            "names on top of that",
            lambda answer: _SEQUENCES not in _names(answer),
        ),
        looks(
            "two layers for names are missing, one below the sequences, one on top",
            _built(_SEQUENCES, _LEAF),
        ),
        looks(
            "the layer for names on top is missing: `sequence_reduce` stands in a "
            "function, and somebody has to open it",
            lambda answer: _names(answer)[0] == _SEQUENCES,
        ),
        looks(
            "names are needed below the sequences, too: what is applied to each "
            "element may itself be a function of functions",
            _built(_NAMES, _SEQUENCES, _LEAF),
        ),
        looks(
            "the layers for names are side by side: the one for sequences belongs "
            "between them",
            lambda answer: _names(answer)[:2] == [_NAMES, _NAMES],
        ),
        looks(
            "you made a leaf of your own; build on the one that is handed in",
            lambda answer: not _leaf_is_used(answer),
        ),
        looks("there is a layer too many", lambda answer: len(_names(answer)) > 4),
        raises("each layer needs the one below it, in parentheses", "positional"),
    ),
    hints=(
        "Four layers, three of them to be added. Begin with the leaf, and wrap.",
        "From the top: names, sequences, names, leaf. What is below stands in the "
        "parentheses.",
        "Fill the gaps:\n"
        "    names = framework.ReferenceResolvingExecutor(leaf)\n"
        "    sequences = framework.SequenceExecutor(...)\n"
        "    return framework.ReferenceResolvingExecutor(...)",
    ),
)
