# SPDX-License-Identifier: Apache-2.0
"""What kind of thing an answer is, looked at before it is tried."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Failure, Want


class Mine(dict[str, int]):
    pass


DOUBLE = fl.np_computation(lambda x: x + x, np.float32)
SENT = fl.federated_computation(fl.federated_broadcast, fl.type_at_server(np.float32))
COUNT = fl.np_computation(lambda numbers: np.int32(len(numbers)))
FLOATS = wants.computation("(float32 -> float32)")
TWO = wants.function(2)
NUMBER = wants.value((int, float), "a number")
TABLE = wants.subclass(dict, "a class derived from dict")


def test_computation_that_promises_more_than_its_type_is_fine() -> None:
    assert str(SENT.type_signature.result) == "float32@CLIENTS"
    assert str(TWO.name) == "is a function of 2 arguments"


@pytest.mark.parametrize(
    ("want", "answer"),
    [
        (FLOATS, DOUBLE),
        (wants.computation("(float32@SERVER -> {float32}@CLIENTS)"), SENT),
        (TWO, lambda a, b: a),
        (TWO, lambda a, b=1, *more: a),
        (wants.function(1), int),  # which has no signature
        (NUMBER, 3),
        (TABLE, Mine),
    ],
)
def test_what_is_wanted_is_taken(want: Want, answer: Any) -> None:
    assert want.failure(answer) is None


COMPUTATION = "a computation of type (float32 -> float32)"


@pytest.mark.parametrize(
    ("want", "answer", "expected", "got", "likely"),
    [
        (wants.computation("(int32 -> float32)"), DOUBLE, "", "", "parameters differ"),
        (wants.computation("(float32 -> int32)"), DOUBLE, "", "", "something other"),
        (FLOATS, lambda x: x, COMPUTATION, "", "the decorator is missing"),
        (wants.computation("(int32* -> int32)"), COUNT, "", "", "says no types"),
        (FLOATS, 3, COMPUTATION, "an int: 3", ""),
        (FLOATS, object(), COMPUTATION, "an object", ""),
        (TWO, lambda a: a, "", "", "too many positional"),
        (TWO, lambda a, b, c: a, "", "", "missing a required argument: 'c'"),
        (TWO, 3, "a function of 2 arguments", "an int: 3", ""),
        (NUMBER, "3", "a number", "a str: '3'", ""),
        (TABLE, Mine(), "", "", "hand in the class itself"),
        (TABLE, list, "a class derived from dict", "the class list", ""),
    ],
)
def test_other_things_are_told_what_is_missing(
    want: Want, answer: Any, expected: str, got: str, likely: str
) -> None:
    failure = want.failure(answer)
    assert isinstance(failure, Failure)
    assert expected in failure.expected
    assert got in failure.got
    assert likely in failure.likely
    assert "0x" not in failure.got
