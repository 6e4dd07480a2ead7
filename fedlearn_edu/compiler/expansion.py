# SPDX-License-Identifier: Apache-2.0
"""What a stack or a runtime cannot run is expanded, or refused.

The expansion of a derived intrinsic is an ordinary traced computation; intrinsics in it
are expanded in turn, down to those that the stack implements, or to primitives.

    federated_sum(v)
    (value -> (let s=federated_aggregate(<value,0,add,add,(x0 -> x0)>) in s))(v)
"""

from collections.abc import Collection, Set
from typing import Any

from fedlearn_edu.errors import ContextError, UnsupportedIntrinsicError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import OPERATION_TABLE
from fedlearn_edu.ir.traversal import intrinsics, leaves, rebuild_atoms
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.intrinsic import expansion, intrinsic_named


def expand_intrinsics(node: ir.Node, native: Set[str]) -> ir.Node:
    """The tree with every derived intrinsic outside `native` written out."""

    def expanded(atom: ir.Node) -> ir.Node:
        if not isinstance(atom, ir.Intrinsic) or atom.uri in native:
            return atom
        definition = intrinsic_named(atom.uri)
        if definition.is_primitive:
            return atom
        return expand_intrinsics(expansion(definition, atom.type), native)

    return rebuild_atoms(node, expanded)


def check_supported(node: ir.Node, native: Set[str], name: str) -> None:
    """Refuses intrinsics the stack neither implements nor can expand; names both."""
    for intrinsic in intrinsics(node):
        for part in intrinsics(expand_intrinsics(intrinsic, native)):
            if part.uri not in native:
                by_way = "" if part == intrinsic else f", which expands into {part.uri}"
                raise UnsupportedIntrinsicError(
                    f"this stack of executors cannot run {intrinsic.uri}",
                    expected=f"one of {', '.join(sorted(native)) or 'no intrinsics'}",
                    found=f"{intrinsic.uri}{by_way}: {intrinsic.type}",
                    where=name,
                    do=_cure(part.uri),
                )


def _cure(uri: str) -> str:
    if uri.startswith("sequence_"):
        return (
            "add the sequence layer: "
            "framework.local_executor_factory(support_sequence_ops=True), "
            "or take simulation.build_inprocess_environment()"
        )
    return f'implement it in the strategy: a method marked @implements("{uri}")'


def check_obstacle(computation: Computation, kind: str, code: str, *known: Any) -> None:
    """Refuses a call, inside leaf code of this kind, that the runtime cannot evaluate.

    `known` is the name of the runtime and what it knows, as `obstacle` takes them.
    """
    found = obstacle(computation.tree, *known)
    if found is not None:
        raise ContextError(
            f"{computation.__name__} cannot be called inside {kind}",
            expected=f"a computation of {code} code and sequence intrinsics",
            found=found,
            where=computation,
            do="call both from a federated_computation",
        )


def obstacle(
    tree: ir.Node,
    runtime: str,
    primitives: Collection[str],
    operations: Collection[str] = OPERATION_TABLE,
) -> str | None:
    """Why a runtime cannot evaluate a tree; `None` if it can."""
    expanded = expand_intrinsics(tree, set(primitives))
    for intrinsic in intrinsics(expanded):
        if intrinsic.uri not in primitives:
            return f"{intrinsic.uri}, which needs participants"
    for leaf in leaves(expanded):
        if leaf.runtime not in (runtime, ir.ANY_RUNTIME):
            return f"{leaf.code.name}, which is leaf code for {leaf.runtime}"
        if leaf.runtime == ir.ANY_RUNTIME and leaf.code.name not in operations:
            return f"{leaf.code.name}, which {runtime} does not know"
    return None
