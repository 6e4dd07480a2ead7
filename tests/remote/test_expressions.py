# SPDX-License-Identifier: Apache-2.0
"""What one call asks for in several messages is still one call."""

import gc
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.remote import Cluster, expressions
from tests.patience import PATIENCE_S
from tests.remote import programs

FLOATS = fl.type_at_clients(np.float32)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with fl.remote.local(2, max_fanout=2, processes=False) as made, made:
        yield made


@fl.np_computation(np.float32)
def _noisy(x: Any) -> Any:
    programs.ran.append(float(x))
    return np.float32(x + len(programs.ran))


@fl.federated_computation(FLOATS)
def _asked_thrice(values: Any) -> Any:
    noisy = fl.federated_map(_noisy, values)
    return fl.federated_sum(noisy), fl.federated_max(noisy), noisy


def test_clients_work_once_for_all_messages_of_a_call(cluster: Cluster) -> None:
    """Or they would say different things, where there is chance in it."""
    for _ in range(2):
        programs.ran.clear()
        total, most, each = _asked_thrice([1, 2, 3, 4, 5])
        assert sorted(programs.ran) == [1, 2, 3, 4, 5]
        assert (total, most) == (sum(each), max(each))
    assert len(cluster.traffic().rounds[-1].messages) == 3 * 3


def test_numbers_are_in_use_no_longer_than_their_call(cluster: Cluster) -> None:
    _asked_thrice([1, 2, 3])
    deadline = time.monotonic() + PATIENCE_S
    while expressions._in_use and time.monotonic() < deadline:
        gc.collect()  # the loop lets go of what has run a little later
    assert not expressions._in_use


def test_result_per_client_comes_home(cluster: Cluster) -> None:
    double = fl.np_computation(lambda x: x + x, np.float32)
    each = fl.federated_computation(lambda v: fl.federated_map(double, v), FLOATS)
    assert each([1, 2, 3]) == [2, 4, 6]
    assert each([]) == []
    placed = fl.place([1, 2, 3], fl.CLIENTS, np.float32)
    assert fl.federated_collect(placed) == [1, 2, 3]
