# SPDX-License-Identifier: Apache-2.0
"""Arrays of one's own as a data set."""

from collections.abc import Callable

import numpy as np
import pytest

from fedlearn_edu.simulation.datasets import ExamplesError, from_arrays

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


BAD_INPUT: list[tuple[Callable[[], object], str]] = [
    (lambda: from_arrays(X, Y[:4]), "the labels do not match the images"),
    (lambda: from_arrays(X, Y[:4]), "as many entries in y as in x: 5"),
    (lambda: from_arrays(X, Y[:4]), "found:    4"),
    (lambda: from_arrays(X, Y, X, Y[:4], name="mine"), "mine, test"),
    (lambda: from_arrays(X[:0], Y[:0]), "there are no examples"),
    (lambda: from_arrays(X, ["cat"] * 5), "return_inverse"),
    (lambda: from_arrays((X, Y), (X, Y)), r"from_arrays\(\*train, \*test\)"),
    (lambda: from_arrays(X + 1j, Y), "complex128"),
    (lambda: from_arrays(3.0, Y), r"float64 of shape \[\]"),
    (lambda: from_arrays([[1, 2], [3]], [0, 1]), "different lengths"),
    (lambda: from_arrays(X, Y, X), "x_test only"),
    (lambda: from_arrays(X, Y, y_test=Y), "y_test only"),
    (lambda: from_arrays(X, Y, X[:, :2], Y), r"x_test of shape \[n,3\]"),
    (lambda: from_arrays(X, Y, X, np.zeros([5, 2])), r"y_test of shape \[n\]"),
]


def test_bad_input_says_what_is_wrong() -> None:
    for wrong, message in BAD_INPUT:
        with pytest.raises(ExamplesError, match=message) as caught:
            wrong()
        assert isinstance(caught.value, ValueError)
