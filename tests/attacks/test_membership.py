# SPDX-License-Identifier: Apache-2.0
"""Membership inference finds what a model knows by heart, and nothing else."""

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.attacks.membership import Membership, by_loss
from fedlearn_edu.simulation import ClientData, datasets


def test_area_and_advantage_are_those_of_all_pairs_and_thresholds() -> None:
    chance = np.random.default_rng(0)
    members, others = chance.integers(0, 9, 20) / 8.0, chance.integers(2, 12, 15) / 8.0
    found = Membership(members, others)
    pairs = [1.0 * (m < o) + 0.5 * (m == o) for m in members for o in others]
    assert found.auc == pytest.approx(np.mean(pairs))
    gains = [
        (members <= t).mean() - (others <= t).mean() for t in np.arange(0, 2, 1 / 8)
    ]
    assert found.advantage == pytest.approx(max(gains))
    right = (members <= found.threshold).mean() - (others <= found.threshold).mean()
    assert right == pytest.approx(found.advantage)


@pytest.mark.tensorflow
def test_features_are_scaled_as_in_the_run() -> None:
    model = fl.learning.models.softmax_regression(features=4, classes=2)
    chance, y = np.random.default_rng(0), np.array([0, 1, 1])
    x = chance.integers(0, 256, [3, 4]).astype(np.uint8)
    weights = {"weights": chance.normal(size=[4, 2]), "bias": np.zeros(2)}
    weights = {name: array.astype(np.float32) for name, array in weights.items()}
    found = by_loss(model, weights, (x, y), (x[:2], y[:2]), scale=True)
    scaled = (x / np.float32(255)).astype(np.float32)
    right = by_loss(model, weights, (scaled, y), (scaled[:2], y[:2]))
    np.testing.assert_allclose(found.members, right.members, rtol=1e-5)


@pytest.mark.tensorflow
def test_few_examples_learned_by_heart_are_told_from_others() -> None:
    train, test = datasets.load_digits28()
    model = fl.learning.models.softmax_regression()
    few = train[0][:20], train[1][:20]
    run = fl.learning.run(
        fl.learning.build_fed_avg(model, 0.5),
        ClientData(*few, [np.arange(10), np.arange(10, 20)]),
        60,
        options=fl.learning.Options(progress=False),
    )
    by_heart = by_loss(model, run.weights, few, test)
    assert by_heart.auc > 0.9
    assert by_heart.advantage > 0.7
    strangers = train[0][-300:], train[1][-300:]
    assert abs(by_loss(model, run.weights, strangers, test).auc - 0.5) < 0.1
