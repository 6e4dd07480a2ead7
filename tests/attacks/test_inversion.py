# SPDX-License-Identifier: Apache-2.0
"""Gradient inversion, tried on updates that a federated program sends."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.attacks.inversion import correlation, recover
from fedlearn_edu.simulation import ClientData, datasets

pytestmark = pytest.mark.tensorflow

RATE = 0.5


def digits() -> Any:
    x, y = datasets.load_digits28().train
    return ClientData(x, y, [np.arange(len(y))])[0]


def update_of(state: Any, process: Any, x: Any, y: Any) -> Any:
    after, _ = process.next(state, [[OrderedDict(x=x, y=y)]])
    return {
        name: after.weights[name] - before for name, before in state.weights.items()
    }


@pytest.mark.parametrize("rounds", [0, 20])
def test_batch_of_one_is_recovered_exactly_whatever_the_weights(rounds: int) -> None:
    client = digits()
    process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(), RATE)
    state = process.initialize()
    for _ in range(rounds):
        state, _ = process.next(state, [client.batches(100)[:3]])
    for place in (3, 500, 1000):
        x, y = client.x[place : place + 1], client.y[place : place + 1]
        found = recover(process.model, update_of(state, process, x, y), RATE)
        assert np.abs(found.best - x[0]).max() <= 1e-6
        assert found.labels == (int(y[0]),)


def test_larger_batches_tell_less_and_their_labels_at_zero_weights() -> None:
    client, alike = digits(), []
    process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(), RATE)
    start = process.initialize()
    for size in (1, 2, 4, 8):
        of_size = []
        for first in range(0, 80, 8):
            x, y = client.x[first : first + size], client.y[first : first + size]
            found = recover(process.model, update_of(start, process, x, y), RATE)
            assert set(found.labels) == set(y.tolist())
            of_size.append(correlation(found.x, x).mean())
        alike.append(np.mean(of_size))
    assert alike[0] == pytest.approx(1.0)
    assert (np.diff(alike) < -0.001).all()
    assert 0.7 < alike[-1] < 0.95


def test_rows_without_contrast_are_like_nothing() -> None:
    flat, slope = [1.0, 1.0, 1.0], [0.0, 1.0, 2.0]
    assert correlation([flat], [slope]) == 0
    assert correlation([flat, slope], [flat, [4.0, 2.0, 0.0]]).tolist() == [0, 0]
