# SPDX-License-Identifier: Apache-2.0
"""What kind of thing an answer is, looked at before it is tried."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Failure, Want

INTEGERS = "(int32* -> int32)"
DOUBLE = fl.np_computation(lambda x: x + x, np.float32)


def _count(numbers: Any) -> Any:
    return np.int32(len(numbers))


def refused(want: Want, answer: Any) -> Failure:
    failure = want.failure(answer)
    assert failure is not None
    return failure


def test_computation_of_the_type_or_of_one_that_promises_more_is_fine() -> None:
    made = fl.np_computation(lambda x: x + x, np.float32)
    assert wants.computation("(float32 -> float32)").failure(made) is None
    at_all = fl.federated_computation(
        fl.federated_broadcast, fl.type_at_server(np.float32)
    )
    wanted = wants.computation("(float32@SERVER -> {float32}@CLIENTS)")
    assert str(at_all.type_signature.result) == "float32@CLIENTS"
    assert wanted.failure(at_all) is None


@pytest.mark.parametrize(
    ("notation", "answer", "likely"),
    [
        ("(int32 -> float32)", DOUBLE, "parameters differ"),
        ("(float32 -> int32)", DOUBLE, "what it returns"),
        ("(float32 -> float32)", lambda x: x, "the decorator is missing"),
        (INTEGERS, fl.np_computation(_count), "the decorator says no types"),
    ],
)
def test_other_computations_are_told_what_is_missing(
    notation: str, answer: Any, likely: str
) -> None:
    assert likely in refused(wants.computation(notation), answer).likely


@pytest.mark.parametrize("answer", [3, "text", [], object()])
def test_other_things_are_no_computations(answer: Any) -> None:
    failure = refused(wants.computation("(float32 -> float32)"), answer)
    assert failure.expected == "a computation of type (float32 -> float32)"
    assert "0x" not in failure.got


def test_function_takes_this_number_of_arguments() -> None:
    want = wants.function(2)
    assert want.name == "is a function of 2 arguments"
    assert want.failure(lambda a, b: a) is None
    assert want.failure(lambda a, b=1, *more: a) is None
    assert wants.function(1).failure(int) is None, "it has no signature"
    assert "too many positional" in refused(want, lambda a: a).likely
    assert "missing a required argument: 'c'" in refused(want, lambda a, b, c: a).likely
    assert refused(want, 3).got == "an int: 3"


def test_value_is_of_a_class() -> None:
    want = wants.value((int, float), "a number")
    assert want.failure(3) is None
    failure = refused(want, "3")
    assert (failure.expected, failure.got) == ("a number", "a str: '3'")


def test_class_is_not_an_object_of_it() -> None:
    class Mine(dict[str, int]):
        pass

    want = wants.subclass(dict, "a class derived from dict")
    assert want.failure(Mine) is None
    assert "hand in the class itself" in refused(want, Mine()).likely
    assert refused(want, list) == Failure("a class derived from dict", "the class list")
