# SPDX-License-Identifier: Apache-2.0
"""The flow of data through a computation, as plain records without any ink.

Flow = nodes + edges;  a node is in a lane, or a message on its way between two
"""

from dataclasses import dataclass
from enum import Enum
from typing import final

from fedlearn_edu.simulation.log.sizes import size_of
from fedlearn_edu.types import CLIENTS, FederatedType, Type


@final
class Lane(Enum):
    """Who holds a value; nobody in particular holds one that is unplaced."""

    SERVER = "SERVER"
    UNPLACED = "unplaced"
    CLIENTS = "CLIENTS"


@final
class Kind(Enum):
    """What a node stands for."""

    PARAMETER = "parameter"
    CONSTANT = "constant"
    STEP = "step"
    VALUE = "value"
    MESSAGE = "message"
    RESULT = "result"


@final
@dataclass(frozen=True)
class Item:
    """A value that is somewhere, or travels.

    Attributes:
        name: as the program calls it; may be empty.
        type: of one participant's value.
    """

    name: str
    type: Type

    @property
    def size_bytes(self) -> int | None:
        """How many bytes one such value has; `None` if the type does not say."""
        return size_of(self.type)


@final
@dataclass(frozen=True)
class Node:
    """A pill, a box, a value on its way in a lane, or a message between lanes.

    Attributes:
        number: of the node, its place in `Flow.nodes`.
        kind: what it stands for.
        lane: where it is; of a message, where it goes.
        name: the heading.
        items: the values it holds or carries.
        words: the intrinsic, and in plain words what it does.
        inside: what a step does, one after the other.
    """

    number: int
    kind: Kind
    lane: Lane
    name: str
    items: tuple[Item, ...] = ()
    words: tuple[str, str] = ("", "")
    inside: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class Edge:
    """The value of one node goes into another; both by number."""

    source: int
    target: int


@final
@dataclass(frozen=True)
class Flow:
    """All of it; a node's number is greater than those of the nodes before it.

    Attributes:
        name: of the computation.
        nodes: in an order in which they can be computed.
        edges: without repetition.
    """

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def into(self, node: Node) -> list[Node]:
        """The nodes that `node` takes something from."""
        return [self.nodes[e.source] for e in self.edges if e.target == node.number]

    def out_of(self, node: Node) -> list[Node]:
        """The nodes that take something from `node`."""
        return [self.nodes[e.target] for e in self.edges if e.source == node.number]

    def messages(self, to: Lane) -> list[Node]:
        """What travels to a lane."""
        is_message = (node.kind is Kind.MESSAGE for node in self.nodes)
        pairs = zip(self.nodes, is_message, strict=True)
        return [node for node, yes in pairs if yes and node.lane is to]

    def sent_from(self, message: Node) -> Lane:
        """Where a message starts: at a lane, or in the program itself."""
        lanes = {node.lane for node in self.into(message)} - {message.lane}
        placed = lanes - {Lane.UNPLACED}
        return next(iter(placed or lanes), Lane.UNPLACED)

    @property
    def lanes(self) -> list[Lane]:
        """The lanes that hold or receive something, from left to right."""
        used = {node.lane for node in self.nodes}
        return [lane for lane in Lane if lane in used]


def lane_of(type_: Type) -> Lane:
    """Where a value of this type is."""
    if isinstance(type_, FederatedType):
        return Lane.CLIENTS if type_.placement is CLIENTS else Lane.SERVER
    return Lane.UNPLACED


def member_of(type_: Type) -> Type:
    """The type of one participant's value."""
    return type_.member if isinstance(type_, FederatedType) else type_
