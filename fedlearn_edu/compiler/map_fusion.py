# SPDX-License-Identifier: Apache-2.0
"""Map fusion: what a participant does in several steps becomes one step.

    federated_map(g, federated_map(f, x))    federated_map(m -> g(f(m)), x)
    federated_map(g, federated_zip(<x,y>))   federated_map(<m,n> -> g(<m,n>), <x,y>)
    federated_aggregate(federated_map(f, x), zero, …)
                                             federated_map_aggregate(f, x, zero, …)

Only steps whose result nothing else needs are fused, so nothing is computed twice. The
functions that come out know no placements: `fuse.py` gives each to a runtime whole.

Before, aggregates of what one map has made become one aggregate, of a structure:

    y=federated_map(f, x)                 y=federated_map(f, x)
    a=federated_aggregate(y, zero, …)     z=federated_map(g, y)
    z=federated_map(g, y)                 both=federated_aggregate(<y,z>, <zero,one>, …)
    b=federated_aggregate(z, one, …)      a=both[0], b=both[1]

A round of federated averaging has several: of the updates, the counts, the metrics.
Together they are one pass over the clients.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import final

from fedlearn_edu.compiler.normal_form import Bindings, to_normal_form
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import field as field_of
from fedlearn_edu.ir.traversal import free_references, intrinsics, leaves
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    FunctionType,
    SequenceType,
    StructType,
    Type,
)

_FUSED_AGGREGATE = "federated_map_aggregate"
_MEMBER = "(member)"  # no Python name
_ARGUMENT = "(argument of each)"


def fuse_maps(program: ir.Node, native: Set[str]) -> ir.Node:
    """The same program in fewer steps, for a stack with the intrinsics in `native`."""
    if not isinstance(program, ir.Lambda) or _FUSED_AGGREGATE not in native:
        return program
    straight = to_normal_form(program)
    assert isinstance(straight.body, ir.Block)
    block = _with_joint_aggregates(_without_unused_fields(straight.body))
    users = defaultdict[str, set[str]](set)
    for name, value in (*block.locals, ("", block.result)):
        for needed in free_references(value):
            users[needed].add(name)
    steps, joined, consumed = dict(block.locals), [], set[str]()
    for name, value in reversed(block.locals):
        if name not in consumed:
            chain = _Chain(_only_for(name, steps, users))
            joined.append((name, chain.ending_in(value)))
            consumed |= chain.consumed
    kept = ir.Block(tuple(reversed(joined)), block.result)
    return ir.Lambda(straight.parameter, straight.parameter_type, kept)


def _without_unused_fields(block: ir.Block) -> ir.Block:
    """The same block without fields that were taken out of a value for nothing.

    They would count as a use of the value, which then could not be part of a step.
    """
    needed, kept = set(free_references(block.result)), []
    for name, step in reversed(block.locals):
        if name in needed or not _takes_fields_only(step):
            needed |= free_references(step).keys()
            kept.append((name, step))
    return ir.Block(tuple(reversed(kept)), block.result)


def _takes_fields_only(step: ir.Node) -> bool:
    match step:
        case ir.Call(ir.Intrinsic("federated_map"), ir.Struct(((_, fn), _))):
            return isinstance(fn, ir.Lambda) and not (leaves(fn) or intrinsics(fn))
        case _:
            return False


def _only_for(
    name: str, steps: Mapping[str, ir.Node], users: Mapping[str, set[str]]
) -> dict[str, ir.Node]:
    """The steps, in order, that can be a part of a step: nothing else needs them."""
    found, ahead = {name}, [name]
    while ahead:
        for needed in free_references(steps[ahead.pop()]).keys() & steps.keys():
            if _can_be_a_part(steps[needed]) and users[needed] <= found:
                found.add(needed)
                ahead.append(needed)
    found.remove(name)
    return {part: step for part, step in steps.items() if part in found}


def _can_be_a_part(step: ir.Node) -> bool:
    match step:
        case ir.Call(ir.Intrinsic("federated_map" | "federated_zip")):
            return True
        case ir.Call(ir.Intrinsic("federated_value"), ir.Literal()):
            return True
        case _:
            return False


@final
@dataclass
class _Chain:
    """The steps that lead to one value, as a single participant sees them.

    They become a block, not one nested expression: there may be more of them than
    Python's stack has levels.

    Attributes:
        steps: those that lead to this value only, in order.
        sources: the federated values that the first steps start from.
        consumed: the names of the steps that are no longer needed.
    """

    steps: Mapping[str, ir.Node]
    sources: list[ir.Node] = field(default_factory=list)
    consumed: Set[str] = frozenset()

    def ending_in(self, value: ir.Node) -> ir.Node:
        """The last step, with the steps before it as a part of it."""
        rest: list[tuple[str | None, ir.Node]] = []
        made = [(name, self._made_by(step)) for name, step in self.steps.items()]
        match value:
            case ir.Call(ir.Intrinsic("federated_map")):
                uri, member = "federated_map", self._made_by(value)
            case ir.Call(
                ir.Intrinsic("federated_aggregate"), ir.Struct(((_, arg), *rest))
            ):
                uri, member = _FUSED_AGGREGATE, self._member(arg)
            case _:
                return value
        if not (self.sources and "federated_map" in map(_uri, self.steps.values())):
            return value
        self.consumed = self.steps.keys()
        function = self._function(ir.Block(tuple(made), member))
        first = (None, function), (None, self._zipped())
        return _call(uri, ir.Struct((*first, *rest)), value.type)

    def _made_by(self, step: ir.Node) -> ir.Node:
        match step:
            case ir.Call(ir.Intrinsic("federated_map"), ir.Struct(((_, fn), (_, arg)))):
                return ir.Call(fn, self._member(arg))
            case ir.Call(ir.Intrinsic("federated_value"), ir.Literal() as constant):
                return constant
        assert isinstance(step, ir.Call)
        assert step.argument is not None
        return self._members(step.argument)  # of a zip

    def _member(self, value: ir.Node) -> ir.Node:
        """What a participant holds of a federated value."""
        if isinstance(value, ir.Reference) and value.name in self.steps:
            return ir.Reference(value.name, _member_type(value))
        return self._of_source(value)

    def _members(self, parts: ir.Node) -> ir.Node:
        """What a participant holds of a structure of federated values."""
        type_ = parts.type
        if not isinstance(type_, StructType):
            return self._member(parts)
        nodes = [field_of(parts, index) for index in range(len(type_))]
        held = zip(type_.names(), map(self._members, nodes), strict=True)
        return ir.Struct(tuple(held), type_.python_container)

    def _of_source(self, value: ir.Node) -> ir.Node:
        if value not in self.sources:
            self.sources.append(value)
        number = self.sources.index(value)
        return ir.Reference(f"(source {number})", _member_type(value))

    def _function(self, member: ir.Node) -> ir.Lambda:
        """From what the sources hold at a participant to what it holds in the end."""
        types = [_member_type(source) for source in self.sources]
        names = [f"(source {number})" for number in range(len(types))]
        if len(types) == 1:
            return ir.Lambda(names[0], types[0], member)
        whole = StructType([(None, type_) for type_ in types])
        held = ir.Reference(_MEMBER, whole)
        bound = tuple((name, ir.Selection(held, i)) for i, name in enumerate(names))
        return ir.Lambda(_MEMBER, whole, ir.Block(bound, member))

    def _zipped(self) -> ir.Node:
        if len(self.sources) == 1:
            return self.sources[0]
        parts = ir.Struct(tuple((None, source) for source in self.sources))
        types = [(None, _member_type(source)) for source in self.sources]
        type_ = self.sources[0].type
        assert isinstance(type_, FederatedType)
        result = FederatedType(StructType(types), type_.placement)
        return _call("federated_zip", parts, result)


# ------------------------------------------------------------------ joint aggregates


def _with_joint_aggregates(block: ir.Block) -> ir.Block:
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
    return _with_joint_aggregates(ir.Block((*first, *joint, *late), block.result))


def _together(steps: Mapping[str, ir.Node]) -> list[str]:
    """The first aggregates that can be one; fewer than two if there are none."""
    names = [name for name, step in steps.items() if _is_joinable(step)]
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


def _is_joinable(step: ir.Node) -> bool:
    """Whether it is an aggregate that any runtime can fold, alone or with others."""
    if _uri(step) != "federated_aggregate":
        return False
    _, zero, *functions = _arguments(step)
    has_sequences = zero.type.contains(lambda type_: isinstance(type_, SequenceType))
    return not has_sequences and not any(map(free_references, functions))


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
    held = FederatedType(_unnamed(map(_member_type, values)), CLIENTS)
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
        (zipped, _call("federated_zip", _struct(values), held)),
        (joint.name, _call("federated_aggregate", whole, result)),
        *selected,
    ]


def _arguments(call: ir.Node) -> list[ir.Node]:
    assert isinstance(call, ir.Call)
    assert isinstance(call.argument, ir.Struct)
    return [node for _, node in call.argument.elements]


def _of_fields(functions: Sequence[ir.Node]) -> ir.Lambda:
    """From a structure to what each function makes of its field."""
    types = [ir.function_type_of(function).parameter for function in functions]
    argument = ir.Reference(_ARGUMENT, _unnamed(types))
    calls = [ir.Call(f, ir.Selection(argument, i)) for i, f in enumerate(functions)]
    return ir.Lambda(argument.name, argument.type, _struct(calls))


def _of_two(functions: Sequence[ir.Node]) -> ir.Lambda:
    """The same of two structures, for functions of two values."""
    parameters = [ir.function_type_of(function).parameter for function in functions]
    sides = zip(*(p.children() for p in parameters if p is not None), strict=True)
    argument = ir.Reference(_ARGUMENT, _unnamed(map(_unnamed, sides)))
    one, other = (ir.Selection(argument, side) for side in (0, 1))
    calls = [
        ir.Call(f, _struct([ir.Selection(one, i), ir.Selection(other, i)]))
        for i, f in enumerate(functions)
    ]
    return ir.Lambda(argument.name, argument.type, _struct(calls))


def _field_of(value: ir.Reference, index: int) -> ir.Node:
    """The field at the server."""
    member = ir.Reference(_ARGUMENT, _member_type(value))
    select = ir.Lambda(member.name, member.type, ir.Selection(member, index))
    result = FederatedType(select.type.result, SERVER, all_equal=True)
    return _call("federated_map", _struct([select, value]), result)


def _struct(nodes: Iterable[ir.Node]) -> ir.Struct:
    return ir.Struct(tuple((None, node) for node in nodes))


def _unnamed(types: Iterable[Type | None]) -> StructType:
    return StructType([(None, type_) for type_ in types])


def _call(uri: str, argument: ir.Node, result: Type) -> ir.Call:
    return ir.Call(ir.Intrinsic(uri, FunctionType(argument.type, result)), argument)


def _member_type(value: ir.Node) -> Type:
    assert isinstance(value.type, FederatedType)
    return value.type.member
