# SPDX-License-Identifier: Apache-2.0
"""What noise hides: sums of clipped updates, with a norm that is fixed or adapts."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.learning.accounting import epsilon
from fedlearn_edu.learning.aggregators import (
    clipping,
    gaussian,
    gaussian_adaptive,
    mean,
    zeroing,
)
from tests.conformance.stacks import Stack
from tests.learning.runs import SIZE, aggregated, stack_named

pytestmark = pytest.mark.tensorflow

HERE = [1.0, 1.0, 1.0]


def rows(*first: Any) -> Any:
    """One update for each of these numbers, which is followed by zeros."""
    return np.array([[number, *[0.0] * (SIZE - 1)] for number in first])


NOTHING = rows(0.0, 0.0, 0.0)


# ---------------------------------------------------------------- noise


def drawn(shape: list[int], seed: int, number: int) -> Any:
    return fl.tf.random.stateless_normal(shape, [seed, number], alg="philox").numpy()


def test_noise_has_the_same_bits_on_every_stack_and_in_every_run(stack: Stack) -> None:
    factory, state = gaussian(2.0, 1.5, expected_clients=4, seed=3), None
    for number in range(2):
        update, state, _ = aggregated(stack, factory, NOTHING, HERE, state)
        # TensorFlow takes fields by name, so b comes first.
        noise = np.roll(drawn([SIZE], 3, number), -2)
        np.testing.assert_array_equal(update, np.float32(3.0) * noise / np.float32(4))
        assert (state.seed, state.round_number) == (3, number + 1)


# ---------------------------------------------------------------- a norm that adapts


def test_adaptive_norm_agrees_with_its_twin(stack: Stack) -> None:
    lengths, weights = np.array([0.5, 1.0, 0.0, 8.0]), [2.0, 1.0, 0.0, 7.0]
    factory = gaussian_adaptive(
        1.2, 5, quantile=0.6, initial_norm=0.7, count_noise=0.9, seed=3
    )
    clip, state, z = 0.7, None, 1.2 / np.sqrt(1 - (1.2 / 1.8) ** 2)
    for number in range(3):
        update, state, metrics = aggregated(
            stack, factory, rows(*lengths), weights, state
        )
        total = rows(np.minimum(lengths, clip).sum())[0]
        noise = np.roll(drawn([SIZE], 3, number), -2)
        np.testing.assert_allclose(update, (total + z * clip * noise) / 5, rtol=1e-5)
        np.testing.assert_allclose(metrics["clip_norm"], clip, rtol=1e-6)
        here = lengths[lengths > 0]  # who has no examples has no bit
        count = np.sum((here <= clip) - 0.5) + 0.9 * drawn([], 3, -1 - number)
        clip *= np.exp(-0.2 * (0.5 + count / 5 - 0.6))
        np.testing.assert_allclose(state.clip, clip, rtol=1e-6)


def test_both_sums_cost_what_one_with_all_the_noise_does() -> None:
    private: Any = gaussian_adaptive(1.1, 100)(np.float32)
    assert epsilon(private.mechanism, 0.1, 20, 1e-3) == epsilon(1.1, 0.1, 20, 1e-3)
    wide = gaussian_adaptive(2.0, 10, initial_norm=0.5, count_noise=1.25)
    made = wide((np.float32, [20_000]))
    update = made.next(made.initialize(), [np.zeros(20_000)], [1.0]).update
    of_updates, of_count = np.std(update) * 10 / 0.5, 1.25 / 0.5
    together = (of_updates**-2 + of_count**-2) ** -0.5
    assert together == pytest.approx(2.0, rel=0.02)
    assert of_updates == pytest.approx(2.0 / 0.6, rel=0.02)


# ---------------------------------------------------------------- one client at most


@pytest.mark.parametrize(
    ("number", "sent"), [(np.nan, 0.0), (np.inf, 0.0), (-1e30, -1.0)]
)
def test_no_client_can_do_more_than_its_norm(
    stack: Stack, number: float, sent: float
) -> None:
    updates = rows(0.5, number, 4.0)
    for quiet in (gaussian(1.0, 0.0, 3), gaussian_adaptive(0.0, 3, initial_norm=1.0)):
        update, _, metrics = aggregated(stack, quiet, updates, HERE)
        np.testing.assert_allclose(update, rows((1.5 + sent) / 3)[0], rtol=1e-6)
        assert metrics["clipped_share"] == np.float32(2 / 3)


def test_a_norm_without_end_keeps_what_is_too_long_for_a_norm(stack: Stack) -> None:
    free = clipping(mean(), norm=float("inf"))
    update, _, metrics = aggregated(stack, free, rows(2e20, 1e20, 0.0), HERE)
    np.testing.assert_allclose(update, rows(1e20)[0], rtol=1e-6)
    assert metrics["clipped_share"] == 0.0


def test_bounds_in_a_nest_draw_noise_of_their_own() -> None:
    """They learn from the same bits, and at rates that differ by next to nothing."""
    noisy: Any = {"quantile": 0.5, "initial_norm": 1.0, "count_noise": 1.0}
    nest = zeroing(clipping(mean(), **noisy), **noisy, learning_rate=0.200001)
    stack = stack_named("local-tensorflow-sequence")
    _, state, _ = aggregated(stack, nest, NOTHING, HERE)
    assert abs(state.estimate - state.inner.estimate) > 1e-3
