# SPDX-License-Identifier: Apache-2.0
"""Aggregates of what one map has made become one aggregate, of a structure.

    y=federated_map(f, x)                 y=federated_map(f, x)
    a=federated_aggregate(y, zero, …)     z=federated_map(g, y)
    z=federated_map(g, y)                 both=federated_aggregate(<y,z>, <zero,one>, …)
    b=federated_aggregate(z, one, …)      a=both[0], b=both[1]

A round of federated averaging has several: of the updates, the counts, the metrics.
Together they are one pass over the clients.
"""

from collections.abc import Iterable, Mapping, Sequence

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import free_references
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    FunctionType,
    StructType,
    Type,
)

Bindings = list[tuple[str, ir.Node]]
_ARGUMENT = "(argument of each)"  # no Python name


def with_joint_aggregates(block: ir.Block) -> ir.Block:
    """The same block, in which aggregates that need the same map are one.

    An aggregate that needs the result of another one comes after it.
    """
    steps = dict(block.locals)
    together = _together(steps)
    if len(together) < 2:
        return block
    early = set[str]().union(*(_behind(name, steps) for name in together))
    first = [(name, steps[name]) for name in steps if name in early]
    late = [(n, steps[n]) for n in steps if n not in early and n not in together]
    joint = _joint({name: steps[name] for name in together})
    return with_joint_aggregates(ir.Block((*first, *joint, *late), block.result))


def _together(steps: Mapping[str, ir.Node]) -> list[str]:
    """The first aggregates that can be one; fewer than two if there are none."""
    names = [
        name for name, step in steps.items() if _uri(step) == "federated_aggregate"
    ]
    if len(names) < 2:
        return []
    behind = {name: _behind(name, steps) for name in names}
    maps = {name for name, step in steps.items() if _is_map_at_clients(step)}
    for at, first in enumerate(names):
        found = [first]
        for name in names[at + 1 :]:
            is_one_map = not maps.isdisjoint(behind[first] & behind[name])
            if is_one_map and behind[name].isdisjoint(found):
                found.append(name)
        if len(found) > 1:
            return found
    return []


def _behind(name: str, steps: Mapping[str, ir.Node]) -> set[str]:
    """All steps that a step needs."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        needed = free_references(steps[ahead.pop()]).keys() & steps.keys()
        ahead += needed - found
        found |= needed
    return found


def _uri(step: ir.Node) -> str:
    match step:
        case ir.Call(ir.Intrinsic(uri)):
            return uri
        case _:
            return ""


def _is_map_at_clients(step: ir.Node) -> bool:
    is_map, type_ = _uri(step) == "federated_map", step.type
    return is_map and isinstance(type_, FederatedType) and type_.placement is CLIENTS


def _joint(aggregates: Mapping[str, ir.Node]) -> Bindings:
    """The steps of one aggregate for all of them, and of each one's result."""
    columns = zip(*map(_arguments, aggregates.values()), strict=True)
    values, zeros, accumulates, merges, reports = map(tuple, columns)
    held = FederatedType(_unnamed(map(member_type, values)), CLIENTS)
    accumulate, merge, report = _of_two(accumulates), _of_two(merges), _of_one(reports)
    result = FederatedType(report.type.result, SERVER, all_equal=True)
    name = ", ".join(aggregates)
    zipped = f"({name} are asked for)"
    asked = ir.Reference(zipped, held)
    whole = _struct([asked, _struct(zeros), accumulate, merge, report])
    joint = ir.Reference(f"({name})", result)
    selected: Bindings = [
        (one, _field_of(joint, i)) for i, one in enumerate(aggregates)
    ]
    return [
        (zipped, call_of("federated_zip", _struct(values), held)),
        (joint.name, call_of("federated_aggregate", whole, result)),
        *selected,
    ]


def _arguments(call: ir.Node) -> list[ir.Node]:
    assert isinstance(call, ir.Call)
    assert isinstance(call.argument, ir.Struct)
    return [node for _, node in call.argument.elements]


def _of_one(functions: Sequence[ir.Node]) -> ir.Lambda:
    """From a structure to what each function makes of its field."""
    types = [ir.function_type_of(function).parameter for function in functions]
    argument = ir.Reference(_ARGUMENT, _unnamed(types))
    fields = [ir.Selection(argument, i) for i in range(len(functions))]
    calls = map(ir.Call, functions, fields)
    return ir.Lambda(argument.name, argument.type, _struct(calls))


def _of_two(functions: Sequence[ir.Node]) -> ir.Lambda:
    """The same of two structures, for functions of two values."""
    parameters = [ir.function_type_of(function).parameter for function in functions]
    sides = zip(*(p.children() for p in parameters if p is not None), strict=True)
    argument = ir.Reference(_ARGUMENT, _unnamed(map(_unnamed, sides)))
    halves = [ir.Selection(argument, side) for side in (0, 1)]
    calls = [
        ir.Call(function, _struct(ir.Selection(half, i) for half in halves))
        for i, function in enumerate(functions)
    ]
    return ir.Lambda(argument.name, argument.type, _struct(calls))


def _field_of(value: ir.Reference, index: int) -> ir.Node:
    """The field at the server."""
    member = ir.Reference(_ARGUMENT, member_type(value))
    select = ir.Lambda(member.name, member.type, ir.Selection(member, index))
    result = FederatedType(select.type.result, SERVER, all_equal=True)
    return call_of("federated_map", _struct([select, value]), result)


def _struct(nodes: Iterable[ir.Node]) -> ir.Struct:
    return ir.Struct(tuple((None, node) for node in nodes))


def _unnamed(types: Iterable[Type | None]) -> StructType:
    return StructType([(None, type_) for type_ in types])


def call_of(uri: str, argument: ir.Node, result: Type) -> ir.Call:
    """A call of an intrinsic."""
    return ir.Call(ir.Intrinsic(uri, FunctionType(argument.type, result)), argument)


def member_type(value: ir.Node) -> Type:
    """What one participant holds of a federated value."""
    assert isinstance(value.type, FederatedType)
    return value.type.member
