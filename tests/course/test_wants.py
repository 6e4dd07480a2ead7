# SPDX-License-Identifier: Apache-2.0
"""What kind of thing an answer is, looked at before it is tried."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.course import wants

INTEGERS = "(int32* -> int32)"


def _count(numbers: Any) -> Any:
    return np.int32(len(numbers))


def test_computation_of_the_type_is_fine() -> None:
    made = fl.np_computation(lambda x: x + x, np.float32)
    assert wants.computation("(float32 -> float32)").failure(made) is None


def test_type_that_can_stand_in_is_fine() -> None:
    """A program that promises more than is asked for."""
    at_all = fl.federated_computation(
        fl.federated_broadcast, fl.type_at_server(np.float32)
    )
    wanted = wants.computation("(float32@SERVER -> {float32}@CLIENTS)")
    assert str(at_all.type_signature.result) == "float32@CLIENTS"
    assert wanted.failure(at_all) is None


def test_parameter_and_result_are_told_apart() -> None:
    made = fl.np_computation(lambda x: x + x, np.float32)
    other = wants.computation("(int32 -> float32)").failure(made)
    result = wants.computation("(float32 -> int32)").failure(made)
    assert other is not None
    assert result is not None
    assert "parameters differ" in other.likely
    assert "what it returns" in result.likely


def test_function_without_decorator_is_told_so() -> None:
    failure = wants.computation("(float32 -> float32)").failure(lambda x: x)
    assert failure is not None
    assert "the decorator is missing" in failure.likely


def test_computation_without_types_is_told_so() -> None:
    failure = wants.computation(INTEGERS).failure(fl.np_computation(_count))
    assert failure is not None
    assert failure.got == "a computation without types"


@pytest.mark.parametrize("answer", [3, "text", [], object()])
def test_other_things_are_no_computations(answer: Any) -> None:
    failure = wants.computation("(float32 -> float32)").failure(answer)
    assert failure is not None
    assert failure.expected == "a computation of type (float32 -> float32)"
    assert "0x" not in failure.got


def test_function_has_so_many_parameters() -> None:
    want = wants.function(2)
    assert want.name == "is a function of 2 arguments"
    assert want.failure(lambda a, b: a) is None
    assert want.failure(lambda a, b=1, *more: a) is None
    few, many, none = map(want.failure, (lambda a: a, lambda a, b, c: a, 3))
    assert few is not None
    assert many is not None
    assert none is not None
    assert "too many positional arguments" in few.likely
    assert "missing a required argument: 'c'" in many.likely
    assert none.got == "an int: 3"


def test_function_without_a_signature_is_let_through() -> None:
    assert wants.function(1).failure(int) is None


def test_value_is_of_a_class() -> None:
    want = wants.value((int, float), "a number")
    assert want.failure(3) is None
    failure = want.failure("3")
    assert failure is not None
    assert (failure.expected, failure.got) == ("a number", "a str: '3'")


def test_class_is_not_an_object_of_it() -> None:
    class Mine(dict[str, int]):
        pass

    want = wants.subclass(dict, "a class derived from dict")
    assert want.failure(Mine) is None
    its_object, other = want.failure(Mine()), want.failure(list)
    assert its_object is not None
    assert other is not None
    assert "hand in the class itself" in its_object.likely
    assert (other.got, other.likely) == ("the class list", "")
