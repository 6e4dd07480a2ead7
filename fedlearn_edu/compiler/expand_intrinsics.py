# SPDX-License-Identifier: Apache-2.0
"""Replaces intrinsics that a stack does not implement by their expansions.

An expansion is an ordinary traced computation, so it may contain intrinsics that are
expanded in turn, down to primitives.
"""

from collections.abc import Set
from functools import lru_cache

from fedlearn_edu.computations.arguments import parameter_names
from fedlearn_edu.computations.federated import trace_federated
from fedlearn_edu.errors import UnsupportedIntrinsicError
from fedlearn_edu.intrinsics.definition import IntrinsicDef, intrinsic_named
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import rebuild
from fedlearn_edu.types import FunctionType


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


@lru_cache(maxsize=1024)
def expansion(definition: IntrinsicDef, type_: FunctionType) -> ir.Node:
    """A derived intrinsic at one type, as a function of the language."""
    if definition.expand is None:
        raise UnsupportedIntrinsicError(
            f"{definition.uri} is a primitive, and nobody here implements it",
            expected="an intrinsic of the language, or one with an expansion",
            found=f"{definition.uri}: {type_}",
            do="run it on a stack whose strategy implements it, "
            "or give its definition an expand function",
        )
    names = parameter_names(definition.expand)
    return trace_federated(
        definition.expand, names, type_.parameter, definition.uri
    ).tree
