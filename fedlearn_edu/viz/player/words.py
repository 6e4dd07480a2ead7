# SPDX-License-Identifier: Apache-2.0
"""An event in words: who does what, what it made; and the program it is part of.

A program is text of which every node can be found again and lit: the tree that ran is
printed as `ir/printing.py` prints it, with line breaks where a line would be long. A
node that stands in several places is found in each of them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, final

from fedlearn_edu.errors import counted
from fedlearn_edu.executors.base import ExecutorValue, as_node
from fedlearn_edu.executors.recording import Event, look
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.language.federated_value import brief
from fedlearn_edu.types import CLIENTS, FederatedType, FunctionType, SequenceType, Type
from fedlearn_edu.types.sequences import unwrap
from fedlearn_edu.viz.shortening import cut

_MAX_MEMBERS = 4
_WIDTH = 36
_MAX_LINES = 24
_MARK = '<mark style="background:#0072B233;color:inherit;font-weight:bold;padding:0">'
_MAY_BREAK = re.compile(r"[,=(]")
_POINTER = '<span style="position:absolute;left:0;text-indent:0">▶</span>'
_WHO = {
    "all": "the stack",
    "server": "the server",
    "unplaced": "the program",
    "": "an executor",
}
_KINDS = ("Block", "Call", "Lambda", "Literal", "Selection", "Struct")


def who(event: Event) -> str:
    """Who it works for, and in which layer: `client 3 (leaf)`."""
    name = _WHO.get(event.participant, event.participant)
    if event.client is not None:
        name = f"client {event.client}"
    return f"{name} ({event.layer.replace('_', ' ')})"


def does(event: Event, function: str) -> str:
    """What happens, as a verb and its object.

    Args:
        event: any.
        function: the name of what is called, if it has one.
    """
    match event.what:
        case "create_call":
            text = f"calls {function or 'a function'}"
        case "create_value" if as_node(event.given) is not None:
            text = f"is handed {_function(event)}"
        case "create_value":
            text = f"is handed a value of type {cut(event.type)}"
        case "create_struct":
            count = len(event.operands)
            text = f"puts {counted(count, 'value')} side by side"
        case "create_selection":
            text = f"selects {event.detail}"
        case "compute":
            text = f"hands out a value of type {cut(event.type)}"
        case "convert":
            text = f"converts data of type {cut(event.type)}"
        case "batched_call":
            text = f"runs in one call {event.detail}"
        case "compiled" | "built" | "reused" | "declined":
            text = f"{event.what} {event.detail}"
        case other:
            text = other
    return f"{text}, and fails" if event.error else text


def _function(event: Event) -> str:
    name = event.detail.partition(",")[0]
    if name in _KINDS:
        article = "the program" if event.caller is None else f"a {name.lower()}"
        return article + event.detail[len(name) :]
    return event.detail


def human_bytes(size: float) -> str:
    """A size for people, in powers of ten.

    >>> human_bytes(999), human_bytes(31400), human_bytes(2_500_000)
    ('999 B', '31.4 kB', '2.5 MB')
    """
    if size < 1000:
        return f"{size:.0f} B"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 999.95 or unit == "GB":
            break
    return f"{size:.1f} {unit}"


def value_of(event: Event) -> str:
    """What an event made, in a few words; it is fetched now, if it has to be."""
    made = event.made
    if made is None:
        return "none: it is only noted that it happened"
    if event.what == "create_value":
        node = as_node(event.given)
        type_ = made.type_signature
        return cut(to_text(node)) if node is not None else _shown(event.given, type_)
    if event.what == "compute":
        return _shown(made, event.given.type_signature)
    if not isinstance(made, ExecutorValue):
        return "none"
    type_ = made.type_signature
    if type_.contains(lambda t: isinstance(t, FunctionType)):
        return "a function is in it: it can be called, not shown"
    if type_.contains(lambda t: isinstance(t, SequenceType)):
        return "a sequence is in it: it is read only where it is needed"
    return _shown(look(made), type_)


def _shown(plain: Any, type_: Type) -> str:
    plain = unwrap(plain)
    is_group = isinstance(type_, FederatedType) and not type_.all_equal
    if not (is_group and isinstance(plain, tuple | list)):
        return brief(plain)
    assert isinstance(type_, FederatedType)
    noun = "client" if type_.placement is CLIENTS else "server"
    shown = [f"{noun} {i}: {brief(m)}" for i, m in enumerate(plain[:_MAX_MEMBERS])]
    if len(plain) > _MAX_MEMBERS:
        shown.append(f"… {len(plain) - _MAX_MEMBERS} more")
    return "\n".join(shown) or "nobody"


@final
@dataclass(frozen=True)
class Piece:
    """Text within one line, and the places it is part of, outermost first."""

    text: str
    inside: tuple[int, ...]


@final
class Listing:
    """The text of one tree.

    Attributes:
        lines: pieces of text.
        nodes: the node at each place; place 0 is the whole tree.
        parents: for each place the one around it, `None` for the first.
    """

    def __init__(self, tree: ir.Node) -> None:
        self.lines: list[list[Piece]] = [[]]
        self.nodes: list[ir.Node] = []
        self.parents: list[int | None] = []
        self._stack: list[int] = []
        self._write(tree, 0)
        self._places: dict[int, list[int]] = {}
        for place, node in enumerate(self.nodes):
            self._places.setdefault(id(node), []).append(place)

    def find(self, node: ir.Node, within: Sequence[int]) -> tuple[int, ...]:
        """The places of this very node: those inside of `within`, if there are any."""
        places = self._places.get(id(node), [])
        near = [p for p in places if any(self.is_inside(p, w) for w in within)]
        return tuple(near or places)

    def call_of(self, place: int) -> int:
        """The place of the call whose function is here, if it is called here."""
        parent = self.parents[place]
        if parent is None:
            return place
        above = self.nodes[parent]
        is_called = isinstance(above, ir.Call) and above.function is self.nodes[place]
        return parent if is_called else place

    def is_inside(self, place: int | None, outer: int) -> bool:
        """Whether `outer` is `place` or around it."""
        while place is not None and place != outer:
            place = self.parents[place]
        return place is not None

    def text(self) -> str:
        """The whole text."""
        return "\n".join("".join(run.text for run in line) for line in self.lines)

    def html(self, lit: Sequence[int]) -> str:
        """The lines around what is lit, with it set apart."""
        meant = {*lit} - {0}  # the whole program is no highlight
        shown = [
            [(run.text, not meant.isdisjoint(run.inside)) for run in line]
            for line in self.lines
        ]
        first = next((i for i, line in enumerate(shown) if any(m for _, m in line)), 0)
        start = max(0, min(first - _MAX_LINES // 3, len(shown) - _MAX_LINES))
        part = [_line(line) for line in shown[start : start + _MAX_LINES]]
        above = [_line([(f"… {start} lines above", False)])] if start else []
        rest = len(shown) - start - _MAX_LINES
        below = [_line([(f"… {rest} lines below", False)])] if rest > 0 else []
        return "".join([*above, *part, *below])

    def _write(self, node: ir.Node, indent: int) -> None:
        self.parents.append(self._stack[-1] if self._stack else None)
        self._stack.append(len(self.nodes))
        self.nodes.append(node)
        self._write_inside(node, indent, is_long=len(to_text(node)) > _WIDTH)
        self._stack.pop()

    def _write_inside(self, node: ir.Node, indent: int, is_long: bool) -> None:
        space = "" if is_long else " "
        match node:
            case ir.Lambda(parameter=parameter, body=body):
                self._put(f"({parameter or ''} ->{space}")
                self._break(indent + 2, is_long)
                self._write(body, indent + 2)
                self._put(")")
            case ir.Block(locals=bound, result=result):
                self._put(f"(let{space}")
                self._write_named(bound, indent + 2, is_long)
                self._break(indent, is_long)
                self._put(f"{space}in ")
                self._write(result, indent)
                self._put(")")
            case ir.Struct(elements=elements):
                self._put("<")
                self._write_named(elements, indent + 2, is_long)
                self._put(">")
            case ir.Call(function=function, argument=argument):
                self._write(function, indent)
                self._put("(")
                if argument is not None:
                    self._write(argument, indent)
                self._put(")")
            case ir.Selection(source=source):
                self._write(source, indent)
                self._put(to_text(node)[len(to_text(source)) :])
            case _:
                self._put(to_text(node))

    def _write_named(
        self, pairs: Sequence[tuple[str | None, ir.Node]], indent: int, is_long: bool
    ) -> None:
        for i, (name, node) in enumerate(pairs):
            self._put("," if i else "")
            self._break(indent, is_long)
            self._put(f"{name}=" if name else "")
            self._write(node, indent)

    def _put(self, text: str) -> None:
        if text:
            self.lines[-1].append(Piece(text, tuple(self._stack)))

    def _break(self, indent: int, is_long: bool) -> None:
        if is_long:
            self.lines.append([Piece(" " * indent, ())])


def _line(runs: Sequence[tuple[str, bool]]) -> str:
    """One line; what is lit is bold, on a tint, and pointed at from the margin.

    A wrapped line goes on with a deeper indent.
    """
    whole = "".join(text for text, _ in runs)
    indent = len(whole) - len(whole.lstrip())
    parts, is_open = [], False
    for text, is_lit in runs:
        if is_lit != is_open:
            parts.append(_MARK if is_lit else "</mark>")
            is_open = is_lit
        shown = escape(text if parts or is_lit else text.lstrip())
        parts.append(_MAY_BREAK.sub(r"\g<0><wbr>", shown))
    parts.append("</mark>" * is_open)
    pointer = _POINTER if any(lit for _, lit in runs) else ""
    style = f"position:relative;padding-left:{indent + 6}ch;text-indent:-4ch"
    return f'<div style="{style}">{pointer}{"".join(parts)}</div>'
