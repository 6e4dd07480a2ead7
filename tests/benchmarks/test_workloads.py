# SPDX-License-Identifier: Apache-2.0
"""Who holds what is as the workloads say, and NumPy finds the known losses."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.in_numpy import losses_of
from benchmarks.workloads import Source
from fedlearn_edu.simulation.datasets import load_digits28


@pytest.fixture(scope="module")
def source() -> Source:
    return Source("digits")


def test_clients_of_w1_hold_the_first_examples_of_their_digit(source: Source) -> None:
    x, y = load_digits28().train
    for digit, (own_x, own_y) in enumerate(source.w1().clients):
        assert set(own_y.tolist()) == {digit}
        expected = x[y == digit][:140].reshape(-1, 784) / 255
        np.testing.assert_allclose(own_x, expected, rtol=1e-6)


def test_clients_of_w2_hold_blocks_of_fifty_that_wrap(source: Source) -> None:
    x, y = load_digits28().train
    threes, clients = x[y == 3].reshape(-1, 784) / 255, source.w2().clients
    for block, client in enumerate((3, 13, 23, 33)):
        wanted = (50 * block + np.arange(50)) % len(threes)
        own_x, own_y = clients[client]
        assert set(own_y.tolist()) == {3}
        np.testing.assert_allclose(own_x, threes[wanted], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("name", ["W1", "W2"])
def test_numpy_finds_the_known_losses(name: str, mnist_folder: Path) -> None:
    assert mnist_folder.is_dir()
    workload = Source("mnist").named(name)
    assert len(workload.known) == len(workload.rates)
    assert losses_of(workload) == pytest.approx(workload.known, rel=1e-5)
    assert Source("mnist", quick=True).named(name).known == ()
