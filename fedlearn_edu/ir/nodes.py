# SPDX-License-Identifier: Apache-2.0
"""The ten kinds of node a computation is made of.

Tracing (`language/`) hands trees in; the compiler rewrites them; executors and the
reference context run them. A node knows its type and nothing about how it is run.

    node ::= Reference  x                    a name bound by a Lambda or a Block
           | Selection  node[i] | node.name  one field of a structure
           | Struct     <a=node,node>        a structure
           | Call       node(node) | node()  a function applied
           | Lambda     (x -> node)          a function written in the language
           | Block      (let x=node in node) named intermediate results, in order
           | Intrinsic  federated_mean       an operator known by name
           | Literal    0.5                  a constant
           | Leaf       batch_loss           opaque code for one runtime
           | PlacementLiteral  CLIENTS
"""

import hashlib
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np

from fedlearn_edu import structure
from fedlearn_edu.types import FunctionType, Placement, PlacementType, StructType, Type
from fedlearn_edu.types.messages import other_kind

if TYPE_CHECKING:
    memoized_property = cached_property
else:

    class memoized_property(cached_property):  # noqa: N801 (named as its base)
        """A property that two threads at once may compute twice, to the same value.

        In Python 3.11 a `cached_property` has one lock for all objects of a class. The
        type of a Lambda asks for that of a Block, and the other way round: two threads,
        each with a program of its own, would wait for each other.
        """

        def __init__(self, compute: Any) -> None:
            super().__init__(compute)
            self.lock = nullcontext()


class LeafCode(Protocol):
    """What every runtime's leaf code offers to those who do not know the runtime.

    Code that has no effect but its result may say so, with `is_pure = True`: after an
    error it is run again, step by step, to tell more. Code that is more than its pickle
    says with `origin` what made it: a function, and its arguments.
    """

    @property
    def name(self) -> str:
        """A name for people."""

    @property
    def digest(self) -> str:
        """Hexadecimal text; equal digests mean equal code."""

    def __call__(self, argument: Any) -> Any:
        """Runs the code on an argument in plain form; returns the plain result."""


@final
@dataclass(frozen=True)
class Reference:
    """A name; its meaning is the binding of the nearest enclosing Lambda or Block."""

    name: str
    type: Type


@final
@dataclass(frozen=True)
class Selection:
    """The field of a structure at position `index`."""

    source: "Node"
    index: int

    @memoized_property
    def type(self) -> Type:
        """The type of the selected field."""
        return struct_type_of(self.source)[self.index]


@final
@dataclass(frozen=True)
class Struct:
    """A structure; `python_container` is what Python gets back, if anything special."""

    elements: tuple[tuple[str | None, "Node"], ...]
    python_container: type | None = None

    @memoized_property
    def type(self) -> StructType:
        """The structure of the elements' types."""
        pairs = [(name, node.type) for name, node in self.elements]
        return StructType(pairs, self.python_container)


@final
@dataclass(frozen=True)
class Call:
    """A function applied to its one argument, or to none."""

    function: "Node"
    argument: "Node | None" = None

    @memoized_property
    def type(self) -> Type:
        """The result type of the function."""
        return function_type_of(self.function).result


@final
@dataclass(frozen=True)
class Lambda:
    """A function; `parameter` is `None` for a function without one."""

    parameter: str | None
    parameter_type: Type | None
    body: "Node"

    @memoized_property
    def type(self) -> FunctionType:
        """From the parameter's type to the body's."""
        return FunctionType(self.parameter_type, self.body.type)

    @property
    def binds(self) -> dict[str, Type]:
        """The name of the parameter and its type; nothing if there is none."""
        if self.parameter is None or self.parameter_type is None:
            return {}
        return {self.parameter: self.parameter_type}


@final
@dataclass(frozen=True)
class Block:
    """Names bound in order, each visible to the later ones and to the result."""

    locals: tuple[tuple[str, "Node"], ...]
    result: "Node"

    @memoized_property
    def type(self) -> Type:
        """The type of the result."""
        return self.result.type


@final
@dataclass(frozen=True)
class Intrinsic:
    """An operator by name, at one concrete type."""

    uri: str
    type: FunctionType


@final
@dataclass(frozen=True, eq=False)
class Literal:
    """A constant in plain form; equal when type and content are equal.

    Attributes:
        captured_as: the name of the value it was, if it travels with a function.
    """

    value: Any
    type: Type
    captured_as: str | None = None

    @memoized_property
    def fingerprint(self) -> str:
        """A digest of type and content."""
        digest = hashlib.sha256(str(self.type).encode())
        _feed(digest, self.value)
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


@final
@dataclass(frozen=True, eq=False)
class Leaf:
    """Opaque code for one runtime, or for `ANY_RUNTIME`; equal by digest and type."""

    runtime: str
    code: LeafCode
    type: FunctionType

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Leaf) and self._key == other._key)

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[str, str, FunctionType]:
        return (self.runtime, self.code.digest, self.type)


@final
@dataclass(frozen=True)
class PlacementLiteral:
    """A placement as a value."""

    placement: Placement

    @property
    def type(self) -> PlacementType:
        """The one type placements have."""
        return PlacementType()


Atom = Reference | Intrinsic | Literal | Leaf | PlacementLiteral
"""A node that has no other below it."""

Node = Selection | Struct | Call | Lambda | Block | Atom

ANY_RUNTIME = "any"


def struct_type_of(node: Node) -> StructType:
    """The type of a node that is known to be a structure."""
    if not isinstance(node.type, StructType):
        raise other_kind(node.type, "struct")
    return node.type


def function_type_of(node: Node) -> FunctionType:
    """The type of a node that is known to be a function."""
    if not isinstance(node.type, FunctionType):
        raise other_kind(node.type, "function")
    return node.type


def _feed(digest: "hashlib._Hash", value: Any) -> None:
    match value:
        case structure.Struct():
            digest.update(repr(value.names()).encode())
            for element in value:
                _feed(digest, element)
        case tuple() | list():
            digest.update(b"(%d" % len(value))
            for element in value:
                _feed(digest, element)
        case np.ndarray() | np.generic() if value.dtype != object:
            digest.update(np.ascontiguousarray(value).tobytes())
        case np.ndarray():
            digest.update(repr(value.tolist()).encode())
        case _:
            digest.update(repr(value).encode())
