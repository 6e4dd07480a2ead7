# SPDX-License-Identifier: Apache-2.0
"""The passes, in order, between the tree that tracing made and the tree that runs.

    compile_tree    refuses what the stack cannot run, before anything has run
                    means, sums, … written out                `expansion.py`
    join_steps      one list of calls                         `normal_form.py`
                    aggregates that need one map become one   `joint_aggregates.py`
                    steps at one place become one             `map_fusion.py`
    fuse            functions become leaf code                `fuse.py`

Contexts hand in what the stack implements. What runs after `compile_tree` runs step by
step; the rest makes it fast.
"""

from collections.abc import Mapping, Set

from fedlearn_edu.compiler.expansion import check_supported, expand_intrinsics
from fedlearn_edu.compiler.fuse import Fuser, fuse_functions
from fedlearn_edu.compiler.map_fusion import fuse_maps
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import runtimes


def compile_tree(node: ir.Node, native: Set[str], name: str = "this") -> ir.Node:
    """Rewrites a tree for a stack that implements the intrinsics in `native`.

    Raises:
        UnsupportedIntrinsicError: if something is left that the stack cannot run.
    """
    check_supported(node, native, name)
    return expand_intrinsics(node, native)


def join_steps(node: ir.Node, fusers: Mapping[str, Fuser], native: Set[str]) -> ir.Node:
    """The same program in fewer steps, if one runtime runs it all, and can fuse."""
    found = runtimes(node)
    is_worth_it = len(found) == 1 and found <= fusers.keys()
    return fuse_maps(node, native) if is_worth_it else node


def fuse(node: ir.Node, fusers: Mapping[str, Fuser]) -> ir.Node:
    """The tree with every function that a runtime can run as a whole as one leaf.

    `fusers` has the runtimes by name.
    """
    found = runtimes(node)
    for runtime in sorted(found & fusers.keys()):
        node = fuse_functions(node, fusers[runtime], alone=len(found) == 1)
    return node
