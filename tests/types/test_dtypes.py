# SPDX-License-Identifier: Apache-2.0
"""Dtypes, whichever library names them."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu.types import dtypes


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


def test_kinds_of_numbers_do_not_overlap() -> None:
    kinds = (dtypes.is_integer, dtypes.is_floating, dtypes.is_complex)
    for name in dtypes.DTYPE_NAMES:
        dtype = dtypes.dtype_from_name(name)
        assert dtype is not None
        assert sum(kind(dtype) for kind in kinds) == (name not in ("bool", "string"))


@pytest.mark.tensorflow
def test_tensorflow_dtypes_are_known_by_their_looks() -> None:
    import tensorflow as tf

    for name in dtypes.DTYPE_NAMES:
        assert dtypes.as_dtype(getattr(tf, name)) == dtypes.dtype_from_name(name)
    assert dtypes.as_dtype(tf.variant) is None
