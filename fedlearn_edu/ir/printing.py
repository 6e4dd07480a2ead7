# SPDX-License-Identifier: Apache-2.0
"""Trees as text: one line, or indented.

Anyone may print a tree; `Computation.__str__` and the golden tests do.
"""

from typing import Any, assert_never

import numpy as np

from fedlearn_edu.ir import nodes as ir

_MAX_LITERAL_CHARS = 24


def to_text(node: ir.Node) -> str:
    """The tree on one line, in the grammar of `nodes.py`."""
    match node:
        case ir.Reference(name=name):
            return name
        case ir.Selection(source=source):
            return to_text(source) + _selector(node)
        case ir.Struct(elements=elements):
            return "<" + ",".join(_named(n, to_text(e)) for n, e in elements) + ">"
        case ir.Call(function=function, argument=None):
            return f"{to_text(function)}()"
        case ir.Call(function=function, argument=argument):
            assert argument is not None
            return f"{to_text(function)}({to_text(argument)})"
        case ir.Lambda(parameter=parameter, body=body):
            return f"({parameter or ''} -> {to_text(body)})"
        case ir.Block(locals=bound, result=result):
            text = ",".join(f"{name}={to_text(value)}" for name, value in bound)
            return f"(let {text} in {to_text(result)})"
        case _:
            return _atom(node)


def to_indented_text(node: ir.Node, indent: str = "") -> str:
    """The tree with one binding, element or body per line."""
    deeper = indent + "  "
    match node:
        case ir.Lambda(parameter=parameter, body=body):
            return f"({parameter or ''} ->\n{deeper}{to_indented_text(body, deeper)})"
        case ir.Block(locals=bound, result=result):
            lines = [
                f"{deeper}{name} = {to_indented_text(value, deeper)}"
                for name, value in bound
            ]
            tail = f"{indent}in {to_indented_text(result, indent)}"
            return "\n".join(["let", *lines, tail])
        case ir.Struct(elements=elements) if _is_deep(node):
            lines = [
                f"{deeper}{_named(name, to_indented_text(element, deeper))}"
                for name, element in elements
            ]
            return "<\n" + ",\n".join(lines) + f"\n{indent}>"
        case ir.Call(function=function, argument=argument) if argument is not None:
            inner = to_indented_text(argument, indent)
            return f"{to_indented_text(function, indent)}({inner})"
        case _:
            return to_text(node)


def _is_deep(node: ir.Struct) -> bool:
    return any(
        isinstance(element, ir.Lambda | ir.Block | ir.Call)
        for _, element in node.elements
    )


def _atom(node: ir.Intrinsic | ir.Literal | ir.Leaf | ir.PlacementLiteral) -> str:
    match node:
        case ir.Intrinsic(uri=uri):
            return uri
        case ir.Leaf(code=code):
            return code.name
        case ir.PlacementLiteral(placement=placement):
            return str(placement)
        case ir.Literal(value=value):
            return _literal(value, node)
        case _:
            assert_never(node)


def _literal(value: Any, node: ir.Literal) -> str:
    if isinstance(value, np.ndarray | tuple):
        return f"constant {node.type}"
    text = str(value)
    return text if len(text) <= _MAX_LITERAL_CHARS else f"constant {node.type}"


def _selector(node: ir.Selection) -> str:
    names = ir.struct_type_of(node.source).names()
    # Also a faulty tree can be printed.
    name = names[node.index] if 0 <= node.index < len(names) else None
    return f".{name}" if name else f"[{node.index}]"


def _named(name: str | None, text: str) -> str:
    return f"{name}={text}" if name else text
