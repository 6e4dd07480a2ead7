# SPDX-License-Identifier: Apache-2.0
"""The operations every runtime knows, by their meaning in NumPy."""

import warnings
from typing import Any

import numpy as np
import pytest

from fedlearn_edu.ir.operations import Operation, cast, operation
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import SequenceType, TensorType
from tests.programs import FLOAT, INT


@pytest.mark.parametrize(
    ("name", "left", "right", "result"),
    [
        ("add", np.int32(3), np.int32(4), 7),
        ("subtract", np.int32(3), np.int32(4), -1),
        ("multiply", np.int32(3), np.int32(4), 12),
        ("divide", np.int32(3), np.int32(4), 0.75),
        ("divide", np.float32(3), np.float32(4), 0.75),
        ("modulo", np.int32(-1), np.int32(3), 2),
        ("minimum", np.int32(3), np.int32(4), 3),
        ("maximum", np.int32(3), np.int32(4), 4),
    ],
)
def test_arithmetic(name: str, left: Any, right: Any, result: float) -> None:
    assert Operation(name)(Struct.unnamed(left, right)) == result


def test_integers_wrap_around_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wrapped = Operation("add")(Struct.unnamed(np.uint8(200), np.uint8(100)))
    assert (wrapped, wrapped.dtype) == (44, np.uint8)


def test_a_cast_keeps_the_shape() -> None:
    leaf = cast(TensorType(np.int32, [2]), TensorType(np.float32, [2]))
    assert str(leaf.type) == "(int32[2] -> float32[2])"
    np.testing.assert_array_equal(
        leaf.code(np.array([1, 2], np.int32)), np.array([1, 2], np.float32), strict=True
    )
    assert leaf.code(np.int32(3)).dtype == np.float32


def test_a_reciprocal_is_taken_in_the_dtype_of_the_values() -> None:
    third = Operation("reciprocal", "float32")(np.int32(3))
    assert (third, third.dtype) == (np.float32(1 / 3), np.float32)


def test_a_count_above_zero_lets_the_value_pass() -> None:
    assert Operation("nonempty")(Struct.unnamed(np.float32(0), np.int32(2))) == 0


@pytest.mark.parametrize("value", [0, 10])
def test_both_ends_belong_to_the_range(value: int) -> None:
    assert Operation("at_most")(Struct.unnamed(np.int32(value), np.int32(10))) == value


def test_sequences_grow_at_their_end() -> None:
    assert Operation("append")(Struct.unnamed((1, 2), 3)) == (1, 2, 3)
    assert Operation("concatenate")(Struct.unnamed((1, 2), (3,))) == (1, 2, 3)


def test_an_operation_of_several_things_takes_a_structure() -> None:
    many = SequenceType(INT)
    assert (
        str(operation("append", (many, INT), many).type) == "(<int32*,int32> -> int32*)"
    )
    assert str(operation("reciprocal", (INT,), FLOAT).type) == "(int32 -> float32)"


def test_operations_are_equal_by_name_and_dtype() -> None:
    assert Operation("cast", "float32").digest != Operation("cast", "float64").digest
    assert Operation("add") == Operation("add")
