# SPDX-License-Identifier: Apache-2.0
"""What lesson 13 counts is what a cluster sends."""

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.course.checks import exercise_named

MODEL = (np.float32, [7850])


@fl.np_computation(MODEL, np.float32)
def trained(model: object, number: object) -> object:
    return model + number  # type: ignore[operator]


@fl.federated_computation(fl.type_at_server(MODEL), fl.type_at_clients(np.float32))
def next_model(model: object, numbers: object) -> object:
    sent = fl.federated_broadcast(model)
    return fl.federated_mean(fl.federated_map(trained, [sent, numbers]))


@pytest.mark.parametrize(("clients", "max_fanout"), [(10, 5), (13, 3), (4, 100)])
def test_round_has_a_model_each_way_per_group(clients: int, max_fanout: int) -> None:
    with fl.remote.local(processes=False, max_fanout=max_fanout) as cluster:
        numbers = cluster.place(np.float32, clients, np.float32)
        for _ in range(2):  # the first round brings the code
            next_model(np.ones(7850, np.float32), numbers)
        last = cluster.traffic().rounds[-1]
    expected = exercise_named("bytes_of_round").solution(clients, max_fanout, 4 * 7850)
    assert expected < last.bytes_down + last.bytes_up < 1.1 * expected
