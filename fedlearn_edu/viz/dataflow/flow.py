# SPDX-License-Identifier: Apache-2.0
"""The flow of data through a computation as a graph, in plain records.

Flow = nodes + edges;  a node is in a lane, or a message on its way to one
"""

from dataclasses import dataclass
from enum import Enum
from typing import final

from fedlearn_edu.executors.sizing import size_of
from fedlearn_edu.types import CLIENTS, FederatedType, Type


@final
class Lane(Enum):
    """Who holds a value, from left to right; messages cross the middle."""

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
    """A value that a node holds or carries.

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
    """A parameter, a step, a value within a lane, a message between lanes, a result.

    Attributes:
        number: its place in `Flow.nodes`.
        kind: what it stands for.
        lane: where it is; of a message, where it goes.
        name: the heading; of a message, the intrinsic.
        items: the values it holds or carries.
        note: the intrinsic or the runtime of a step; where a constant comes from.
        inside: what a step does, one after the other.
    """

    number: int
    kind: Kind
    lane: Lane
    name: str
    items: tuple[Item, ...] = ()
    note: str = ""
    inside: tuple[str, ...] = ()

    @property
    def is_message(self) -> bool:
        """Whether it travels."""
        return self.kind is Kind.MESSAGE

    @property
    def column(self) -> Lane:
        """The lane it is drawn in."""
        return Lane.UNPLACED if self.is_message else self.lane


@final
@dataclass(frozen=True)
class Edge:
    """The value of one node goes into another; both by number."""

    source: int
    target: int


@final
@dataclass(frozen=True)
class Flow:
    """The whole graph; edges lead from smaller numbers to greater ones.

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
        return [node for node in self.nodes if node.is_message and node.lane is to]

    def origin(self, message: Node) -> Lane:
        """Where a message starts: at a lane, or in the program itself."""
        lanes = [n.lane for n in self.into(message) if n.lane is not message.lane]
        return min(lanes, key=lambda lane: lane is Lane.UNPLACED, default=Lane.UNPLACED)

    def stays(self, node: Node) -> bool:
        """Whether this is a parameter of the clients that no message carries."""
        at_clients = node.kind is Kind.PARAMETER and node.lane is Lane.CLIENTS
        return at_clients and not any(n.is_message for n in self.out_of(node))

    @property
    def columns(self) -> list[Lane]:
        """The lanes with something in them, from left to right."""
        used = {lane for node in self.nodes for lane in (node.lane, node.column)}
        return [lane for lane in Lane if lane in used]


def lane_of(type_: Type) -> Lane:
    """Where a value of this type is."""
    if isinstance(type_, FederatedType):
        return Lane.CLIENTS if type_.placement is CLIENTS else Lane.SERVER
    return Lane.UNPLACED


def member_of(type_: Type) -> Type:
    """The type of one participant's value."""
    return type_.member if isinstance(type_, FederatedType) else type_
