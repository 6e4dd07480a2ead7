# SPDX-License-Identifier: Apache-2.0
"""Slips around TensorFlow, which is loaded when the first of them is committed."""

from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu import tf
from tests.slips.slip import slip

AT_CLIENTS = fl.type_at_clients(np.float32)


@slip(130, TypeError, "client 1", "int32", "tf.cast", tensorflow=True)
def tensor_of_another_dtype() -> None:
    mean = fl.federated_computation(lambda x: fl.federated_mean(x), AT_CLIENTS)
    mean([tf.constant(1.0), tf.constant(2)])


@slip(131, TypeError, "step", "Keras optimizer", "in the body", tensorflow=True)
def keras_optimizer_from_outside() -> None:
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)

    @fl.tf_computation(np.float32)
    def step(start: Any) -> Any:
        weight = tf.Variable(start)
        optimizer.apply_gradients([(tf.constant(1.0), weight)])
        return weight


@slip(132, TypeError, "variable", "outside", tensorflow=True)
def variable_from_outside() -> None:
    weight = tf.Variable(1.0)

    @fl.tf_computation(np.float32)
    def scaled(x: Any) -> Any:
        return x * weight


@slip(133, RuntimeError, "mean", "federated_computation", tensorflow=True)
def federated_call_in_tensorflow() -> None:
    @fl.federated_computation(AT_CLIENTS)
    def mean(x: Any) -> Any:
        return fl.federated_mean(x)

    @fl.tf_computation(np.float32)
    def twice(x: Any) -> Any:
        return mean([x, x])


@slip(135, TypeError, "tf_computation", tensorflow=True)
def tensor_in_a_federated_body() -> None:
    @fl.federated_computation(np.float32)
    def constant(x: Any) -> Any:
        return [x, tf.constant(1.0)]


@slip(136, TypeError, "parameter", tensorflow=True)
def value_captured_by_tensorflow() -> None:
    @fl.federated_computation(np.float32)
    def outer(x: Any) -> Any:
        inner = fl.tf_computation(lambda y: tf.add(y, x), np.float32)
        return inner(1.0)


@slip(137, RuntimeError, "pick", "client 2", tensorflow=True)
def tensorflow_fails_at_a_client() -> None:
    @fl.tf_computation(np.int32)
    def pick(index: Any) -> Any:
        return tf.gather(tf.constant([10, 20, 30]), index)

    picks = fl.federated_computation(
        lambda i: fl.federated_map(pick, i), fl.type_at_clients(np.int32)
    )
    picks([0, 1, 7])


@slip(138, TypeError, "one list", tensorflow=True)
def pairs_for_tensorflow() -> None:
    fl.tf_computation(("a", np.float32), ("b", np.float32))(lambda a, b: a + b)


@slip(139, ValueError, "return", tensorflow=True)
def tensorflow_that_returns_nothing() -> None:
    @fl.tf_computation(np.float32)
    def half(x: Any) -> None:
        x / 2


@slip(140, TypeError, "object", tensorflow=True)
def tensorflow_that_returns_an_object() -> None:
    @fl.tf_computation(np.float32)
    def half(x: Any) -> Any:
        return object()


@slip(143, TypeError, "float32 beside int32", "tf.cast", tensorflow=True)
def dtypes_mixed_in_tensorflow() -> None:
    @fl.tf_computation(np.float32, np.int32)
    def total(x: Any, n: Any) -> Any:
        return x * n


@slip(254, TypeError, "tf.sqrt", "return np.sqrt(x)", tensorflow=True)
def numpy_on_a_tensor() -> None:
    @fl.tf_computation(np.float32)
    def root(x: Any) -> Any:
        return np.sqrt(x)


@slip(255, TypeError, "tf.cast(x, tf.float32)", tensorflow=True)
def float_of_a_tensor() -> None:
    @fl.tf_computation(np.int32)
    def half(x: Any) -> Any:
        return float(x) / 2


@slip(256, TypeError, "tf.cond", "@tf.function", "if x > 0", tensorflow=True)
def if_on_a_tensor() -> None:
    @fl.tf_computation(np.float32)
    def positive(x: Any) -> Any:
        if x > 0:
            return x
        return 0.0


@slip(257, TypeError, "tf.cast(x, tf.float32)", "x * 0.5", tensorflow=True)
def python_float_beside_an_integer_tensor() -> None:
    @fl.tf_computation(np.int32)
    def half(x: Any) -> Any:
        return x * 0.5


@slip(259, TypeError, "tf.reduce_mean(x)", tensorflow=True)
def numpy_method_of_a_tensor() -> None:
    @fl.tf_computation((np.float32, [3]))
    def mean(x: Any) -> Any:
        return x.mean()


@slip(260, TypeError, "x.reduce(…)", tensorflow=True)
def dataset_taken_for_a_tensor() -> None:
    @fl.tf_computation(fl.SequenceType(np.float32))
    def twice(x: Any) -> Any:
        return x * 2


@slip(261, TypeError, "tf.sqrt", "return np.sqrt(x)", tensorflow=True)
def numpy_in_a_tf_function() -> None:
    @fl.tf_computation(np.float32)
    @tf.function  # type: ignore[untyped-decorator]
    def root(x: Any) -> Any:
        return np.sqrt(x)
