# SPDX-License-Identifier: Apache-2.0
"""Two results are alike if they mean the same to a learner."""

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedlearn_edu import Struct
from fedlearn_edu.course.likeness import alike, has_nan, shown

SAME: list[tuple[Any, Any]] = [
    (1, 1.0),
    (np.float32(0.1), 0.1),
    ([1, 2], (1.0, 2.0)),
    ([1.0, 2.0], np.array([1.0, 2.0])),
    (np.array([1.0, 2.0]), [1.0, 2.0]),
    ([np.ones(2), np.zeros(2)], np.array([[1, 1], [0, 0]])),
    ({"a": 1, "b": [2]}, OrderedDict(a=1.0, b=(2,))),
    (Struct([("a", 1), ("b", 2)]), {"a": 1, "b": 2}),
    (b"yes", "yes"),
    (float("nan"), np.nan),
    (float("inf"), np.inf),
    (True, np.True_),
    (None, None),
    (SimpleNamespace(numpy=lambda: np.ones(2)), [1, 1]),
]
DIFFERENT: list[tuple[Any, Any]] = [
    (1.0, 1.001),
    ([1], [1, 1]),
    (1, [1]),
    ([1], 1),
    (np.ones([1, 2]), np.ones(2)),
    ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ([1], {"a": 1}),
    ("1", 1),
    (True, 1),
    (1.0, float("nan")),
    (None, 0),
    (0, None),
    ([[1], [1, 2]], np.ones([2, 2])),
]


@pytest.mark.parametrize(("found", "expected"), SAME)
def test_same_to_a_learner(found: Any, expected: Any) -> None:
    assert alike(found, expected)


@pytest.mark.parametrize(("found", "expected"), DIFFERENT)
def test_different_to_a_learner(found: Any, expected: Any) -> None:
    assert not alike(found, expected)


def test_list_that_holds_itself_is_not_alike() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert not alike(circle, [[1.0]])
    assert shown(circle)


def test_results_are_shown_as_one_would_write_them() -> None:
    assert shown([np.float32(0.5), 2, "a", b"b"]) == "[0.5, 2, 'a', b'b']"
    assert shown({"x": (1, np.arange(3))}) == "{x: (1, [0 1 2])}"
    assert shown(np.str_("text")) == "'text'"
    assert shown(np.zeros([28, 28])).startswith("28×28 numbers [[0. 0. 0.")
    assert shown(object()) == "an object"
    assert shown(Struct([("a", 1)])) == "<a=1>"


def test_nan_is_found_where_there_are_numbers() -> None:
    assert has_nan([1.0, np.nan])
    assert has_nan(np.float32("nan"))
    assert not has_nan([1, 2])
    assert not has_nan("nan")
    assert not has_nan([[1], [1, 2]])
    assert not has_nan({"a": np.nan})
