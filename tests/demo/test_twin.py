# SPDX-License-Identifier: Apache-2.0
"""The NumPy twin finds the published numbers, and the demo finds the twin's."""

from functools import partial

import numpy as np
import pytest

from fedlearn_edu.demo.setting import Options, prepare
from fedlearn_edu.simulation import datasets
from tests.demo import twin

close = partial(pytest.approx, rel=1e-5)


def test_demo_deals_out_what_the_twin_deals_out() -> None:
    data = prepare(Options(data="digits28"))
    for split, ours in zip(
        datasets.load_digits28(), (data.train, data.test), strict=True
    ):
        theirs = twin.deal(split, 140, 14)
        dealt = ours.batches(data.batch_size)
        assert [len(client) for client in dealt] == [len(client) for client in theirs]
        for mine, other in zip(dealt, theirs, strict=True):
            for batch, (x, y) in zip(mine, other, strict=True):
                np.testing.assert_array_equal(batch["x"], x, strict=True)
                np.testing.assert_array_equal(batch["y"], y, strict=True)


@pytest.mark.tensorflow
@pytest.mark.slow
def test_demo_finds_the_numbers_of_the_twin_on_digits28() -> None:
    from fedlearn_edu.demo.run import run_program

    data = prepare(Options(data="digits28"))
    outcome = run_program(data, num_rounds=3, say=lambda line: None)
    train, test = (twin.deal(split, 140, 14) for split in datasets.load_digits28())

    lone = twin.local_train(twin.ZERO, train[5], 0.1)
    baselines = outcome.baselines
    assert baselines.lone.client_losses == close(twin.client_losses(lone, train))
    assert baselines.zero_test.loss == close(twin.mean_loss(twin.ZERO, test))
    models = twin.rounds(train, 3)
    for ours, theirs in zip(outcome.rounds, models, strict=True):
        np.testing.assert_allclose(ours.weights, theirs.weights, atol=1e-6)
        assert ours.train.loss == close(twin.mean_loss(theirs, train))
        assert ours.test.client_accuracies == close(
            twin.client_accuracies(theirs, test)
        )
