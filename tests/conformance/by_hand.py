# SPDX-License-Identifier: Apache-2.0
"""Stacks put together by hand: any layer at the clients, any grouping of clients."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from fedlearn_edu.framework import (
    Executor,
    ExecutorFactory,
    FederatedComposingStrategy,
    FederatedResolvingStrategy,
    FederatingExecutor,
    NumPyExecutor,
    ReferenceResolvingExecutor,
    SequenceExecutor,
    SyncExecutionContext,
    WrappingExecutor,
)
from fedlearn_edu.types import CLIENTS, SERVER, Placement

NATIVE = frozenset(FederatedComposingStrategy.implemented) | {
    "sequence_map",
    "sequence_reduce",
}


@final
class Late(WrappingExecutor):
    """Does everything, but lets others go first, some turns of the loop long."""

    def __init__(self, target_executor: Executor, turns: int) -> None:
        super().__init__(target_executor)
        self._turns = turns

    async def around(self, what: str, work: Callable[..., Any], subject: Any) -> Any:
        for _ in range(self._turns):
            await asyncio.sleep(0)
        return await work()


@final
class Watched(WrappingExecutor):
    """Notes what leaves its target."""

    def __init__(self, target_executor: Executor, sent: list[Any]) -> None:
        super().__init__(target_executor)
        self._sent = sent

    async def around(self, what: str, work: Callable[..., Any], subject: Any) -> Any:
        result = await work()
        if what == "compute":
            self._sent.append(result)
        return result


@final
class ByHand(ExecutorFactory):
    """Hands out one stack, whatever the number of participants."""

    def __init__(self, stack: Executor) -> None:
        self._stack = stack

    def create_executor(
        self,
        cardinalities: Mapping[Placement, int],
        runtimes: frozenset[str] = frozenset(),
    ) -> Executor:
        return self._stack

    def clean_up_executor(self, cardinalities: Mapping[Placement, int]) -> None:
        self._stack.close()

    def native(self, cardinalities: Mapping[Placement, int]) -> frozenset[str]:
        return NATIVE


def participant() -> Executor:
    """Names, sequences, names again, NumPy."""
    below = SequenceExecutor(ReferenceResolvingExecutor(NumPyExecutor()))
    return ReferenceResolvingExecutor(below)


def flat(clients: Sequence[Executor]) -> Executor:
    """One group of clients."""
    targets: dict[Placement | None, Executor | Sequence[Executor]] = {
        SERVER: participant(),
        CLIENTS: list(clients),
    }
    return FederatingExecutor(
        FederatedResolvingStrategy.factory(targets), participant()
    )


def grouped(sizes: Sequence[int]) -> Executor:
    """Groups of clients of these sizes, under one server."""
    children = [flat([participant() for _ in range(size)]) for size in sizes]
    strategy = FederatedComposingStrategy.factory(participant(), children, sizes)
    return FederatingExecutor(strategy, participant())


def context_over(federating: Executor) -> SyncExecutionContext:
    """A context that runs on a federating executor built here."""
    return SyncExecutionContext(ByHand(ReferenceResolvingExecutor(federating)))
