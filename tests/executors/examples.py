# SPDX-License-Identifier: Apache-2.0
"""One small stack for every executor, and an executor that counts what it is asked."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.executors import threads
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.federating import implements
from fedlearn_edu.executors.layer import AnyRuntimeExecutor
from fedlearn_edu.executors.wrapping import Work, WrappingExecutor
from fedlearn_edu.structure import Struct

fw = fl.framework


class Plain(fw.FederatingStrategy):
    """Everything is a plain Python value in one place; it can add, if anything."""

    async def embed(self, value: Any, type_: Any) -> Any:
        return value

    async def compute(self, representation: Any, type_: Any) -> Any:
        return representation

    def close(self) -> None:
        """Has no targets."""

    @implements("federated_sum")
    async def _sum(self, type_: Any, value: Any) -> Any:
        return np.int32(sum(value.representation))


def federating(
    clients: int = 2, *, leaf: Callable[[], Executor] = fw.NumPyExecutor
) -> Any:
    """A flat federating executor over a resolving stack for everybody."""

    def participant() -> Executor:
        return fw.ReferenceResolvingExecutor(leaf())

    targets: Any = {
        fl.SERVER: participant(),
        fl.CLIENTS: [participant() for _ in range(clients)],
    }
    strategy = fw.FederatedResolvingStrategy.factory(targets)
    return fw.FederatingExecutor(strategy, participant())


EXAMPLES: dict[str, Callable[[], Executor]] = {
    "NumPy": fw.NumPyExecutor,
    "ReferenceResolving": lambda: fw.ReferenceResolvingExecutor(fw.NumPyExecutor()),
    "Sequence": lambda: fw.SequenceExecutor(fw.NumPyExecutor()),
    "ThreadDelegating": lambda: fw.ThreadDelegatingExecutor(fw.NumPyExecutor()),
    "Recording": lambda: fw.RecordingExecutor(fw.NumPyExecutor(), fw.Tape()),
    "AnyRuntime": AnyRuntimeExecutor,
    "Federating": federating,
    "Federated": lambda: fw.FederatedExecutor({None: fw.NumPyExecutor()}),
}


class CountingExecutor(WrappingExecutor):
    """Counts contract calls, and remembers whether it was closed."""

    def __init__(self, target: Executor | None = None) -> None:
        super().__init__(target or fw.NumPyExecutor())
        self.calls: Counter[str] = Counter()
        self.times_closed = 0

    def close(self) -> None:
        """Counts, and closes the target."""
        self.times_closed += 1
        self.target.close()

    async def around(self, what: str, work: Work, subject: Any) -> Any:
        """Counts the call."""
        self.calls[what] += 1
        return await work()


def counted() -> CountingExecutor:
    """A participant that counts."""
    return CountingExecutor(fw.ReferenceResolvingExecutor(fw.NumPyExecutor()))


def threads_at_work() -> int:
    """How many threads of ours have something to do."""
    ours = [each for each in threading.enumerate() if each.name == "fedlearn-edu"]
    return len(ours) - len(threads._idle)


def wait_for_threads() -> None:
    """Waits until none has."""
    while threads_at_work():
        time.sleep(0.001)


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine, on an event loop of its own."""
    return asyncio.run(coroutine)


async def call(executor: Executor, fn: Any, argument: Any = None) -> Any:
    """Embeds a computation and the plain argument, calls, and computes."""
    embedded = await executor.create_value(fn)
    parameter = embedded.type_signature.parameter  # type: ignore[attr-defined]
    arg = None
    if parameter is not None:
        arg = await executor.create_value(argument, parameter)
    return await (await executor.create_call(embedded, arg)).compute()


def pair(a: Any, b: Any) -> Struct:
    """An unnamed structure."""
    return Struct.unnamed(a, b)
