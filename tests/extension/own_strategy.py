# SPDX-License-Identifier: Apache-2.0
"""A federating strategy from outside: one executor plays all participants in turn.

A federated value is a tuple of that executor's values. Nothing moves, nothing is
concurrent: the shortest strategy there is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    Executor,
    ExecutorValue,
    FederatingExecutor,
    FederatingStrategy,
    Handle,
    implements,
)

Members = tuple[ExecutorValue, ...]


@final
class OneRoomStrategy(FederatingStrategy):
    """All participants sit in one room, and take their turns in order."""

    def __init__(self, room: Executor, sizes: Mapping[Any, int]) -> None:
        self._room = room
        self._sizes = sizes

    @staticmethod
    def factory(
        target_executors: Mapping[Any, Any],
    ) -> Callable[[FederatingExecutor], "OneRoomStrategy"]:
        """What `local_executor_factory(strategy=…)` asks for."""
        sizes = {fl.SERVER: 1, fl.CLIENTS: len(target_executors[fl.CLIENTS])}
        return lambda _: OneRoomStrategy(target_executors[fl.SERVER], sizes)

    def close(self) -> None:
        self._room.close()

    async def embed(self, value: Any, type_: fl.FederatedType) -> Members:
        entries: Sequence[Any] = value
        if type_.all_equal:
            entries = [value] * self._sizes[type_.placement]
        return tuple([await self._room.create_value(e, type_.member) for e in entries])

    async def compute(self, representation: Members, type_: fl.FederatedType) -> Any:
        if type_.all_equal:
            return await representation[0].compute()
        return tuple([await member.compute() for member in representation])

    @implements("federated_value")
    async def _value(self, type_: fl.FunctionType, value: Handle) -> Members:
        return await self.embed(await value.compute(), _federated(type_.result))

    @implements("federated_broadcast")
    async def _broadcast(self, type_: fl.FunctionType, value: Handle) -> Members:
        (member,) = value.representation
        return (member,) * self._sizes[fl.CLIENTS]

    @implements("federated_eval")
    async def _eval(self, type_: fl.FunctionType, fn: Handle) -> Members:
        function = await self._function(fn)
        count = self._sizes[_federated(type_.result).placement]
        return tuple([await self._room.create_call(function) for _ in range(count)])

    @implements("federated_map")
    async def _map(self, type_: fl.FunctionType, fn: Handle, arg: Handle) -> Members:
        function = await self._function(fn)
        call = self._room.create_call
        return tuple([await call(function, member) for member in arg.representation])

    @implements("federated_zip")
    async def _zip(self, type_: fl.FunctionType, value: Handle) -> Members:
        count = self._sizes[_federated(type_.result).placement]
        return tuple([await self._row(value, i) for i in range(count)])

    @implements("federated_aggregate")
    async def _aggregate(
        self,
        type_: fl.FunctionType,
        value: Handle,
        zero: Handle,
        accumulate: Handle,
        merge: Handle,
        report: Handle,
    ) -> Members:
        step = await self._function(accumulate)
        state = await self._room.create_value(await zero.compute(), zero.type_signature)
        for member in value.representation:
            pair = await self._room.create_struct([state, member])
            state = await self._room.create_call(step, pair)
        return (await self._room.create_call(await self._function(report), state),)

    async def _function(self, fn: Handle) -> ExecutorValue:
        return await self._room.create_value(fn.node, fn.type_signature)

    async def _row(self, value: Handle, index: int) -> ExecutorValue:
        """Participant `index`'s structure of its members."""
        if isinstance(value.type_signature, fl.FederatedType):
            member: ExecutorValue = value.representation[index]
            return member
        rows = [
            (name, await self._row(part, index))
            for name, part in value.representation.items()
        ]
        return await self._room.create_struct(fl.Struct(rows))


def _federated(type_: fl.Type) -> fl.FederatedType:
    assert isinstance(type_, fl.FederatedType)
    return type_
