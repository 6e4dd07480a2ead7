# SPDX-License-Identifier: Apache-2.0
"""All kinds of types as values, and what may be inside what."""

import pickle

import numpy as np
import pytest
from hypothesis import given

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    UNRANKED,
    AbstractType,
    FederatedType,
    FunctionType,
    PlacementType,
    SequenceType,
    StructType,
    TensorType,
    Type,
    parse_type,
    to_type,
    type_at_clients,
    type_at_server,
)
from tests.strategies import types


def test_placement_decides_what_is_all_equal_by_default() -> None:
    assert not FederatedType(np.int32, CLIENTS).all_equal
    assert FederatedType(np.int32, SERVER).all_equal
    assert not FederatedType(np.int32, SERVER, all_equal=False).all_equal
    assert type_at_server(np.int32) == FederatedType(np.int32, SERVER)
    assert type_at_clients(np.int32, all_equal=True).all_equal


def test_placement_by_name_is_refused() -> None:
    with pytest.raises(TypeMismatchError, match=r"CLIENTS or SERVER\n.*'clients'"):
        FederatedType(np.int32, "clients")  # type: ignore[arg-type]


@pytest.mark.parametrize("label", [3, "", None])
def test_label_of_an_abstract_type_is_a_word(label: object) -> None:
    with pytest.raises(TypeMismatchError, match="a string such as 'T'"):
        AbstractType(label)


@pytest.mark.parametrize(
    "text",
    [
        "SequenceType(TensorType(np.int32))",
        "FunctionType(None, TensorType(np.bool_))",
        "FunctionType(PlacementType(), AbstractType('T'))",
        "FederatedType(TensorType(np.int32), CLIENTS, False)",
    ],
)
def test_repr_builds_the_type_again(text: str) -> None:
    assert repr(eval(text)) == text


def test_equal_types_are_one_member_of_a_set() -> None:
    spellings = [np.int32, np.dtype("int32"), (np.int32, []), TensorType(np.int32)]
    assert len({to_type(x) for x in spellings}) == 1
    assert TensorType(np.int32, UNRANKED) != TensorType(np.int32)


@given(types())
def test_type_survives_pickling(type_: Type) -> None:
    """Law: a loaded type equals the saved one, and so does its hash."""
    loaded = pickle.loads(pickle.dumps(type_))
    assert loaded == type_
    assert hash(loaded) == hash(type_)


def test_children_are_the_types_directly_inside() -> None:
    integer = TensorType(np.int32)
    assert FunctionType(None, integer).children() == (integer,)
    assert FunctionType([integer], integer).children()[0] == to_type([integer])
    assert type_at_clients(integer).children() == (integer,)
    assert SequenceType(integer).children() == (integer,)
    assert StructType([integer, integer]).children() == (integer, integer)
    assert PlacementType().children() == ()


def test_contains_looks_at_every_depth_and_at_the_type_itself() -> None:
    type_ = FunctionType([np.int32], type_at_server(SequenceType(np.bool_)))
    assert type_.contains(lambda t: t.is_sequence())
    assert type_.contains(lambda t: t is type_)
    assert not type_.contains(lambda t: t.is_abstract())


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
