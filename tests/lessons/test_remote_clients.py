# SPDX-License-Identifier: Apache-2.0
"""What lesson 13 counts is what a cluster sends."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.course.checks import exercise_named

DAY = (np.float32, [1440])


@fl.federated_computation(fl.type_at_clients(DAY))
def summary(days: Any) -> Any:
    mean = fl.federated_mean(days)
    distance = days - fl.federated_broadcast(mean)
    return mean, fl.federated_mean(distance * distance)


def day(home: int) -> Any:
    return np.full(1440, home, np.float32)


@pytest.mark.parametrize(("homes", "max_fanout"), [(5, 3), (13, 4), (4, 100)])
def test_round_has_three_curves_for_each_group(homes: int, max_fanout: int) -> None:
    with fl.remote.local(processes=False, max_fanout=max_fanout) as cluster:
        days = cluster.place(day, homes, DAY)
        for _ in range(2):  # the first round brings the code
            summary(days)
        last = cluster.traffic().rounds[-1]
    expected = exercise_named("bytes_of_round").solution(homes, max_fanout, 4 * 1440)
    assert expected < last.bytes_down + last.bytes_up < 1.1 * expected
