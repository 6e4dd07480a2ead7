# SPDX-License-Identifier: Apache-2.0
"""NumPy, with which all rows are compared, finds the known losses and true slopes."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import convolutions
from benchmarks.in_numpy import losses_of
from benchmarks.models import initial
from benchmarks.workloads import Source


@pytest.mark.slow
@pytest.mark.parametrize("name", ["W1", "W2"])
def test_numpy_finds_the_known_losses(name: str, mnist_folder: Path) -> None:
    assert mnist_folder.is_dir()
    workload = Source("mnist").named(name)
    assert len(workload.known) == len(workload.rates)
    assert losses_of(workload) == pytest.approx(workload.known, rel=1e-5)


def test_initial_models_are_always_the_same() -> None:
    one, other = initial("cnn"), initial("cnn")
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert not any(part.any() for part in initial("softmax").values())


def test_slopes_of_the_convolutional_network_are_those_of_small_differences() -> None:
    """The slope along any direction is the limit of a difference quotient."""
    chance = np.random.default_rng(0)
    model = tuple(part.astype(np.float64) for part in initial("cnn").values())
    x, error = chance.uniform(size=(3, 784)), chance.normal(size=(3, 10))
    _, seen = convolutions.forward(model, x)
    for position, slope in enumerate(convolutions.backward(model, seen, error)):
        direction = chance.normal(size=slope.shape)
        ends = []
        for sign in (1, -1):
            moved = list(model)
            moved[position] = model[position] + sign * 1e-6 * direction
            scores, _ = convolutions.forward(tuple(moved), x)
            ends.append((scores * error).sum())
        expected = (ends[0] - ends[1]) / 2e-6
        assert (slope * direction).sum() == pytest.approx(expected, rel=1e-4)
