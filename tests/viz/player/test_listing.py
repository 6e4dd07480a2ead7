# SPDX-License-Identifier: Apache-2.0
"""The text of a program, and its nodes found in it."""

import re

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.viz.player.timeline import Timeline
from fedlearn_edu.viz.player.words import Listing
from tests.executors.rounds import local_train, train
from tests.programs import INTS, add, increment
from tests.viz.player.tapes import tape_of_a_round

TREES = {
    "round": train.tree,
    "client": local_train.tree,
    "leaf": increment.tree,
    "call": ir.Call(add.tree, None),
    "literal": ir.Literal(np.int32(3), fl.to_type(np.int32)),
}


@pytest.mark.parametrize("name", TREES)
def test_it_is_the_printed_text_with_other_line_breaks(name: str) -> None:
    def bare(text: str) -> str:
        return re.sub(r"\s", "", text)

    assert bare(Listing(TREES[name]).text()) == bare(to_text(TREES[name]))


def test_lines_are_short_where_the_program_allows_it() -> None:
    assert max(map(len, Listing(train.tree).text().split("\n"))) < 80


def test_every_node_is_found_where_it_stands() -> None:
    listing = Listing(train.tree)
    for place, node in enumerate(listing.nodes):
        assert place in listing.find(node, [])
    assert listing.find(add.tree, []) == ()


def test_of_several_places_those_inside_are_meant() -> None:
    one = ir.Literal(np.int32(1), fl.to_type(np.int32))
    inner = ir.Struct(((None, one),))
    listing = Listing(ir.Struct(((None, one), (None, inner))))
    (at,) = listing.find(inner, [])
    assert len(listing.find(one, [])) == 2
    assert len(listing.find(one, [at])) == 1
    assert listing.is_inside(listing.find(one, [at])[0], at)


def test_the_call_of_a_function_is_what_is_lit() -> None:
    program = fl.federated_computation(lambda v: fl.federated_map(increment, v), INTS)
    listing = Listing(program.tree)
    place = next(i for i, n in enumerate(listing.nodes) if isinstance(n, ir.Intrinsic))
    assert isinstance(listing.nodes[listing.call_of(place)], ir.Call)
    assert listing.call_of(0) == 0


def test_what_is_lit_is_marked_and_pointed_at() -> None:
    listing = Listing(increment.tree)
    assert "<mark" not in listing.html([0])  # all of it is nothing in particular
    tree = ir.Struct(((None, increment.tree), (None, add.tree)))
    html = Listing(tree).html([1])
    assert re.search(r"▶</span>&lt;<mark [^>]*>increment</mark>", html)
    assert html.count("<mark") == 1


def test_of_a_long_program_the_lines_around_are_shown() -> None:
    (listing,) = Timeline(tape_of_a_round(1)).listings.values()
    last = len(listing.nodes) - 1
    html = listing.html([last])
    assert "<mark" in html
    assert html.count("<div") == 25  # with the one that says how many are above
    assert f"… {len(listing.lines) - 24} lines above" in html
    assert "lines below" not in html


def test_text_is_escaped() -> None:
    html = Listing(ir.Struct(((None, increment.tree),))).html([])
    assert "&lt;increment&gt;" in html
