# SPDX-License-Identifier: Apache-2.0
"""A federating strategy with two methods left to write; lesson 7 writes them.

    SingleExecutorStrategy   what is given: values, eval, zip, in and out
      └─ yours               federated_map, federated_aggregate

All participants share one executor, the *room* of the lesson: it holds their values and
works for one after the other. `executors/resolving.py` gives each its own.
"""

from abc import ABC
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    Executor,
    ExecutorValue,
    FederatingExecutor,
    FederatingStrategy,
    Handle,
    SyncExecutionContext,
    implements,
    local_executor_factory,
)
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    FunctionType,
    Placement,
    Type,
)

Members = tuple[ExecutorValue, ...]


class SingleExecutorStrategy(FederatingStrategy, ABC):
    """A federated value is a tuple: one value of the room for each participant.

    >>> sorted(SingleExecutorStrategy.implemented)
    ['federated_broadcast', 'federated_eval', 'federated_value', 'federated_zip']

    Attributes:
        room: the executor that holds all values and calls all functions.
    """

    def __init__(self, room: Executor, sizes: Mapping[Placement, int]) -> None:
        self.room = room
        self._sizes = sizes

    @classmethod
    def factory(
        cls, target_executors: Mapping[Any, Any]
    ) -> Callable[[FederatingExecutor], Self]:
        """What `local_executor_factory(strategy=…)` asks for."""
        sizes = {SERVER: 1, CLIENTS: len(target_executors[CLIENTS])}
        return lambda _: cls(target_executors[SERVER], sizes)

    def close(self) -> None:
        """Closes the room."""
        self.room.close()

    async def bring(self, value: Handle) -> ExecutorValue:
        """Embeds a function, or a value without a placement, in the room."""
        type_ = value.type_signature
        is_function = isinstance(type_, FunctionType)
        return await self.room.create_value(
            value.node if is_function else await value.compute(), type_
        )

    async def embed(self, value: Any, type_: FederatedType) -> Members:
        """One entry for each participant, or the one value for all of them."""
        entries = value
        if type_.all_equal:
            entries = [value] * self._sizes[type_.placement]
        return tuple([await self.room.create_value(e, type_.member) for e in entries])

    async def compute(self, representation: Members, type_: FederatedType) -> Any:
        """What all participants hold, in order, or the one value that all hold."""
        if type_.all_equal:
            return await representation[0].compute()
        return tuple([await member.compute() for member in representation])

    @implements("federated_value", "federated_broadcast")
    async def _value(self, type_: FunctionType, value: Handle) -> Members:
        return await self.embed(await value.compute(), _federated(type_.result))

    @implements("federated_eval")
    async def _eval(self, type_: FunctionType, fn: Handle) -> Members:
        function = await self.bring(fn)
        count = self._sizes[_federated(type_.result).placement]
        return tuple([await self.room.create_call(function) for _ in range(count)])

    @implements("federated_zip")
    async def _zip(self, type_: FunctionType, value: Handle) -> Members:
        count = self._sizes[_federated(type_.result).placement]
        return tuple([await self._row(value, i) for i in range(count)])

    async def _row(self, value: Handle, index: int) -> ExecutorValue:
        """Participant `index`'s structure of its members."""
        if isinstance(value.type_signature, FederatedType):
            member: ExecutorValue = value.representation[index]
            return member
        rows = [
            (name, await self._row(part, index))
            for name, part in value.representation.items()
        ]
        return await self.room.create_struct(Struct(rows))


def _federated(type_: Type) -> FederatedType:
    assert isinstance(type_, FederatedType)
    return type_


def steps_of_sum(strategy: type[FederatingStrategy], readings: Any) -> list[str]:
    """Which helpers of a sum a strategy calls, in order, and with what."""
    steps: list[str] = []

    def told(name: str, *given: Any) -> Any:
        steps.append(f"{name}({', '.join(f'{each:g}' for each in given)})")
        return np.float32(sum(given))

    f = np.float32
    accumulate = fl.np_computation(lambda s, x: told("accumulate", s, x), f, f)
    merge = fl.np_computation(lambda one, other: told("merge", one, other), f, f)
    report = fl.np_computation(lambda state: told("report", state), f)
    steps.clear()  # each of them was tried when it was made
    with SyncExecutionContext(local_executor_factory(strategy=strategy)):
        members = fl.place(readings, CLIENTS)
        fl.federated_aggregate(members, 0.0, accumulate, merge, report)
    return steps
