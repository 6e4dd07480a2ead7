# SPDX-License-Identifier: Apache-2.0
"""The whole stack: who is at which placement, and the layers above all of them."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.lessons.stack.asking import four_times, run_on, wait_for
from fedlearn_edu.course.lessons.stack.participant import participant_stack
from fedlearn_edu.course.mistakes import looks, raises
from fedlearn_edu.framework import (
    Executor,
    FederatedResolvingStrategy,
    FederatingExecutor,
    NumPyExecutor,
    RecordingExecutor,
    ReferenceResolvingExecutor,
    Tape,
)
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.viz.executors import Layer, layer_of

_FEDERATING: Final = "FederatingExecutor"
_AT_CLIENTS: Final = fl.type_at_clients(np.float32)


def federated_stack(
    server: Executor, clients: Sequence[Executor], unplaced: Executor
) -> Executor:
    """The whole stack, over those of the participants: the reference answer."""
    targets: dict[Any, Any] = {fl.SERVER: server, fl.CLIENTS: list(clients)}
    strategy = FederatedResolvingStrategy.factory(targets)
    return ReferenceResolvingExecutor(FederatingExecutor(strategy, unplaced))


def _participant() -> Executor:
    return participant_stack(NumPyExecutor())


@cache
def _average() -> Computation:
    return fl.federated_computation(fl.federated_mean, _AT_CLIENTS)


@cache
def _doubled() -> Computation:
    return fl.federated_computation(
        lambda values: fl.federated_map(four_times(), values), _AT_CLIENTS
    )


def _of(answer: Any, count: int) -> Any:
    return answer(
        _participant(), [_participant() for _ in range(count)], _participant()
    )


def _mean(answer: Any, values: Sequence[float]) -> Any:
    stack = _of(answer, len(values))
    return wait_for(run_on(stack, _average(), values, _AT_CLIENTS))


def _map(answer: Any, values: Sequence[float]) -> Any:
    stack = _of(answer, len(values))
    return wait_for(run_on(stack, _doubled(), values, _AT_CLIENTS))


def _who_computes(answer: Any) -> list[str]:
    """Those that are asked to call something for a mean of two values."""
    tape = Tape()

    def seen(who: str) -> Executor:
        return RecordingExecutor(_participant(), tape, participant=who)

    stack = answer(
        seen("server"), [seen("client 0"), seen("client 1")], seen("nowhere")
    )
    wait_for(run_on(stack, _average(), [1.0, 2.0], _AT_CLIENTS))
    return sorted({event.participant for event in tape if event.what == "create_call"})


def _outline(layer: Layer) -> Any:
    if layer.name == _FEDERATING:
        return [layer.name, [[word, count] for word, count, _ in layer.below]]
    return [layer.name, *(_outline(below) for _, _, below in layer.below[:1])]


def _layers(answer: Any) -> str:
    return str(_outline(layer_of(_of(answer, 3))))


FEDERATED_STACK = Exercise(
    name="federated_stack",
    title="the whole stack",
    points=15,
    want=wants.function(3),
    reference=lambda: federated_stack,
    cases=(
        Case("a mean over three clients", ([1.0, 2.0, 6.0],), _mean),
        Case("one client", ([21.5],), _mean),
        Case("functions at two clients", ([1.0, -3.0],), _map),
        Case("who adds up for a mean", (), _who_computes),
        Case("has these layers, from the top", (), _layers),
    ),
    mistakes=(
        looks(
            "hand in the function itself; this is what it returns",
            lambda answer: isinstance(answer, Executor),
        ),
        raises(
            "the layer for names is missing on top of the federating executor",
            "does not call lambdas",
        ),
        raises("nothing came back: is there a `return`?", "NoneType"),
        raises(
            "`unplaced` is missing: it is the second argument of `FederatingExecutor`",
            "'unplaced_executor'",
        ),
        raises(
            "a `FederatingExecutor` takes two things: first what "
            "`FederatedResolvingStrategy.factory(targets)` gives, not the strategy "
            "itself and not `targets`; then `unplaced`",
            "'values'|strategy_factory|positional arguments|not callable",
        ),
        looks(
            "this is a strategy factory; a `FederatingExecutor` has to use it",
            lambda answer: not isinstance(_of(answer, 2), Executor),
        ),
        raises(
            "`clients` is a list already: hand it in as it is",
            "something else than executors",
        ),
        raises(
            "each client needs an executor of its own: hand in all of `clients`",
            "CardinalityError",
        ),
        looks(
            "on top, names are enough: sequences are read by the participants",
            lambda answer: "Sequence" in _layers(answer),
        ),
        looks(
            "the unplaced executor does the work of the server here",
            lambda answer: _who_computes(answer) == ["nowhere"],
        ),
        looks(
            "a client does the work of the server here",
            lambda answer: any("client" in who for who in _who_computes(answer)),
        ),
        raises(
            "the strategy needs `fl.SERVER` and `fl.CLIENTS`, the placements, as keys",
            "Placement|placement",
        ),
    ),
    hints=(
        "Which executors belong to a placement? Those go into one mapping. The third "
        "has none.",
        "names( federating( strategy for {SERVER: …, CLIENTS: …}, unplaced ) )",
        "Fill the gaps:\n"
        "    targets = {fl.SERVER: server, fl.CLIENTS: ...}\n"
        "    strategy = framework.FederatedResolvingStrategy.factory(...)\n"
        "    federating = framework.FederatingExecutor(strategy, ...)\n"
        "    return framework.ReferenceResolvingExecutor(...)",
    ),
)
