# SPDX-License-Identifier: Apache-2.0
"""Tensor types as values."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.types import UNRANKED, TensorType


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
