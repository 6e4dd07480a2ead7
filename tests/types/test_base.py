# SPDX-License-Identifier: Apache-2.0
"""How types fit each other, and what is said when they do not."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlearn_edu.errors import TypeNotAssignableError
from fedlearn_edu.types import parse_type, to_type
from tests.strategies import types, wider_types

# target, source, assignable, equivalent
PAIRS = """
int32                        | int32                        | yes | yes
int32                        | int64                        | no  | no
int32[?]                     | int32[10]                    | yes | no
int32[10]                    | int32[?]                     | no  | no
int32[?,3]                   | int32[2,?]                   | no  | no
int32[?]                     | int32                        | no  | no
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


@given(st.data())
def test_wider_types_are_assignable_in_steps_and_at_once(data: st.DataObject) -> None:
    """Law: assignability is transitive (on pairs that are assignable)."""
    narrow = data.draw(types())
    middle = data.draw(wider_types(narrow))
    wide = data.draw(wider_types(middle))
    assert middle.is_assignable_from(narrow)
    assert wide.is_assignable_from(middle)
    assert wide.is_assignable_from(narrow)


def test_error_carries_both_types() -> None:
    target, source = parse_type("<a=int32>"), parse_type("<a=bool>")
    with pytest.raises(TypeNotAssignableError) as caught:
        target.check_assignable_from(source)
    assert (caught.value.target_type, caught.value.source_type) == (target, source)
