# SPDX-License-Identifier: Apache-2.0
"""Fusion: several steps of leaf code at one place become one.

A function without placements, all of whose leaf code belongs to one runtime, is handed
to that runtime as a whole: sequence intrinsics, lambdas, blocks and what it captured
included. The runtime makes one leaf of it, or declines (`expansion.obstacle` says why).
Contexts, which see runtimes and compiler, say which runtimes can do that.
"""

from collections.abc import Callable, Mapping

from fedlearn_edu.compiler.normal_form import function_of_fields, unnamed
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import (
    free_references,
    intrinsics,
    leaves,
    rebuild,
    runtimes,
)
from fedlearn_edu.types import Type, is_tensorflow_compatible

# Makes one leaf of a closed function, whose name it is given; `None` if it cannot.
Fuser = Callable[[ir.Lambda, str], ir.Leaf | None]


def fuse_functions(node: ir.Node, fuser: Fuser, *, alone: bool) -> ir.Node:
    """The tree with every function that a runtime can run as a whole as one leaf.

    `alone` says that the program has leaf code of no other runtime.
    """
    if isinstance(node, ir.Lambda) and _is_worth_it(node):
        # Operations that all runtimes know may belong to the data of another one.
        whole = _whole(node, fuser) if alone or runtimes(node) else None
        if whole is not None:
            return whole
    return rebuild(node, lambda child: fuse_functions(child, fuser, alone=alone))


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
    call = ir.Call(leaf, unnamed(*map(ir.Reference, names, names.values())))
    return ir.Lambda(function.parameter, function.parameter_type, call)


def with_captures_as_fields(
    function: ir.Lambda, captured: Mapping[str, Type]
) -> ir.Lambda:
    """The same function, of a structure: what it captured, and then its argument."""
    names = {**captured, **function.binds}
    fields = [ir.Reference(*named) for named in names.items()]
    return function_of_fields(fields, function.body)


def _name_of(function: ir.Lambda) -> str:
    """The intrinsics and computations that are fused, in order."""
    names = [intrinsic.uri for intrinsic in intrinsics(function)]
    for leaf in leaves(function):
        if leaf.runtime != ir.ANY_RUNTIME:
            names.append(leaf.code.name)
    return ", ".join(dict.fromkeys(names)) or "operations"
