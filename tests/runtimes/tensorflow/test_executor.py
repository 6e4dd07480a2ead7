# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The executor for TensorFlow code, and trees that become parts of graphs."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.errors import ExecutorError
from fedlearn_edu.ir.operations import cast, operation
from tests.executors.examples import call, pair, run
from tests.programs import INT, INTS, NUMBERS, local, mapped

pytestmark = pytest.mark.tensorflow
fw = fl.framework


@fl.tf_computation(np.int32)
def tf_double(x: Any) -> Any:
    return x * 2


def test_data_come_out_as_they_went_in() -> None:
    type_ = fl.to_type(OrderedDict(a=np.int32, b=[np.str_], s=NUMBERS))
    plain = fl.Struct.named(
        a=np.int32(1), b=fl.Struct.unnamed(b"text"), s=(np.int32(1), np.int32(2))
    )

    async def work() -> Any:
        value = await fw.EagerTFExecutor().create_value(plain, type_)
        return await value.compute()

    result = run(work())
    assert result.a == 1
    assert type(result.a) is np.int32
    assert result.b == fl.Struct.unnamed(b"text")
    assert list(result.s) == [1, 2]


@pytest.mark.parametrize(
    ("name", "result"),
    [("add", 9), ("subtract", 5), ("multiply", 14), ("maximum", 7), ("minimum", 2)],
)
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_operations_mean_the_same_as_in_numpy(
    name: str, result: int, dtype: Any
) -> None:
    scalar = fl.to_type(dtype)
    leaf = operation(name, (scalar, scalar), scalar)
    argument = pair(dtype(7), dtype(2))
    found = run(call(fw.EagerTFExecutor(), leaf, argument))
    assert (found, found.dtype) == (result, np.dtype(dtype))
    assert found == run(call(fw.NumPyExecutor(), leaf, argument))


def test_operations_tensorflow_lacks_are_run_all_the_same() -> None:
    leaf = cast(fl.TensorType(np.int32, [2]), fl.TensorType(np.float64, [2]))
    found = run(call(fw.EagerTFExecutor(), leaf, np.array([1, 2], np.int32)))
    np.testing.assert_array_equal(found, np.array([1.0, 2.0]), strict=True)


@pytest.mark.parametrize("leaf", ["tensorflow", None, lambda: fw.EagerTFExecutor()])
def test_a_stack_can_be_asked_for_tensorflow(leaf: Any) -> None:
    program = fl.federated_computation(
        lambda v: fl.federated_sum(fl.federated_map(tf_double, v)), INTS
    )
    with local(leaf=leaf):
        assert program([1, 2, 3]) == 12


def test_a_stack_asked_for_numpy_refuses_tensorflow_code() -> None:
    context = local(leaf="numpy")
    with context, pytest.raises(ExecutorError, match="tensorflow"):
        tf_double(1)


@pytest.mark.parametrize("options", [{"fuse": False}, {"max_fanout": 2}], ids=str)
def test_python_code_in_graphs_may_call_the_clients_it_is_one_of(options: Any) -> None:
    """More clients at once than TensorFlow has threads, all waiting for each other."""
    doubled = fl.federated_computation(
        lambda v: fl.federated_sum(fl.federated_map(tf_double, v)), INTS
    )

    factory = fw.local_executor_factory(
        leaf="tensorflow", clients_per_thread=1, **options
    )
    context = fw.SyncExecutionContext(factory)

    def twice(x: Any) -> Any:
        with context:  # this is a thread of TensorFlow's own
            return np.int32(doubled([int(x), 1]) + doubled([int(x), 2]))

    @fl.tf_computation(np.int32)
    def nested(x: Any) -> Any:
        return tf.ensure_shape(tf.py_function(twice, [x], tf.int32), [])

    outer = mapped(nested)
    with context:
        assert outer([1, 2]) == [10, 14]
        assert outer([1] * 10) == [10] * 10


# ----------------------------------------
# Trees become parts of TensorFlow graphs, whoever is tracing


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
