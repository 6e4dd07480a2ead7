# SPDX-License-Identifier: Apache-2.0
"""Map fusion: what a participant does in several steps becomes one step.

    (0) = federated_map(<f,(argument)>)
    (1) = federated_map(<g,(0)>)

    (1) = federated_map(<((source 0) -> (let (0)=f((source 0)) in g((0)))),(argument)>)

Steps that only one other step needs become *parts* of it: locals of its function, where
each stands for its *member*, what a single participant holds. Nothing is computed
twice. The federated values that the parts start from are the *sources*. Zips and
constants can be parts, too; an aggregate with parts is a `federated_map_aggregate`. The
functions that come out know no placements: `fuse.py` gives each to a runtime whole.
"""

from collections import defaultdict
from collections.abc import Mapping, Set
from typing import final

from fedlearn_edu.compiler.joint_aggregates import with_joint_aggregates
from fedlearn_edu.compiler.normal_form import (
    Steps,
    arguments_of,
    call_of,
    function_of_fields,
    member_type,
    to_normal_form,
    unnamed,
    uri_of,
    zip_of,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import field, free_references, intrinsics, leaves
from fedlearn_edu.types import StructType

_FUSED_AGGREGATE = "federated_map_aggregate"


def fuse_maps(program: ir.Node, native: Set[str]) -> ir.Node:
    """The same program in fewer steps, for a stack with the intrinsics in `native`."""
    if not isinstance(program, ir.Lambda) or _FUSED_AGGREGATE not in native:
        return program
    normal = to_normal_form(program)
    assert isinstance(normal.body, ir.Block)
    block = with_joint_aggregates(_without_unused_fields(normal.body))
    return ir.Lambda(normal.parameter, normal.parameter_type, _fused(block))


def _without_unused_fields(block: ir.Block) -> ir.Block:
    """The same block without fields that were taken out of a value for nothing.

    They would count as a use of the value, which then could not be a part.
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


def _fused(block: ir.Block) -> ir.Block:
    """The same block, in which steps have become parts of later ones."""
    users = defaultdict[str, set[str]](set)
    for name, step in (*block.locals, ("", block.result)):
        for needed in free_references(step):
            users[needed].add(name)
    steps, kept, gone = dict(block.locals), Steps(), set[str]()
    # Backwards: what is a part of a step takes its own parts along.
    for name, step in reversed(block.locals):
        if name in gone:
            continue
        parts = _parts_of(name, steps, users)
        fused = _Parts(parts).fused_into(step)
        if fused is not None:
            gone |= parts.keys()
        kept.append((name, fused or step))
    return ir.Block(tuple(reversed(kept)), block.result)


def _parts_of(
    name: str, steps: Mapping[str, ir.Node], users: Mapping[str, set[str]]
) -> dict[str, ir.Node]:
    """The steps, in order, that only this step needs, or only parts of it."""
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
class _Parts:
    """The parts of a step, as a single participant sees them.

    They become a block, not one nested expression: there may be more of them than
    Python's stack has levels.
    """

    def __init__(self, steps: Mapping[str, ir.Node]) -> None:
        self._steps = steps
        self._sources: dict[ir.Node, ir.Reference] = {}  # and their members

    def fused_into(self, step: ir.Node) -> ir.Node | None:
        """The step with the parts in its function; `None` if they remain steps."""
        made = [(name, self._made_by(part)) for name, part in self._steps.items()]
        match uri_of(step):
            case "federated_map":
                uri, result, others = "federated_map", self._made_by(step), []
            case "federated_aggregate":
                value, *others = arguments_of(step)
                uri, result = _FUSED_AGGREGATE, self._member(value)
            case _:
                return None
        if not (self._sources and "federated_map" in map(uri_of, self._steps.values())):
            return None
        first = self._from_sources(ir.Block(tuple(made), result))
        return call_of(uri, unnamed(*first, *others), step.type)

    def _made_by(self, step: ir.Node) -> ir.Node:
        """The member of what a step makes."""
        match step:
            case ir.Call(ir.Intrinsic("federated_map")):
                function, value = arguments_of(step)
                return ir.Call(function, self._member(value))
            case ir.Call(ir.Intrinsic("federated_value"), ir.Literal() as constant):
                return constant
        assert isinstance(step, ir.Call)
        assert step.argument is not None
        return self._member(step.argument)  # of a zip

    def _member(self, value: ir.Node) -> ir.Node:
        """The member of a federated value, or of each one in a structure of them."""
        if isinstance(whole := value.type, StructType):
            members = [self._member(field(value, i)) for i in range(len(whole))]
            named = zip(whole.names(), members, strict=True)
            return ir.Struct(tuple(named), whole.python_container)
        if isinstance(value, ir.Reference) and value.name in self._steps:
            return ir.Reference(value.name, member_type(value))
        name = f"(source {len(self._sources)})"
        member = ir.Reference(name, member_type(value))
        return self._sources.setdefault(value, member)

    def _from_sources(self, body: ir.Node) -> tuple[ir.Lambda, ir.Node]:
        """A function from the members of the sources to the body, and its argument."""
        sources, members = [*self._sources], [*self._sources.values()]
        if len(sources) > 1:
            return function_of_fields(members, body), zip_of(sources)
        return ir.Lambda(members[0].name, members[0].type, body), sources[0]
