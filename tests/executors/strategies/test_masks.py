# SPDX-License-Identifier: Apache-2.0
"""Masks hide each client's value, and cancel in the sum."""

import numpy as np
import pytest

from fedlearn_edu.executors.strategies.shared import pairwise_masks
from fedlearn_edu.structure import Struct

DTYPES = [np.int32, np.int64, np.uint8]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 33])
def test_masks_sum_to_zero(dtype: type, count: int) -> None:
    masks = pairwise_masks(np.zeros([4], dtype), count)
    assert [mask.dtype for mask in masks] == [np.dtype(dtype)] * count
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.sum(masks, axis=0, dtype=dtype), np.zeros(4))


@pytest.mark.parametrize("count", [2, 3, 5, 33])
def test_nobody_beside_others_sends_a_bare_value(count: int) -> None:
    masks = pairwise_masks(np.zeros([8], np.int64), count)
    assert all(np.any(mask != 0) for mask in masks)


def test_a_lone_client_has_nobody_to_hide_behind() -> None:
    assert tuple(pairwise_masks(np.int32(0), 1)) == (0,)
    assert tuple(pairwise_masks(np.int32(0), 0)) == ()


def test_every_call_draws_new_masks() -> None:
    once, again = (pairwise_masks(np.zeros([8], np.int64), 3) for _ in range(2))
    assert not np.array_equal(once[0], again[0])


def test_a_structure_is_masked_leaf_by_leaf() -> None:
    prototype = Struct.named(a=np.int32(0), b=np.zeros([2], np.int64))
    masks = pairwise_masks(prototype, 2)
    assert [mask.names() for mask in masks] == [("a", "b")] * 2
    with np.errstate(over="ignore"):
        assert masks[0].a + masks[1].a == 0
        np.testing.assert_array_equal(masks[0].b + masks[1].b, [0, 0])
