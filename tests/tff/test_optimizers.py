# SPDX-License-Identifier: Apache-2.0
"""TFF's optimizers: three steps, against the formulas in NumPy."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu.tff as tff

pytestmark = pytest.mark.tensorflow
made = tff.learning.optimizers
GRADIENTS = np.array([[1.0, -2.0], [0.5, 0.5], [-1.0, 3.0]], np.float32)


def adam(begin: float, change: Any, epsilon: float) -> Any:
    def walk(w: Any) -> Any:
        m, s = np.zeros(2), np.full(2, begin)
        for t, g in enumerate(GRADIENTS, 1):
            m, s = 0.9 * m + 0.1 * g, s + 0.001 * change(s, g)
            rate = 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            w = w - rate * m / (np.sqrt(s) + epsilon)
        return w

    return walk


def sgd(w: Any) -> Any:
    return w - 0.1 * sum(GRADIENTS)


def momentum(w: Any) -> Any:
    v = np.zeros(2)
    for g in GRADIENTS:
        v = 0.9 * v + g
        w = w - 0.1 * v
    return w


def adagrad(w: Any) -> Any:
    s = np.full(2, 0.1)
    for g in GRADIENTS:
        s = s + g * g
        w = w - 0.1 * g / np.sqrt(s + 1e-7)
    return w


def rmsprop(w: Any) -> Any:
    s = np.zeros(2)
    for g in GRADIENTS:
        s = 0.9 * s + 0.1 * g * g
        w = w - 0.1 * g / (np.sqrt(s) + 1e-7)
    return w


ROWS = {
    "sgd": (made.build_sgdm(0.1), sgd),
    "momentum": (made.build_sgdm(0.1, 0.9), momentum),
    "adagrad": (made.build_adagrad(0.1), adagrad),
    "rmsprop": (made.build_rmsprop(0.1), rmsprop),
    "adam": (made.build_adam(0.1), adam(0.0, lambda s, g: g * g - s, 1e-7)),
    "yogi": (
        made.build_yogi(0.1),
        adam(1e-6, lambda s, g: np.sign(g * g - s) * g * g, 1e-3),
    ),
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
