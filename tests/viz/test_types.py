# SPDX-License-Identifier: Apache-2.0
"""Notebooks show a type as its notation, with placements in their colors."""

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.viz import colors
from fedlearn_edu.viz.displays import draw_type
from tests.viz.html_reader import check_html

NOTATIONS = (
    "float32",
    "float32[?,784]",
    "string",
    "<>",
    "<a=int32,<b=bool,c=float32[3]>>",
    "<x=float32[?,784],y=int32[?]>*",
    "{<x=float32[?],y=int32>*}@CLIENTS",
    "float32@SERVER",
    "int32@CLIENTS",
    "(<model=float32[10]@SERVER,data={int32*}@CLIENTS> -> float32[10]@SERVER)",
    "( -> bool)",
    "(<T,(U -> T)> -> {U}@CLIENTS)",
)


@pytest.mark.parametrize("text", NOTATIONS)
def test_the_notation_is_there_as_text(text: str) -> None:
    type_ = fl.parse_type(text)
    reader = check_html(draw_type(type_))
    assert str(type_) in reader.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("float32[784,10]", "31.4 kB"),
        ("{float32[784,10]}@CLIENTS", "31.4 kB at each client"),
        ("float32@CLIENTS", "4 B at each client, the same for all"),
        ("int64@SERVER", "8 B at the server"),
        ("float32*", "how many bytes a value has depends on the data"),
        ("string@SERVER", "at the server; how many bytes a value has depends on"),
    ],
)
def test_sizes_are_said_as_far_as_they_are_known(text: str, said: str) -> None:
    assert said in check_html(draw_type(fl.parse_type(text))).text


def test_functions_and_letters_have_no_size() -> None:
    assert check_html(draw_type(fl.parse_type("T"))).text == "T"
    text = check_html(draw_type(fl.parse_type("(int32 -> bool)"))).text
    assert text == "(int32 -> bool)2 partsparameter int32 · 4 Bresult bool · 1 B"


def test_only_placed_parts_are_colored() -> None:
    html = draw_type(fl.parse_type("(<a=int32@SERVER,b={bool}@CLIENTS> -> int32)"))
    underlined = [f"border-bottom:2px solid {c}" in html for c in COLORS]
    assert underlined == [True, True]
    html = draw_type(fl.parse_type("<a=int32,b=bool>"))
    assert not any(color in html for color in COLORS)


COLORS = (colors.SERVER, colors.CLIENTS)


def test_long_and_deep_lists_are_folded() -> None:
    few, many = (
        fl.to_type([(f"f{i}", np.int32) for i in range(count)]) for count in (8, 9)
    )
    assert ("open" in draw_type(few), "open" in draw_type(many)) == (True, False)
    deep = draw_type(fl.parse_type("<a=<b=int32>>"))
    assert (deep.count("<details"), deep.count("<details open")) == (2, 1)
    assert "9 fields" in check_html(draw_type(many)).text
