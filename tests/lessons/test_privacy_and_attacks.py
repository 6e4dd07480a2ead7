# SPDX-License-Identifier: Apache-2.0
"""What learners of lessons 12a to 12d write by hand is what the library does."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu import attacks, learning
from fedlearn_edu.course.checks import exercise_named
from fedlearn_edu.learning import accounting, aggregators
from fedlearn_edu.simulation import ClientData, datasets

UPDATES = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
EQUAL_WEIGHTS = [1.0] * len(UPDATES)


def aggregated(factory: Any) -> Any:
    aggregator = factory((np.float32, [4]))
    begin = aggregator.initialize()
    return aggregator.next(begin, list(UPDATES), EQUAL_WEIGHTS).update


@pytest.mark.tensorflow
def test_example_is_the_one_that_recover_finds() -> None:
    model = learning.models.softmax_regression()
    process = learning.build_fed_avg(model, 0.1)
    begin = process.initialize()
    client = ClientData(*datasets.load("digits28").train, [[5]])
    after, _ = process.next(begin, client.batches())
    update = {n: after.weights[n] - begin.weights[n] for n in after.weights}
    label, image = exercise_named("example_in").solution(update)
    found = attacks.inversion.recover(model, update, learning_rate=0.1)
    assert found.labels == (label,) == tuple(client[0].y)
    np.testing.assert_allclose(image, found.best, rtol=1e-5)


def test_advantage_is_that_of_the_library_at_its_threshold() -> None:
    members, others = np.abs(UPDATES[:, 0]), 0.5 + np.abs(UPDATES[:, 1])
    told = attacks.membership.Membership(members, others)
    found = exercise_named("advantage").solution(members, others, told.threshold)
    assert found == pytest.approx(told.advantage)
    assert found > 0
    best = exercise_named("best_threshold").solution(members, others)
    assert best == told.threshold


@pytest.mark.tensorflow
def test_sum_without_noise_is_that_of_the_gaussian_aggregator() -> None:
    total = exercise_named("private_sum").solution(UPDATES, 1.5, 0.0, np.zeros(4))
    rule = aggregators.gaussian(clip=1.5, noise_multiplier=0.0, expected_clients=1)
    np.testing.assert_allclose(aggregated(rule), total, rtol=1e-5)
    cut = [exercise_named("clipped").solution(each, 1.5) for each in UPDATES]
    np.testing.assert_allclose(np.sum(cut, axis=0), total, rtol=1e-5)


def test_epsilon_by_hand_is_a_bound_of_what_the_library_counts() -> None:
    by_hand = exercise_named("privacy_loss").solution(1 + 3.0903 * 2.0, 2.0)
    assert 0.7 * by_hand < accounting.epsilon(2.0, 1.0, 1, 1e-3) < by_hand


@pytest.mark.tensorflow
@pytest.mark.parametrize("num_byzantine", [0, 1, 3])
def test_choice_is_that_of_the_krum_aggregator(num_byzantine: int) -> None:
    chosen = exercise_named("krum").solution(UPDATES, num_byzantine)
    rule = aggregators.krum(num_byzantine=num_byzantine)
    np.testing.assert_array_equal(aggregated(rule), chosen)
