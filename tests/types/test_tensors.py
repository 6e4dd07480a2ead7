# SPDX-License-Identifier: Apache-2.0
"""Dtypes, tensors in plain form, and sequences that are read anew each time."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu.structure import Struct
from fedlearn_edu.types import TensorType, dtypes, parse_type
from fedlearn_edu.types.sequences import DatasetSequence
from fedlearn_edu.types.tensors import to_plain_tensor
from tests.strategies import same


def plain(value: Any, text: str) -> Any:
    type_ = parse_type(text)
    assert isinstance(type_, TensorType)
    return to_plain_tensor(value, type_, "$.x")


@pytest.mark.parametrize(
    ("value", "text", "result"),
    [
        (1, "float32", np.float32(1)),
        (np.float64(3), "float32", np.float32(3)),
        (np.int32(3), "float32", np.float32(3)),
        (True, "float32", np.float32(1)),
        (True, "int32", np.int32(1)),
        (np.int64(3), "int32", np.int32(3)),
        (1.0, "complex64", np.complex64(1)),
        (np.bool_(True), "bool", np.bool_(True)),
        (np.array(2.0), "float64", np.float64(2)),
        ("a", "string", b"a"),
        (b"a", "string", b"a"),
        (np.bytes_(b"a"), "string", b"a"),
        (np.str_("é"), "string", "é".encode()),
        ([1, 2, 3], "int32[?]", np.array([1, 2, 3], np.int32)),
        ([], "int32[?]", np.array([], np.int32)),
        ([[1], [2]], "float32[2,1]", np.array([[1], [2]], np.float32)),
        (["a", b"b"], "string[2]", np.array([b"a", b"b"], object)),
        (np.array(["a", "b"]), "string[2]", np.array([b"a", b"b"], object)),
    ],
)
def test_value_becomes_exactly_the_declared_dtype(
    value: Any, text: str, result: Any
) -> None:
    assert same(plain(value, text), result)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([float("inf"), float("nan"), 3.4028235e38, 1e-300], "float32[4]"),
        (np.array([-np.inf, 65519.0]), "float16[2]"),
        (complex("inf+1j"), "complex64"),
        (10**30, "float32"),
        ([10**30, -1], "bfloat16[2]"),
    ],
    ids=repr,
)
def test_number_that_is_infinite_or_just_fits_is_kept(value: Any, text: str) -> None:
    given, found = np.asarray(value, complex), np.asarray(plain(value, text))
    assert np.array_equal(np.isinf(found), np.isinf(given))


def test_array_that_fits_is_not_copied() -> None:
    array = np.zeros((2, 3), np.float32)
    assert plain(array, "float32[?,3]") is array


@pytest.mark.tensorflow
def test_tensorflow_tensors_are_taken_but_never_cast() -> None:
    import tensorflow as tf

    assert same(plain(tf.constant([1.0]), "float32[?]"), np.array([1], np.float32))
    assert same(plain(tf.Variable(2), "int32"), np.int32(2))
    assert same(plain(tf.constant("a"), "string"), b"a")


@pytest.mark.tensorflow
def test_tensorflow_dataset_yields_plain_elements() -> None:
    import tensorflow as tf

    data = {"x": (["a", "b"], [1.0, 2.0]), "y": [[1, 2], [3, 4]]}
    dataset = tf.data.Dataset.from_tensor_slices(data)
    type_ = parse_type("<y=int32[2],x=<string,float32>>")
    sequence = DatasetSequence(dataset, type_)
    wanted = [
        Struct.named(y=np.array(y, np.int32), x=Struct.unnamed(a, np.float32(b)))
        for y, a, b in (([1, 2], b"a", 1), ([3, 4], b"b", 2))
    ]
    for _ in range(2):
        assert all(map(same, sequence, wanted))


# ----------------------------------------
# Dtypes and shapes, whichever library names them


@pytest.mark.parametrize("name", dtypes.DTYPE_NAMES)
def test_name_and_dtype_are_inverse(name: str) -> None:
    dtype = dtypes.dtype_from_name(name)
    assert dtype is not None
    assert dtypes.dtype_name(dtype) == name
    assert dtypes.as_dtype(dtype) == dtype


@pytest.mark.tensorflow
def test_tensorflow_dtypes_are_known_by_their_looks() -> None:
    import tensorflow as tf

    for name in dtypes.DTYPE_NAMES:
        assert dtypes.as_dtype(getattr(tf, name)) == dtypes.dtype_from_name(name)
    assert dtypes.as_dtype(tf.variant) is None
