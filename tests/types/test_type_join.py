# SPDX-License-Identifier: Apache-2.0
"""The one type of several values: what clients hold, what a sequence is made of."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlearn_edu.types import (
    StructType,
    TensorType,
    Type,
    normalize,
    parse_type,
    type_at_clients,
)
from fedlearn_edu.types.sequences import SequenceList
from fedlearn_edu.types.type_join import infer_members, infer_sequence, join
from tests.programs import Point
from tests.strategies import data_types, wider_types

F32 = np.float32


@dataclass
class Record:
    count: Any
    mean: Any


@given(st.data())
def test_joined_type_takes_both(data: st.DataObject) -> None:
    """What is joined is assignable to the join; a wider type is the join itself."""
    type_ = data.draw(data_types())
    wider = data.draw(wider_types(type_))
    for joined in (join(type_, wider), join(wider, type_)):
        if joined is not None:  # there is no join of a known and an unknown rank
            assert joined.is_assignable_from(type_)
            assert joined.is_assignable_from(wider)
    assert join(type_, type_) == type_


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("float32", "float32", "float32"),
        ("float32[2,3]", "float32[2,4]", "float32[2,?]"),
        ("float32[?]", "float32[4]", "float32[?]"),
        ("<a=int32[1],b=bool>*", "<a=int32[2],b=bool>*", "<a=int32[?],b=bool>*"),
        ("int32", "int64", None),
        ("int32[1]", "int32[1,1]", None),
        ("int32*", "int32", None),
        ("<a=int32>", "<b=int32>", None),
        ("<int32,int32>", "<int32,bool>", None),
        ("<int32>", "<int32,int32>", None),
        ("float32*", "int32*", None),
    ],
)
def test_sizes_are_forgotten_and_nothing_else(
    first: str, second: str, expected: str | None
) -> None:
    found = join(parse_type(first), parse_type(second))
    assert found == (None if expected is None else parse_type(expected))


def test_container_of_the_first_stays() -> None:
    lists = StructType([np.int32], list)
    joined = join(lists, StructType([np.int32], tuple))
    assert isinstance(joined, StructType)
    assert joined.python_container is list


MEMBERS: list[tuple[list[Any], str]] = [
    ([1, 2, 3], "int32"),
    ([1, 2.5], "float32"),
    ([1, 2.5, 3j], "complex128"),
    ([1, 2**40], "int64"),
    ([-(2**40), 1], "int64"),
    ([True, False], "bool"),
    (["a", b"bc"], "string"),
    # a number of Python's own takes the dtype of its neighbors
    ([np.int64(3), 4], "int64"),
    ([4, np.uint8(3)], "uint8"),
    ([4.0, np.float64(3), 5], "float64"),
    ([np.float32(1), 1.5], "float32"),
    ([np.complex64(1), 1j, 2.0], "complex64"),
    # a list is a sequence, whatever stands beside it
    ([[1, 2], [3]], "int32*"),
    ([[1, 2.5], [3]], "float32*"),
    ([[1, 2], [3.5], []], "float32*"),
    ([[], [1]], "int32*"),
    ([range(3), [1.5]], "float32*"),
    ([range(3), range(0)], "int32*"),
    ([np.ones(3, F32), [1.0, 2.0]], "float32*"),
    ([[1], np.ones([2, 2], np.int64)[0]], "int64*"),
    ([np.zeros(0, F32), []], "float32*"),
    ([np.ones([2, 3], F32), [[1.0, 2.0, 3.0]]], "float32[3]*"),
    # a list inside a list is a row
    ([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], "float32[2]*"),
    ([[[1.0, 2.0], [3.0]], [[5.0, 6.0]]], "float32[?]*"),
    ([[[1, 2]], [[3.5]]], "float32[?]*"),
    ([[[1], []]], "int32[?]*"),
    ([[[[1.0, 2.0]], [[3.0, 4.0]]]], "float32[1,2]*"),
    ([[np.ones(3, F32), np.ones(3, F32)], []], "float32[3]*"),
    ([[np.ones(3, F32), [1.0, 2.0]]], "float32[?]*"),
    ([[{"x": [1.0, 2.0], "y": 1}]], "<x=float32[2],y=int32>*"),
    ([[(1, 2.0)], [(3, 4)]], "<int32,float32>*"),
    # arrays are tensors, if there is no list beside them
    ([np.ones([2, 3], F32), np.zeros([2, 3], F32)], "float32[2,3]"),
    ([np.ones([2, 3], F32), np.zeros([4, 3], F32)], "float32[?,3]"),
    ([np.array(["a", "b"])], "string[2]"),
    ([np.array([b"a"], object)], "string[1]"),
    # structures, field by field
    ([(1, 2.0), (3.5, 4)], "<float32,float32>"),
    ([{"b": 1, "a": 2.0}, {"a": 1, "b": 2}], "<b=int32,a=float32>"),
    ([OrderedDict(b=1, a=[1, 2]), OrderedDict(b=2, a=[])], "<b=int32,a=int32*>"),
    ([Point(1, [1.0]), Point(2.5, np.ones(2, F32))], "<x=float32,y=float32*>"),
    ([Record(1, 2.0), Record(2, np.float64(1))], "<count=int32,mean=float64>"),
    ([()], "<>"),
    ([(1, [2.5])], "<int32,float32*>"),
    ([((1, 2), {"a": 1.0}), ((1, 2.5), {"a": 1.0})], "<<int32,float32>,<a=float32>>"),
]


@pytest.mark.parametrize(("values", "expected"), MEMBERS)
def test_type_of_a_group_is_the_common_one(values: list[Any], expected: str) -> None:
    """Whatever type is found: the values have it; and so if they are turned around."""
    found = infer_members(values)
    assert str(found) == expected
    normalize(values, type_at_clients(found))
    if type(values[0]) is not dict:  # the fields are in the order of the first
        assert str(infer_members(values[::-1])) == expected


def test_container_is_that_of_the_first_client() -> None:
    for value in (Point(1, 2), Record(1, 2), OrderedDict(a=1), {"a": 1}, (1,)):
        found = infer_members([value, value])
        assert isinstance(found, StructType)
        assert found.python_container is type(value)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2.5], "float32*"),
        ((1, 2), "int32*"),
        (range(3), "int32*"),
        ([[1, 2], [3]], "int32[?]*"),
        (np.ones([4, 2], F32), "float32[2]*"),
        (np.zeros([0, 2], F32), "float32[2]*"),
        ([{"a": 1}, {"a": 2.5}], "<a=float32>*"),
    ],
)
def test_type_of_a_sequence(values: Any, expected: str) -> None:
    found: Type = infer_sequence(values)
    assert str(found) == expected


def test_group_may_be_large() -> None:
    numbers = list(range(50_000))
    assert infer_members(numbers) == TensorType(np.int32)
    assert str(infer_members([numbers, numbers])) == "int32*"


@pytest.mark.tensorflow
def test_tensors_and_datasets_stand_beside_lists() -> None:
    from fedlearn_edu import tf

    dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
    assert str(infer_members([dataset, [1.0], np.ones(2, F32)])) == "float32*"
    assert str(infer_members([tf.constant([1.0]), [2.0, 3.0]])) == "float32*"
    assert str(infer_members([tf.constant([1.0]), tf.constant([2.0, 3.0])])) == (
        "float32[?]"
    )
    pairs = tf.data.Dataset.from_tensor_slices({"x": [[1.0, 2.0]], "y": [1]})
    assert str(infer_members([pairs, pairs])) == "<x=float32[2],y=int32>*"
    batches = tf.data.Dataset.range(5).batch(2)
    assert str(infer_members([batches, [np.zeros(2, np.int64)]])) == "int64[?]*"


def test_list_of_a_body_joins_lists_and_leaves_arithmetic_to_arrays() -> None:
    seen: Any = SequenceList([1.0, 2.0])
    first, last = [0.0], [3.0]
    assert first + seen + last == [0.0, 1.0, 2.0, 3.0]
    ten = np.float32(10)
    for made in (seen + ten, ten + seen, seen - -ten):
        np.testing.assert_array_equal(made, [11.0, 12.0])
