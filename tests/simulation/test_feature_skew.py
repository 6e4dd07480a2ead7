# SPDX-License-Identifier: Apache-2.0
"""Feature skew: the same images, as each client sees them."""

import numpy as np
import pytest

from fedlearn_edu.simulation import datasets
from fedlearn_edu.simulation.partitions import FeatureShift, feature_shifts

DIGITS = datasets.load_digits28().train[0][:5]


def test_plain_shift_changes_nothing() -> None:
    seen = FeatureShift().apply(DIGITS)
    assert seen.dtype == np.float32
    np.testing.assert_array_equal(seen, (DIGITS / 255.0).astype(np.float32))


def test_quarter_turn_goes_counter_clockwise() -> None:
    seen = FeatureShift(rotation=90.0).apply(DIGITS)
    expected = np.rot90(DIGITS / 255.0, axes=(1, 2))
    np.testing.assert_allclose(seen, expected, atol=1e-6)


def test_what_turns_in_from_outside_is_paper() -> None:
    seen = FeatureShift(rotation=45.0).apply(np.full([1, 28, 28], 255, np.uint8))
    assert seen[0, 0, 0] == 0.0
    assert seen[0, 14, 14] == pytest.approx(1.0)


def test_each_channel_turns_by_itself() -> None:
    colored = np.stack([DIGITS, DIGITS[::-1]], axis=-1)
    seen = FeatureShift(rotation=20.0).apply(colored)
    assert seen.shape == (5, 28, 28, 2)
    np.testing.assert_array_equal(
        seen[..., 1], FeatureShift(rotation=20.0).apply(DIGITS[::-1])
    )


def test_contrast_moves_away_from_the_middle_and_is_clipped() -> None:
    greys = np.array([[[0.0, 0.4, 0.5, 0.6, 1.0]]])
    soft = FeatureShift(contrast=0.5).apply(greys)
    np.testing.assert_allclose(soft, [[[0.25, 0.45, 0.5, 0.55, 0.75]]], rtol=1e-6)
    hard = FeatureShift(contrast=4.0).apply(greys)
    np.testing.assert_allclose(hard, [[[0.0, 0.1, 0.5, 0.9, 1.0]]], rtol=1e-5)


def test_noise_has_the_deviation_that_was_asked_for() -> None:
    grey = np.full([50, 28, 28], 0.5)
    seen = FeatureShift(noise=0.1, seed=(3, 4)).apply(grey)
    assert seen.std() == pytest.approx(0.1, rel=0.02)
    assert seen.mean() == pytest.approx(0.5, abs=0.002)


def test_noise_is_the_same_whenever_it_is_looked_at() -> None:
    look = FeatureShift(noise=0.2, seed=(1, 2))
    np.testing.assert_array_equal(look.apply(DIGITS), look.apply(DIGITS))
    other = FeatureShift(noise=0.2, seed=(1, 3)).apply(DIGITS)
    assert (look.apply(DIGITS) != other).any()


def test_images_are_not_changed() -> None:
    before = DIGITS.copy()
    FeatureShift(rotation=10.0, contrast=1.5, noise=0.1).apply(DIGITS)
    np.testing.assert_array_equal(DIGITS, before)


def test_no_images_are_no_images() -> None:
    assert FeatureShift(rotation=10.0, noise=0.1).apply(DIGITS[:0]).shape == (0, 28, 28)


def test_shifts_stay_within_their_bounds_and_differ() -> None:
    drawn = feature_shifts(200, rotation=30.0, noise=0.2, contrast=0.4, seed=7)
    angles = np.array([look.rotation for look in drawn])
    noises = np.array([look.noise for look in drawn])
    factors = np.array([look.contrast for look in drawn])
    assert -30 <= angles.min() < -25 < 25 < angles.max() <= 30
    assert 0 <= noises.min() < 0.02 < 0.18 < noises.max() <= 0.2
    assert 0.6 <= factors.min() < 0.65 < 1.35 < factors.max() <= 1.4
    assert [look.seed for look in drawn] == [(7, client) for client in range(200)]


def test_shifts_repeat_under_their_seed() -> None:
    drawn = (feature_shifts(1, rotation=9.0, seed=seed)[0] for seed in (1, 1, 2))
    first, again, other = (look.rotation for look in drawn)
    assert first == again != other


def test_shifts_of_nothing_are_plain() -> None:
    [look] = feature_shifts(1)
    assert (look.rotation, look.contrast, look.noise) == (0.0, 1.0, 0.0)
