# SPDX-License-Identifier: Apache-2.0
"""Map fusion: what a participant does in several steps becomes one step.

    federated_map(g, federated_map(f, x))    federated_map(m -> g(f(m)), x)
    federated_map(g, federated_zip(<x,y>))   federated_map(<m,n> -> g(<m,n>), <x,y>)
    federated_aggregate(federated_map(f, x), zero, …)
                                             federated_map_aggregate(f, x, zero, …)

Only steps whose result nothing else needs are fused, so nothing is computed twice. The
functions that come out know no placements: `fuse.py` gives each to a runtime whole.
Before, aggregates of what one map has made become one (`joint_aggregates.py`).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import final

from fedlearn_edu.compiler.joint_aggregates import (
    call_of,
    member_type,
    with_joint_aggregates,
)
from fedlearn_edu.compiler.normal_form import to_normal_form
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import field as field_of
from fedlearn_edu.ir.traversal import free_nodes, free_references
from fedlearn_edu.types import FederatedType, StructType

_FUSED_AGGREGATE = "federated_map_aggregate"
_MEMBER = "(member)"  # no Python name


def fuse_maps(program: ir.Node, native: Set[str]) -> ir.Node:
    """The same program in fewer steps, for a stack with the intrinsics in `native`."""
    if not isinstance(program, ir.Lambda) or _FUSED_AGGREGATE not in native:
        return program
    straight = to_normal_form(program)
    assert isinstance(straight.body, ir.Block)
    block = with_joint_aggregates(straight.body)
    uses, users = Counter[str](), defaultdict[str, set[str]](set)
    for name, value in (*block.locals, ("", block.result)):
        for mention in free_nodes(value):
            uses[mention.name] += 1
            users[mention.name].add(name)
    steps, joined, consumed = dict(block.locals), [], set[str]()
    for name, value in reversed(block.locals):
        if name not in consumed:
            inner = _only_for(name, steps, users)
            chain = _Chain(inner, uses)
            joined.append((name, chain.ending_in(value)))
            consumed |= chain.consumed
    kept = ir.Block(tuple(reversed(joined)), block.result)
    return ir.Lambda(straight.parameter, straight.parameter_type, kept)


def _only_for(
    name: str, steps: Mapping[str, ir.Node], users: Mapping[str, set[str]]
) -> dict[str, ir.Node]:
    """The steps that can be a part of a step, since nothing else needs them."""
    found: dict[str, ir.Node] = {}
    ahead = [name]
    while ahead:
        for needed in free_references(steps[ahead.pop()]).keys() & steps.keys():
            if _can_be_a_part(steps[needed]) and users[needed] <= {name, *found}:
                found[needed] = steps[needed]
                ahead.append(needed)
    return found


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

    Attributes:
        steps: those that lead to this value only.
        uses: how often each is mentioned.
        sources: the federated values that the first steps start from.
        shared: what a participant has made of steps that are mentioned several times.
        maps: how many steps have been fused into the last one.
        consumed: the names of the steps that are no longer needed.
    """

    steps: Mapping[str, ir.Node]
    uses: Mapping[str, int]
    sources: list[ir.Node] = field(default_factory=list)
    shared: dict[str, ir.Node] = field(default_factory=dict)
    maps: int = 0
    consumed: set[str] = field(default_factory=set)

    def ending_in(self, value: ir.Node) -> ir.Node:
        """The last step, with the steps before it as a part of it."""
        rest: list[tuple[str | None, ir.Node]] = []
        match value:
            case ir.Call(ir.Intrinsic("federated_map"), ir.Struct(((_, fn), (_, arg)))):
                uri, member = "federated_map", self._applied(fn, arg)
            case ir.Call(
                ir.Intrinsic("federated_aggregate"), ir.Struct(((_, arg), *rest))
            ):
                uri, member = _FUSED_AGGREGATE, self._member(arg)
            case _:
                return value
        if not (self.maps and self.sources):
            self.consumed.clear()
            return value
        first = (None, self._function(member)), (None, self._zipped())
        return call_of(uri, ir.Struct((*first, *rest)), value.type)

    def _member(self, value: ir.Node) -> ir.Node:
        """What a participant holds of a federated value."""
        name = value.name if isinstance(value, ir.Reference) else ""
        if name not in self.steps:
            return self._of_source(value)
        self.consumed.add(name)
        if self.uses[name] == 1:
            return self._made_by(self.steps[name])
        if name not in self.shared:
            self.shared[name] = self._made_by(self.steps[name])
        return ir.Reference(name, member_type(value))

    def _made_by(self, step: ir.Node) -> ir.Node:
        match step:
            case ir.Call(ir.Intrinsic("federated_map"), ir.Struct(((_, fn), (_, arg)))):
                self.maps += 1
                return self._applied(fn, arg)
            case ir.Call(ir.Intrinsic("federated_value"), ir.Literal() as constant):
                return constant
        assert isinstance(step, ir.Call)
        assert step.argument is not None
        return self._members(step.argument)  # of a zip

    def _applied(self, fn: ir.Node, arg: ir.Node) -> ir.Node:
        return ir.Call(fn, self._member(arg))

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
        return ir.Reference(f"(source {number})", member_type(value))

    def _function(self, member: ir.Node) -> ir.Lambda:
        """From what the sources hold at a participant to what it holds in the end."""
        member = ir.Block(tuple(self.shared.items()), member) if self.shared else member
        types = [member_type(source) for source in self.sources]
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
        types = [(None, member_type(source)) for source in self.sources]
        type_ = self.sources[0].type
        assert isinstance(type_, FederatedType)
        result = FederatedType(StructType(types), type_.placement)
        return call_of("federated_zip", parts, result)
