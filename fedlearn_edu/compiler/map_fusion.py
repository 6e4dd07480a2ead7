# SPDX-License-Identifier: Apache-2.0
"""Map fusion: what a participant does in several steps becomes one step.

    federated_map(g, federated_map(f, x))    federated_map(m -> g(f(m)), x)
    federated_map(g, federated_zip(<x,y>))   federated_map(<m,n> -> g(<m,n>), <x,y>)
    federated_aggregate(federated_map(f, x), zero, …)
                                             federated_map_aggregate(f, x, zero, …)

Only steps whose result nothing else needs are fused, so nothing is computed twice. The
functions that come out know no placements: `fuse.py` gives each to a runtime whole.
"""

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import final

from fedlearn_edu.compiler.joint_aggregates import with_joint_aggregates
from fedlearn_edu.compiler.normal_form import (
    call_of,
    function_of_fields,
    member_type,
    to_normal_form,
    uri_of,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import field as field_of
from fedlearn_edu.ir.traversal import free_references, intrinsics, leaves
from fedlearn_edu.types import FederatedType, StructType

_FUSED_AGGREGATE = "federated_map_aggregate"


def fuse_maps(program: ir.Node, native: Set[str]) -> ir.Node:
    """The same program in fewer steps, for a stack with the intrinsics in `native`."""
    if not isinstance(program, ir.Lambda) or _FUSED_AGGREGATE not in native:
        return program
    straight = to_normal_form(program)
    assert isinstance(straight.body, ir.Block)
    block = with_joint_aggregates(_without_unused_fields(straight.body))
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
        if not (self.sources and "federated_map" in map(uri_of, self.steps.values())):
            return value
        self.consumed = self.steps.keys()
        function = self._function(ir.Block(tuple(made), member))
        first = (None, function), (None, self._zipped())
        return call_of(uri, ir.Struct((*first, *rest)), value.type)

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
            return ir.Reference(value.name, member_type(value))
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
        return ir.Reference(f"(source {number})", member_type(value))

    def _function(self, member: ir.Node) -> ir.Lambda:
        """From what the sources hold at a participant to what it holds in the end."""
        types = map(member_type, self.sources)
        held = {f"(source {number})": type_ for number, type_ in enumerate(types)}
        if len(held) > 1:
            return function_of_fields(held, member)
        [(name, type_)] = held.items()
        return ir.Lambda(name, type_, member)

    def _zipped(self) -> ir.Node:
        if len(self.sources) == 1:
            return self.sources[0]
        parts = ir.Struct(tuple((None, source) for source in self.sources))
        types = [(None, member_type(source)) for source in self.sources]
        type_ = self.sources[0].type
        assert isinstance(type_, FederatedType)
        result = FederatedType(StructType(types), type_.placement)
        return call_of("federated_zip", parts, result)
