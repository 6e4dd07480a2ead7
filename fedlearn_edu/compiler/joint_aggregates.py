# SPDX-License-Identifier: Apache-2.0
"""Aggregates of what one map has made become one joint aggregate, of a structure.

    (0) = federated_map(<f,(argument)>)
    (1) = federated_aggregate(<(0),0,add,add,r>)
    (2) = federated_aggregate(<(0),9,minimum,minimum,r>)

    (0) = federated_map(<f,(argument)>)
    (members of (1), (2)) = federated_zip(<(0),(0)>)
    ((1), (2)) = federated_aggregate(<(members of (1), (2)),<0,9>,…,…,…>)
    (1) = federated_map(<((all fields) -> (all fields)[0]),((1), (2))>)
    (2) = federated_map(<((all fields) -> (all fields)[1]),((1), (2))>)

A round of federated averaging has several: of the updates, the counts, the metrics.
Together they are one pass over the clients. There may be more maps on the way to each,
but an aggregate that needs the result of another one comes after it.
"""

from collections.abc import Mapping, Sequence

from fedlearn_edu.compiler.normal_form import (
    WHOLE,
    Steps,
    arguments_of,
    call_of,
    function_of_fields,
    member_type,
    unnamed,
    uri_of,
    zip_of,
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


def with_joint_aggregates(block: ir.Block) -> ir.Block:
    """The same block, in normal form, in which aggregates that need one map are one."""
    steps = dict(block.locals)
    needs = _needs(steps)
    joinable = _joinable(steps, needs)
    if len(joinable) < 2:
        return block
    needed = set[str]().union(*(needs[name] for name in joinable))
    before = [(name, steps[name]) for name in steps if name in needed]
    after = [(n, steps[n]) for n in steps if n not in needed and n not in joinable]
    joint = _joint({name: steps[name] for name in joinable})
    return with_joint_aggregates(ir.Block((*before, *joint, *after), block.result))


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
            is_of_one_map = not maps.isdisjoint(needs[first] & needs[name])
            if is_of_one_map and needs[name].isdisjoint(found):
                found.append(name)
        if len(found) > 1:
            return found
    return []


def _is_joinable(step: ir.Node) -> bool:
    """Whether it is an aggregate that any runtime can fold, alone or with others."""
    if uri_of(step) != "federated_aggregate":
        return False
    _, zero, *functions = arguments_of(step)
    has_sequences = zero.type.contains(lambda type_: isinstance(type_, SequenceType))
    return not has_sequences and not any(map(free_references, functions))


def _is_map_at_clients(step: ir.Node) -> bool:
    is_map, type_ = uri_of(step) == "federated_map", step.type
    return is_map and isinstance(type_, FederatedType) and type_.placement is CLIENTS


def _joint(aggregates: Mapping[str, ir.Node]) -> Steps:
    """The steps of one aggregate for all of them, and of each one's result."""
    columns = zip(*map(arguments_of, aggregates.values()), strict=True)
    values, zeros, accumulates, merges, reports = columns
    zipped, names = zip_of(values), ", ".join(aggregates)
    members = ir.Reference(f"(members of {names})", zipped.type)
    folds, report = map(_of_two, (accumulates, merges)), _of_one(reports)
    arguments = unnamed(members, unnamed(*zeros), *folds, report)
    joint = ir.Reference(f"({names})", FederatedType(report.type.result, SERVER))
    return [
        (members.name, zipped),
        (joint.name, call_of("federated_aggregate", arguments, joint.type)),
        *((name, _field_of(joint, i)) for i, name in enumerate(aggregates)),
    ]


def _of_two(functions: Sequence[ir.Node]) -> ir.Lambda:
    """Functions of two values as one function, of two structures."""
    types = [parameter.children() for parameter in map(_parameter, functions)]
    one, other = (
        ir.Reference(f"(side {i})", StructType(fields))
        for i, fields in enumerate(zip(*types, strict=True))
    )
    calls = (
        ir.Call(function, unnamed(ir.Selection(one, i), ir.Selection(other, i)))
        for i, function in enumerate(functions)
    )
    return function_of_fields([one, other], unnamed(*calls))


def _of_one(functions: Sequence[ir.Node]) -> ir.Lambda:
    """Functions of one value as one function, of one structure."""
    fields = [
        ir.Reference(f"(field {i})", _parameter(function))
        for i, function in enumerate(functions)
    ]
    return function_of_fields(fields, unnamed(*map(ir.Call, functions, fields)))


def _parameter(function: ir.Node) -> Type:
    parameter = ir.function_type_of(function).parameter
    assert parameter is not None
    return parameter


def _field_of(joint: ir.Reference, index: int) -> ir.Call:
    """A field of the joint result, at the server."""
    fields = ir.Reference(WHOLE, member_type(joint))
    select = ir.Lambda(fields.name, fields.type, ir.Selection(fields, index))
    result = FederatedType(select.type.result, SERVER)
    return call_of("federated_map", unnamed(select, joint), result)
