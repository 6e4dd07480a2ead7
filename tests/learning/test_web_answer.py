# SPDX-License-Identifier: Apache-2.0
"""The first example of "How does TFF enable remote execution?" makes a process.

`docs/answers.md` has it as it stands there.
"""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as tff
from fedlearn_edu import tf

pytestmark = pytest.mark.tensorflow


# Define the model (simple linear regression for brevity)
def create_model() -> Any:
    return tff.learning.models.LinearRegression(feature_dim=1)


# Define the training process
def training_process(model: Any, client_data: Any) -> Any:
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)
    model.compile(optimizer=optimizer, loss="mse")
    model.fit(client_data, epochs=1)
    return model.weights


# y = 2 x + 1; two clients, one with three batches, one with one.
DATA = [
    [
        {"x": [[0.0]], "y": [1.0]},
        {"x": [[1.0]], "y": [3.0]},
        {"x": [[2.0]], "y": [5.0]},
    ],
    [{"x": [[0.5], [1.5]], "y": [2.0, 4.0]}],
]


def by_hand(weights: tuple[float, float], batches: Any) -> tuple[float, float]:
    w, b = weights
    for batch in batches:
        x, y = np.array(batch["x"])[:, 0], np.array(batch["y"])
        error = w * x + b - y
        w, b = w - 0.1 * 2 * np.mean(error * x), b - 0.1 * 2 * np.mean(error)
    return w, b


def rounds_by_hand(rounds: int) -> tuple[float, float]:
    w, b = 0.0, 0.0
    for _ in range(rounds):
        ends = np.array([by_hand((w, b), client) for client in DATA])
        w, b = np.average(ends, axis=0, weights=[3, 2])
    return w, b


def test_it_is_a_learning_process_like_any_other() -> None:
    process = tff.learning.federated_averaging.build_weighted_averaging_process(
        create_model, training_process
    )
    assert tff.federated_averaging is tff.learning.federated_averaging
    state, first = process.next(process.initialize(), DATA)
    assert state.weights["bias"] == process(DATA)["bias"]
    for _ in range(9):
        state, metrics = process.next(state, DATA)
    assert metrics["loss_per_example"] < first["loss_per_example"]
    assert state.weights["weights"] == pytest.approx(rounds_by_hand(10)[:1], rel=1e-5)
    assert metrics["examples"] == 5


def test_model_can_be_used_alone() -> None:
    model = tff.learning.models.LinearRegression(feature_dim=1)
    model.compile("sgd", "mse")
    model.fit(DATA[0], epochs=2)
    assert model.predict(np.ones([1, 1], np.float32)).shape == [1]
    pairs = [(batch["x"], batch["y"]) for batch in DATA[0]]
    twin = tff.learning.models.LinearRegression(feature_dim=1)
    twin.compile(tff.learning.optimizers.build_sgd(0.01))
    twin.fit(pairs, epochs=2)
    assert float(twin.weights["bias"]) == float(model.weights["bias"])


def test_momentum_is_that_of_keras() -> None:
    x, y = np.array([[1.0], [2.0]], np.float32), np.array([3.0, 5.0], np.float32)
    theirs = tf.keras.Sequential(
        [tf.keras.Input([1]), tf.keras.layers.Dense(1, kernel_initializer="zeros")]
    )
    theirs.compile(tf.keras.optimizers.SGD(0.05, momentum=0.9), loss="mse")
    ours = tff.learning.models.LinearRegression(feature_dim=1)
    ours.compile(tf.keras.optimizers.SGD(0.05, momentum=0.9), loss="mse")
    # Keras keeps its speed from one epoch to the next, as ours does within one `fit`.
    theirs.fit(x, y, epochs=4, batch_size=2, shuffle=False, verbose=0)
    ours.fit([(x, y)], epochs=4)
    kernel, bias = theirs.get_weights()
    assert ours.weights["weights"].numpy() == pytest.approx(kernel[0], rel=1e-5)
    assert float(ours.weights["bias"]) == pytest.approx(bias[0], rel=1e-5)
