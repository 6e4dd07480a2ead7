# SPDX-License-Identifier: Apache-2.0
"""`np_computation`: a Python function on arrays, and the executor that runs it."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ContextError
from tests.programs import INT, NUMBERS, add, increment

VECTOR = fl.TensorType(np.float32, [None])


@pytest.mark.parametrize(
    ("body", "type_", "result"),
    [
        (lambda x: x + np.int32(1), np.int32, "int32"),
        (lambda x: x / np.float32(2), np.float32, "float32"),
        (lambda x: x.sum(), VECTOR, "float32"),
        (lambda x: np.concatenate([x, x]), VECTOR, "float32[?]"),
        (lambda x: x[:1], VECTOR, "float32[1]"),
        (lambda x: np.outer(x, x), VECTOR, "float32[?,?]"),
        (lambda x: np.zeros([3, 1], np.float32), VECTOR, "float32[3,1]"),
        (lambda x: x.sum(axis=0), fl.TensorType(np.float32, [None, 4]), "float32[4]"),
        (lambda s: np.int32(len(s)), NUMBERS, "int32"),
        (lambda s: np.array(s), NUMBERS, "int32[?]"),
        (lambda x: OrderedDict(a=x, b=[x]), np.int32, "<a=int32,b=<int32>>"),
        (lambda x: {"b": x, "a": 1.5}, np.int32, "<a=float32,b=int32>"),
        (lambda x: b"text", np.int32, "string"),
        (lambda x: x, np.str_, "string"),
    ],
)
def test_the_result_type_is_found_by_trying(
    body: Callable[[Any], Any], type_: Any, result: str
) -> None:
    made = fl.np_computation(body, type_)
    assert str(made.type_signature.result) == result


@pytest.mark.parametrize(
    ("type_", "seen"),
    [
        (np.int32, np.int32(1)),
        (np.bool_, np.bool_(True)),
        (np.str_, b""),
        ([np.int32, np.int32], [1, 1]),
        (OrderedDict(a=np.int32), OrderedDict(a=1)),
    ],
    ids=str,
)
def test_it_is_tried_on_ones(type_: Any, seen: Any) -> None:
    tried = []

    def body(x: Any) -> Any:
        tried.append(x)
        return x

    fl.np_computation(body, type_)
    assert tried == [seen] * len(tried)
    assert isinstance(tried[0], type(seen))


def test_a_body_runs_once_for_each_call() -> None:
    runs = []

    def body(x: Any) -> Any:
        runs.append(x)
        return x

    made = fl.np_computation(body, np.int32)
    runs.clear()
    assert (made(5), made(6)) == (5, 6)
    assert runs == [5, 6]


def test_random_numbers_are_drawn_anew_at_each_call() -> None:
    """differs: there was TensorFlow only, whose NumPy randomness is frozen."""
    generator = np.random.default_rng(7)
    draw = fl.np_computation(lambda: generator.random())
    assert len({float(draw()) for _ in range(5)}) == 5


def test_a_number_takes_the_dtype_that_was_found() -> None:
    made = fl.np_computation(lambda x: 3 if x == 1 else np.int64(4), np.int32)
    assert made.type_signature.result == fl.to_type(np.int32)
    result = made(2)
    assert (result, result.dtype) == (4, np.int32)


# ------------------------------------------------------- a result type that is said

MATRIX = fl.TensorType(np.float32, [2, 2])


@pytest.mark.parametrize(
    ("body", "type_", "result", "argument", "expected"),
    [
        (np.linalg.inv, MATRIX, MATRIX, [[2, 0], [0, 4]], [[0.5, 0], [0, 0.25]]),
        (lambda x: x[2], VECTOR, np.float32, [1, 2, 3, 4], 3),
        (lambda s: s[2], NUMBERS, np.int32, [1, 2, 3], 3),
        (lambda x: {5: 2.5}[int(x)], np.int32, np.float32, 5, 2.5),
        (lambda x: x[x > 0], (np.float32, [3]), VECTOR, [1, -1, 2], [1, 2]),
        (lambda x: 0 if x > 0.5 else x / 2, np.float32, np.float32, 0.25, 0.125),
        (lambda s: (i + 1 for i in s), NUMBERS, NUMBERS, [1, 2], [2, 3]),
        (
            lambda s: {"b": len(s), "a": []},
            NUMBERS,
            [("a", NUMBERS), ("b", INT)],
            [7],
            OrderedDict(a=[], b=1),
        ),
    ],
)
def test_what_says_its_result_type_is_not_tried(
    body: Any, type_: Any, result: Any, argument: Any, expected: Any
) -> None:
    for made in (
        fl.np_computation(body, type_, result=result),
        fl.np_computation(type_, result=result)(body),
    ):
        assert made.type_signature.result == fl.to_type(result)
        found = made(argument)
        assert (found.tolist() if hasattr(found, "tolist") else found) == expected


def test_a_computation_without_types_may_say_its_result() -> None:
    positive = fl.np_computation(lambda x: x[x > 0], result=VECTOR)
    assert positive(np.array([1, -1, 2], np.float32)).tolist() == [1, 2]
    one = fl.np_computation(result=np.float32)(lambda: 1)
    assert (one(), one().dtype) == (1, np.float32)


# ------------------------------------------------------------------ calls inside


def test_numpy_code_may_call_numpy_code() -> None:
    twice = fl.np_computation(lambda x: increment(increment(x)), np.int32)
    assert twice(1) == 3
    pair = fl.np_computation(lambda x: add(x, b=increment(x)), np.int32)
    assert pair(1) == 3


def test_a_generator_that_is_read_inside_belongs_to_the_leaf_code() -> None:
    total = fl.federated_computation(
        lambda x: fl.federated_sum(x), fl.type_at_clients(np.int32)
    )
    count = fl.np_computation(lambda s: np.int32(sum(s)), NUMBERS)

    def readings() -> Iterator[Any]:
        yield fl.np_computation(lambda: np.int32(100))()

    def sums() -> Iterator[Any]:
        yield total([1, 2])

    assert count(readings) == count(readings()) == 100
    with pytest.raises(ContextError, match="inside an np_computation"):
        count(sums)


def test_sequence_intrinsics_run_inside() -> None:
    def body(numbers: Any) -> Any:
        mapped = fl.sequence_map(increment, numbers)
        return fl.sequence_sum(mapped), fl.sequence_reduce(numbers, 100, add)

    assert fl.np_computation(body, NUMBERS)([1, 2]) == (5, 103)
    assert fl.np_computation(lambda: fl.sequence_sum([1.5, 2.0]))() == 3.5


def test_federated_computations_without_placements_run_inside() -> None:
    total = fl.federated_computation(lambda s: fl.sequence_sum(s) + 1, NUMBERS)
    assert fl.np_computation(lambda s: total(s) * 2, NUMBERS)([1, 2]) == 8


def test_an_empty_sequence_knows_its_type_in_a_body() -> None:
    def body(numbers: Any) -> Any:
        return fl.sequence_sum(numbers), fl.sequence_sum(
            fl.sequence_map(increment, numbers)
        )

    both = fl.np_computation(body, NUMBERS)
    assert both([]) == (0, 0)
    assert both([1, 2]) == (3, 5)
