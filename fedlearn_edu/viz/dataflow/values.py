# SPDX-License-Identifier: Apache-2.0
"""What a name stands for while a tree is read: a wire from a node, or several."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never, final

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.types import FederatedType, StructType, Type


@final
@dataclass(frozen=True)
class Wire:
    """What comes out of a node, or a field of it."""

    node: int
    path: tuple[str, ...]
    type: Type


@final
@dataclass(frozen=True)
class Constant:
    """A constant of the program."""

    literal: ir.Literal


@final
@dataclass(frozen=True)
class Code:
    """A function of the program."""

    node: ir.Node


@final
@dataclass(frozen=True)
class Bundle:
    """A structure, or a placed structure: zipped values stay apart."""

    fields: tuple[tuple[str | None, "Value"], ...]


Value: TypeAlias = Wire | Constant | Code | Bundle


def select(value: Value, index: int) -> Value:
    """The field of a value."""
    match value:
        case Bundle(fields=fields):
            return fields[index][1]
        case Wire(node=node, path=path, type=type_):
            whole = type_.member if isinstance(type_, FederatedType) else type_
            assert isinstance(whole, StructType)
            name, part = whole.items()[index]
            if isinstance(type_, FederatedType):
                part = FederatedType(part, type_.placement, type_.all_equal)
            return Wire(node, (*path, name or f"[{index}]"), part)
        case Constant(literal=literal):
            whole = literal.type
            assert isinstance(whole, StructType)
            return Constant(ir.Literal(literal.value[index], whole[index]))
        case Code():
            return value
        case _:
            assert_never(value)


def parts(value: Value) -> Iterator[Wire | Constant | Code]:
    """The values inside, in order."""
    if isinstance(value, Bundle):
        for _, field in value.fields:
            yield from parts(field)
    else:
        yield value


def wires(value: Value) -> list[Wire]:
    """The wires inside, in order."""
    return [part for part in parts(value) if isinstance(part, Wire)]
