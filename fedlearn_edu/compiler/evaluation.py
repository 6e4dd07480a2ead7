# SPDX-License-Identifier: Apache-2.0
"""What names, functions, blocks and structures mean, without any executor.

The reference context evaluates whole programs with it; a runtime evaluates a tree
without placements while it traces, so that the tree becomes part of a graph. Each says
what leaf code, constants and intrinsics are (`Semantics`).

Two others go through the same ten nodes: `executors/reference_resolving.py`, where each
step may wait for an executor, and `normal_form.py`, which computes nothing.
"""

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, assert_never, final

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import with_name
from fedlearn_edu.language.intrinsic import expansion, intrinsic_named
from fedlearn_edu.structure import Struct

Scope = ChainMap[str, Any]
Fn = Callable[..., Any]


@final
@dataclass(frozen=True)
class Semantics:
    """What the parts of a tree mean that are not names, functions or structures.

    Attributes:
        leaf: the function that a piece of leaf code is.
        literal: the value of a constant.
        primitives: the functions of the intrinsics known here, by name.
    """

    leaf: Callable[[ir.Leaf], Fn]
    literal: Callable[[ir.Literal], Any]
    primitives: Mapping[str, Callable[[ir.Intrinsic], Fn]]


def evaluate(tree: ir.Node, semantics: Semantics) -> Any:
    """The value of a closed tree.

    A function is a Python function from one value to another.
    """
    return _evaluate(tree, ChainMap(), semantics)


def _evaluate(node: ir.Node, scope: Scope, semantics: Semantics) -> Any:
    match node:
        case ir.Reference(name=name):
            return scope[name]
        case ir.Selection(source=source, index=index):
            return _evaluate(source, scope, semantics)[index]
        case ir.Struct(elements=elements):
            return Struct([(n, _evaluate(e, scope, semantics)) for n, e in elements])
        case ir.Call(function=function, argument=argument):
            fn = _evaluate(function, scope, semantics)
            return fn(_evaluate(argument, scope, semantics)) if argument else fn()
        case ir.Lambda(parameter=None, body=body):
            return lambda: _evaluate(body, scope, semantics)
        case ir.Lambda(parameter=name, body=body):
            inner = scope.new_child
            return lambda value: _evaluate(body, inner({str(name): value}), semantics)
        case ir.Block(locals=bound, result=result):
            scope = scope.new_child()
            for name, value in bound:
                scope = with_name(name, _evaluate(value, scope, semantics), scope)
            return _evaluate(result, scope, semantics)
        case ir.Intrinsic(uri=uri) if uri in semantics.primitives:
            return semantics.primitives[uri](node)
        case ir.Intrinsic(uri=uri, type=type_):
            return evaluate(expansion(intrinsic_named(uri), type_), semantics)
        case ir.Leaf():
            return semantics.leaf(node)
        case ir.Literal():
            return semantics.literal(node)
        case ir.PlacementLiteral(placement=placement):
            return placement
        case _:
            assert_never(node)
