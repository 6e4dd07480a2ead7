# SPDX-License-Identifier: Apache-2.0
"""Trees as text, one line or indented, for all that print or show one."""

from collections.abc import Iterable
from typing import Any, TypeAlias, assert_never

import numpy as np

from fedlearn_edu.ir import nodes as ir

_MAX_LITERAL_CHARS = 24

Part: TypeAlias = str | tuple[ir.Node, str | None]
"""Text, or a node and the indent of its lines; `None` if it is on one line."""


def to_text(node: ir.Node) -> str:
    """The tree on one line, in the grammar of `nodes.py`."""
    return _joined(parts(node, None))


def to_indented_text(node: ir.Node) -> str:
    """The tree with one binding, element or body per line."""
    return _joined(parts(node, ""))


def _joined(found: list[Part]) -> str:
    return "".join([x if isinstance(x, str) else _joined(parts(*x)) for x in found])


def parts(node: ir.Node, indent: str | None) -> list[Part]:
    """What a node is printed as, with the nodes that are right inside of it."""
    deeper = None if indent is None else f"{indent}  "
    match node:
        case ir.Reference(name=name):
            return [name]
        case ir.Selection(source=source):
            return [(source, None), _selector(node)]
        case ir.Struct(elements=elements):
            deeper = deeper if _is_deep(node) else None
            inside = _listed(((f"{n}=" if n else "", e) for n, e in elements), deeper)
            return ["<", *inside, ">" if deeper is None else f"\n{indent}>"]
        case ir.Call(function=function, argument=None):
            return [(function, None), "()"]
        case ir.Call(function=function, argument=argument):
            assert argument is not None
            return [(function, indent), "(", (argument, indent), ")"]
        case ir.Lambda(parameter=parameter, body=body):
            start = " " if deeper is None else f"\n{deeper}"
            return [f"({parameter or ''} ->{start}", (body, deeper), ")"]
        case ir.Block(locals=bound, result=result) if indent is None:
            inside = _listed(((f"{n}=", value) for n, value in bound), None)
            return ["(let ", *inside, " in ", (result, None), ")"]
        case ir.Block(locals=bound, result=result):
            inside = _listed(((f"{n} = ", value) for n, value in bound), deeper, "")
            return ["let", *inside, f"\n{indent}in ", (result, indent)]
        case _:
            return [_atom(node)]


def _listed(
    labeled: Iterable[tuple[str, ir.Node]], indent: str | None, comma: str = ","
) -> list[Part]:
    start, out = "" if indent is None else f"\n{indent}", list[Part]()
    for i, (label, node) in enumerate(labeled):
        out += [f"{comma if i else ''}{start}{label}", (node, indent)]
    return out


def _is_deep(node: ir.Struct) -> bool:
    working = ir.Lambda | ir.Block | ir.Call
    return any(isinstance(element, working) for _, element in node.elements)


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
