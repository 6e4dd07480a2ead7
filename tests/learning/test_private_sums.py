# SPDX-License-Identifier: Apache-2.0
"""What noise hides: sums of clipped updates, with a norm that is fixed or adapts."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.learning.aggregators import clipping, gaussian, mean, zeroing
from tests.conformance.stacks import Stack
from tests.learning.aggregated import SIZE, STACKS, aggregated
from tests.learning.runs import stack_named

pytestmark = pytest.mark.tensorflow

HERE = [1.0, 1.0, 1.0]


def rows(*first: Any) -> Any:
    """One update for each of these numbers, which is followed by zeros."""
    return np.array([[number, *[0.0] * (SIZE - 1)] for number in first])


NOTHING = rows(0.0, 0.0, 0.0)


@pytest.fixture(params=STACKS)
def stack(request: pytest.FixtureRequest) -> Stack:
    return stack_named(request.param)


# ---------------------------------------------------------------- noise


def test_noise_has_the_same_bits_on_every_stack_and_in_every_run(stack: Stack) -> None:
    factory, state = gaussian(2.0, 1.5, expected_clients=4, seed=3), None
    for number in range(2):
        update, state, _ = aggregated(stack, factory, NOTHING, HERE, state)
        drawn = fl.tf.random.stateless_normal([8], [3, number], alg="philox")
        drawn = np.roll(drawn, -2)  # TensorFlow takes fields by name, so b comes first
        np.testing.assert_array_equal(update, np.float32(3.0) * drawn / np.float32(4))
        assert (state.seed, state.round_number) == (3, number + 1)


def test_noise_has_the_standard_deviation_that_it_promises() -> None:
    wide = gaussian(0.5, 2.0, expected_clients=10)((np.float32, [20_000]))
    update = wide.next(wide.initialize(), [np.zeros(20_000)], [1.0]).update
    assert np.std(update) == pytest.approx(0.1, rel=0.02)
    assert abs(np.mean(update)) < 0.003


# ---------------------------------------------------------------- one client at most


@pytest.mark.parametrize("number", [np.nan, np.inf, -1e30])
def test_no_client_can_do_more_than_its_norm(stack: Stack, number: float) -> None:
    updates = rows(0.5, number, 4.0)
    update, _, metrics = aggregated(stack, gaussian(1.0, 0.0, 3), updates, HERE)
    np.testing.assert_array_equal(update, rows(0.5)[0])
    assert metrics["clipped_share"] == np.float32(2 / 3)


def test_a_norm_without_end_keeps_what_is_too_long_for_a_norm(stack: Stack) -> None:
    free = clipping(mean(), norm=float("inf"))
    update, _, metrics = aggregated(stack, free, rows(2e20, 1e20, 0.0), HERE)
    np.testing.assert_allclose(update, rows(1e20)[0], rtol=1e-6)
    assert metrics["clipped_share"] == 0.0


def test_bounds_in_a_nest_draw_noise_of_their_own() -> None:
    noisy: Any = {"quantile": 0.5, "initial_norm": 1.0, "count_noise": 1.0}
    nest = zeroing(clipping(mean(), **noisy), **noisy, learning_rate=0.2000001)
    stack = stack_named("local-tensorflow-sequence")
    _, state, _ = aggregated(stack, nest, NOTHING, HERE)
    assert abs(state.estimate - state.inner.estimate) > 1e-3
