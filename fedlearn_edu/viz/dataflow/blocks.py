# SPDX-License-Identifier: Apache-2.0
"""What is written in each box, pill and message, broken into lines."""

from dataclasses import dataclass
from typing import final

from fedlearn_edu.viz.dataflow.flow import Flow, Item, Kind, Lane, Node
from fedlearn_edu.viz.dataflow.text import LINE_IN, NAME, PLAIN, QUIET, Line, wrapped
from fedlearn_edu.viz.shortening import clipped, names_only, short, size_text

_PAD_IN = 0.07
_MAX_INSIDE = 6
_NARROW_IN = 1.3
_MAX_NAMES_CHARS = 60


@final
@dataclass(frozen=True)
class Block:
    """The lines of a node.

    Attributes:
        above: the lines; of a message, those above its arrow.
        below: of a message, those below.
    """

    above: tuple[Line, ...]
    below: tuple[Line, ...] = ()

    @property
    def up_in(self) -> float:
        """Inches above the middle: of the box, or of a message's arrow."""
        if self.below:
            return len(self.above) * LINE_IN + _PAD_IN
        return len(self.above) * LINE_IN / 2 + _PAD_IN

    @property
    def down_in(self) -> float:
        """Inches below it."""
        return len(self.below) * LINE_IN + _PAD_IN if self.below else self.up_in


def block(flow: Flow, node: Node, width_in: float) -> Block:
    """What is written in a node that is so wide."""
    match node.kind:
        case Kind.MESSAGE:
            return _message(node, width_in)
        case Kind.STEP:
            lines = wrapped(node.name, NAME, width_in)
            if node.words[0]:
                lines += wrapped(node.words[0], QUIET, width_in)
            return Block((*lines, *_inside(node, width_in)))
        case Kind.RESULT:
            name = "result" if node.name == "result" else f"result: {node.name}"
            return Block(tuple(_pill(name, node.items[0], width_in)))
        case Kind.PARAMETER | Kind.CONSTANT:
            lines = _pill(node.name, node.items[0], width_in)
            stays = node.lane is Lane.CLIENTS and not any(
                after.kind is Kind.MESSAGE for after in flow.out_of(node)
            )
            said = "stays with its client" if stays else node.words[0]
            return Block((*lines, *wrapped(said, QUIET, width_in)))
        case Kind.VALUE:
            return Block(tuple(_item(node.items[0], width_in)))


def _inside(node: Node, width_in: float) -> list[Line]:
    if width_in < _NARROW_IN:
        return []
    steps = list(node.inside[:_MAX_INSIDE])
    if not steps:
        return []
    more = ["…"] if len(node.inside) > _MAX_INSIDE else []
    return wrapped("does " + ", ".join(steps + more), PLAIN, width_in)


def _pill(name: str, item: Item, width_in: float) -> list[Line]:
    shown = Item(name if not item.name else f"{name} {item.name}", item.type)
    return _item(shown, width_in)


def _item(item: Item, width_in: float) -> list[Line]:
    size = size_text(item.size_bytes)
    heading = " · ".join(filter(None, [item.name, size]))
    lines = wrapped(heading, NAME, width_in)
    if len(lines) > 1:
        lines = wrapped(item.name, NAME, width_in) + wrapped(size, NAME, width_in)
    is_narrow = width_in < _NARROW_IN
    names = clipped(names_only(item.type), _MAX_NAMES_CHARS)
    text = names if is_narrow else short(item.type)
    return lines + wrapped(text, PLAIN, width_in)


def _message(node: Node, width_in: float) -> Block:
    above = [line for item in node.items for line in _item(item, width_in)]
    uri, said = node.words
    below = wrapped(said, PLAIN, width_in) + wrapped(uri, QUIET, width_in)
    return Block(tuple(above), tuple(below))
