# SPDX-License-Identifier: Apache-2.0
"""Arrays of one's own as a data set."""

import numpy as np

from fedlearn_edu.simulation.datasets import from_arrays

X, Y = np.zeros([5, 3]), np.arange(5)


def test_arrays_are_not_copied() -> None:
    data = from_arrays(X, Y, X[:2], Y[:2], name="mine")
    (x_train, y_train), (x_test, y_test) = data
    assert x_train is X
    assert y_train is Y
    assert np.shares_memory(x_test, X)
    assert np.shares_memory(y_test, Y)
    assert repr(data) == "Dataset('mine', train=5 examples, test=2 examples)"


def test_without_test_arrays_the_test_split_is_empty() -> None:
    x_test, y_test = from_arrays(np.zeros([5, 8, 8], np.uint8), Y).test
    np.testing.assert_array_equal(x_test, np.zeros([0, 8, 8], np.uint8), strict=True)
    np.testing.assert_array_equal(y_test, Y[:0], strict=True)


def test_lists_are_welcome() -> None:
    x, y = from_arrays([[1.0, 2.0], [3.0, 4.0]], [True, False]).train
    assert x.shape == (2, 2)
    assert y.dtype == np.bool_
