# SPDX-License-Identifier: Apache-2.0
"""The NumPy twin finds the published numbers, and the demo finds the twin's."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fedlearn_edu.demo import published
from fedlearn_edu.demo.setting import Options, prepare
from fedlearn_edu.simulation import datasets
from tests.demo import twin

close = partial(pytest.approx, rel=1e-5)


@pytest.mark.slow
def test_twin_finds_the_published_numbers_on_mnist(mnist_folder: Path) -> None:
    mnist = datasets.read_mnist(mnist_folder / "mnist.npz")
    train, test = (twin.deal(split, 1000, 100) for split in mnist)

    model, losses = twin.ZERO, []
    for _ in range(5):
        model = twin.batch_train(model, train[5][-1], 0.1)
        losses.append(twin.batch_loss(model, train[5][-1]))
    assert losses == close(published.STEPS)

    lone = twin.local_train(twin.ZERO, train[5], 0.1)
    after = twin.client_losses(lone, train)
    assert (after[5], after[0]) == close((0.434847, 74.50075))
    assert np.mean(after) == close(54.432625)

    models = list(twin.rounds(train, 5))
    found = [twin.mean_loss(each, train) for each in models]
    assert found == close(published.ROUNDS)
    assert twin.mean_loss(twin.ZERO, test) == close(22.795593)
    assert twin.mean_loss(models[-1], test) == close(17.278767)


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


def test_embedded_digits_make_ten_steps_per_client() -> None:
    data = prepare(Options(data="digits28"))
    assert [len(client) for client in data.train.batches(data.batch_size)] == [10] * 10


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
