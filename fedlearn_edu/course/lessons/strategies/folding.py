# SPDX-License-Identifier: Apache-2.0
"""A strategy's `federated_aggregate`, after which it can do whatever is derived."""

from functools import cache, reduce
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.lessons.strategies.mapping import (
    IN_A_GENERATOR,
    mapped,
    running_on,
)
from fedlearn_edu.course.mistakes import gives, raises
from fedlearn_edu.course.one_room import Members, OneRoom
from fedlearn_edu.framework import FederatingStrategy, Handle, implements
from fedlearn_edu.testing import assert_conforms

NOT_ASKED_FOR = ("federated_select", "federated_pairwise_masks")


def _folds_in_order() -> Any:
    @final
    class FoldsInOrder(OneRoom):
        @implements("federated_map")
        async def map_members(self, type_: Any, fn: Handle, value: Handle) -> Members:
            function = await self.bring(fn)
            return tuple([await each for each in mapped(self, function, value)])

        @implements("federated_aggregate")
        async def fold(
            self,
            type_: Any,
            value: Handle,
            zero: Handle,
            accumulate: Handle,
            merge: Handle,
            report: Handle,
        ) -> Members:
            step, state = await self.bring(accumulate), await self.bring(zero)
            for member in value.representation:
                pair = await self.room.create_struct([state, member])
                state = await self.room.create_call(step, pair)
            return (await self.room.create_call(await self.bring(report), state),)

    return FoldsInOrder


def _folded(strategy: type[FederatingStrategy], digits: Any) -> Any:
    """Writes digits behind a 7, and reports that below zero; every slip shows."""
    int32 = np.int32
    write = fl.np_computation(lambda number, digit: 10 * number + digit, int32, int32)
    subtract = fl.np_computation(lambda number, other: number - other, int32, int32)
    negate = fl.np_computation(lambda number: -number, int32)

    @fl.federated_computation(fl.type_at_clients(int32))
    def program(digits: Any) -> Any:
        return fl.federated_aggregate(digits, 7, write, subtract, negate)

    with running_on(strategy):
        return program(digits)


@cache
def _conforms(strategy: type[FederatingStrategy]) -> str:
    context = running_on(strategy, support_sequence_ops=True)
    try:
        assert_conforms(context, lacks=NOT_ASKED_FOR)
    except AssertionError as error:
        how_many, first, *_ = str(error).splitlines()
        return f"{how_many}; the first: {first}"
    return "no case differs from the reference"


def _write(digits: Any, number: int = 7) -> int:
    return reduce(lambda number, digit: 10 * number + digit, digits, number)


def _reported_each_time(digits: Any) -> int:
    return -reduce(lambda number, digit: -(10 * number + digit), digits, 7)


FOLDS_IN_ORDER = Exercise(
    name="folds_in_order",
    title="a strategy that can aggregate",
    points=15,
    want=wants.subclass(OneRoom, "a class derived from OneRoom"),
    reference=_folds_in_order,
    cases=(
        Case("three clients, in order", ([1, 2, 3],), _folded),
        Case("one client", ([5],), _folded),
        Case("nobody: only zero is reported", ([],), _folded),
        Case("the conformance suite", do=_conforms),
    ),
    mistakes=(
        gives("the last state was not reported: call `report` with it", _write),
        gives(
            "you folded from the last client to the first",
            lambda digits: -_write(reversed(digits)),
        ),
        gives(
            "the pair is the wrong way round: the state so far comes first",
            lambda digits: -(7 + 10 * sum(digits)),
        ),
        gives(
            "each step began at zero again: the state is what the last step gave",
            lambda digits: -_write(digits[-1:]),
        ),
        gives(
            "only the first client is in this: `return` belongs behind the loop, "
            "and gives one result, that of the last state",
            lambda digits: -_write(digits[:1]),
        ),
        gives("the last client was left out", lambda digits: -_write(digits[:-1])),
        gives("the first client was left out", lambda digits: -_write(digits[1:])),
        gives("`zero` was left out: it is the first state", lambda d: -_write(d, 0)),
        gives(
            "you took `merge`, which joins the states of two groups: `accumulate` "
            "takes a member in",
            lambda digits: -(7 - sum(digits)),
        ),
        gives(
            "`report` was called in each step: once, at the end, is enough",
            _reported_each_time,
        ),
        IN_A_GENERATOR,
        raises(
            "`step` takes one handle: `create_struct([state, member])` makes the pair",
            "type_signature.*(list|tuple)|(list|tuple).*type_signature",
        ),
        raises(
            "what `fold` is given is not in the room yet: take `state` and `step`, and "
            "bring `report`",
            "embedded in the executor",
        ),
        raises(
            "without clients the loop never runs: call `report` behind it, once",
            "UnboundLocalError",
        ),
        raises(
            "what is at the server is a tuple with one member: (value,)",
            "subscriptable|not iterable",
        ),
        raises(
            "calls in the room have to be waited for: write `await` before them",
            "coroutine",
        ),
        raises(
            'the method is not in the table: `@implements("federated_aggregate")` '
            "belongs above it",
            "UnsupportedIntrinsicError",
        ),
        raises("the method returns nothing: is there a `return`?", "NoneType"),
    ),
    hints=(
        "For each member in turn: make a pair of the state and the member, and call "
        "`step` with it; what comes out is the next state.",
        "state ← step(state, member) for every member, in order; result = "
        "report(state), as a tuple of one. `create_struct([a, b])` makes a pair.",
        "Fill the gaps:\n"
        "    for member in value.representation:\n"
        "        pair = await self.room.create_struct([..., ...])\n"
        "        state = await self.room.create_call(step, ...)\n"
        "    last = await self.bring(report)\n"
        "    return (await self.room.create_call(last, ...),)",
    ),
    limit_s=120.0,
)
