# SPDX-License-Identifier: Apache-2.0
"""Map fusion: what a participant does in several steps becomes one step.

    federated_map(g, federated_map(f, x))    federated_map(m -> g(f(m)), x)
    federated_map(g, federated_zip(<x,y>))   federated_map(<m,n> -> g(<m,n>), <x,y>)
    federated_aggregate(federated_map(f, x), zero, …)
                                             federated_map_aggregate(f, x, zero, …)

Only steps whose result has one use are fused, so nothing is computed twice. The
functions that come out know no placements: `fuse.py` gives each to a runtime whole.
"""

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field
from typing import final

from fedlearn_edu.compiler.normal_form import to_normal_form
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import field as field_of
from fedlearn_edu.ir.traversal import walk
from fedlearn_edu.types import FederatedType, FunctionType, StructType, Type

_FUSED_AGGREGATE = "federated_map_aggregate"
_MEMBER = "(member)"  # no Python name


def fuse_maps(program: ir.Node, native: Set[str]) -> ir.Node:
    """The same program in fewer steps, for a stack with the intrinsics in `native`."""
    if not isinstance(program, ir.Lambda) or _FUSED_AGGREGATE not in native:
        return program
    straight = to_normal_form(program)
    assert isinstance(straight.body, ir.Block)
    uses = Counter(n.name for n in walk(straight.body) if isinstance(n, ir.Reference))
    once = {name: node for name, node in straight.body.locals if uses[name] == 1}
    joined, consumed = [], set[str]()
    for name, value in straight.body.locals:
        chain = _Chain(once)
        joined.append((name, chain.ending_in(value)))
        consumed |= chain.consumed
    kept = tuple((name, value) for name, value in joined if name not in consumed)
    block = ir.Block(kept, straight.body.result)
    return ir.Lambda(straight.parameter, straight.parameter_type, block)


@final
@dataclass
class _Chain:
    """The steps that lead to one value, as a single participant sees them.

    Attributes:
        once: the values that are used once.
        sources: the federated values that the first steps start from.
        maps: how many steps have been fused into the last one.
        consumed: the names of the values that are no longer needed.
    """

    once: dict[str, ir.Node]
    sources: list[ir.Node] = field(default_factory=list)
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
        return _call(uri, ir.Struct((*first, *rest)), value.type)

    def _member(self, value: ir.Node) -> ir.Node:
        """What a participant holds of a federated value."""
        name = value.name if isinstance(value, ir.Reference) else ""
        found = self.once.get(name, value)
        match found:
            case ir.Call(ir.Intrinsic("federated_map"), ir.Struct(((_, fn), (_, arg)))):
                self.maps += 1
                held = self._applied(fn, arg)
            case ir.Call(ir.Intrinsic("federated_zip"), parts) if parts is not None:
                held = self._members(parts)
            case ir.Call(ir.Intrinsic("federated_value"), ir.Literal() as constant):
                held = constant
            case _:
                return self._of_source(value)
        self.consumed.add(name)
        return held

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


def _call(uri: str, argument: ir.Node, result: Type) -> ir.Call:
    return ir.Call(ir.Intrinsic(uri, FunctionType(argument.type, result)), argument)


def _member_type(value: ir.Node) -> Type:
    assert isinstance(value.type, FederatedType)
    return value.type.member
