# SPDX-License-Identifier: Apache-2.0
"""The passes, in order, between the tree that tracing made and the tree that runs.

Contexts hand in a tree and what the stack implements; they receive a tree the stack can
run, or an error before anything has run.
"""

from collections.abc import Set

from fedlearn_edu.compiler.expand_intrinsics import expand_intrinsics
from fedlearn_edu.errors import UnsupportedIntrinsicError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import intrinsics


def compile_tree(node: ir.Node, native: Set[str], name: str = "this") -> ir.Node:
    """Rewrites a tree for a stack that implements the intrinsics in `native`.

    Raises:
        UnsupportedIntrinsicError: if something is left that the stack cannot run.
    """
    check_supported(node, native, name)
    return expand_intrinsics(node, native)


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
