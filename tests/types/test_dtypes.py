# SPDX-License-Identifier: Apache-2.0
"""Dtypes and shapes, whichever library names them."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu.types import dtypes
from fedlearn_edu.types.dtypes import UNRANKED, as_shape, shape_text


@pytest.mark.parametrize("name", dtypes.DTYPE_NAMES)
def test_name_and_dtype_are_inverse(name: str) -> None:
    dtype = dtypes.dtype_from_name(name)
    assert dtype is not None
    assert dtypes.dtype_name(dtype) == name
    assert dtypes.as_dtype(dtype) == dtype


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (np.int64, "int64"),
        (np.longlong, "int64"),
        (np.dtype("uint8"), "uint8"),
        (np.dtype(">i4"), "int32"),
        (np.bool_, "bool"),
        (np.str_, "string"),
        (np.dtype("<U7"), "string"),
        (np.dtype(object), "string"),
    ],
)
def test_numpy_dtypes_lose_byte_order_and_width(written: Any, name: str) -> None:
    dtype = dtypes.as_dtype(written)
    assert dtype is not None
    assert dtypes.dtype_name(dtype) == name


@pytest.mark.parametrize(
    "other", [int, float, "int32", np.floating, np.number, np.datetime64, 3, None]
)
def test_other_objects_are_no_dtypes(other: Any) -> None:
    assert dtypes.as_dtype(other) is None


@pytest.mark.tensorflow
def test_tensorflow_dtypes_are_known_by_their_looks() -> None:
    import tensorflow as tf

    for name in dtypes.DTYPE_NAMES:
        assert dtypes.as_dtype(getattr(tf, name)) == dtypes.dtype_from_name(name)
    assert dtypes.as_dtype(tf.variant) is None


@pytest.mark.parametrize(
    ("written", "shape", "text"),
    [
        ([], (), ""),
        ([10], (10,), "[10]"),
        ((np.int64(2), None), (2, None), "[2,?]"),
        ([0], (0,), "[0]"),
        (UNRANKED, UNRANKED, "[...]"),
    ],
)
def test_shape_reads_and_prints(written: Any, shape: Any, text: str) -> None:
    assert as_shape(written) == shape
    assert shape_text(shape) == text


@pytest.mark.parametrize("bad", [3, [-1], ["?"], [True], [1.0], "10", {1}, None])
def test_other_objects_are_no_shapes(bad: Any) -> None:
    assert as_shape(bad) is None
