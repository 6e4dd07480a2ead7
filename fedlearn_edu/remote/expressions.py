# SPDX-License-Identifier: Apache-2.0
"""What a remote executor was asked for, written down as an expression.

    Embedded   a value, or a function          create_value
    Structure  several values side by side     create_struct
    Selected   one field of a structure        create_selection
    Called     a function applied              create_call

The coordinator writes it, and one message carries it; a worker evaluates it on a stack
of its own. What several expressions share is made once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import Type


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
    """A function applied to its argument, or to none."""

    function: "Expression"
    argument: "Expression | None"


Expression = Embedded | Structure | Selected | Called


async def evaluate(
    expression: Expression, executor: Executor, fetch: Callable[[Any], Any]
) -> ExecutorValue:
    """The value of an expression in an executor; `fetch` gets what stands for data."""
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
            case Called(function, None):
                return await executor.create_call(await of(function))
            case Called(function, argument):
                assert argument is not None
                fn = await of(function)
                return await executor.create_call(fn, await of(argument))

    return await of(expression)
