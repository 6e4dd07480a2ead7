# SPDX-License-Identifier: Apache-2.0
"""Events in words, the values they made, and the program they are part of."""

import re
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.viz.player.timeline import Timeline
from fedlearn_edu.viz.player.words import Listing, does, human_bytes, value_of, who
from tests.executors.rounds import local_train, train
from tests.programs import INTS, add, increment
from tests.viz.player.tapes import event, tape_of_a_round


@pytest.mark.parametrize(
    ("participant", "layer", "text"),
    [
        ("clients[7]", "leaf", "client 7 (leaf)"),
        ("server", "sequence", "the server (sequence)"),
        ("all", "reference_resolving", "the stack (reference resolving)"),
        ("unplaced", "participant", "the program (participant)"),
        ("", "NumPyExecutor", "an executor (NumPyExecutor)"),
        ("somebody", "x", "somebody (x)"),
    ],
)
def test_who(participant: str, layer: str, text: str) -> None:
    assert who(event(0, participant=participant, layer=layer)) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"what": "create_call"}, "calls add"),
        (
            {"what": "create_value", "given": np.int32(1)},
            "is handed a value of type int32",
        ),
        (
            {"what": "create_value", "given": increment.tree, "detail": "increment"},
            "is handed increment",
        ),
        (
            {
                "what": "create_value",
                "given": ir.Lambda(None, None, increment.tree),
                "detail": "Lambda, captured k: int32",
                "caller": 3,
            },
            "is handed a lambda, captured k: int32",
        ),
        ({"what": "create_struct", "operands": (1, 2)}, "puts 2 values side by side"),
        ({"what": "create_struct", "operands": (1,)}, "puts 1 value side by side"),
        ({"what": "create_selection", "detail": "w"}, "selects w"),
        ({"what": "compute"}, "hands out a value of type int32"),
        ({"what": "convert"}, "converts data of type int32"),
        (
            {"what": "batched_call", "detail": "f, 3 clients"},
            "runs in one call f, 3 clients",
        ),
        ({"what": "compiled", "detail": "train"}, "compiled train"),
        ({"what": "close"}, "close"),
        ({"what": "create_call", "error": "ValueError"}, "calls add, and fails"),
        (
            {"what": "batched_call", "detail": "failed_logins, 3 clients"},
            "runs in one call failed_logins, 3 clients",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what(fields: dict[str, Any], text: str) -> None:
    assert does(event(0, **fields), "add") == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1000, "1.0 kB"), (999_960, "1.0 MB"), (5e12, "5000.0 GB")],
)
def test_sizes_for_people(size: float, text: str) -> None:
    assert human_bytes(size) == text


def values(program: Any, *arguments: Any) -> list[str]:
    with fl.record() as tape:
        program(*arguments)
    return [value_of(event) for event in tape]


def test_values_are_fetched_when_somebody_looks() -> None:
    found = values(add, 1, 2)
    assert "<a=1, b=2>" in found
    assert found.count("3") >= 4  # the call, and what is handed out, layer by layer
    assert "add" in found


def test_values_of_clients_are_listed_the_first_of_many() -> None:
    program = fl.federated_computation(lambda v: fl.federated_map(increment, v), INTS)
    assert "client 0: 2\nclient 1: 3" in values(program, [1, 2])
    assert "client 0: 2\nclient 1: 3\nclient 2: 4\nclient 3: 5\n… 6 more" in values(
        program, list(range(1, 11))
    )
    assert "nobody" in values(program, [])


def test_sequences_are_not_read_only_to_be_shown() -> None:
    read = []

    @fl.np_computation(np.int32)
    def seen(x: Any) -> Any:
        read.append(int(x))
        return x

    def body(numbers: Any) -> Any:
        return fl.sequence_map(seen, numbers), fl.sequence_sum(numbers)

    with fl.record() as tape:
        fl.federated_computation(body, fl.SequenceType(np.int32))([1, 2])
    before = list(read)
    found = [value_of(event) for event in tape]
    assert read == before
    assert any("read only where it is needed" in value for value in found)


def test_what_makes_nothing_says_so() -> None:
    assert value_of(event(0)) == "none: it is only noted that it happened"


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


def test_of_several_places_those_inside_are_meant() -> None:
    one = ir.Literal(np.int32(1), fl.to_type(np.int32))
    inner = ir.Struct(((None, one),))
    listing = Listing(ir.Struct(((None, one), (None, inner))))
    (at,) = listing.find(inner, [])
    assert len(listing.find(one, [])) == 2
    assert len(listing.find(one, [at])) == 1
    assert listing.is_inside(listing.find(one, [at])[0], at)


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
