# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The answer to "How does TFF enable remote execution?": its second and third example.

What a reader has to change: in the second example `federated_value(data, CLIENTS)`, the
same for all, becomes `place(data, CLIENTS)`, one entry for each; in the third
`tf.convert_to_tensor` of a dataset becomes one batch of all its elements.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as tff
from fedlearn_edu import tf
from fedlearn_edu.framework import SyncExecutionContext, local_executor_factory
from fedlearn_edu.testing import assert_same

pytestmark = pytest.mark.tensorflow

DATA = [np.array([1, 2, 3], np.float32), np.array([4, 6], np.float32)]
# As in a notebook: a type checker takes what an intrinsic returns for a Value.
at_once: Any = tff


def client_computation() -> Any:
    """The second example's computation, as it stands there."""

    @tff.tf_computation
    def client_computation(data: Any) -> Any:
        processed_data = tf.reduce_mean(data)
        return processed_data  # noqa: RET504 (as the text has it)

    return client_computation


def test_second_example_maps_and_averages_outside_of_any_decorator() -> None:
    federated_result = at_once.federated_map(
        client_computation(), tff.place(DATA, tff.CLIENTS)
    )
    aggregated_result = at_once.federated_mean(federated_result)
    assert str(aggregated_result) == "<placed float32@SERVER>\n  server  3.5"
    assert_same(federated_result.members, [2.0, 5.0])
    assert_same(aggregated_result.value, np.float32(3.5))


def test_second_example_on_lists_needs_a_type() -> None:
    """A list is a sequence, unless its type says that it is a vector."""
    vectors = tff.place([[1.0, 2.0], [3.0]], tff.CLIENTS, (np.float32, [None]))
    assert at_once.federated_map(client_computation(), vectors) == [1.5, 3]
    lists = tff.place([[1.0, 2.0], [3.0]], tff.CLIENTS)
    with pytest.raises(TypeError, match="a dataset, taken for a tensor"):
        at_once.federated_map(client_computation(), lists)


def test_second_example_as_it_stands_places_the_same_everywhere() -> None:
    """Then nothing tells how many clients there are, unless the stack does."""
    everywhere = tff.federated_value([1.0, 2.0, 6.0], tff.CLIENTS)
    with pytest.raises(ValueError, match="how many clients there are") as caught:
        tff.federated_map(client_computation(), everywhere)
    assert "place([…, …], CLIENTS) says it" in str(caught.value)
    with SyncExecutionContext(local_executor_factory(default_num_clients=2)):
        federated_result = at_once.federated_map(client_computation(), everywhere)
        assert federated_result == [3, 3]
        assert at_once.federated_mean(federated_result) == 3


def handle_heterogeneous_data() -> Any:
    """The third example's computation, with its one changed line."""

    @tff.tf_computation(tff.SequenceType(tf.float32))
    def handle_heterogeneous_data(data: Any) -> Any:
        tensor_data = data.batch(1_000_000).get_single_element()
        return tf.reduce_mean(tensor_data)

    return handle_heterogeneous_data


def readings() -> Iterator[float]:
    yield 1.0
    yield 2.0


FORMS: dict[str, Callable[[], Any]] = {
    "list": lambda: [1.0, 2.0],
    "array": lambda: np.array([1, 2], np.float32),
    "generator": readings,
    "dataset": lambda: tff.tf.data.Dataset.from_tensor_slices([1.0, 2.0]),
    "tensors": lambda: [tff.tf.constant(1.0), tff.tf.constant(2.0)],
}


def test_third_example_takes_each_client_as_it_comes() -> None:
    data = [make() for make in FORMS.values()]
    placed = tff.place(data, tff.CLIENTS, tff.SequenceType(np.float32))
    for _ in range(2):  # also what can be read only once
        results = at_once.federated_map(handle_heterogeneous_data(), placed)
        assert results == [1.5] * len(FORMS)
    assert at_once.federated_mean(results) == 1.5
