# SPDX-License-Identifier: Apache-2.0
"""Who holds what is as the workloads say, and costs no memory twice."""

from pathlib import Path

import numpy as np
import pytest

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
    threes = x[y == 3].reshape(-1, 784) / 255
    for block, client in enumerate((3, 13, 23, 33)):
        wanted = (50 * block + np.arange(50)) % len(threes)
        own_x, own_y = source.w2(100).clients[client]
        assert set(own_y.tolist()) == {3}
        np.testing.assert_allclose(own_x, threes[wanted], rtol=1e-6)


def test_clients_share_the_memory_of_what_they_share(source: Source) -> None:
    few, many = source.w2(10), source.w2(1000)
    for one, other in zip(few.clients, many.clients, strict=False):
        assert np.shares_memory(one[0], other[0])
    batch = many.batches[0][0]
    assert np.shares_memory(batch["x"], few.clients[0][0])
    assert many.bytes == 1000 * 50 * (784 * 4 + 4)


def test_last_batch_of_an_unequal_client_is_ragged(source: Source) -> None:
    workload = source.w2_ragged()
    assert len(workload.clients[1][1]) == 37
    assert [len(y) for _, y in workload.cut(workload.clients[1])] == [10, 10, 10, 7]


@pytest.mark.slow
def test_known_losses_belong_to_the_full_sizes_on_mnist(mnist_folder: Path) -> None:
    assert mnist_folder.is_dir()
    source = Source("mnist")
    assert source.w1().known[:2] == (21.6055, 20.3657)
    assert source.w2().known == (11.0246, 10.5726, 10.1529)
    assert source.w1().rates[:3] == pytest.approx((0.1, 0.09, 0.081))
    assert source.w2(100).known == ()
    assert Source("mnist", quick=True).w1().known == ()
