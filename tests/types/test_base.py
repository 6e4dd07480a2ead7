# SPDX-License-Identifier: Apache-2.0
"""How types fit each other, and what is said when they do not."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlearn_edu.errors import TypeNotAssignableError
from fedlearn_edu.types import Type, parse_type, to_type
from fedlearn_edu.types.messages import clip, field_step
from tests.strategies import types, wider_types

# target, source, assignable, equivalent
PAIRS = """
int32                        | int32                        | yes | yes
int32                        | int64                        | no  | no
int32[?]                     | int32[10]                    | yes | no
int32[10]                    | int32[?]                     | no  | no
int32[?,3]                   | int32[2,?]                   | no  | no
int32[?]                     | int32                        | no  | no
int32[...]                   | int32[3]                     | yes | no
int32[...]                   | int32                        | yes | no
int32[3]                     | int32[...]                   | no  | no
<a=int32>                    | <int32>                      | yes | no
<int32>                      | <a=int32>                    | no  | no
<a=int32>                    | <b=int32>                    | no  | no
<a=int32,b=int32>            | <b=int32,a=int32>            | no  | no
<a=int32,bool>               | <int32,bool>                 | yes | no
<int32>                      | <int32,int32>                | no  | no
int32                        | <int32>                      | no  | no
{int32}@CLIENTS              | int32@CLIENTS                | yes | no
int32@CLIENTS                | {int32}@CLIENTS              | no  | no
{int32}@SERVER               | int32@SERVER                 | yes | no
{int32}@CLIENTS              | int32@SERVER                 | no  | no
{int32}@CLIENTS              | int32                        | no  | no
{int32[?]}@CLIENTS           | {int32[3]}@CLIENTS           | yes | no
{<int32>}@CLIENTS            | <{int32}@CLIENTS>            | no  | no
int32[?]*                    | int32[3]*                    | yes | no
int32*                       | int32[?]                     | no  | no
<a=int32>*                   | <int32>*                     | yes | no
(int32[3] -> int32)          | (int32[?] -> int32)          | yes | no
(int32[?] -> int32)          | (int32[3] -> int32)          | no  | no
( -> int32[?])               | ( -> int32[3])               | yes | no
( -> int32)                  | (int32 -> int32)             | no  | no
( -> int32)                  | (<> -> int32)                | no  | no
(<int32> -> int32)           | (<a=int32> -> int32)         | yes | no
(<a=int32> -> int32)         | (<int32> -> int32)           | no  | no
(int32 -> {int32}@CLIENTS)   | (int32 -> int32@CLIENTS)     | yes | no
placement                    | placement                    | yes | yes
placement                    | int32                        | no  | no
T                            | T                            | yes | yes
T                            | U                            | no  | no
int32                        | T                            | no  | no
T                            | int32                        | no  | no
"""
ROWS = [tuple(map(str.strip, row.split("|"))) for row in PAIRS.strip().splitlines()]


@pytest.mark.parametrize(("target", "source", "assignable", "equivalent"), ROWS)
def test_pair_relates_as_in_the_table(
    target: str, source: str, assignable: str, equivalent: str
) -> None:
    wanted, given_ = parse_type(target), parse_type(source)
    assert wanted.is_assignable_from(given_) == (assignable == "yes")
    assert wanted.is_equivalent_to(given_) == (equivalent == "yes")


@pytest.mark.parametrize(
    ("first", "second"),
    [([np.int32], (np.int32,)), (OrderedDict(a=np.int32), [("a", np.int32)])],
)
def test_containers_count_only_for_identity(first: Any, second: Any) -> None:
    left, right = to_type(first), to_type(second)
    assert left.is_equivalent_to(right)
    assert left != right


@given(types())
def test_every_type_is_assignable_from_itself(type_: Type) -> None:
    """Law: assignability is reflexive."""
    assert type_.is_assignable_from(type_)


@given(st.data())
def test_wider_types_are_assignable_in_steps_and_at_once(data: st.DataObject) -> None:
    """Law: assignability is transitive (on pairs that are assignable)."""
    narrow = data.draw(types())
    middle = data.draw(wider_types(narrow))
    wide = data.draw(wider_types(middle))
    assert middle.is_assignable_from(narrow)
    assert wide.is_assignable_from(middle)
    assert wide.is_assignable_from(narrow)


@pytest.mark.parametrize(
    ("target", "source", "where", "expected", "found"),
    [
        (
            "<int32,b=<int32,<x=float32>>>",
            "<int32,b=<int32,<x=float64>>>",
            ".b[1].x",
            "float32",
            "float64",
        ),
        ("{int32*}@CLIENTS", "{bool*}@CLIENTS", "→member→element", "int32", "bool"),
        ("(int32 -> bool)", "(int64 -> bool)", "→parameter", "int32", "int64"),
        ("(bool -> int32)", "(bool -> int64)", "→result", "int32", "int64"),
        ("<( -> int32)>", "<(<> -> int32)>", "[0]→parameter", "no parameter", "<>"),
    ],
)
def test_error_shows_the_place_and_not_the_whole(
    target: str, source: str, where: str, expected: str, found: str
) -> None:
    with pytest.raises(TypeNotAssignableError) as caught:
        parse_type(target).check_assignable_from(parse_type(source))
    assert str(caught.value.expected) == expected
    assert str(caught.value.found) == found
    assert caught.value.where == f"at {where} of the type"


def test_error_names_the_place_the_caller_knows_as_well() -> None:
    target, source = parse_type("<a=int32>"), parse_type("<a=bool>")
    match = r"where: +the argument of f, at \.a of the type"
    with pytest.raises(TypeNotAssignableError, match=match):
        target.check_assignable_from(source, where="the argument of f")


def test_error_carries_both_types() -> None:
    target, source = parse_type("<a=int32>"), parse_type("<a=bool>")
    with pytest.raises(TypeNotAssignableError) as caught:
        target.check_assignable_from(source)
    assert (caught.value.target_type, caught.value.source_type) == (target, source)


def test_long_types_make_no_long_messages() -> None:
    fields = ",".join(f"field_{i}=float32[100]" for i in range(200))
    target, source = parse_type(f"<{fields},z=int32>"), parse_type(f"<{fields},z=bool>")
    with pytest.raises(TypeNotAssignableError) as caught:
        target.check_assignable_from(source)
    assert len(str(caught.value).splitlines()) <= 12
    assert len(str(caught.value)) < 700
    assert caught.value.where == "at .z of the type"


KINDS = {
    "tensor": "int32",
    "struct": "<a=int32>",
    "sequence": "int32*",
    "function": "(int32 -> bool)",
    "federated": "int32@SERVER",
    "placement": "placement",
    "abstract": "T",
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_type_is_of_exactly_one_kind(kind: str) -> None:
    for other, text in KINDS.items():
        assert getattr(parse_type(text), f"is_{kind}")() == (kind == other)


def test_path_names_a_field_if_it_can() -> None:
    assert field_step("weights", 3) == ".weights"
    assert field_step(None, 3) == "[3]"


def test_clip_keeps_short_texts_whole() -> None:
    assert clip("x" * 80) == "x" * 80
    assert len(clip("x" * 81)) == 80


@pytest.mark.parametrize(
    ("target", "source", "cure"),
    [
        ("int32", "int64", "or cast"),
        ("int32[10]", "int32[?]", "declare `\\?`"),
        ("int32@CLIENTS", "{int32}@CLIENTS", "all_equal=False"),
        ("{int32}@CLIENTS", "int32@SERVER", "federated_broadcast"),
        ("{<int32>}@CLIENTS", "<{int32}@CLIENTS>", "federated_zip"),
        ("{int32}@CLIENTS", "int32", "federated_value"),
        ("{int32}@CLIENTS", "(int32 -> int32)", "check the order of the arguments"),
        ("int32", "int32@SERVER", "federated_map"),
        ("int32", "( -> int32)", "call the function"),
        ("(int32 -> int32)", "int32", "pass a computation"),
        ("float32*", "float32[?]", "declare `T\\*`"),
        ("int32", "<int32>", "select a field"),
        ("<int32,int32>", "int32*", r"place\(x, SERVER, type\)"),
        ("int32*", "<int32,int32>", r"place\(x, SERVER, type\)"),
        ("int32[2]", "int32*", r"place\(x, SERVER, type\)"),
        ("int32", "T", "unify, then substitute"),
        ("<int32>", "<a=int32>", "names may be added, not dropped"),
        ("<a=int32,b=bool>", "<b=int32,a=bool>", "in the order a, b"),
        ("<a=int32>", "<b=int32>", "the same names"),
    ],
)
def test_mismatch_says_what_to_do(target: str, source: str, cure: str) -> None:
    with pytest.raises(TypeNotAssignableError, match=f"do: .*{cure}"):
        parse_type(target).check_assignable_from(parse_type(source))
