# SPDX-License-Identifier: Apache-2.0
"""All kinds of types as values, and what may be inside what."""

import pickle
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import fedlearn_edu.types
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    FunctionType,
    SequenceType,
    StructType,
    StructWithPythonType,
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


@pytest.mark.parametrize(
    "text",
    [
        "TensorType(np.float32, [None, 3])",
        "TensorType(np.str_)",
        "SequenceType(TensorType(np.int32))",
        "FunctionType(None, TensorType(np.bool_))",
        "FunctionType(PlacementType(), AbstractType('T'))",
        "FederatedType(TensorType(np.int32), CLIENTS, False)",
    ],
)
def test_repr_builds_the_type_again(text: str) -> None:
    assert repr(eval(text, {**vars(fedlearn_edu.types), "np": np})) == text


def test_equal_types_are_one_member_of_a_set() -> None:
    spellings = [np.int32, np.dtype("int32"), (np.int32, []), TensorType(np.int32)]
    assert len({to_type(x) for x in spellings}) == 1


@given(types())
def test_type_survives_pickling(type_: Type) -> None:
    """Law: a loaded type equals the saved one, and so does its hash."""
    loaded = pickle.loads(pickle.dumps(type_))
    assert loaded == type_
    assert hash(loaded) == hash(type_)


def test_contains_looks_at_every_depth_and_at_the_type_itself() -> None:
    type_ = FunctionType([np.int32], type_at_server(SequenceType(np.bool_)))
    assert type_.contains(lambda t: t.is_sequence())
    assert type_.contains(lambda t: t is type_)
    assert not type_.contains(lambda t: t.is_abstract())


def test_no_type_stays_no_type_and_a_type_denotes_itself() -> None:
    type_ = TensorType(np.int32)
    assert to_type(None) is None
    assert to_type(type_) is type_


INT, BOOL = TensorType(np.int32), TensorType(np.bool_)


def test_tab_completion_offers_the_fields() -> None:
    assert "weights" in dir(StructType([("weights", np.int32)]))


@pytest.mark.parametrize(
    "elements",
    [
        [("a", np.int32), ("b", np.bool_)],
        OrderedDict(a=np.int32, b=np.bool_),
        Struct([("a", INT), ("b", BOOL)]),
    ],
)
def test_elements_may_come_in_several_forms(elements: Any) -> None:
    assert str(StructType(elements)) == "<a=int32,b=bool>"


def test_pair_of_dtype_and_shape_is_a_field_without_name() -> None:
    assert str(StructType([(np.float32, [2]), (None, np.bool_)])) == "<float32[2],bool>"


def test_container_counts_for_equality_but_not_for_the_notation() -> None:
    plain = StructType([("a", np.int32)])
    made: Any = StructWithPythonType
    ordered = made([("a", np.int32)], container_type=OrderedDict)
    assert str(plain) == str(ordered)
    assert plain != ordered
    assert ordered != plain
    assert plain.is_equivalent_to(ordered)
    assert isinstance(ordered, made)
    assert not isinstance(plain, made)
    assert not isinstance(TensorType(np.int32), made)
    assert StructType([]) == to_type(()) == parse_type("<>")


def test_repr_shows_names_and_container() -> None:
    assert repr(StructType([("a", np.int32)])) == (
        "StructType([('a', TensorType(np.int32))])"
    )
    assert repr(StructType([np.int32, np.bool_], list)) == (
        "StructType([TensorType(np.int32), TensorType(np.bool_)]) as list"
    )


@pytest.mark.parametrize("name", ["index", "with_values", "with_types", "walk"])
def test_a_field_is_not_hidden_by_a_method(name: str) -> None:
    type_ = StructType([(name, np.int32)])
    assert getattr(type_, name) == TensorType(np.int32)
