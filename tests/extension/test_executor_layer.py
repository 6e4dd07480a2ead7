# SPDX-License-Identifier: Apache-2.0
"""An outsider writes an executor layer and builds a stack around it by hand."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    Executor,
    ExecutorFactory,
    ExecutorValue,
    FederatedResolvingStrategy,
    FederatingExecutor,
    NumPyExecutor,
    ReferenceResolvingExecutor,
    SequenceExecutor,
    SyncExecutionContext,
)
from fedlearn_edu.testing import assert_conforms, assert_same

FLOATS = fl.type_at_clients(np.float32)
SUM = fl.federated_computation(fl.federated_sum, FLOATS)
NATIVE = frozenset(FederatedResolvingStrategy.implemented)
SEQUENCES = frozenset({"sequence_map", "sequence_reduce"})


@final
class Counting(Executor):
    """Five methods, each counted and passed on; values are the target's own."""

    def __init__(self, target: Executor, counts: Counter[str]) -> None:
        self._target = target
        self._counts = counts
        self.closed = False

    async def create_value(
        self, value: Any, type_spec: fl.Type | None = None
    ) -> ExecutorValue:
        self._counts["create_value"] += 1
        return await self._target.create_value(value, type_spec)

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> ExecutorValue:
        self._counts["create_call"] += 1
        return await self._target.create_call(comp, arg)

    async def create_struct(self, elements: Any) -> ExecutorValue:
        self._counts["create_struct"] += 1
        return await self._target.create_struct(elements)

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> ExecutorValue:
        self._counts["create_selection"] += 1
        return await self._target.create_selection(source, index, name)

    def close(self) -> None:
        self.closed = True
        self._target.close()


@final
class OneStack(ExecutorFactory):
    """A factory for a stack that was built by hand for a number of clients."""

    def __init__(self, stack: Executor, native: frozenset[str]) -> None:
        self._stack = stack
        self._native = native

    def create_executor(
        self, cardinalities: Mapping[Any, int], runtimes: frozenset[str] = frozenset()
    ) -> Executor:
        return self._stack

    def clean_up_executor(self, cardinalities: Mapping[Any, int]) -> None:
        self._stack.close()

    def native(self, cardinalities: Mapping[Any, int]) -> frozenset[str]:
        return self._native


def _leaf() -> Executor:
    return ReferenceResolvingExecutor(NumPyExecutor())


def _stack(
    clients: list[Executor], server: Executor, unplaced: Executor | None = None
) -> Executor:
    targets: Any = {fl.SERVER: server, fl.CLIENTS: clients}
    strategy = FederatedResolvingStrategy.factory(targets)
    federating = FederatingExecutor(strategy, unplaced or _leaf())
    return ReferenceResolvingExecutor(federating)


def test_counting_layer_counts_what_each_client_is_asked() -> None:
    counts = [Counter[str]() for _ in range(3)]
    clients: list[Executor] = [Counting(_leaf(), own) for own in counts]
    with SyncExecutionContext(OneStack(_stack(clients, _leaf()), NATIVE)):
        assert_same(SUM([1.0, 2.0, 6.0]), 9.0)
    # A sum asks a client for its value, and for nothing else.
    assert counts == [Counter(create_value=1)] * 3


def test_layer_at_every_place_changes_no_meaning() -> None:
    counts = Counter[str]()

    def layered() -> Executor:
        below = Counting(NumPyExecutor(), counts)
        middle = SequenceExecutor(ReferenceResolvingExecutor(below))
        return Counting(ReferenceResolvingExecutor(middle), counts)

    @final
    class Layered(ExecutorFactory):
        def create_executor(
            self,
            cardinalities: Mapping[Any, int],
            runtimes: frozenset[str] = frozenset(),
        ) -> Executor:
            clients = [layered() for _ in range(cardinalities.get(fl.CLIENTS, 0))]
            return Counting(_stack(clients, layered(), layered()), counts)

        def clean_up_executor(self, cardinalities: Mapping[Any, int]) -> None:
            """Nothing is kept."""

        def native(self, cardinalities: Mapping[Any, int]) -> frozenset[str]:
            return NATIVE | SEQUENCES

    assert assert_conforms(SyncExecutionContext(Layered())).refused == ()
    assert set(counts) == {
        "create_value",
        "create_call",
        "create_struct",
        "create_selection",
    }
