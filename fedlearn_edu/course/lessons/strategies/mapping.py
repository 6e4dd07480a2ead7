# SPDX-License-Identifier: Apache-2.0
"""A strategy's `federated_map`: a function, called for each member in turn."""

from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, raises
from fedlearn_edu.course.one_room import Members, OneRoom
from fedlearn_edu.framework import (
    ExecutorValue,
    FederatingStrategy,
    Handle,
    SyncExecutionContext,
    implements,
    local_executor_factory,
)

FLOATS = fl.type_at_clients(np.float32)


def running_on(
    strategy: type[FederatingStrategy], **options: Any
) -> SyncExecutionContext:
    """A context whose stacks have that strategy."""
    return SyncExecutionContext(local_executor_factory(strategy=strategy, **options))


def mapped(room: OneRoom, function: ExecutorValue, value: Handle) -> Any:
    """What the method has to do, for the references of two exercises."""
    return [room.room.create_call(function, member) for member in value.representation]


def _maps_in_turn() -> Any:
    @final
    class MapsInTurn(OneRoom):
        @implements("federated_map")
        async def map_members(self, type_: Any, fn: Handle, value: Handle) -> Members:
            function = await self.bring(fn)
            return tuple([await each for each in mapped(self, function, value)])

    return MapsInTurn


def _tripled(strategy: type[FederatingStrategy], readings: Any) -> Any:
    triple = fl.np_computation(lambda x: np.float32(3) * x, np.float32)

    @fl.federated_computation(FLOATS)
    def program(readings: Any) -> Any:
        return fl.federated_map(triple, readings)

    with running_on(strategy):
        return program(readings)


def _tripled_at_server(strategy: type[FederatingStrategy], reading: Any) -> Any:
    triple = fl.np_computation(lambda x: np.float32(3) * x, np.float32)

    @fl.federated_computation(fl.type_at_server(np.float32))
    def program(reading: Any) -> Any:
        return fl.federated_map(triple, reading)

    with running_on(strategy):
        return program(reading)


IN_A_GENERATOR = raises(
    "with `await` in it, `tuple(… for …)` cannot be read: make a list first, "
    "`tuple([await … for …])`",
    "async_generator",
)

MAPS_IN_TURN = Exercise(
    name="maps_in_turn",
    title="a strategy that can map",
    points=10,
    want=wants.subclass(OneRoom, "a class derived from OneRoom"),
    reference=_maps_in_turn,
    cases=(
        Case("three clients", ([1.0, 2.0, 5.0],), _tripled),
        Case("one client", ([4.0],), _tripled),
        Case("nobody", ([],), _tripled),
        Case("at the server", (2.0,), _tripled_at_server),
    ),
    mistakes=(
        gives("the function was never called", lambda readings: readings),
        gives(
            "the order is gone: the result of client 0 comes first",
            lambda readings: [3 * r for r in reversed(readings)],
        ),
        gives(
            "only the first client's result came out: `return` belongs behind the loop",
            lambda readings: [3 * r for r in readings[:1]],
        ),
        gives(
            "only the last client's result came out: collect all of them",
            lambda readings: [3 * r for r in readings[-1:]],
        ),
        gives(
            "every client got the first one's result: call it for each member",
            lambda readings: [3 * readings[0] for _ in readings],
        ),
        gives(
            "every client got the last one's result: collect all of them",
            lambda readings: [3 * readings[-1] for _ in readings],
        ),
        gives(
            "the function was called twice for each member",
            lambda readings: [9 * r for r in readings],
        ),
        IN_A_GENERATOR,
        raises(
            "the members are in `value.representation`, not in `value`",
            "Handle' object is not iterable",
        ),
        raises(
            "a handle is not a function: write "
            "`await self.room.create_call(function, member)`",
            "Handle' object is not callable",
        ),
        raises(
            "calls in the room have to be waited for: write `await` before create_call",
            "coroutine",
        ),
        raises(
            'the method is not in the table: `@implements("federated_map")` belongs '
            "above it",
            "UnsupportedIntrinsicError",
        ),
        raises("the method returns nothing: is there a `return`?", "NoneType"),
        raises(
            "take the function that `bring` has brought into the room, and the members "
            "in `value.representation`",
            "embedded in the executor|type_signature",
        ),
    ),
    hints=(
        "One call for each member, in order, and a tuple of what the calls give.",
        "`await self.room.create_call(function, member)` is one call; "
        "`value.representation` has the members.",
        "Fill the gaps:\n"
        "    results = []\n"
        "    for member in value.representation:\n"
        "        results.append(await self.room.create_call(..., ...))\n"
        "    return tuple(...)",
    ),
)
