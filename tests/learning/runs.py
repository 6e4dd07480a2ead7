# SPDX-License-Identifier: Apache-2.0
"""Rounds of tiny learning processes and of aggregators on any stack.

Processes and the contexts of stacks are made once: a stack traces a process only the
first time that it meets it, so that tests which share one are quick.
"""

import asyncio
import inspect
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import fedlearn_edu as fl
from examples.softmax import CLASSES, FEATURES, Client, Floats
from fedlearn_edu.framework import ReferenceContext
from fedlearn_edu.learning import LearningProcess
from fedlearn_edu.learning.aggregators import Aggregator
from fedlearn_edu.learning.models import Model
from tests.conformance.stacks import STACKS, Stack

REFERENCE = Stack("reference", ReferenceContext)

# Learning needs TensorFlow and sequences. Stacks for mixed programs differ from the
# others only where leaf code of NumPy meets TensorFlow's, which does not happen here.
LEARNING_STACKS = (
    REFERENCE,
    *(
        stack
        for stack in STACKS
        if stack.sequences
        and stack.runtime != "mixed"
        and stack.name != "local-numpy-sequence"
    ),
)


def stack_named(name: str) -> Stack:
    [stack] = [stack for stack in LEARNING_STACKS if stack.name == name]
    return stack


@cache
def model() -> Model:
    return fl.learning.models.softmax_regression(FEATURES, CLASSES)


@cache
def process(algorithm: str, **settings: Any) -> LearningProcess:
    """`process("fed_avg", local_epochs=3)` is built by `build_fed_avg`."""
    made = getattr(fl.learning, f"build_{algorithm}")(model(), **settings)
    assert isinstance(made, LearningProcess)
    return made


def call(stack: Stack, computation: fl.Computation, *arguments: Any) -> Any:
    """One call on a stack, awaited where the stack is asynchronous."""
    with stack.context:
        result = computation(*arguments)
        return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result


def rounds(
    stack: Stack, process: LearningProcess, clients: Sequence[Client], num_rounds: int
) -> list[Any]:
    """The state of the server after each round, in which everybody takes part."""
    cohorts = [range(len(clients))] * num_rounds
    return [state for state, _ in rounds_of(stack, process, clients, cohorts)]


def rounds_of(
    stack: Stack,
    process: LearningProcess,
    clients: Sequence[Client],
    cohorts: Sequence[Sequence[int]],
) -> list[tuple[Any, list[Any]]]:
    """The server's state and what all clients keep, after the round of each cohort."""
    state, kept, outcome = call(stack, process.initialize), [], []
    if process.initialize_client is not None:
        kept = [call(stack, process.initialize_client)] * len(clients)
    for cohort in cohorts:
        data = [as_data(clients[k]) for k in cohort]
        if process.keeps_client_states:
            theirs = [kept[k] for k in cohort]
            state, _, theirs = call(stack, process.next, state, data, theirs)
            changed = dict(zip(cohort, theirs, strict=True))
            kept = [changed.get(k, old) for k, old in enumerate(kept)]
        else:
            state, _ = call(stack, process.next, state, data)
        outcome.append((state, kept))
    return outcome


def as_data(client: Client) -> list[Any]:
    """A twin's client, as the library's processes take it."""
    return [OrderedDict(x=x, y=y) for x, y in client]


def as_array(weights: Any) -> Floats:
    """The library's weights, as the twins keep them: the last row is the bias."""
    return np.vstack([weights["weights"], weights["bias"]])


def assert_close(found: Any, expected: Any) -> None:
    """Equal but for the rounding of `float32`."""
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


async def _awaited(result: Any) -> Any:
    return await result


# ---------------------------------------------------------------- aggregators alone

UPDATE = fl.to_type(OrderedDict(w=(np.float32, [3, 2]), b=(np.float32, [2])))
SIZE = 8


def structured(row: Any) -> Any:
    row = np.float32(row)
    return OrderedDict(w=row[:6].reshape(3, 2), b=row[6:])


@cache
def made(factory: Any) -> Aggregator:
    aggregator: Aggregator = factory(UPDATE)
    return aggregator


def aggregated(
    stack: Stack, factory: Any, rows: Any, weights: Sequence[float], state: Any = None
) -> tuple[Any, Any, dict[str, Any]]:
    """The flat update, the state after it, and the metrics."""
    aggregator = made(factory)
    if state is None:
        state = call(stack, aggregator.initialize)
    updates = list(map(structured, rows))
    output = call(stack, aggregator.next, state, updates, list(weights))
    flat = np.concatenate([np.ravel(output.update["w"]), output.update["b"]])
    return flat, output.state, dict(output.metrics)
