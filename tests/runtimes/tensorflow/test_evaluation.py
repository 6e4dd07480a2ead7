# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Trees become parts of TensorFlow graphs, whoever is tracing."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from tests.programs import INT, NUMBERS

pytestmark = pytest.mark.tensorflow

double = fl.tf_computation(lambda x: x * 2, INT)


def test_a_tf_function_outside_of_all_computations_may_use_sequence_intrinsics() -> (
    None
):
    @tf.function
    def total(dataset: Any) -> Any:
        return fl.sequence_sum(fl.sequence_map(double, dataset))

    dataset = tf.data.Dataset.from_tensor_slices(np.array([1, 2, 3], np.int32))
    assert int(total(dataset)) == 12


def test_a_tf_function_outside_of_all_computations_may_call_computations() -> None:
    @fl.federated_computation(NUMBERS)
    def doubled_sum(numbers: Any) -> Any:
        return fl.sequence_sum(numbers) * 2

    mapped = tf.data.Dataset.range(3).map(
        lambda n: doubled_sum(
            tf.data.Dataset.range(n).map(lambda x: tf.cast(x, tf.int32))
        )
    )
    assert [int(x) for x in mapped] == [0, 0, 2]


def test_a_dataset_mapped_inside_a_body_may_use_sequence_intrinsics() -> None:
    @fl.tf_computation(NUMBERS)
    def sum_of_sums(numbers: Any) -> Any:
        return fl.sequence_sum(
            numbers.map(
                lambda n: fl.sequence_sum(tf.data.Dataset.range(tf.cast(n, tf.int64)))
            )
        )

    assert sum_of_sums([3, 4]) == 3 + 6


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.float32])
def test_division_has_the_digits_it_has_elsewhere(dtype: Any) -> None:
    ratio = fl.federated_computation(lambda a, b: a / b, dtype, dtype)
    in_graph = fl.tf_computation(lambda a, b: ratio(a, b), dtype, dtype)
    assert in_graph(7, 3) == ratio(7, 3)
