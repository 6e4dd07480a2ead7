# SPDX-License-Identifier: Apache-2.0
"""Replaces intrinsics that a stack does not implement by their expansions.

An expansion is an ordinary traced computation, so it may contain intrinsics that are
expanded in turn, down to primitives.
"""

from collections.abc import Set

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import rebuild_atoms
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
