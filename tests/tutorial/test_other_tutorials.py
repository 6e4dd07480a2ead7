# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Programs of three more tutorials, in so far as they need the Federated Core only.

Source: "Client-efficient large-model federated learning via `federated_select`",
"Implementing Custom Aggregations" and "Building Your Own Federated Learning Algorithm"
of TensorFlow Federated (Apache-2.0).
"""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as tff
from fedlearn_edu import tf

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]


def test_clients_train_the_rows_they_selected() -> None:
    """Each client receives, changes and sends back only the rows of its own keys."""
    model_type = tff.TensorType(tf.float32, [6, 2])
    keys_type = tff.TensorType(tf.int32, [2])
    rows_type = tff.SequenceType(tff.TensorType(tf.float32, [2]))

    @tff.tf_computation(model_type, tf.int32)
    def row(model: Any, key: Any) -> Any:
        return tf.gather(model, key)

    @tff.tf_computation(rows_type, keys_type)
    def update(rows: Any, keys: Any) -> Any:
        zero = tf.zeros([6, 2])
        steps = tf.data.Dataset.zip((rows, tf.data.Dataset.from_tensor_slices(keys)))
        return steps.reduce(
            zero,
            lambda total, step: tf.tensor_scatter_nd_add(
                total, [[step[1]]], [step[0] + 1.0]
            ),
        )

    @tff.federated_computation(
        tff.type_at_server(model_type),
        tff.type_at_server(tf.int32),
        tff.type_at_clients(keys_type),
    )
    def next_fn(model: Any, max_key: Any, keys: Any) -> Any:
        rows = tff.federated_select(keys, max_key, model, row)
        return tff.federated_sum(tff.federated_map(update, [rows, keys]))

    model = np.arange(12, dtype=np.float32).reshape(6, 2)
    found = next_fn(model, 6, [[0, 5], [5, 2]])
    expected = np.zeros([6, 2], np.float32)
    for key in (0, 5, 5, 2):
        expected[key] += model[key] + 1
    np.testing.assert_array_equal(found, expected)


def test_aggregator_with_state_scales_and_unscales() -> None:
    """A stateful sum: the factor grows by one from round to round."""

    @tff.federated_computation
    def initialize_fn() -> Any:
        return tff.federated_value(np.float32(1.0), tff.SERVER)

    @tff.federated_computation(
        initialize_fn.type_signature.result, tff.type_at_clients(tf.float32)
    )
    def next_fn(state: Any, value: Any) -> Any:
        add_one = tff.tf_computation(lambda x: x + 1.0)
        new_state = tff.federated_map(add_one, state)
        state_at_clients = tff.federated_broadcast(state)
        scaled = tff.federated_map(
            tff.tf_computation(lambda x, y: x * y), (value, state_at_clients)
        )
        summed = tff.federated_sum(scaled)
        unscaled = tff.federated_map(
            tff.tf_computation(lambda x, y: x / y), (summed, state)
        )
        return OrderedDict(
            state=new_state,
            result=unscaled,
            measurements=tff.federated_zip(OrderedDict(summed=summed, factor=state)),
        )

    assert str(initialize_fn.type_signature) == "( -> float32@SERVER)"
    assert str(next_fn.type_signature) == (
        "(<state=float32@SERVER,value={float32}@CLIENTS> -> <state=float32@SERVER,"
        "result=float32@SERVER,measurements=<summed=float32,factor=float32>@SERVER>)"
    )
    state = initialize_fn()
    found = []
    for _ in range(3):
        output = next_fn(state, [1.0, 2.0, 5.0])
        state = output["state"]
        found.append((output["result"], output["measurements"]["summed"]))
    assert found == [(8.0, 8.0), (8.0, 16.0), (8.0, 24.0)]
    assert state == 4.0


def test_algorithm_with_server_state_learns() -> None:
    """Initialize and next: a `tf.function` loops over each client's dataset."""
    weights_type = tff.to_type(tf.TensorSpec([2], tf.float32))
    example_type = tff.to_type(
        OrderedDict(
            x=tf.TensorSpec([None, 2], tf.float32), y=tf.TensorSpec([None], tf.float32)
        )
    )

    @tff.tf_computation
    def server_init() -> Any:
        return tf.zeros([2])

    @tff.federated_computation
    def initialize_fn() -> Any:
        return tff.federated_eval(server_init, tff.SERVER)

    @tff.tf_computation(tff.SequenceType(example_type), weights_type)
    def client_update_fn(dataset: Any, server_weights: Any) -> Any:
        weights = tf.Variable(server_weights)

        @tf.function
        def client_update(dataset: Any) -> Any:
            for batch in dataset:
                with tf.GradientTape() as tape:
                    error = tf.linalg.matvec(batch["x"], weights) - batch["y"]
                    loss = tf.reduce_mean(error**2)
                weights.assign_sub(0.2 * tape.gradient(loss, weights))
            return weights.read_value()

        return client_update(dataset)

    @tff.tf_computation(weights_type)
    def server_update_fn(mean_client_weights: Any) -> Any:
        return tf.identity(mean_client_weights)

    @tff.federated_computation(
        tff.type_at_server(weights_type),
        tff.type_at_clients(tff.SequenceType(example_type)),
    )
    def next_fn(server_weights: Any, federated_dataset: Any) -> Any:
        server_weights_at_client = tff.federated_broadcast(server_weights)
        client_weights = tff.federated_map(
            client_update_fn, (federated_dataset, server_weights_at_client)
        )
        mean_client_weights = tff.federated_mean(client_weights)
        return tff.federated_map(server_update_fn, mean_client_weights)

    assert str(initialize_fn.type_signature) == "( -> float32[2]@SERVER)"
    assert str(next_fn.type_signature.result) == "float32[2]@SERVER"
    truth = np.array([1.5, -0.5], np.float32)
    x = np.array([[1, 0], [0, 1], [1, 1], [1, -1]], np.float32)
    batch = OrderedDict(x=x, y=x @ truth)
    state = initialize_fn()
    for _ in range(25):
        state = next_fn(state, [[batch] * 2, [batch], [batch] * 3])
    np.testing.assert_allclose(state, truth, atol=1e-4)
