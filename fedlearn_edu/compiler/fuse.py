# SPDX-License-Identifier: Apache-2.0
"""Fusion: several steps of leaf code at one place become one.

A function without placements, all of whose leaf code belongs to one runtime, is handed
to that runtime as a whole: sequence intrinsics, lambdas, blocks and what it captured
included. The runtime makes one leaf of it, or declines. Contexts, which see runtimes
and compiler, say which runtimes can do that.
"""

from collections.abc import Callable, Mapping, Set

from fedlearn_edu.compiler.map_fusion import fuse_maps
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import (
    free_references,
    intrinsics,
    leaves,
    rebuild,
    runtimes,
)
from fedlearn_edu.types import StructType, Type, is_tensorflow_compatible

# Makes one leaf of a closed function, whose name it is given; `None` if it cannot.
Fuser = Callable[[ir.Lambda, str], ir.Leaf | None]
_ARGUMENT = "(captured and argument)"  # no Python name


def fuse(
    node: ir.Node, fusers: Mapping[str, Fuser], native: Set[str] = frozenset()
) -> ir.Node:
    """The tree with every function that a runtime can run as a whole as one leaf.

    Maps at one place are fused before (`map_fusion.py`), as far as a stack with the
    intrinsics in `native` can run them. `fusers` has the runtimes by name.
    """
    found = runtimes(node)
    if len(found) == 1 and found <= fusers.keys():
        node = fuse_maps(node, native)
    for runtime in sorted(found & fusers.keys()):
        node = _fused(node, runtime, fusers[runtime], alone=len(found) == 1)
    return node


def _fused(node: ir.Node, runtime: str, fuser: Fuser, *, alone: bool) -> ir.Node:
    """Looks for functions of a runtime, which is alone in the program or not."""
    if isinstance(node, ir.Lambda) and _is_worth_it(node):
        # Operations that all runtimes know may belong to the data of another one.
        whole = _whole(node, fuser) if alone or runtimes(node) else None
        if whole is not None:
            return whole
    return rebuild(node, lambda child: _fused(child, runtime, fuser, alone=alone))


def _is_worth_it(function: ir.Lambda) -> bool:
    """Whether it does several things, and only with data."""
    steps = len(leaves(function)) + len(intrinsics(function))
    ends = [function.parameter_type, function.type.result]
    types = [*ends, *free_references(function).values()]
    return steps > 1 and all(t is None or is_tensorflow_compatible(t) for t in types)


def _whole(function: ir.Lambda, fuser: Fuser) -> ir.Node | None:
    captured = free_references(function)
    if not captured:
        return fuser(function, _name_of(function))
    leaf = fuser(with_captures_as_fields(function, captured), _name_of(function))
    if leaf is None:
        return None
    # A thin function stays, which hands what it captured to the leaf.
    names = {**captured, **function.binds}
    argument = ir.Struct(tuple((None, ir.Reference(*pair)) for pair in names.items()))
    return ir.Lambda(
        function.parameter, function.parameter_type, ir.Call(leaf, argument)
    )


def with_captures_as_fields(
    function: ir.Lambda, captured: Mapping[str, Type]
) -> ir.Lambda:
    """The same function, of a structure: what it captured, and then its argument."""
    names = {**captured, **function.binds}
    whole = StructType([(None, type_) for type_ in names.values()])
    argument = ir.Reference(_ARGUMENT, whole)
    bound = tuple((name, ir.Selection(argument, i)) for i, name in enumerate(names))
    return ir.Lambda(_ARGUMENT, whole, ir.Block(bound, function.body))


def _name_of(function: ir.Lambda) -> str:
    """The intrinsics and computations that are fused, in order."""
    names = [intrinsic.uri for intrinsic in intrinsics(function)]
    for leaf in leaves(function):
        if leaf.runtime != ir.ANY_RUNTIME:
            names.append(leaf.code.name)
    return ", ".join(dict.fromkeys(names)) or "operations"
