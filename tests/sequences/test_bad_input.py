# SPDX-License-Identifier: Apache-2.0
"""What is no sequence, and what was one: each is told in one paragraph."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ExhaustedError, FedLearnError
from tests.programs import NUMBERS, increment, local, mapped
from tests.sequences.readers import every_reader, read

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


@every_reader
@pytest.mark.parametrize("mapped", [False, True], ids=["itself", "mapped"])
def test_a_generator_is_read_once_in_a_body(reader: str, mapped: bool) -> None:
    def body(s: Any) -> Any:
        source = fl.sequence_map(increment, s) if mapped else s
        return [fl.sequence_sum(source), read(reader, source)]

    program = fl.federated_computation(body, NUMBERS)
    with pytest.raises(ExhaustedError, match="a second time") as caught:
        program(numbers())
    check_paragraph(caught.value)
    assert "the generator function itself" in str(caught.value.do)
    if reader not in ("Python", "dataset of a graph"):  # these can be read only once
        assert program(numbers)[0] == (9 if mapped else 6)


@every_reader
def test_a_generator_is_read_once_at_a_client(reader: str) -> None:
    both = fl.federated_computation(
        lambda s: [fl.sequence_sum(s), read(reader, s)], NUMBERS
    )
    program = mapped(both)
    with pytest.raises(ExhaustedError, match="a second time") as caught:
        program([[1], numbers()])
    assert "[client 1]" in str(caught.value.where)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "use",
    [
        lambda d: d.repeat(2),
        lambda d: d.concatenate(d),
        lambda d: fl.tf.data.Dataset.zip((d, d)).map(lambda a, b: a + b),
    ],
    ids=["repeated", "concatenated", "zipped"],
)
@pytest.mark.parametrize("mapped", [False, True], ids=["itself", "mapped"])
def test_a_generator_is_read_once_by_a_graph(use: Any, mapped: bool) -> None:
    graph = fl.tf_computation(lambda d: use(d).reduce(0, lambda s, x: s + x), NUMBERS)
    program = fl.federated_computation(
        lambda s: graph(fl.sequence_map(increment, s) if mapped else s), NUMBERS
    )
    assert program(numbers) == (18 if mapped else 12)
    with pytest.raises(ExhaustedError, match="a second time"):
        program(numbers())


def test_a_generator_of_an_earlier_call_is_used_up() -> None:
    """differs: it looked like an empty sequence, and the sum was 0."""
    generator = numbers()
    assert ADD_UP(generator) == 6
    with pytest.raises(ExhaustedError, match="has ended") as caught:
        ADD_UP(generator)
    check_paragraph(caught.value)


def test_a_generator_that_was_begun_goes_on() -> None:
    generator = numbers()
    next(generator)
    assert ADD_UP(generator) == 5


def test_a_placed_generator_can_be_read_again_and_again() -> None:
    placed = fl.place([numbers(), [5]], fl.CLIENTS, NUMBERS)
    assert [fl.sequence_sum(placed).members for _ in range(2)] == [[6, 5]] * 2


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


@pytest.mark.tensorflow
def test_the_reference_says_as_well_that_a_graph_reads_twice() -> None:
    graph = fl.tf_computation(
        lambda d: d.repeat(2).reduce(0, lambda s, x: s + x), NUMBERS
    )
    with fw.ReferenceContext(), pytest.raises(ExhaustedError, match="a second time"):
        graph(numbers())
