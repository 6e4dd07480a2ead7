# SPDX-License-Identifier: Apache-2.0
"""Collects nodes and edges while a tree is read."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import final

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import free_references, walk
from fedlearn_edu.types import TensorType, Type
from fedlearn_edu.viz.dataflow import naming
from fedlearn_edu.viz.dataflow.flow import (
    Edge,
    Flow,
    Item,
    Kind,
    Lane,
    Node,
    lane_of,
    member_of,
)
from fedlearn_edu.viz.dataflow.values import (
    Bundle,
    Code,
    Constant,
    Value,
    Wire,
    parts,
    wires,
)

_RUNTIMES = {"numpy": "NumPy code", "tensorflow": "TensorFlow code"}


@final
class Builder:
    """Adds nodes; what a name stands for is looked up in `names`."""

    def __init__(self, names: Mapping[str, Value]) -> None:
        self._names = names
        self._nodes: list[Node] = []
        self._edges: dict[Edge, None] = {}
        self._values: dict[Wire, int] = {}

    def flow(self, name: str) -> Flow:
        """Everything that was added, each result right behind what it comes from."""
        before: dict[int, list[int]] = {}
        for edge in self._edges:
            before.setdefault(edge.target, []).append(edge.source)

        def turn(node: Node) -> tuple[int, bool]:
            if node.kind is not Kind.RESULT:
                return node.number, False
            return max(before.get(node.number, [node.number])), True

        order = sorted(self._nodes, key=turn)
        new = {node.number: place for place, node in enumerate(order)}
        nodes = tuple(replace(node, number=new[node.number]) for node in order)
        edges = tuple(Edge(new[e.source], new[e.target]) for e in self._edges)
        return Flow(name, nodes, edges)

    def add(
        self,
        kind: Kind,
        lane: Lane,
        name: str,
        items: tuple[Item, ...] = (),
        words: tuple[str, str] = ("", ""),
        inside: tuple[str, ...] = (),
    ) -> int:
        """Adds a node without edges; returns its number."""
        number = len(self._nodes)
        self._nodes.append(Node(number, kind, lane, name, items, words, inside))
        return number

    def call(self, function: Value, inputs: Value, type_: Type) -> Value:
        """A call of a function on unplaced values."""
        if not isinstance(function, Code):
            both = Bundle(((None, function), (None, inputs)))
            return self.step("call of a parameter", ("", ""), both, type_)
        node = function.node
        runtime = node.runtime if isinstance(node, ir.Leaf) else ""
        words = (_RUNTIMES.get(runtime, ""), "")
        both = Bundle(((None, function), (None, inputs)))
        return self.step(naming.function(node), words, both, type_, naming.inside(node))

    def apply(self, uri: str, argument: Value, type_: Type) -> Value:
        """An intrinsic that works at one place; it is named by its function."""
        functions = [part for part in parts(argument) if isinstance(part, Code)]
        if not functions:
            return self.step(uri, ("", ""), argument, type_)
        first = functions[0].node
        if uri in ("federated_map", "federated_apply", "federated_eval"):
            name, words = naming.function(first), (uri, "")
        else:
            name, words = uri, (f"with {naming.function(first)}", "")
        return self.step(name, words, argument, type_, naming.inside(first))

    def step(
        self,
        name: str,
        words: tuple[str, str],
        inputs: Value,
        type_: Type,
        inside: tuple[str, ...] = (),
    ) -> Value:
        """A box; what goes into it has been added before."""
        lane = lane_of(type_)
        sources = [self._carried(wire, lane) for wire in self._wires(inputs)]
        sources += self._constants(inputs, lane)
        item = Item("", member_of(type_))
        number = self.add(Kind.STEP, lane, name, (item,), words, inside)
        self._connect(sources, number)
        return Wire(number, (), type_)

    def message(
        self, uri: str, argument: Value, type_: Type, answer: str = ""
    ) -> Value:
        """Something that travels; constants and functions of it are only named."""
        lane = lane_of(type_)
        found = self._wires(argument)
        placed = [w for w in found if lane_of(w.type) is not Lane.UNPLACED] or found
        sent = [w for w in placed if lane_of(w.type) is not lane]
        items = [Item(self._name(wire), member_of(wire.type)) for wire in sent]
        kinds = list(parts(argument))
        constants = [part.literal for part in kinds if isinstance(part, Constant)]
        if answer:
            items = [Item(answer, member_of(type_))]
        elif not items:
            items = [Item(_heading(each), each.type) for each in constants]
        words = (uri, naming.words(uri, lane))
        number = self.add(Kind.MESSAGE, lane, uri, tuple(items), words)
        self._connect([wire.node for wire in found], number)
        return Wire(number, (), type_)

    def result(self, name: str, value: Value, type_: Type) -> None:
        """A pill at the end."""
        constants = [p.literal for p in parts(value) if isinstance(p, Constant)]
        shown = _constant(constants[0]) if constants else ""
        item = Item(shown, member_of(type_))
        number = self.add(Kind.RESULT, lane_of(type_), name, (item,))
        self._connect([wire.node for wire in wires(value)], number)

    def _wires(self, value: Value) -> list[Wire]:
        """What goes in: given, or captured by a function that is given."""
        found = wires(value)
        for part in parts(value):
            if isinstance(part, Code):
                names = free_references(part.node)
                for name in names:
                    found += wires(self._names[name])
        return found

    def _carried(self, wire: Wire, lane: Lane) -> int:
        """The node to draw an arrow from; within a lane it says what it carries."""
        source = self._nodes[wire.node]
        is_said = source.kind in (Kind.MESSAGE, Kind.CONSTANT) or (
            source.kind is Kind.PARAMETER and not wire.path
        )
        if source.lane is Lane.UNPLACED and lane is not Lane.UNPLACED:
            return self._captured(wire, lane)
        if is_said:
            return wire.node
        if wire not in self._values:
            item = Item(".".join(wire.path), member_of(wire.type))
            self._values[wire] = self.add(Kind.VALUE, lane, "", (item,))
            self._connect([wire.node], self._values[wire])
        return self._values[wire]

    def _captured(self, wire: Wire, lane: Lane) -> int:
        """A value of the program that a function at some place makes use of."""
        item = Item(self._name(wire), wire.type)
        words = ("captured", f"travels with the code {_towards(lane)}")
        number = self.add(Kind.MESSAGE, lane, "captured", (item,), words)
        self._connect([wire.node], number)
        return number

    def _constants(self, value: Value, lane: Lane) -> list[int]:
        """Constants that are given, or travel with a function that captured them."""
        found = []
        for part in parts(value):
            match part:
                case Constant(literal=literal):
                    found.append((literal, _constant(literal), "given"))
                case Code(node=node):
                    for literal in _tables(node):
                        found.append((literal, _constant(literal), "captured"))
                case _:
                    pass
        return [self._constant(*each, lane) for each in found]

    def _constant(self, literal: ir.Literal, name: str, word: str, lane: Lane) -> int:
        if lane is Lane.UNPLACED:
            items = (Item("", literal.type),)
            return self.add(Kind.CONSTANT, lane, name, items, (f"{word} constant", ""))
        said = (f"{word} constant", f"travels with the code {_towards(lane)}")
        return self.add(Kind.MESSAGE, lane, word, (Item(name, literal.type),), said)

    def _name(self, wire: Wire) -> str:
        source = self._nodes[wire.node]
        first = [source.name] if source.kind is Kind.PARAMETER else []
        if source.kind is Kind.STEP and not wire.path:
            first = [f"result of {source.name}"]
        if source.name in ("federated_broadcast", "federated_value"):
            first = [source.items[0].name] if len(source.items) == 1 else []
        return ".".join([*first, *wire.path])

    def _connect(self, sources: Iterable[int], target: int) -> None:
        for source in sources:
            self._edges[Edge(source, target)] = None


def _towards(lane: Lane) -> str:
    return "to every client" if lane is Lane.CLIENTS else "to the server"


def _heading(literal: ir.Literal) -> str:
    """What a constant is called where nothing else says that it is one."""
    name = _constant(literal)
    return name if name == "constant" else f"constant {name}"


def _tables(function: ir.Node) -> list[ir.Literal]:
    """The constants in a function that are more than a number."""
    found = [part for part in walk(function) if isinstance(part, ir.Literal)]
    return [
        literal
        for literal in dict.fromkeys(found)
        if not (isinstance(literal.type, TensorType) and literal.type.is_scalar)
    ]


def _constant(literal: ir.Literal) -> str:
    if literal.captured_as:
        return literal.captured_as
    if isinstance(literal.value, bytes):
        return repr(literal.value.decode(errors="replace"))
    text = to_text(literal)
    return "constant" if text.startswith("constant") else text
