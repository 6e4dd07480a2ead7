# SPDX-License-Identifier: Apache-2.0
"""TFF's optimizers: three steps, against those of Keras."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu.tff as tff
from fedlearn_edu.runtimes.tensorflow.library import tf

pytestmark = pytest.mark.tensorflow
made = tff.learning.optimizers
GRADIENTS = np.array([[1.0, -2.0], [0.5, 0.5], [-1.0, 3.0]], np.float32)


def by_keras(name: str, **settings: Any) -> Any:
    def walk(start: Any) -> Any:
        w = tf.Variable(start)
        optimizer = getattr(tf.keras.optimizers, name)(0.1, **settings)
        for g in GRADIENTS:
            optimizer.apply_gradients([(tf.constant(g), w)])
        return w.numpy()

    return walk


def yogi(w: Any) -> Any:
    """Keras has none."""
    m, s = np.zeros(2), np.full(2, 1e-6)
    for t, g in enumerate(GRADIENTS, 1):
        m, s = 0.9 * m + 0.1 * g, s + 0.001 * np.sign(g * g - s) * g * g
        rate = 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        w = w - rate * m / (np.sqrt(s) + 1e-3)
    return w


ROWS = {
    "sgd": (made.build_sgdm(0.1), by_keras("SGD")),
    "momentum": (made.build_sgdm(0.1, 0.9), by_keras("SGD", momentum=0.9)),
    "adagrad": (made.build_adagrad(0.1), by_keras("Adagrad")),
    "rmsprop": (made.build_rmsprop(0.1), by_keras("RMSprop")),
    "adam": (made.build_adam(0.1), by_keras("Adam")),
    "yogi": (made.build_yogi(0.1), yogi),
}


@pytest.mark.parametrize("name", ROWS)
def test_three_steps(name: str) -> None:
    optimizer, walk = ROWS[name]
    start = np.array([1.0, 2.0], np.float32)
    weights: Any = (start,)
    state = optimizer.initialize(weights)
    for gradient in GRADIENTS:
        state, weights = optimizer.next(state, weights, (gradient,))
    np.testing.assert_allclose(weights[0], walk(start), rtol=1e-5)


def test_a_state_carries_its_settings() -> None:
    optimizer = made.build_adam(0.1)
    state = optimizer.initialize((np.float32(1.0),))
    assert list(state)[:5] == ["learning_rate", "beta_1", "beta_2", "epsilon", "step"]
    slower = optimizer.set_hparams(state, {"learning_rate": 0.01})
    assert optimizer.get_hparams(slower)["learning_rate"] == 0.01
