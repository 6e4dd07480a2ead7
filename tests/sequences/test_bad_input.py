# SPDX-License-Identifier: Apache-2.0
"""What is no sequence, and what was one: each is told in one paragraph."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ExhaustedError, FedLearnError, TypeMismatchError
from tests.programs import NUMBERS, NUMBERS_AT_CLIENTS, add, increment, mapped
from tests.sequences.readers import every_reader, read

fw = fl.framework


@pytest.fixture(autouse=True)
def _with_sequences() -> Iterator[None]:
    with fw.SyncExecutionContext(fw.local_executor_factory(support_sequence_ops=True)):
        yield


ADD_UP = fl.federated_computation(fl.sequence_sum, NUMBERS)
ADD_UP_AT_CLIENTS = fl.federated_computation(
    lambda d: fl.sequence_sum(fl.sequence_map(increment, d)), NUMBERS_AT_CLIENTS
)


def numbers() -> Iterator[int]:
    yield from (1, 2, 3)


async def later() -> AsyncIterator[int]:
    yield 1


def check_paragraph(error: FedLearnError) -> None:
    """An error of the house says all four things, each in a line."""
    lines = [line.split(":")[0].strip() for line in str(error).splitlines()[1:]]
    assert lines == ["expected", "found", "where", "do"], str(error)
    assert all(len(line) < 300 for line in str(error).splitlines())


# ----------------------------------------------------------- what is no sequence


NO_SEQUENCES: dict[str, tuple[Any, str]] = {
    "a number": (5, "found:    an int: 5"),
    "text": ("one", "a str: 'one'"),
    "bytes": (b"one", "a bytes"),
    "a set": ({1, 2}, "a set"),
    "a dict": ({"a": 1}, "a dict"),
    "a scalar": (np.int32(5), "an int32"),
    "an array of no dimension": (np.array(5), "an ndarray"),
    "nothing": (None, "None"),
    "a computation": (increment, "<computation increment"),
    "a function of a number": (lambda: 5, "does not make one"),
    "a function that forgot its return": (lambda: None, "does not make one"),
    "an asynchronous generator": (later, "an async_generator"),
    "a class": (int, "an int: 0"),
    "a missing element": ([1, None], r"\[element 1\]"),
    "text among numbers": ([1, "two"], r"\[element 1\]"),
    "rows": ([[1, 2], [3]], r"int32\[\?\]\* if rows are meant"),
    "a matrix": (np.array([[1, 2]]), r"int32\[\?\]\* if rows are meant"),
    "a fraction": ([1, 2.5], "declare np.float32"),
    "an array of fractions": (np.array([1.5]), "declare np.float32"),
}


@pytest.mark.parametrize("name", NO_SEQUENCES)
@pytest.mark.parametrize("at_clients", [False, True], ids=["one place", "at clients"])
def test_what_is_no_sequence_is_refused(name: str, at_clients: bool) -> None:
    data, says = NO_SEQUENCES[name]
    program, argument = ADD_UP, data
    if at_clients:
        program, argument = ADD_UP_AT_CLIENTS, [[1], data]
    with pytest.raises(TypeMismatchError, match=says) as caught:
        program(argument)
    check_paragraph(caught.value)
    assert ("[client 1]" in str(caught.value.where)) == at_clients


@pytest.mark.parametrize(
    "data", [numbers, [1, 2], 5], ids=["generator function", "list", "number"]
)
def test_a_sequence_for_one_client_is_none_for_all(data: Any) -> None:
    with pytest.raises(TypeMismatchError, match="client") as caught:
        ADD_UP_AT_CLIENTS(data)
    check_paragraph(caught.value)


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
    with pytest.raises(ExhaustedError, match="has ended"):
        fl.sequence_reduce(generator, 0, add)
    with pytest.raises(ExhaustedError, match="has ended") as caught:
        ADD_UP_AT_CLIENTS([[1], generator])
    assert caught.value.where == "lambda's argument[client 1]"


SHARED: dict[str, Callable[[Any], Any]] = {
    "clients": lambda it: ADD_UP_AT_CLIENTS([it, [1], it]),
    "placed": lambda it: fl.place([it, [1], it], fl.CLIENTS, NUMBERS),
    "placed, untyped": lambda it: fl.place([it, [1], it], fl.CLIENTS),
    "structures at clients": lambda it: fl.place(
        [(1, it), (2, []), (3, it)], fl.CLIENTS, (np.int32, NUMBERS)
    ),
    "fields": lambda it: fl.federated_computation(
        lambda a, b: (fl.sequence_sum(a), fl.sequence_sum(b)), NUMBERS, NUMBERS
    )(it, b=it),
    "leaf code": lambda it: fl.np_computation(
        lambda a, b: np.int32(sum(a) + sum(b)), NUMBERS, NUMBERS
    )(it, it),
}


@pytest.mark.parametrize("use", SHARED.values(), ids=SHARED.keys())
@pytest.mark.parametrize("source", [numbers, lambda: iter([1, 2, 3])])
def test_one_iterator_for_several_readers_is_refused(use: Any, source: Any) -> None:
    """The first reader would have got everything, and the others nothing."""
    with pytest.raises(ExhaustedError, match="one iterator is passed") as caught:
        use(source())
    check_paragraph(caught.value)
    where = str(caught.value.where)
    assert all(w in where for w in ("[client 0]", "[client 2]")) or (
        ".a, " in where and where.endswith(".b")
    )


def test_one_iterator_for_a_thousand_clients_is_told_in_a_line() -> None:
    with pytest.raises(ExhaustedError, match="in 1000 places") as caught:
        ADD_UP_AT_CLIENTS([numbers()] * 1000)
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
