# SPDX-License-Identifier: Apache-2.0
"""What is no sequence, and what was one: each is told in one paragraph."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ExhaustedError, FedLearnError
from tests.programs import NUMBERS, local

fw = fl.framework


@pytest.fixture(autouse=True)
def _with_sequences() -> Iterator[None]:
    with local(support_sequence_ops=True):
        yield


ADD_UP = fl.federated_computation(fl.sequence_sum, NUMBERS)


def numbers() -> Iterator[int]:
    yield from (1, 2, 3)


def check_paragraph(error: FedLearnError) -> None:
    """An error of the house says all four things, each in a line."""
    lines = [line.split(":")[0].strip() for line in str(error).splitlines()[1:]]
    assert lines == ["expected", "found", "where", "do"], str(error)
    assert all(len(line) < 300 for line in str(error).splitlines())


# ------------------------------------------------------------------- read twice


def test_a_generator_is_read_at_the_border_and_then_as_often_as_one_likes() -> None:
    """differs: a second reader found an empty sequence."""
    twice = fl.federated_computation(
        lambda s: [fl.sequence_sum(s), fl.sequence_sum(s)], NUMBERS
    )
    assert twice(numbers()) == [6, 6]


def test_a_generator_of_an_earlier_call_is_used_up() -> None:
    """differs: it looked like an empty sequence, and the sum was 0."""
    generator = numbers()
    assert ADD_UP(generator) == 6
    with pytest.raises(ExhaustedError, match="read to its end") as caught:
        ADD_UP(generator)
    check_paragraph(caught.value)


def test_a_generator_that_was_begun_goes_on() -> None:
    generator = numbers()
    next(generator)
    assert ADD_UP(generator) == 5


def first_of(x: Any) -> Any:
    return next(iter([x] if x < 2 else []))


@pytest.mark.parametrize(
    "context", [fw.ReferenceContext(), nullcontext()], ids=["reference", "stack"]
)
def test_an_element_function_that_runs_out_does_not_end_the_sequence(
    context: Any,
) -> None:
    """`next` on an iterator that is used up is an error, not the last element."""
    first = fl.np_computation(first_of, np.int32)
    program = fl.federated_computation(lambda s: fl.sequence_map(first, s), NUMBERS)
    inside = fl.np_computation(
        lambda s: np.int32(len(fl.sequence_map(first, s))), NUMBERS
    )
    with context:
        assert program([1, 1]) == [1, 1]
        assert inside([1, 1]) == 2
        for misuse in (program, inside):
            with pytest.raises((RuntimeError, StopIteration)):
                misuse([1, 2, 1])
