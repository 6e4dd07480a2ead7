# SPDX-License-Identifier: Apache-2.0
"""Replaces intrinsics that a stack does not implement by their expansions.

An expansion is an ordinary traced computation, so it may contain intrinsics that are
expanded in turn, down to primitives.
"""

from collections.abc import Collection, Set

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import OPERATION_TABLE
from fedlearn_edu.ir.traversal import intrinsics, leaves, rebuild_atoms
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


def obstacle(
    tree: ir.Node,
    runtime: str,
    primitives: Collection[str],
    operations: Collection[str] = OPERATION_TABLE,
) -> str | None:
    """What keeps a tree from being evaluated by a runtime, if anything does."""
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
