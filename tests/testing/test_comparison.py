# SPDX-License-Identifier: Apache-2.0
"""Two results are the same, or one line says where they first differ."""

from collections import OrderedDict
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.structure import Struct
from fedlearn_edu.testing import assert_same, assert_type, difference
from fedlearn_edu.testing.comparison import alike
from tests.programs import Pair


@dataclass
class Record:
    value: Any


SAME = [
    (np.int32(3), 3),
    (np.uint8(3), 3),
    (np.int64(3), np.int64(3)),
    (np.float32(0.1), 0.1),
    (np.float64(1 / 3), 0.3333333),
    (np.float32(np.nan), float("nan")),
    (np.float32(np.inf), np.inf),
    (np.complex64(1 + 2j), 1 + 2j),
    (np.bool_(True), True),
    (b"text", "text"),
    (b"text", b"text"),
    (np.array([1, 2], np.int32), np.array([1, 2], np.int32)),
    (np.array([b"a", b"b"], object), np.array([b"a", b"b"], object)),
    ([np.int32(1), (b"x",)], [1, ("x",)]),
    (OrderedDict(a=np.int32(1)), OrderedDict(a=1)),
    (Pair(np.int32(1), []), Pair(1, [])),
    (Record(np.int32(1)), Record(1)),
    (Struct([("a", np.int32(1)), (None, ())]), Struct([("a", 1), (None, ())])),
    (fl.CLIENTS, fl.CLIENTS),
]

DIFFERENT = [
    (np.int32(3), 4, "$"),
    (np.int32(3), np.int64(3), "$"),
    (np.int32(3), 3.0, "$"),
    (np.float32(3), 3, "$"),
    (3, 3, "$"),
    (np.float32(1.0), 1.001, "$"),
    (np.float32(1.0), float("nan"), "$"),
    (np.bool_(True), 1, "$"),
    (b"text", "test", "$"),
    (np.array([1, 2], np.int32), np.array([1, 2], np.int64), "$"),
    (np.array([1, 2], np.int32), np.array([1, 3], np.int32), "$"),
    (np.array([1], np.int32), 1, "$"),
    ([np.int32(1)], (1,), "$"),
    ([np.int32(1)], [1, 2], "$"),
    ([np.int32(1), np.int32(2)], [1], "$"),
    ([], (), "$"),
    ([[np.int32(1)], [np.int32(2)]], [[1], [3]], "$[1][0]"),
    (OrderedDict(a=np.int32(1)), OrderedDict(b=1), "$"),
    (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1), "$"),
    (OrderedDict(a=np.int32(1)), {"a": 1}, "$"),
    (OrderedDict(a=(np.int32(1), b"x")), OrderedDict(a=(1, b"y")), "$['a'][1]"),
    (Pair(np.int32(1), np.int32(2)), (1, 2), "$"),
    (Record(np.int32(1)), Record(2), "$.value"),
    (Struct.named(a=np.int32(1)), Struct.unnamed(1), "$"),
    (Struct.named(a=np.int32(1)), Struct.named(a=2), "$.a"),
    (fl.CLIENTS, fl.SERVER, "$"),
    (None, (), "$"),
]


@pytest.mark.parametrize(("found", "expected"), SAME, ids=str)
def test_same_results_have_no_difference(found: Any, expected: Any) -> None:
    assert difference(found, expected) is None
    assert_same(found, expected)


@pytest.mark.parametrize(("found", "expected", "where"), DIFFERENT, ids=str)
def test_difference_says_where(found: Any, expected: Any, where: str) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_same(found, expected)
    assert str(caught.value).startswith(f"at {where}: expected ")


def test_tolerance_is_relative_and_can_be_chosen() -> None:
    assert difference(np.float64(1e6), 1e6 + 5) is None
    assert difference(np.float64(1e6), 1e6 + 20) is not None
    assert difference(np.float64(1e6), 1e6 + 20, relative=1e-4) is None


ALIKE: list[tuple[Any, Any]] = [
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
UNLIKE: list[tuple[Any, Any]] = [
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


@pytest.mark.parametrize(("found", "expected"), ALIKE)
def test_alike_to_a_learner(found: Any, expected: Any) -> None:
    assert alike(found, expected)


@pytest.mark.parametrize(("found", "expected"), UNLIKE)
def test_not_alike_to_a_learner(found: Any, expected: Any) -> None:
    assert not alike(found, expected)


def test_list_that_holds_itself_is_not_alike() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert not alike(circle, [[1.0]])


def test_type_is_compared_in_the_notation() -> None:
    total = fl.federated_computation(fl.federated_sum, fl.type_at_clients(np.int32))
    assert_type(total, "({int32}@CLIENTS -> int32@SERVER)")
    assert_type(total, total.type_signature)
    with pytest.raises(AssertionError, match="has another type") as caught:
        assert_type(total, "({int32}@CLIENTS -> int64@SERVER)")
    assert "found:    ({int32}@CLIENTS -> int32@SERVER)" in str(caught.value)
