# SPDX-License-Identifier: Apache-2.0
"""Optimizers: their rates and names; `test_twins.py` has their formulas."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fedlearn_edu.learning import build_fed_sgd, models
from fedlearn_edu.learning.optimizers import (
    Optimizer,
    build_adagrad,
    build_adam,
    build_sgd,
    build_sgdm,
    build_yogi,
)
from fedlearn_edu.learning.schedules import Rate, exponential_decay

pytestmark = pytest.mark.tensorflow

Floats = NDArray[np.float64]

WEIGHTS: Floats = np.array([0.5, -1.0, 0.0, 2.0])
# Signs change, one gradient stays zero, and one is much larger than those before it.
GRADIENTS: Floats = np.array(
    [[1.0, -2.0, 0.0, 0.3], [-0.5, -1.0, 0.0, 30.0], [0.3, 4.0, 0.0, -0.01]]
)
QUARTER: Any = np.float32(0.25)


def _steps(optimizer: Optimizer, weights: Any, gradients: list[Any]) -> list[Any]:
    """The weights after each step; the number of the round counts the steps."""
    moments, after = optimizer.initialize(weights), []
    for number, each in enumerate(gradients):
        moments, weights = optimizer.next(moments, weights, each, np.int32(number))
        after.append(weights)
    return after


def _split(array: Floats) -> Any:
    """As a structure of tensors like the weights of a model."""
    matrix, bias = np.float32(array[:2]).reshape(1, 2), np.float32(array[2:])
    return OrderedDict(layers=[OrderedDict(weights=matrix)], bias=bias)


def _joined(weights: Any) -> Floats:
    [layer] = weights["layers"]
    return np.concatenate([np.ravel(layer["weights"]), weights["bias"]]).astype(float)


# ---------------------------------------------------------------- rates


@pytest.mark.parametrize(
    "build", [build_sgd, build_sgdm, build_adagrad, build_adam, build_yogi]
)
def test_rate_may_depend_on_the_round(build: Callable[[Rate], Optimizer]) -> None:
    """Each step is as long as the rate of its round says."""
    weights, gradients = _split(WEIGHTS), [_split(g) for g in GRADIENTS]
    fixed = map(_joined, _steps(build(1.0), weights, gradients))
    decaying = map(
        _joined, _steps(build(exponential_decay(1.0, 0.5)), weights, gradients)
    )
    long, short = WEIGHTS, WEIGHTS
    for number, (far, near) in enumerate(zip(fixed, decaying, strict=True)):
        np.testing.assert_allclose(
            near - short, (far - long) * 0.5**number, rtol=1e-5, atol=2e-6
        )
        long, short = far, near


# ---------------------------------------------------------------- names


def test_name_tells_all_numbers() -> None:
    for optimizer, name in (
        (build_sgd(), "SGD(0.1)"),
        (build_sgd(QUARTER), "SGD(0.25)"),
        (build_sgdm(1), "SGDM(1, momentum=0.9)"),
        (build_adagrad(0.1), "Adagrad(0.1, epsilon=0.001)"),
        (build_adam(), "Adam(0.01, beta_1=0.9, beta_2=0.99, epsilon=0.001)"),
        (build_yogi(), "Yogi(0.01, beta_1=0.9, beta_2=0.99, epsilon=0.001)"),
        (build_sgd(exponential_decay(0.1, 0.99)), "SGD(exponential_decay(0.1, 0.99))"),
        (
            build_sgd(exponential_decay(1, 0.9 + 1e-9)),
            "SGD(exponential_decay(1, 0.900000001))",
        ),
    ):
        assert optimizer.name == repr(optimizer) == name


def test_function_of_the_round_is_called_with_a_number_one_can_divide_by() -> None:
    model = models.softmax_regression(2, 2)
    harmonic = build_fed_sgd(model, lambda number: 1.0 / (number + 1))
    data = [[{"x": [[1.0, 0.0]], "y": [0]}]]
    first, _ = harmonic.next(harmonic.initialize(), data)
    second, _ = harmonic.next(first, data)
    expected, _ = build_fed_sgd(model, 0.5).next(first, data)
    assert np.any(second.weights["bias"] != first.weights["bias"])
    np.testing.assert_array_equal(second.weights["bias"], expected.weights["bias"])
