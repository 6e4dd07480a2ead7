# SPDX-License-Identifier: Apache-2.0
"""Paths, clipped texts, and what to do about well-known mismatches."""

import pytest

from fedlearn_edu.errors import TypeNotAssignableError
from fedlearn_edu.types import parse_type
from fedlearn_edu.types.mismatch import clip, field_step


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
