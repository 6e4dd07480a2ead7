# SPDX-License-Identifier: Apache-2.0
"""Reads a tree into a `Flow`: calls become steps, communication becomes messages.

The compiler brings the program into normal form (`to_normal_form`). A call that only
arranges values (a zip, a map that picks a field) leaves no step: arrows pass through.
"""

import re
from collections.abc import Set
from typing import TypeGuard, assert_never, final

from fedlearn_edu.compiler.expansion import expand_intrinsics
from fedlearn_edu.compiler.normal_form import to_normal_form
from fedlearn_edu.dataflow.flow import (
    Flow,
    GraphBuilder,
    Inputs,
    Lane,
    lane_of,
    parts,
    wires,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import field, free_references, walk
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.intrinsic import all_intrinsics, intrinsic_named
from fedlearn_edu.types import SERVER, FederatedType, StructType, TensorType, Type

_ARGUMENT = "(argument)"
_TOGETHER = "federated_map_aggregate"  # made by the compiler alone
_KNOWN = frozenset(intrinsic.uri for intrinsic in all_intrinsics())  # not one's own
UNKNOWN_CALL = "call of a parameter"
_MAPS = ("federated_map", "federated_apply")
_RUNTIMES = {"numpy": "NumPy code", "tensorflow": "TensorFlow code"}
_FIRST_LOCAL = re.compile(r"(.+)_0(_\d+)?")


def read(computation: Computation, *, named: Set[str] | None = None) -> Flow:
    """The flow of data through a computation.

    Args:
        computation: Any, placed or not.
        named: Those derived intrinsics that are not written out; by default all.
    """
    if named is None:
        named = {intrinsic.uri for intrinsic in all_intrinsics()} - {_TOGETHER}
    tree = expand_intrinsics(computation.tree, named)
    program = as_program(tree)
    normal = to_normal_form(program)
    assert isinstance(normal.body, ir.Block)
    reader = _Reader()
    if program.parameter is not None and program.parameter_type is not None:
        whole, several = program.parameter_type, _is_packed(program.parameter)
        reader.names[_ARGUMENT] = reader.parameter(program.parameter, whole, several)
    result = reader.visit(normal.body)
    reader.result("", result, normal.body.type)
    return reader.graph.flow(computation.__name__)


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
    """Knows what each name stands for: a tree of wires, constants and functions.

    Such a tree has no placements: they are those of the nodes that its wires come from.
    """

    def __init__(self) -> None:
        self.names: dict[str, ir.Node] = {}
        self.graph = GraphBuilder()

    def parameter(self, name: str, type_: Type, several: bool = False) -> ir.Node:
        """One node for each placed part, and for each argument if there are several."""
        is_placed = type_.contains(Type.is_federated)
        if not (isinstance(type_, StructType) and (several or is_placed)):
            return self.graph.parameter(name, type_)
        named = [(n or f"[{i}]", part) for i, (n, part) in enumerate(type_.items())]
        return ir.Struct(tuple((n, self.parameter(n, part)) for n, part in named))

    def result(self, name: str, value: ir.Node, type_: Type) -> None:
        """One node for each placed part."""
        if isinstance(type_, StructType) and type_.contains(Type.is_federated):
            for index, (field_name, part) in enumerate(type_.items()):
                inner = ".".join(filter(None, [name, field_name or f"[{index}]"]))
                self.result(inner, _field(value, index), part)
            return
        if isinstance(type_, FederatedType) and isinstance(value, ir.Struct):
            value = self.graph.step("federated_zip", self._inputs(value), type_)
        self.graph.result(name or "result", value, type_)

    def visit(self, node: ir.Node) -> ir.Node:
        """What a node of the program stands for; calls add nodes to the graph."""
        match node:
            case ir.Reference(name=name):
                return self.names[name]
            case ir.Selection(source=source, index=index):
                return _field(self.visit(source), index)
            case ir.Struct(elements=elements):
                return ir.Struct(tuple((n, self.visit(e)) for n, e in elements))
            case ir.Block(locals=bound, result=result):
                for name, value in bound:
                    self.names[name] = self.visit(value)
                return self.visit(result)
            case ir.Call(function=ir.Intrinsic(uri=uri), argument=argument):
                assert argument is not None
                return self._intrinsic(uri, self.visit(argument), node.type)
            case ir.Call(function=function, argument=argument):
                inputs = ir.Struct(()) if argument is None else self.visit(argument)
                return self._call(self.visit(function), inputs, node.type)
            case ir.Literal() | ir.Lambda() | ir.Leaf():
                return node
            case ir.Intrinsic() | ir.PlacementLiteral():
                return node
            case _:
                assert_never(node)

    def _call(self, function: ir.Node, argument: ir.Node, type_: Type) -> ir.Node:
        """A function is called: with unplaced values, or it is not known here."""
        inputs = self._inputs(ir.Struct(((None, function), (None, argument))))
        if function.type.contains(Type.is_federated):
            if isinstance(function, ir.Lambda):
                return self._applied(function, argument)
            return self._unknown(UNKNOWN_CALL, inputs, type_)
        if not _is_function(function):
            return self.graph.step(UNKNOWN_CALL, inputs, type_)
        runtime = function.runtime if isinstance(function, ir.Leaf) else ""
        name, note = function_name(function), _RUNTIMES.get(runtime, "")
        return self.graph.step(name, inputs, type_, note, _inside(function))

    def _intrinsic(self, uri: str, argument: ir.Node, type_: Type) -> ir.Node:
        if uri == "federated_zip":
            return argument
        if uri == "federated_select":
            return self._select(argument, type_)
        if uri in _MAPS:
            picked = self._picked(_field(argument, 0), _field(argument, 1))
            if picked is not None:
                return picked
        lane = lane_of(type_)
        placed = {self.graph.lane(wire) for wire in wires(argument)}
        is_odd = uri not in _KNOWN and intrinsic_named(uri).is_primitive
        if is_odd and Lane.CLIENTS in placed and lane is not Lane.SERVER:
            return self._unknown(uri, self._inputs(argument), type_)
        stays = lane is Lane.UNPLACED or placed <= {lane}
        if stays and not isinstance(argument, ir.Literal):
            return self._at_one_place(uri, argument, type_)
        answer = "its masks" if uri == "federated_pairwise_masks" else ""
        return self.graph.message(uri, self._inputs(argument), type_, answer)

    def _unknown(self, name: str, inputs: Inputs, type_: Type) -> ir.Node:
        """What may send to the server what it is given; if nothing, the function."""
        lanes = {wire: self.graph.lane(wire) for wire in inputs.wires}
        given = [wire for wire, lane in lanes.items() if lane is Lane.CLIENTS]
        sent = given or [w for w, lane in lanes.items() if lane is Lane.UNPLACED]
        at_server = FederatedType(StructType(()), SERVER)
        asked = self.graph.message(name, Inputs(sent, []), at_server)
        rest = [wire for wire, lane in lanes.items() if lane is Lane.SERVER]
        return self._answers(name, Inputs([*wires(asked), *rest], []), type_)

    def _answers(self, name: str, inputs: Inputs, type_: Type) -> ir.Node:
        """One value for each placed part of what comes back."""
        if isinstance(type_, StructType) and type_.contains(Type.is_federated):
            named = type_.items()
            return ir.Struct(
                tuple((n, self._answers(name, inputs, part)) for n, part in named)
            )
        if lane_of(type_) is Lane.CLIENTS:
            return self.graph.message(name, inputs, type_, "what comes back")
        return self.graph.step(name, inputs, type_)

    def _at_one_place(self, uri: str, argument: ir.Node, type_: Type) -> ir.Node:
        """An intrinsic that sends nothing; a map has the name of its function."""
        inputs = self._inputs(argument)
        function = next(filter(_is_function, parts(argument)), None)
        if function is None:
            return self.graph.step(uri, inputs, type_)
        name, note = uri, f"with {function_name(function)}"
        if uri in (*_MAPS, "federated_eval"):
            name, note = function_name(function), uri
        return self.graph.step(name, inputs, type_, note, _inside(function))

    def _select(self, argument: ir.Node, type_: Type) -> ir.Node:
        """The keys go to the server, and what they ask for comes back."""
        assert isinstance(argument, ir.Struct)
        (_, keys), *rest = argument.elements
        asked = FederatedType(keys.type, SERVER)
        uri = "federated_select"
        wire = self.graph.message(uri, self._inputs(keys), asked)
        given = self._inputs(ir.Struct(((None, wire), *rest)))
        return self.graph.message(uri, given, type_, "what was asked for")

    def _picked(self, function: ir.Node, value: ir.Node) -> ir.Node | None:
        """What a map returns that only picks or arranges fields."""
        arranging = ir.Reference | ir.Selection | ir.Struct | ir.Block | ir.Lambda
        only_arranges = all(isinstance(part, arranging) for part in walk(function))
        if not isinstance(function, ir.Lambda) or not only_arranges:
            return None
        return self._applied(function, value)

    def _applied(self, function: ir.Lambda, value: ir.Node) -> ir.Node:
        """The body of a function, where its parameter is this value."""
        before = self.names
        self.names = {**before, str(function.parameter): value}
        result = self.visit(function.body)
        self.names = before
        return result

    def _inputs(self, value: ir.Node) -> Inputs:
        """What goes in: given, or captured by a function that is given."""
        functions = [part for part in parts(value) if _is_function(part)]
        names = [name for function in functions for name in free_references(function)]
        captured = [wire for name in names for wire in wires(self.names[name])]
        constants: list[tuple[str, ir.Literal]] = []
        for part in parts(value):
            if isinstance(part, ir.Literal):
                constants.append(("given", part))
            elif _is_function(part):
                constants += [("captured", table) for table in _tables(part)]
        return Inputs(wires(value) + captured, constants)


def _field(value: ir.Node, index: int) -> ir.Node:
    if isinstance(value, ir.Literal):
        return ir.Literal(value.value[index], ir.struct_type_of(value)[index])
    return value if _is_function(value) else field(value, index)


def _is_function(
    value: ir.Node,
) -> TypeGuard[ir.Lambda | ir.Leaf | ir.Intrinsic | ir.PlacementLiteral]:
    return isinstance(value, ir.Lambda | ir.Leaf | ir.Intrinsic | ir.PlacementLiteral)


def _tables(function: ir.Node) -> list[ir.Literal]:
    """The constants in a function that are more than a number."""
    literals = (part for part in walk(function) if isinstance(part, ir.Literal))
    types = {literal: literal.type for literal in literals}
    return [
        x for x, t in types.items() if not (isinstance(t, TensorType) and t.is_scalar)
    ]


def _is_packed(parameter: str) -> bool:
    """Whether the one parameter was made of several, as tracing names it."""
    return parameter.endswith("_arg")


def function_name(node: ir.Node) -> str:
    """A name for a function; of a lambda without one, what it does."""
    match node:
        case ir.Leaf(code=code):
            return code.name
        case ir.Lambda(parameter=str(name)) if _is_packed(name):
            return name.removesuffix("_arg")
        case ir.Lambda(body=ir.Block(locals=bound)) if found := next(
            filter(None, (_FIRST_LOCAL.fullmatch(n) for n, _ in bound)), None
        ):
            return found[1]
        case ir.Lambda(body=ir.Selection() as body):
            root: ir.Node = body
            while isinstance(root, ir.Selection):
                root = root.source
            return to_text(body).removeprefix(to_text(root))  # as in .sent.update
        case ir.Lambda():
            return ", ".join(_calls(node)) or "rearrange"
        case _:
            return to_text(node)


def _inside(function: ir.Node) -> tuple[str, ...]:
    """What a function does, in order, if its name does not say so."""
    found = tuple(_calls(function)) if isinstance(function, ir.Lambda) else ()
    return () if found == (function_name(function),) else found


def _calls(function: ir.Node) -> dict[str, None]:
    """The names of leaf code and intrinsics, in order, each once."""
    named = (
        part for part in walk(function) if isinstance(part, ir.Leaf | ir.Intrinsic)
    )
    names = (n.code.name if isinstance(n, ir.Leaf) else n.uri for n in named)
    return dict.fromkeys(names)
