# SPDX-License-Identifier: Apache-2.0
"""Reads a tree into a `Flow`: calls become boxes, communication becomes messages.

The compiler lays the program out as a list of calls (`straighten`). Calls that only
arrange values (zips, and maps that pick a field) are no boxes: the arrows go through.
"""

from typing import assert_never, final

from fedlearn_edu.compiler.expand_intrinsics import expand_intrinsics
from fedlearn_edu.compiler.normal_form import straighten
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.types import SERVER, FederatedType, StructType, Type
from fedlearn_edu.viz.dataflow import naming
from fedlearn_edu.viz.dataflow.building import Builder
from fedlearn_edu.viz.dataflow.record import Flow, Item, Kind, Lane, lane_of, member_of
from fedlearn_edu.viz.dataflow.values import (
    Bundle,
    Code,
    Constant,
    Value,
    Wire,
    select,
    wires,
)

_ARGUMENT = "(argument)"
_MAPS = ("federated_map", "federated_apply")


def read(computation: Computation, *, expanded: bool = False) -> Flow:
    """The flow of data through a computation.

    Args:
        computation: Any, placed or not.
        expanded: Whether derived intrinsics are written out.
    """
    tree = computation.tree
    if expanded:
        tree = expand_intrinsics(tree, frozenset())
    return read_tree(tree, computation.__name__)


def read_tree(tree: ir.Node, name: str) -> Flow:
    """The flow of data through a function."""
    program = as_program(tree)
    straight = straighten(program)
    assert isinstance(straight.body, ir.Block)
    reader = _Reader()
    if program.parameter is not None and program.parameter_type is not None:
        whole, several = program.parameter_type, naming.is_packed(program)
        reader.names[_ARGUMENT] = reader.parameter(program.parameter, whole, several)
    for bound, value in straight.body.locals:
        reader.names[bound] = reader.visit(value)
    reader.result(straight.body.result, "")
    return reader.builder.flow(name)


def as_program(tree: ir.Node) -> ir.Lambda:
    """Leaf code as a program of one call; programs are returned as they are."""
    if isinstance(tree, ir.Lambda):
        return tree
    parameter = ir.function_type_of(tree).parameter
    if parameter is None:
        return ir.Lambda(None, None, ir.Call(tree))
    named = isinstance(parameter, StructType) and all(parameter.names())
    name = "its_arg" if named and len(parameter.children()) else "argument"
    return ir.Lambda(name, parameter, ir.Call(tree, ir.Reference(name, parameter)))


@final
class _Reader:
    """Knows what each name stands for; the boxes are made by `building.py`."""

    def __init__(self) -> None:
        self.names: dict[str, Value] = {}
        self.builder = Builder(self.names)

    def parameter(self, name: str, type_: Type, several: bool = False) -> Value:
        """Pills for a parameter: one for each of the arguments it was packed from."""
        is_placed = type_.contains(Type.is_federated)
        if isinstance(type_, StructType) and (several or is_placed):
            named = [
                (field or f"[{i}]", t) for i, (field, t) in enumerate(type_.items())
            ]
            return Bundle(tuple((n, self.parameter(n, t)) for n, t in named))
        item = Item("", member_of(type_))
        number = self.builder.add(Kind.PARAMETER, lane_of(type_), name, (item,))
        return Wire(number, (), type_)

    def result(self, node: ir.Node, name: str) -> None:
        """Pills for the result: one for each placed part of it."""
        type_, value = node.type, self.visit(node)
        if isinstance(type_, StructType) and type_.contains(Type.is_federated):
            for index, (field, _) in enumerate(type_.items()):
                inner = ".".join(filter(None, [name, field or f"[{index}]"]))
                self.result(ir.Selection(node, index), inner)
            return
        if isinstance(type_, FederatedType) and isinstance(value, Bundle):
            value = self.builder.step("federated_zip", ("", ""), value, type_)
        heading = name or "result"
        self.builder.result(heading, value, type_)

    def visit(self, node: ir.Node) -> Value:
        """What a node stands for; calls add boxes and messages."""
        match node:
            case ir.Reference(name=name):
                return self.names[name]
            case ir.Selection(source=source, index=index):
                return select(self.visit(source), index)
            case ir.Struct(elements=elements):
                return Bundle(tuple((n, self.visit(e)) for n, e in elements))
            case ir.Block(locals=bound, result=result):
                for name, value in bound:
                    self.names[name] = self.visit(value)
                return self.visit(result)
            case ir.Call(function=ir.Intrinsic(uri=uri), argument=argument):
                assert argument is not None
                return self._intrinsic(uri, self.visit(argument), node.type)
            case ir.Call(function=function, argument=argument):
                inputs = Bundle(()) if argument is None else self.visit(argument)
                return self.builder.call(self.visit(function), inputs, node.type)
            case ir.Literal():
                return Constant(node)
            case ir.Lambda() | ir.Leaf() | ir.Intrinsic() | ir.PlacementLiteral():
                return Code(node)
            case _:
                assert_never(node)

    def _intrinsic(self, uri: str, argument: Value, type_: Type) -> Value:
        if uri == "federated_zip":
            return argument
        if uri == "federated_select":
            return self._select(argument, type_)
        if uri == "federated_map_aggregate":
            return self._map_aggregate(argument, type_)
        if uri in _MAPS:
            function, value = select(argument, 0), select(argument, 1)
            picked = self._picked(function, value)
            if picked is not None:
                return picked
        placed = {lane_of(wire.type) for wire in wires(argument)}
        if not placed or placed == {lane_of(type_)} or lane_of(type_) is Lane.UNPLACED:
            constant = any(isinstance(part, Constant) for part in [argument])
            if not constant:
                return self.builder.apply(uri, argument, type_)
        answer = "its masks" if uri == "federated_pairwise_masks" else ""
        return self.builder.message(uri, argument, type_, answer)

    def _map_aggregate(self, argument: Value, type_: Type) -> Value:
        """A step at the clients, and what it sends."""
        assert isinstance(argument, Bundle)
        (_, function), (_, value), *rest = argument.fields
        assert isinstance(function, Code)
        held = wires(value)[0].type
        assert isinstance(held, FederatedType)
        made = FederatedType(ir.function_type_of(function.node).result, held.placement)
        mapped = Bundle(((None, function), (None, value)))
        wire = self.builder.apply("federated_map", mapped, made)
        sent = Bundle(((None, wire), *rest))
        return self.builder.message("federated_aggregate", sent, type_)

    def _select(self, argument: Value, type_: Type) -> Value:
        """The keys go to the server, and what they ask for comes back."""
        assert isinstance(argument, Bundle)
        (_, keys), *rest = argument.fields
        asked = FederatedType(wires(keys)[0].type.member, SERVER)  # type: ignore[attr-defined]
        wire = self.builder.message("federated_select", keys, asked)
        given = Bundle(((None, wire), *rest))
        return self.builder.message(
            "federated_select", given, type_, "what was asked for"
        )

    def _picked(self, function: Value, value: Value) -> Value | None:
        """A map that only picks or arranges fields is no box."""
        if not isinstance(function, Code) or not naming.only_arranges(function.node):
            return None
        lambda_ = function.node
        assert isinstance(lambda_, ir.Lambda)
        assert lambda_.parameter is not None
        before = dict(self.names)
        self.names[lambda_.parameter] = value
        picked = self.visit(lambda_.body)
        self.names.clear()
        self.names.update(before)
        return picked
