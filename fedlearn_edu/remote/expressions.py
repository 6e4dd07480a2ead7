# SPDX-License-Identifier: Apache-2.0
"""What a remote executor was asked for, written down as an expression.

    Embedded   a value, or a function          create_value
    Structure  several values side by side     create_struct
    Selected   one field of a structure        create_selection
    Called     a function applied              create_call

The coordinator writes it, and one message carries it; a worker evaluates it on a stack
of its own. What several expressions share is made once: also what clients made for
another message of the same call, which has a number for that.
"""

import itertools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import CLIENTS, FederatedType, Type


@final
@dataclass(frozen=True, eq=False)
class Given:
    """Data of a call, which arrive as `value` alone."""

    value: Any


@final
@dataclass(frozen=True, eq=False)
class Embedded:
    """Data, or a tree."""

    value: Any
    type: Type


@final
@dataclass(frozen=True, eq=False)
class Structure:
    """A `Struct` of expressions."""

    elements: Struct


@final
@dataclass(frozen=True, eq=False)
class Selected:
    """The field at `index`."""

    source: "Expression"
    index: int


@final
@dataclass(frozen=True, eq=False)
class Called:
    """A function applied to its argument, or to none.

    Attributes:
        number: of a result at the clients; numbers grow.
    """

    function: "Expression"
    argument: "Expression | None"
    number: Any


Expression = Embedded | Structure | Selected | Called


_REARRANGE = frozenset({"federated_broadcast", "federated_value", "federated_zip"})
_numbers = itertools.count()
_in_use: set[int] = set()


def call(function: Expression, argument: Expression | None) -> Called:
    """A numbered call; its number is in use for as long as the call exists."""
    number = next(_numbers)
    _in_use.add(number)
    made = Called(function, argument, Given(number))
    weakref.finalize(made, _in_use.discard, number).atexit = False
    return made


def oldest() -> int:
    """The least number in use."""
    return min(_in_use.copy(), default=0)


async def evaluate(
    expression: Expression,
    executor: Executor,
    fetch: Callable[[Any], Any],
    kept: dict[int, ExecutorValue],
) -> ExecutorValue:
    """The value of an expression in an executor.

    Args:
        expression: what to evaluate.
        executor: where.
        fetch: gets what stands for data.
        kept: by number, what clients have made before; and make now.
    """
    made: dict[int, ExecutorValue] = {}

    async def of(part: Expression) -> ExecutorValue:
        if id(part) not in made:
            made[id(part)] = await make(part)
        return made[id(part)]

    async def make(part: Expression) -> ExecutorValue:
        match part:
            case Embedded(value, type_):
                return await executor.create_value(fetch(value), type_)
            case Structure(elements):
                fields = [await of(element) for element in elements]
                return await executor.create_struct(elements.with_values(fields))
            case Selected(source, index):
                return await executor.create_selection(await of(source), index)
            case Called(number=number) if number in kept:
                return kept[number]
            case Called(function, argument, number):
                fn = await of(function)
                given = () if argument is None else (await of(argument),)
                value = await executor.create_call(fn, *given)
                if _is_work(function) and _is_at_clients(value.type_signature):
                    kept[number] = value
                return value

    return await of(expression)


def _is_work(function: Expression) -> bool:
    """Whether it is worth keeping; what only rearranges data would hold on to them."""
    match function:
        case Embedded(ir.Intrinsic(uri)):
            return uri not in _REARRANGE
        case _:
            return True


def _is_at_clients(type_: Type) -> bool:
    return isinstance(type_, FederatedType) and type_.placement is CLIENTS
