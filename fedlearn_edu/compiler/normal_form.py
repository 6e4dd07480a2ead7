# SPDX-License-Identifier: Apache-2.0
"""A-normal form: a program as one list of steps: each is one call, or takes a field.

    (x -> (y -> (let z=g(y) in z))(f(<x,1>).a))
    ((argument) -> (let (0)=f(<(argument),1>),(1)=g((0).a) in (1)))

Calls of lambdas are inlined, blocks are laid end to end, and fields are taken out of
structures that are written down. Functions passed as arguments stay as they are, but
for the names they capture. Nothing is evaluated more or less often than before.
"""

from collections import ChainMap
from collections.abc import Sequence
from typing import final

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import (
    field,
    free_references,
    rebuild,
    substitute,
    with_name,
)
from fedlearn_edu.types import FederatedType, FunctionType, StructType, Type

Steps = list[tuple[str, ir.Node]]
_ARGUMENT = "(argument)"  # no Python name, like all names given here: no capture
WHOLE = "(all fields)"


def to_normal_form(program: ir.Lambda) -> ir.Lambda:
    """The same program, whose body is one block of calls in the order they are made."""
    normalizer = _Normalizer()
    scope = ChainMap[str, ir.Node]()
    for parameter, type_ in program.binds.items():
        scope[parameter] = ir.Reference(_ARGUMENT, type_)
    result = normalizer.visit(program.body, scope)
    block = ir.Block(tuple(normalizer.steps), result)
    name = None if program.parameter is None else _ARGUMENT
    return ir.Lambda(name, program.parameter_type, block)


@final
class _Normalizer:
    """Collects the steps; what `visit` returns mentions them by name."""

    def __init__(self) -> None:
        self.steps: Steps = []

    def visit(self, node: ir.Node, scope: ChainMap[str, ir.Node]) -> ir.Node:
        match node:
            case ir.Reference(name=name):
                return scope.get(name, node)
            case ir.Selection(source=source, index=index):
                return field(self.visit(source, scope), index)
            case ir.Block(locals=bound, result=result):
                scope = scope.new_child()
                for name, value in bound:
                    scope = with_name(name, self.visit(value, scope), scope)
                return self.visit(result, scope)
            case ir.Lambda():
                captured = (name for name in free_references(node) if name in scope)
                return substitute(node, {n: self._named(scope[n]) for n in captured})
            case _:
                made = rebuild(node, lambda part: self.visit(part, scope))
                return self._call(made) if isinstance(made, ir.Call) else made

    def _call(self, call: ir.Node) -> ir.Node:
        match call:
            case ir.Call(function=ir.Lambda(parameter=None, body=body)):
                return self.visit(body, ChainMap())
            case ir.Call(
                function=ir.Lambda(parameter=str(name), body=body), argument=arg
            ):
                assert arg is not None
                return self.visit(body, ChainMap({name: arg}))
            case _:
                return self._bind(call)

    def _named(self, value: ir.Node) -> ir.Node:
        # A field is captured alone, under a name: other fields may be placed.
        is_unnamed = isinstance(value, ir.Selection | ir.Struct)
        return self._bind(value) if is_unnamed else value

    def _bind(self, value: ir.Node) -> ir.Reference:
        name = f"({len(self.steps)})"
        self.steps.append((name, value))
        return ir.Reference(name, value.type)


# ---------------------------------------------------- for passes that rewrite the steps


def uri_of(step: ir.Node) -> str:
    """The intrinsic that a step calls; empty if it calls none."""
    match step:
        case ir.Call(ir.Intrinsic(uri)):
            return uri
        case _:
            return ""


def arguments_of(step: ir.Node) -> list[ir.Node]:
    """The arguments of a step that calls an intrinsic of several."""
    assert isinstance(step, ir.Call)
    assert isinstance(step.argument, ir.Struct)
    return [node for _, node in step.argument.elements]


def call_of(uri: str, argument: ir.Node, result: Type) -> ir.Call:
    """A call of an intrinsic."""
    return ir.Call(ir.Intrinsic(uri, FunctionType(argument.type, result)), argument)


def zip_of(values: Sequence[ir.Node]) -> ir.Call:
    """The federated values, at one placement, as one value of structures."""
    assert isinstance(values[0].type, FederatedType)
    members = StructType(map(member_type, values))
    result = FederatedType(members, values[0].type.placement)
    return call_of("federated_zip", unnamed(*values), result)


def member_type(value: ir.Node) -> Type:
    """The type of what one participant holds of a federated value."""
    assert isinstance(value.type, FederatedType)
    return value.type.member


def unnamed(*nodes: ir.Node) -> ir.Struct:
    """A structure of these."""
    return ir.Struct(tuple((None, node) for node in nodes))


def function_of_fields(fields: Sequence[ir.Reference], body: ir.Node) -> ir.Lambda:
    """From a structure to the `body`, in which its fields have these names."""
    whole = ir.Reference(WHOLE, StructType([field.type for field in fields]))
    bound = [(field.name, ir.Selection(whole, i)) for i, field in enumerate(fields)]
    return ir.Lambda(whole.name, whole.type, ir.Block(tuple(bound), body))
