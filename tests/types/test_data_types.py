# SPDX-License-Identifier: Apache-2.0
"""Tensor and struct types as values."""

import pickle
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from fedlearn_edu.errors import StructureError, TypeMismatchError
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import UNRANKED, StructType, StructWithPythonType, TensorType

INT, BOOL = TensorType(np.int32), TensorType(np.bool_)


def test_scalar_is_the_default_shape() -> None:
    assert TensorType(np.int32) == TensorType(np.int32, []) == TensorType(np.int32, ())
    assert TensorType(np.int32).is_scalar
    assert not TensorType(np.int32, [1]).is_scalar
    assert not TensorType(np.int32, UNRANKED).is_scalar


def test_static_shape_knows_every_size() -> None:
    assert TensorType(np.int32, [2, 3]).has_static_shape
    assert TensorType(np.int32).has_static_shape
    assert not TensorType(np.int32, [2, None]).has_static_shape
    assert not TensorType(np.int32, UNRANKED).has_static_shape


@pytest.mark.parametrize("bad", ["int32", int, None, 3])
def test_bad_dtype_shows_good_ones(bad: Any) -> None:
    with pytest.raises(TypeMismatchError, match=r"not the dtype.*\n.*np\.int32"):
        TensorType(bad)


@pytest.mark.parametrize("bad", [3, [-1], ["?"], [True], [1.0], "10", {1}])
def test_bad_shape_shows_how_to_write_one(bad: Any) -> None:
    with pytest.raises(TypeMismatchError, match=r"write \[10\] for a vector"):
        TensorType(np.int32, bad)


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (TensorType(np.int32), "TensorType(np.int32)"),
        (TensorType(np.float32, [None, 3]), "TensorType(np.float32, [None, 3])"),
        (TensorType(np.str_), "TensorType(np.str_)"),
        (TensorType(np.bool_, UNRANKED), "TensorType(np.bool_, UNRANKED)"),
    ],
)
def test_repr_builds_the_type_again(type_: TensorType, text: str) -> None:
    assert repr(type_) == text
    assert eval(text) == type_


def test_types_are_frozen() -> None:
    with pytest.raises(AttributeError, match="cannot assign"):
        TensorType(np.int32).shape = (1,)  # type: ignore[misc]


def test_fields_are_found_by_name_and_position() -> None:
    type_ = StructType([("a", np.int32), (None, np.bool_)])
    assert type_.a == type_["a"] == type_[0] == INT
    assert type_[1] == BOOL
    assert type_[:] == (INT, BOOL)
    assert list(type_) == [INT, BOOL]
    assert len(type_) == 2
    assert type_.names() == ("a", None)
    assert type_.items() == (("a", INT), (None, BOOL))


def test_unknown_field_lists_the_known_ones() -> None:
    type_ = StructType([("a", np.int32)])
    with pytest.raises(AttributeError, match="no field 'b'; the named fields are: a"):
        _ = type_.b
    with pytest.raises(IndexError, match="index 1 in a structure of 1"):
        _ = type_[1]


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


def test_duplicate_names_are_refused() -> None:
    with pytest.raises(StructureError, match="a more than once"):
        StructType([("a", np.int32), ("a", np.int32)])


@pytest.mark.parametrize("bad", [5, "ab", np.int32])
def test_struct_of_no_list_is_refused(bad: Any) -> None:
    with pytest.raises(TypeMismatchError, match="needs a list of fields"):
        StructType(bad)


def test_container_counts_for_equality_but_not_for_the_notation() -> None:
    plain = StructType([("a", np.int32)])
    ordered = StructWithPythonType([("a", np.int32)], OrderedDict)
    assert str(plain) == str(ordered)
    assert plain != ordered
    assert ordered != plain
    assert plain.is_equivalent_to(ordered)
    assert not plain.is_identical_to(ordered)
    assert ordered.is_struct_with_python()
    assert not plain.is_struct_with_python()
    types: list[Any] = [ordered, plain, TensorType(np.int32)]
    assert [isinstance(t, StructWithPythonType) for t in types] == [True, False, False]


def test_repr_shows_names_and_container() -> None:
    assert repr(StructType([("a", np.int32)])) == (
        "StructType([('a', TensorType(np.int32))])"
    )
    assert repr(StructType([np.int32, np.bool_], list)) == (
        "StructType([TensorType(np.int32), TensorType(np.bool_)]) as list"
    )


def test_struct_type_survives_pickling() -> None:
    assert not hasattr(StructType.__new__(StructType), "a")  # as while loading
    type_ = StructType([("a", np.int32), (None, [np.bool_])], tuple)
    assert pickle.loads(pickle.dumps(type_)) == type_
