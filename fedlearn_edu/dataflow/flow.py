# SPDX-License-Identifier: Apache-2.0
"""The flow of data through a computation as a graph, and how it is collected.

Flow = nodes + edges;  a node is in a lane, or a message on its way to one

While a tree is read, a wire is what comes out of a node, written as a tree without
placements: a reference whose name is the number of the node, or a field of one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias, final

from fedlearn_edu.executors.traffic import size_of
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.types import CLIENTS, FederatedType, Type

Wire: TypeAlias = ir.Reference | ir.Selection
_HANDED_ON = ("federated_broadcast", "federated_value")


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


@final
@dataclass(frozen=True)
class Inputs:
    """What goes into a node.

    Attributes:
        wires: given to a function, or captured by it.
        constants: each behind how it goes in: "given" or "captured".
    """

    wires: list[Wire]
    constants: list[tuple[str, ir.Literal]]


def parts(value: ir.Node) -> Iterator[ir.Node]:
    """What a value is made of, in order: wires, constants and functions."""
    if isinstance(value, ir.Struct):
        for _, element in value.elements:
            yield from parts(element)
    else:
        yield value


def wires(value: ir.Node) -> list[Wire]:
    """The wires a value is made of, in order."""
    return [part for part in parts(value) if isinstance(part, Wire)]


@final
class GraphBuilder:
    """Adds nodes; each comes after those that it takes something from."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._edges: dict[Edge, None] = {}
        self._values: dict[Wire, Wire] = {}

    def flow(self, name: str) -> Flow:
        """Everything that was added, each result right behind what it comes from."""
        last: dict[int, int] = {}
        for edge in self._edges:
            last[edge.target] = max(edge.source, last.get(edge.target, 0))

        def turn(node: Node) -> tuple[int, bool]:
            is_result = node.kind is Kind.RESULT
            number = node.number
            return (last.get(number, number) if is_result else number), is_result

        order = sorted(self._nodes, key=turn)
        new = {node.number: place for place, node in enumerate(order)}
        nodes = tuple(replace(node, number=new[node.number]) for node in order)
        edges = tuple(Edge(new[e.source], new[e.target]) for e in self._edges)
        return Flow(name, nodes, edges)

    def parameter(self, name: str, type_: Type) -> ir.Node:
        """Adds a value that the program is given."""
        item = Item("", member_of(type_))
        return self._add(Node(0, Kind.PARAMETER, lane_of(type_), name, (item,)), type_)

    def step(
        self,
        name: str,
        inputs: Inputs,
        type_: Type,
        note: str = "",
        inside: tuple[str, ...] = (),
    ) -> ir.Node:
        """Adds a computation at one place."""
        lane, item = lane_of(type_), Item("", member_of(type_))
        sources = [self._carried(wire, lane) for wire in inputs.wires]
        sources += [self._constant(*each, lane) for each in inputs.constants]
        node = Node(0, Kind.STEP, lane, name, (item,), note, inside)
        return self._add(node, type_, sources)

    def message(
        self, uri: str, inputs: Inputs, type_: Type, answer: str = ""
    ) -> ir.Node:
        """Adds what travels; functions that go with it are left out."""
        lane = lane_of(type_)
        placed = [w for w in inputs.wires if self.lane(w) is not Lane.UNPLACED]
        sent = [w for w in placed or inputs.wires if self.lane(w) is not lane]
        items = [Item(self._name(wire), wire.type) for wire in sent]
        if answer:
            items = [Item(answer, member_of(type_))]
        elif not items:
            given = [each for how, each in inputs.constants if how == "given"]
            items = [Item(_heading(each), each.type) for each in given]
        node = Node(0, Kind.MESSAGE, lane, uri, tuple(items))
        return self._add(node, type_, map(_number, inputs.wires))

    def result(self, name: str, value: ir.Node, type_: Type) -> None:
        """Adds a value that the program returns."""
        constants = [part for part in parts(value) if isinstance(part, ir.Literal)]
        item = Item(_name_of(constants[0]) if constants else "", member_of(type_))
        node = Node(0, Kind.RESULT, lane_of(type_), name, (item,))
        self._add(node, type_, map(_number, wires(value)))

    def lane(self, wire: Wire) -> Lane:
        """Where the value of a wire is."""
        return self._nodes[_number(wire)].lane

    def _add(self, node: Node, type_: Type, sources: Iterable[int] = ()) -> Wire:
        number = len(self._nodes)
        self._nodes.append(replace(node, number=number))
        self._edges.update(dict.fromkeys(Edge(source, number) for source in sources))
        return ir.Reference(str(number), member_of(type_))

    def _carried(self, wire: Wire, lane: Lane) -> int:
        """The node an arrow comes from; one is added if the arrow has to say more."""
        source = self._nodes[_number(wire)]
        if source.lane is Lane.UNPLACED and lane is not Lane.UNPLACED:
            item = Item(self._name(wire), wire.type)
            message = Node(0, Kind.MESSAGE, lane, "captured", (item,))
            return _number(self._add(message, wire.type, [source.number]))
        is_said = source.kind in (Kind.MESSAGE, Kind.CONSTANT) or (
            source.kind is Kind.PARAMETER and isinstance(wire, ir.Reference)
        )
        if is_said:
            return source.number
        if wire not in self._values:
            value = Node(0, Kind.VALUE, lane, "", (Item(_path(wire), wire.type),))
            self._values[wire] = self._add(value, wire.type, [source.number])
        return _number(self._values[wire])

    def _constant(self, how: str, literal: ir.Literal, lane: Lane) -> int:
        name, note = _name_of(literal), f"{how} constant"
        if lane is Lane.UNPLACED:
            items = (Item("", literal.type),)
            node = Node(0, Kind.CONSTANT, lane, name, items, note)
        else:
            node = Node(0, Kind.MESSAGE, lane, note, (Item(name, literal.type),))
        return _number(self._add(node, literal.type))

    def _name(self, wire: Wire) -> str:
        """What a wire is called where it leaves its lane."""
        source, path = self._nodes[_number(wire)], _path(wire)
        first = source.name if source.kind is Kind.PARAMETER else ""
        if source.kind is Kind.STEP and not path:
            first = f"result of {source.name}"
        elif source.name in _HANDED_ON and len(source.items) == 1:
            first = source.items[0].name
        return ".".join(filter(None, [first, path]))


def _number(wire: ir.Node) -> int:
    """The node that a wire comes from."""
    while isinstance(wire, ir.Selection):
        wire = wire.source
    assert isinstance(wire, ir.Reference)
    return int(wire.name)


def _path(wire: ir.Node) -> str:
    """The fields of its node that a wire is."""
    if not isinstance(wire, ir.Selection):
        return ""
    name, _ = ir.struct_type_of(wire.source).items()[wire.index]
    last = name or f"[{wire.index}]"
    return ".".join(filter(None, [_path(wire.source), last]))


def _heading(literal: ir.Literal) -> str:
    """What a constant is called where nothing else says that it is one."""
    name = _name_of(literal)
    return name if name == "constant" else f"constant {name}"


def _name_of(literal: ir.Literal) -> str:
    if literal.captured_as:
        return literal.captured_as
    if isinstance(literal.value, bytes):
        return repr(literal.value.decode(errors="replace"))
    text = to_text(literal)
    return "constant" if text.startswith("constant") else text
