# SPDX-License-Identifier: Apache-2.0
"""The notation: printing, reading back, and pointing at what is wrong."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from fedlearn_edu.types import (
    SERVER,
    AbstractType,
    FederatedType,
    FunctionType,
    PlacementType,
    SequenceType,
    StructType,
    TensorType,
    Type,
    format_type,
    parse_type,
    to_type,
    type_at_clients,
    type_at_server,
)
from tests.strategies import types

INT, BOOL, FLOAT = np.int32, np.bool_, np.float32
T = AbstractType("T")

TABLE: list[tuple[Any, str]] = [
    (INT, "int32"),
    ((FLOAT, [10]), "float32[10]"),
    ((FLOAT, [None, 3]), "float32[?,3]"),
    (TensorType(FLOAT, [1, None, None]), "float32[1,?,?]"),
    (TensorType(FLOAT, [0]), "float32[0]"),
    (np.str_, "string"),
    ([INT, BOOL], "<int32,bool>"),
    ([("a", INT), ("b", BOOL)], "<a=int32,b=bool>"),
    ([("a", INT), BOOL], "<a=int32,bool>"),
    ((), "<>"),
    ((INT, (("x", FLOAT), BOOL)), "<int32,<x=float32,bool>>"),
    (SequenceType(INT), "int32*"),
    (SequenceType(OrderedDict(A=INT, B=INT)), "<A=int32,B=int32>*"),
    (SequenceType([]), "<>*"),
    (FunctionType(INT, BOOL), "(int32 -> bool)"),
    (FunctionType(None, BOOL), "( -> bool)"),
    (FunctionType([], INT), "(<> -> int32)"),
    (
        FunctionType(FunctionType(INT, INT), type_at_server(BOOL)),
        "((int32 -> int32) -> bool@SERVER)",
    ),
    (type_at_clients(INT), "{int32}@CLIENTS"),
    (type_at_clients(INT, all_equal=True), "int32@CLIENTS"),
    (type_at_server(INT), "int32@SERVER"),
    (FederatedType(INT, SERVER, all_equal=False), "{int32}@SERVER"),
    (type_at_clients(SequenceType(INT)), "{int32*}@CLIENTS"),
    (
        type_at_clients([("a", INT), ("b", (FLOAT, [2]))]),
        "{<a=int32,b=float32[2]>}@CLIENTS",
    ),
    (
        FunctionType([FunctionType(INT, BOOL), type_at_clients(INT)], BOOL),
        "(<(int32 -> bool),{int32}@CLIENTS> -> bool)",
    ),
    (FunctionType([T, SequenceType(T)], T), "(<T,T*> -> T)"),
    (FunctionType(PlacementType(), BOOL), "(placement -> bool)"),
]


@pytest.mark.parametrize(("spec", "text"), TABLE)
def test_type_prints_as_in_the_table_and_reads_back(spec: Any, text: str) -> None:
    assert str(to_type(spec)) == text
    assert str(parse_type(text)) == text
    assert parse_type(text).is_equivalent_to(parse_type(str(to_type(spec))))


FORMATTED = [
    ("int32", "int32"),
    ("( -> int32)", "( -> int32)"),
    ("<>", "<>"),
    ("<int32,bool>", "<\n  int32,\n  bool\n>"),
    (
        "<a=int32,b=<c=float32[2],d=bool>>",
        "<\n  a=int32,\n  b=<\n    c=float32[2],\n    d=bool\n  >\n>",
    ),
    ("{<a=int32>}@CLIENTS", "{<\n  a=int32\n>}@CLIENTS"),
    ("<a=int32,b=bool>*", "<\n  a=int32,\n  b=bool\n>*"),
    (
        "(<a=int32,b=bool> -> <c=int32>)",
        "(<\n  a=int32,\n  b=bool\n> -> <\n  c=int32\n>)",
    ),
    ("((int32 -> int32) -> <int32>)", "((int32 -> int32) -> <\n  int32\n>)"),
    ("<a=<>,b=int32>", "<\n  a=<>,\n  b=int32\n>"),
]


@pytest.mark.parametrize(("text", "lines"), FORMATTED)
def test_format_breaks_lines_at_structs_only(text: str, lines: str) -> None:
    assert format_type(parse_type(text)) == lines
    assert parse_type(lines) == parse_type(text)


@given(types())
def test_parsing_undoes_printing(type_: Type) -> None:
    """Law: parse∘print is the identity, up to Python containers."""
    read = parse_type(str(type_))
    assert read.is_equivalent_to(type_)
    assert str(read) == str(type_)
    assert parse_type(format_type(type_)) == read


@pytest.mark.parametrize(
    "text", [" int32 [ 2 , ? ] ", "<\n a = int32 ,\n\tb=bool >", "(->int32)"]
)
def test_blanks_do_not_matter(text: str) -> None:
    assert str(parse_type(text)).replace(" ", "") == "".join(text.split())


def test_parsed_structs_have_no_container() -> None:
    type_ = parse_type("<a=int32>")
    assert isinstance(type_, StructType)
    assert type_.python_container is None


@pytest.mark.parametrize("name", ["a", "_", "1", "é", "fc1.weight", "b-2/w", "class"])
def test_field_names_come_back(name: str) -> None:
    type_ = FunctionType(StructType([(name, np.int32), np.bool_]), np.int32)
    assert parse_type(str(type_)) == type_
    assert parse_type(str(type_).replace(" ", "")) == type_
