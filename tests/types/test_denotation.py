# SPDX-License-Identifier: Apache-2.0
"""`to_type` at the edges: nothing, a type, and what no type may contain."""

import numpy as np
import pytest

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.types import (
    CLIENTS,
    FederatedType,
    FunctionType,
    SequenceType,
    StructType,
    TensorType,
    parse_type,
    to_type,
)


def test_no_type_stays_no_type() -> None:
    assert to_type(None) is None


def test_type_denotes_itself() -> None:
    type_ = TensorType(np.int32)
    assert to_type(type_) is type_


def test_missing_inner_type_says_which_one() -> None:
    with pytest.raises(TypeMismatchError, match="element type of a sequence is miss"):
        SequenceType(None)
    with pytest.raises(TypeMismatchError, match="result type of a function is miss"):
        FunctionType(np.int32, None)
    with pytest.raises(TypeMismatchError, match="member type of a federated type is"):
        FederatedType(None, CLIENTS)
    with pytest.raises(TypeMismatchError, match="type of the field a is missing"):
        StructType([("a", None)])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("int32**", "a sequence type cannot be inside a sequence type"),
        ("<a=<int32*>>*", "a sequence type cannot be inside a sequence type"),
        ("(int32 -> int32)*", "a function type cannot be inside a sequence type"),
        ("{int32}@CLIENTS*", "a federated type cannot be inside a sequence type"),
        ("<int32@SERVER>@SERVER", "a federated type cannot be inside a federated"),
        ("{<( -> int32)>}@CLIENTS", "a function type cannot be inside a federated"),
    ],
)
def test_forbidden_nesting_is_refused(text: str, problem: str) -> None:
    with pytest.raises(TypeMismatchError, match=problem):
        parse_type(text)


@pytest.mark.parametrize(
    "text",
    [
        "<(int32 -> int32),{int32}@CLIENTS,int32*,<>>",
        "{<int32*,<a=int32>>}@CLIENTS",
        "((int32 -> int32*) -> (int32@SERVER -> {int32}@CLIENTS))",
        "<<>,<a=int32>>*",
    ],
)
def test_other_nesting_is_allowed(text: str) -> None:
    assert str(parse_type(text)) == text
