# SPDX-License-Identifier: Apache-2.0
"""Shapes: reading them, fitting them, printing them."""

import pickle
from typing import Any

import numpy as np
import pytest

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.types.shapes import UNRANKED, Shape, as_shape, fits, shape_text


@pytest.mark.parametrize(
    ("written", "shape", "text"),
    [
        (None, (), ""),
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


@pytest.mark.parametrize("bad", [3, [-1], ["?"], [True], [1.0], "10", {1}])
def test_bad_shape_shows_how_to_write_one(bad: Any) -> None:
    with pytest.raises(TypeMismatchError, match=r"write \[10\] for a vector"):
        as_shape(bad)


def test_scalar_and_vector_of_one_are_unrelated() -> None:
    assert not fits((), (1,))
    assert not fits((1,), ())


def test_unknown_size_takes_any_size_but_not_the_reverse() -> None:
    assert fits((None, 3), (2, 3))
    assert not fits((2, 3), (None, 3))


def test_unknown_rank_takes_everything_but_fits_only_itself() -> None:
    shapes: list[Shape] = [UNRANKED, (), (3,), (None, 2)]
    assert all(fits(UNRANKED, shape) for shape in shapes)
    assert not fits((None,), UNRANKED)


def test_unknown_rank_stays_the_one_object_in_a_pickle() -> None:
    assert pickle.loads(pickle.dumps(UNRANKED)) is UNRANKED


@pytest.mark.tensorflow
def test_tensorflow_shapes_are_known_by_their_looks() -> None:
    import tensorflow as tf

    assert as_shape(tf.TensorShape([2, None])) == (2, None)
    assert as_shape(tf.TensorShape(None)) is UNRANKED
