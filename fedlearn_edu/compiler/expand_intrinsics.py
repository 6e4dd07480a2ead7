# SPDX-License-Identifier: Apache-2.0
"""Replaces intrinsics that a stack does not implement by their expansions.

An expansion is an ordinary traced computation, so it may contain intrinsics that are
expanded in turn, down to primitives.
"""

from collections.abc import Set

from fedlearn_edu.intrinsics.definition import intrinsic_named
from fedlearn_edu.intrinsics.expansion import expansion
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import rebuild


def expand_intrinsics(node: ir.Node, native: Set[str]) -> ir.Node:
    """The tree with every derived intrinsic outside `native` written out."""
    match node:
        case ir.Intrinsic(uri=uri, type=type_) if uri not in native:
            definition = intrinsic_named(uri)
            if definition.is_primitive:
                return node
            return expand_intrinsics(expansion(definition, type_), native)
        case _:
            return rebuild(node, lambda child: expand_intrinsics(child, native))
