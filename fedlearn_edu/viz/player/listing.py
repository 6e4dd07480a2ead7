# SPDX-License-Identifier: Apache-2.0
"""The program that runs, as text of which every node can be found again and lit.

It is printed as `ir/printing.py` prints it. A node that stands in several places is
found in each of them.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import final

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import parts, to_text
from fedlearn_edu.viz.html import tag

_SHORT_CHARS = 36
_MAX_LINES, _ABOVE = 24, 3  # a phone shows the first of them, then scrolls
_LIT = "background:#0072B233;color:inherit;font-weight:bold;padding:0"
_MAY_BREAK = re.compile(r"[,=(]")
_POINTER = '<span style="position:absolute;left:0;text-indent:0">▶</span>'


@final
class Listing:
    """The text of one tree.

    Attributes:
        name: of the program.
        lines: of each the pieces of text, with the places they are in.
        nodes: the node at each place; place 0 is the whole tree.
        parents: for each place the one around it, `None` for the first.
    """

    def __init__(self, tree: ir.Node, name: str) -> None:
        self.name = name
        self.lines: list[list[tuple[str, frozenset[int]]]] = [[]]
        self.nodes: list[ir.Node] = []
        self.parents: list[int | None] = []
        self._places: dict[int, list[int]] = defaultdict(list)
        self._write(tree, "", frozenset())

    def _write(self, node: ir.Node, indent: str | None, around: frozenset[int]) -> None:
        place = len(self.nodes)
        self.nodes.append(node)
        self.parents.append(max(around, default=None))
        self._places[id(node)].append(place)
        inside = around | {place}
        is_short = len(to_text(node)) <= _SHORT_CHARS
        for part in parts(node, None if is_short else indent):
            if isinstance(part, tuple):
                self._write(*part, inside)
                continue
            first, *others = part.split("\n")
            self.lines[-1].append((first, inside))
            self.lines += [[(text, inside)] for text in others]

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

    def html(self, lit: Sequence[int]) -> str:
        """The lines around what is lit, with it set apart."""
        meant = {*lit} - {0}  # the whole program is no highlight
        shown = [[(t, not meant.isdisjoint(at)) for t, at in x] for x in self.lines]
        first = next((i for i, line in enumerate(shown) if any(m for _, m in line)), 0)
        start = max(0, first - _ABOVE)
        above = [_line([(f"… {start} lines above", False)])] if start else []
        rest = len(shown) - start - _MAX_LINES
        below = [_line([(f"… {rest} lines below", False)])] if rest > 0 else []
        return "".join([*above, *map(_line, shown[start:][:_MAX_LINES]), *below])


def breakable(text: str) -> str:
    """The text as HTML, with places where a line may end."""
    return _MAY_BREAK.sub(r"\g<0><wbr>", escape(text))


def _line(runs: Sequence[tuple[str, bool]]) -> str:
    """One line; what is lit is bold, on a tint, and pointed at from the margin.

    A wrapped line goes on with a deeper indent.
    """
    whole = "".join(text for text, _ in runs)
    indent = len(whole) - len(whole.lstrip())
    parts: list[str] = []
    for is_lit, group in groupby(runs, key=lambda run: run[1]):
        text = "".join(each for each, _ in group)
        shown = breakable(text if parts else text.lstrip())
        parts.append(tag("mark", shown, style=_LIT) if is_lit else shown)
    pointer = _POINTER if any(is_lit for _, is_lit in runs) else ""
    look = f"position:relative;padding-left:{indent + 6}ch;text-indent:-4ch"
    return tag("div", pointer, *parts, style=look)
