# SPDX-License-Identifier: Apache-2.0
"""Learning rates that change: a number, or a function of the round's number."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu.learning import build_fed_sgd, models
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.schedules import Rate, describe_rate, exponential_decay

pytestmark = pytest.mark.tensorflow


def test_decay_multiplies_by_a_factor_after_each_round() -> None:
    rate = exponential_decay(0.1, 0.9)
    assert callable(rate)
    found = [float(rate(np.float32(number))) for number in range(5)]
    assert found == pytest.approx([0.1, 0.09, 0.081, 0.0729, 0.06561], rel=1e-6)


def test_function_of_the_round_is_called_with_a_number_one_can_divide_by() -> None:
    model = models.softmax_regression(2, 2)
    harmonic = build_fed_sgd(model, lambda number: 1.0 / (number + 1))
    data = [[{"x": [[1.0, 0.0]], "y": [0]}]]
    first, _ = harmonic.next(harmonic.initialize(), data)
    second, _ = harmonic.next(first, data)
    expected, _ = build_fed_sgd(model, 0.5).next(first, data)
    assert np.any(second.weights["bias"] != first.weights["bias"])
    np.testing.assert_array_equal(second.weights["bias"], expected.weights["bias"])


@pytest.mark.parametrize(
    ("numbers", "where"),
    [
        ((-0.1, 0.9), "learning_rate"),
        ((0.1, float("nan")), "factor"),
        ((0.1, -1.0), "factor"),
        (("0.1", 0.9), "learning_rate"),
    ],
)
def test_decay_of_nonsense_is_refused(numbers: Any, where: str) -> None:
    with pytest.raises(ProcessError, match=f"{where} does not make sense"):
        exponential_decay(*numbers)


def test_rates_that_do_different_things_have_different_names() -> None:
    def halving(start: float) -> Rate:
        return lambda number: start * 0.5**number

    names = [
        describe_rate(rate)
        for rate in (
            halving(1.0),
            halving(2.0),
            lambda number: 0.1 / (number + 1),
            lambda number: 0.2 / (number + 1),
        )
    ]
    assert len(set(names)) == 4
    assert describe_rate(0.1) != describe_rate(0.1 + 1e-9)
    assert describe_rate(exponential_decay(1, 0.9)) == "exponential_decay(1, 0.9)"
    assert (
        repr(exponential_decay(0.1, 0.9 + 1e-9))
        == "exponential_decay(0.1, 0.900000001)"
    )
    single: Any = np.float32(0.1)
    assert describe_rate(single) == "0.1"
    assert describe_rate(halving(1.0)) == names[0]
    assert names[0].startswith("<lambda> ")
