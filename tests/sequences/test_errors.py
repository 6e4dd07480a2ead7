# SPDX-License-Identifier: Apache-2.0
"""An error comes back as itself, and says at which element and client it happened.

Whoever reads the sequence: an executor, leaf code, a graph through TensorFlow's own
threads, or Python, at the very end, a dataset that nobody has read before.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ComputationFailedError, TypeMismatchError
from tests.programs import NUMBERS
from tests.sequences.readers import every_reader, read

fw = fl.framework
_NO_NUMBER = "(?s)expected: int32.*a str: 'three'"
GOOD, BAD = [1, 2, 3], [1, 2, -3, 4]


class MyError(ValueError):
    """An error of the user's own."""


@fl.np_computation(np.int32)
def positive(x: Any) -> Any:
    if x < 0:
        raise MyError(f"{x} is negative")
    return x


@pytest.fixture(
    autouse=True,
    params=[
        "threads in groups",
        pytest.param("one thread", marks=pytest.mark.thorough),
    ],
)
def _with_sequences(request: pytest.FixtureRequest) -> Iterator[None]:
    options: dict[str, Any] = {"max_fanout": 2}
    if request.param == "one thread":
        options = {"use_threads": False}
    factory = fw.local_executor_factory(support_sequence_ops=True, **options)
    with fw.SyncExecutionContext(factory):
        yield


def _said(error: BaseException) -> str:
    """All that an error says: its text and its notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


@dataclass(frozen=True, eq=False)
class Run:
    """A program on a sequence, or at three clients the last of which holds it."""

    program: Any
    at_clients: bool

    def __call__(self, sequence: Any) -> Any:
        if not self.at_clients:
            return self.program(sequence)
        data = fl.type_at_clients(NUMBERS)
        everywhere = fl.federated_computation(
            lambda d: fl.federated_map(self.program, d), data
        )
        return everywhere([GOOD, [], sequence])


everywhere = pytest.mark.parametrize(
    "at_clients", [False, True], ids=["one place", "at clients"]
)


# ------------------------------------------------------------ element functions


@every_reader
@everywhere
def test_an_error_of_an_element_function_comes_back_as_itself(
    reader: str, at_clients: bool
) -> None:
    program = fl.federated_computation(
        lambda s: read(reader, fl.sequence_map(positive, s)), NUMBERS
    )
    with pytest.raises(MyError) as caught:
        Run(program, at_clients)(BAD)
    assert type(caught.value) is MyError
    assert str(caught.value) == "-3 is negative"
    assert "in element 2 of a mapped sequence" in _said(caught.value)
    assert ("at client 2" in _said(caught.value)) == at_clients


@pytest.mark.tensorflow
@every_reader
@everywhere
def test_an_assertion_of_tensorflow_comes_back_with_its_message(
    reader: str, at_clients: bool
) -> None:
    @fl.tf_computation(np.int32)
    def checked(x: Any) -> Any:
        fl.tf.debugging.assert_non_negative(x, message="no negative numbers")
        return x

    program = fl.federated_computation(
        lambda s: read(reader, fl.sequence_map(checked, s)), NUMBERS
    )
    with pytest.raises(ComputationFailedError, match="no negative numbers") as caught:
        Run(program, at_clients)(BAD)
    assert caught.value.summary == "TensorFlow reported an error in checked"
    assert "in element 2 of a mapped sequence" in _said(caught.value)
    assert ("at client 2" in _said(caught.value)) == at_clients


@every_reader
def test_the_innermost_of_several_maps_says_the_element(reader: str) -> None:
    same = fl.np_computation(lambda x: x, np.int32)

    def body(s: Any) -> Any:
        return read(reader, fl.sequence_map(same, fl.sequence_map(positive, s)))

    with pytest.raises(MyError) as caught:
        fl.federated_computation(body, NUMBERS)(BAD)
    assert _said(caught.value).count("mapped sequence") == 1


# ------------------------------------------------------------------ generators


def breaks() -> Iterator[int]:
    yield 1
    raise MyError("no more")


def changes() -> Iterator[Any]:
    yield from (1, 2, "three")


@every_reader
@everywhere
@pytest.mark.parametrize(
    ("data", "error", "text", "where"),
    [
        (breaks, MyError, "no more", ("when element 1 was asked for", "at client 2")),
        (changes, TypeMismatchError, _NO_NUMBER, ("[element 2]", "[client 2]")),
    ],
)
def test_what_fails_half_way_says_where(
    reader: str, at_clients: bool, data: Any, error: Any, text: str, where: Any
) -> None:
    program = fl.federated_computation(lambda s: read(reader, s), NUMBERS)
    with pytest.raises(error, match=text) as caught:
        Run(program, at_clients)(data)
    assert [each in _said(caught.value) for each in where] == [True, at_clients]


# ---------------------------------------------------------------------- datasets


@pytest.mark.tensorflow
@every_reader
@everywhere
def test_an_error_of_a_dataset_that_leaf_code_returned(
    reader: str, at_clients: bool
) -> None:
    def invert(dataset: Any) -> Any:
        return dataset.map(
            lambda x: fl.tf.cast(
                fl.tf.debugging.check_numerics(1 / (x + 3), "infinite"), np.int32
            )
        )

    inverted = fl.tf_computation(invert, NUMBERS)
    program = fl.federated_computation(lambda s: read(reader, inverted(s)), NUMBERS)
    with pytest.raises(ComputationFailedError, match="infinite") as caught:
        Run(program, at_clients)(BAD)
    assert "TensorFlow reported an error" in caught.value.summary
    assert "{{" not in str(caught.value)
    assert ("at client 2" in _said(caught.value)) == at_clients


# ------------------------------------------------------------ outside of bodies


@pytest.mark.tensorflow
def test_an_error_of_a_dataset_of_ones_own_says_the_element() -> None:
    def checked(x: Any) -> Any:
        fl.tf.debugging.assert_less(x, 2, message="too much")
        return x

    dataset = fl.tf.data.Dataset.from_tensor_slices([1, 2]).map(checked)
    program = fl.federated_computation(fl.sequence_sum, NUMBERS)
    with pytest.raises(fl.tf.errors.InvalidArgumentError, match="too much") as caught:
        program(dataset)
    assert "in element 1 of a dataset" in _said(caught.value)
