# SPDX-License-Identifier: Apache-2.0
"""Learning rates that change: a number, or a function of the round's number."""

import numpy as np
import pytest

from fedlearn_edu.learning.schedules import at_round, exponential_decay

pytestmark = pytest.mark.tensorflow


def test_decay_multiplies_by_a_factor_after_each_round() -> None:
    rate = exponential_decay(0.1, 0.9)
    assert callable(rate)
    found = [float(rate(np.int32(number))) for number in range(5)]
    assert found == pytest.approx([0.1, 0.09, 0.081, 0.0729, 0.06561], rel=1e-6)


def test_rate_of_a_round_is_a_number_or_a_function() -> None:
    assert at_round(0.3, 7) == 0.3
    assert at_round(lambda number: number * 0.5, 7) == 3.5


def test_decay_says_its_numbers() -> None:
    assert repr(exponential_decay(0.5, 0.99)) == "exponential_decay(0.5, 0.99)"
    assert exponential_decay(0.5, 0.99) == exponential_decay(0.5, 0.99)
