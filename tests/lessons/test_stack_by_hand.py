# SPDX-License-Identifier: Apache-2.0
"""The stack that learners build in lesson 06 is the one that the factory builds.

The recorders stand where `contexts/factories.py` puts them, those between the layers
that an answer builds included: they are slipped in between after it has built.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import framework as fw
from fedlearn_edu.contexts.calls import finish as run
from fedlearn_edu.course.checks import exercise_named
from fedlearn_edu.executors.traffic import bytes_by_edge
from fedlearn_edu.viz.executors import layer_of

VALUES = fl.type_at_clients(np.float32)
BATCHES = fl.type_at_clients(fl.SequenceType(np.float32))

add = fl.np_computation(lambda a, b: a + b, np.float32, np.float32)
mean = fl.federated_computation(fl.federated_mean, VALUES)
largest = fl.federated_computation(fl.federated_max, VALUES)
local_sum = fl.federated_computation(
    lambda x: fl.sequence_reduce(x, 0.0, add), fl.SequenceType(np.float32)
)
local_sums = fl.federated_computation(
    lambda batches: fl.federated_map(local_sum, batches), BATCHES
)
PROGRAMS: list[tuple[Any, fl.Type, list[Any]]] = [
    (mean, VALUES, [1.0, 2.0, 6.0]),
    (mean, VALUES, [21.5]),
    (largest, VALUES, [-3.0, -8.0]),
    (local_sums, BATCHES, [[1.0, 2.0], [], [3.0]]),
]
each_program = pytest.mark.parametrize(("program", "type_", "data"), PROGRAMS)


def answer(name: str) -> Any:
    return exercise_named(name).solution


def leaf_to_top(count: int) -> fw.Executor:
    parts = [answer("participant_stack")(fw.NumPyExecutor()) for _ in range(count + 2)]
    stack: fw.Executor = answer("federated_stack")(parts[0], parts[2:], parts[1])
    return stack


def recorded(count: int, tape: fw.Tape) -> fw.Executor:
    """The same, with a recorder around everything that the factory records."""

    def seen(executor: Any, layer: str, who: str) -> fw.Executor:
        return fw.RecordingExecutor(executor, tape, layer=layer, participant=who)

    def participant(who: str) -> fw.Executor:
        stack = answer("participant_stack")(seen(fw.NumPyExecutor(), "leaf", who))
        stack._target = seen(stack._target, "sequence", who)
        return seen(stack, "participant", who)

    clients = [participant(f"clients[{i}]") for i in range(count)]
    stack = answer("federated_stack")(
        participant("server"), clients, participant("unplaced")
    )
    stack._target = seen(stack._target, "federating", "all")
    return seen(stack, "reference_resolving", "all")


def said(tape: fw.Tape) -> Sequence[Any]:
    return [(e.participant, e.layer, e.what, e.type, e.detail) for e in tape]


def ask(executor: fw.Executor, program: Any, data: Any, type_: fl.Type) -> Any:
    return run(answer("run_on")(executor, program, data, type_))


@pytest.mark.parametrize("count", [1, 2, 7])
def test_it_has_the_layers_of_the_factory_s_stack(count: int) -> None:
    factory = fw.local_executor_factory(support_sequence_ops=True)
    theirs = factory.create_executor({fl.CLIENTS: count})
    assert layer_of(leaf_to_top(count)) == layer_of(theirs)


@each_program
def test_it_leaves_the_same_events_on_a_tape(
    program: Any, type_: fl.Type, data: Any
) -> None:
    ours, theirs = fw.Tape(), fw.Tape()
    factory = fw.local_executor_factory(support_sequence_ops=True, tape=theirs)
    stack = factory.create_executor({fl.CLIENTS: len(data)})
    theirs.clear()  # of the context's own event: that a stack was built
    assert ask(recorded(len(data), ours), program, data, type_) == ask(
        stack, program, data, type_
    )
    assert said(ours) == said(theirs)
    assert len(ours) > 0


class CallCounter(fw.WrappingExecutor):
    """The lesson's executor that counts."""

    calls = 0

    async def around(self, what: str, work: Any, subject: Any) -> Any:
        self.calls += what == "create_call"
        return await work()


def test_only_the_server_computes_for_a_mean() -> None:
    """What the lesson's counters show at its end."""
    leaves = [CallCounter(fw.NumPyExecutor()) for _ in range(5)]
    parts = [answer("participant_stack")(leaf) for leaf in leaves]
    stack = answer("federated_stack")(parts[0], parts[2:], parts[1])
    assert ask(stack, mean, [1.0, 2.0, 6.0], VALUES) == 3.0
    assert [leaf.calls for leaf in leaves] == [8, 0, 0, 0, 0]
    with fl.record() as tape:
        mean([1.0, 2.0, 6.0])
    sent = bytes_by_edge(tape.events)
    assert (sent["server → clients"], sent["clients → server"]) == (0, 24)
    calls = [e for e in tape.events if (e.layer, e.what) == ("leaf", "create_call")]
    assert [e.detail for e in calls] == ["add"] * 6 + ["reciprocal", "multiply"]
