# SPDX-License-Identifier: Apache-2.0
"""The program as text: each node is found, and what is lit is marked."""

import re
from html import unescape
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.viz.player.listing import Listing
from tests.executors.rounds import train
from tests.programs import add, increment

PAIR = ir.Struct(((None, increment.tree), (None, add.tree)))


def plain(html: str) -> str:
    return unescape(re.sub("<[^>]*>", "", html))


@pytest.mark.parametrize("place", [1, 2], ids=str)
def test_what_is_lit_is_marked_and_pointed_at(place: int) -> None:
    listing = Listing(PAIR, "pair")
    html = listing.html([place])
    (marked,) = re.findall("<mark [^>]*>(.*)</mark>", html)
    node: Any = listing.nodes[place]
    assert marked == node.code.name
    assert plain(html) == "▶<increment,add>"
    assert "<mark" not in listing.html([0])  # all of it is nothing in particular


def test_of_several_places_those_inside_are_meant() -> None:
    one = ir.Literal(np.int32(1), fl.to_type(np.int32))
    inner = ir.Struct(((None, one),))
    listing = Listing(ir.Struct(((None, one), (None, inner))), "")
    (at,) = listing.find(inner, [])
    assert len(listing.find(one, [])) == 2
    (inside,) = listing.find(one, [at])
    assert listing.is_inside(inside, at)


def test_of_a_long_program_the_lines_around_are_shown() -> None:
    tree = ir.Block(tuple((f"x{i}", PAIR) for i in range(99)), PAIR)
    listing = Listing(tree, "")
    html = listing.html([len(listing.nodes) - 1])
    lines = plain(html.replace("</div>", "\n")).splitlines()
    assert lines[0] == f"… {len(listing.lines) - len(lines) + 1} lines above"
    assert lines[-1].startswith("▶in <increment,add>")
    assert "lines below" in listing.html([1])


def test_lines_are_short_where_the_program_allows_it() -> None:
    lines = ["".join(t for t, _ in line) for line in Listing(train.tree, "").lines]
    assert max(map(len, lines)) < 80


def test_it_is_the_printed_text_with_what_is_short_on_one_line() -> None:
    text = "\n".join("".join(t for t, _ in x) for x in Listing(train.tree, "").lines)
    marks = str.maketrans("", "", " (),\n")
    assert text.translate(marks) == train.to_text().translate(marks)
    assert "\n    train_3 = federated_map(<count,data>)\n" in text
