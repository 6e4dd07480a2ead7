# SPDX-License-Identifier: Apache-2.0
"""The type checker of whole trees, for those that are traced and those of passes."""

from collections import ChainMap
from collections.abc import Mapping
from typing import assert_never

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.types import Type

_MAX_WHERE_CHARS = 80


def check(node: ir.Node, scope: ChainMap[str, Type] | None = None) -> None:
    """Raises `TypeMismatchError` at the first node that is not well typed.

    `scope` holds the names that are bound outside `node`; names in neither are refused.
    """
    scope = ChainMap() if scope is None else scope
    match node:
        case ir.Reference(name=name, type=type_):
            _check_reference(name, type_, scope)
        case ir.Selection(source=source, index=index):
            check(source, scope)
            if not 0 <= index < len(ir.struct_type_of(source)):
                raise _error(node, "a selection is out of range", source.type, index)
        case ir.Struct(elements=elements):
            for _, element in elements:
                check(element, scope)
        case ir.Call():
            _check_call(node, scope)
        case ir.Lambda(body=body):
            check(body, scope.new_child(node.binds))
        case ir.Block(locals=bound_values, result=result):
            scope = scope.new_child()
            for name, value in bound_values:
                check(value, scope)
                scope[name] = value.type
            check(result, scope)
        case ir.Intrinsic() | ir.Literal() | ir.Leaf() | ir.PlacementLiteral():
            return
        case _:
            assert_never(node)


def _check_reference(name: str, type_: Type, scope: Mapping[str, Type]) -> None:
    if name not in scope:
        raise TypeMismatchError(
            f"the name {name!r} is not bound",
            expected=f"one of {sorted(scope)}" if scope else "a bound name",
            do="use a value only inside the computation that made it",
        )
    type_.check_assignable_from(scope[name], where=f"the name {name!r}")


def _check_call(node: ir.Call, scope: ChainMap[str, Type]) -> None:
    check(node.function, scope)
    parameter = ir.function_type_of(node.function).parameter
    if (node.argument is None) != (parameter is None):
        raise _error(node, "a call has the wrong number of arguments", parameter, None)
    if node.argument is not None and parameter is not None:
        check(node.argument, scope)
        if not parameter.is_assignable_from(node.argument.type):
            where = f"the argument of {_clip(to_text(node.function))}"
            parameter.check_assignable_from(node.argument.type, where=where)


def _error(
    node: ir.Node, summary: str, expected: object, found: object
) -> TypeMismatchError:
    return TypeMismatchError(
        summary, expected=expected, found=found, where=_clip(to_text(node))
    )


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_WHERE_CHARS else text[:_MAX_WHERE_CHARS] + "…"
