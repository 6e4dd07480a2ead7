# SPDX-License-Identifier: Apache-2.0
"""Aggregates of what one map has made become one aggregate, of a structure.

    y=federated_map(f, x)                 y=federated_map(f, x)
    a=federated_aggregate(y, zero, …)     z=federated_map(g, y)
    z=federated_map(g, y)                 both=federated_aggregate(<y,z>, <zero,one>, …)
    b=federated_aggregate(z, one, …)      a=both[0], b=both[1]

A round of federated averaging has several: of the updates, the counts, the metrics.
Together they are one pass over the clients. The input is in normal form.
"""

from collections.abc import Iterable, Mapping, Sequence

from fedlearn_edu.compiler.normal_form import (
    Bindings,
    call_of,
    function_of_fields,
    member_type,
    uri_of,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import free_references
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    SequenceType,
    StructType,
    Type,
)

_ARGUMENT = "(argument of each)"  # no Python name


def with_joint_aggregates(block: ir.Block) -> ir.Block:
    """The same block, in which aggregates that need the same map are one.

    An aggregate that needs the result of another one comes after it.
    """
    steps = dict(block.locals)
    needs = _needs(steps)
    together = _joinable(steps, needs)
    if len(together) < 2:
        return block
    early = set[str]().union(*(needs[name] for name in together))
    first = [(name, steps[name]) for name in steps if name in early]
    late = [(n, steps[n]) for n in steps if n not in early and n not in together]
    joint = _joint({name: steps[name] for name in together})
    return with_joint_aggregates(ir.Block((*first, *joint, *late), block.result))


def _needs(steps: Mapping[str, ir.Node]) -> dict[str, set[str]]:
    """For each step all steps that it needs; they stand before it."""
    found: dict[str, set[str]] = {}
    for name, step in steps.items():
        direct = free_references(step).keys() & steps.keys()
        found[name] = direct.union(*(found[needed] for needed in direct))
    return found


def _joinable(steps: Mapping[str, ir.Node], needs: Mapping[str, set[str]]) -> list[str]:
    """The first aggregates that can be one; fewer than two if there are none."""
    names = [name for name, step in steps.items() if _is_joinable(step)]
    maps = {name for name, step in steps.items() if _is_map_at_clients(step)}
    for at, first in enumerate(names):
        found = [first]
        for name in names[at + 1 :]:
            is_one_map = not maps.isdisjoint(needs[first] & needs[name])
            if is_one_map and needs[name].isdisjoint(found):
                found.append(name)
        if len(found) > 1:
            return found
    return []


def _is_joinable(step: ir.Node) -> bool:
    """Whether it is an aggregate that any runtime can fold, alone or with others."""
    if uri_of(step) != "federated_aggregate":
        return False
    _, zero, *functions = _arguments(step)
    has_sequences = zero.type.contains(lambda type_: isinstance(type_, SequenceType))
    return not has_sequences and not any(map(free_references, functions))


def _is_map_at_clients(step: ir.Node) -> bool:
    is_map, type_ = uri_of(step) == "federated_map", step.type
    return is_map and isinstance(type_, FederatedType) and type_.placement is CLIENTS


def _joint(aggregates: Mapping[str, ir.Node]) -> Bindings:
    """The steps of one aggregate for all of them, and of each one's result."""
    columns = zip(*map(_arguments, aggregates.values()), strict=True)
    values, zeros, accumulates, merges, reports = map(tuple, columns)
    held = FederatedType(_unnamed(map(member_type, values)), CLIENTS)
    accumulate, merge = map(_of_two, (accumulates, merges))
    report = _of_fields(reports)
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


def _of_fields(functions: Sequence[ir.Node]) -> ir.Lambda:
    """From a structure to what each function makes of its field."""
    types = [ir.function_type_of(function).parameter for function in functions]
    fields = {f"(field {i})": t for i, t in enumerate(types) if t is not None}
    pairs = zip(functions, fields.items(), strict=True)
    calls = [ir.Call(function, ir.Reference(*field)) for function, field in pairs]
    return function_of_fields(fields, _struct(calls))


def _of_two(functions: Sequence[ir.Node]) -> ir.Lambda:
    """The same of two structures, for functions of two values."""
    parameters = [ir.function_type_of(function).parameter for function in functions]
    sides = zip(*(p.children() for p in parameters if p is not None), strict=True)
    one, other = (ir.Reference(f"(side {i})", _unnamed(s)) for i, s in enumerate(sides))
    calls = [
        ir.Call(f, _struct([ir.Selection(one, i), ir.Selection(other, i)]))
        for i, f in enumerate(functions)
    ]
    return function_of_fields(
        {side.name: side.type for side in (one, other)}, _struct(calls)
    )


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
