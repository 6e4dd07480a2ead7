# SPDX-License-Identifier: Apache-2.0
"""Learning on a cluster: the weights of a local run to the bit, and what travels."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import learning
from fedlearn_edu.framework import SyncExecutionContext, local_executor_factory
from fedlearn_edu.remote import Cluster, Round
from fedlearn_edu.simulation import ClientSampling
from tests.learning.small import FEATURES, mean_process, small_data, small_lists
from tests.remote.programs import bits

pytestmark = pytest.mark.tensorflow

GROUP, CLIENTS = 3, 10
DATA = small_lists(CLIENTS)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with fl.remote.local(2, max_fanout=GROUP, processes=False) as made:
        yield made


def _locally(run: Callable[[], Any]) -> Any:
    factory = local_executor_factory(support_sequence_ops=True, max_fanout=GROUP)
    with SyncExecutionContext(factory):
        return run()


def _there(cluster: Cluster, run: Callable[[], Any]) -> Any:
    with cluster.context:
        return run()


def _softmax() -> Any:
    return learning.models.softmax_regression(features=FEATURES, classes=2)


def _averaging() -> Any:
    def training_process(model: Any, data: Any) -> Any:
        for _ in range(2):
            model = model.train(data)
        return model

    return learning.federated_averaging.build_weighted_averaging_process(
        lambda: learning.models.LinearRegression(FEATURES), training_process
    )


PROCESSES: dict[str, Callable[[], Any]] = {
    "FedAvg": lambda: learning.build_fed_avg(_softmax(), 0.5, local_epochs=2),
    "FedAvg of an MLP": lambda: learning.build_fed_avg(
        learning.models.mlp(FEATURES, [4], 2), 0.5
    ),
    "FedProx": lambda: learning.build_fed_prox(_softmax(), 0.5),
    "FedSGD": lambda: learning.build_fed_sgd(_softmax(), 0.5),
    "FedAvgM": lambda: learning.build_fed_avg_m(_softmax(), 0.5),
    "FedAdagrad": lambda: learning.build_fed_adagrad(_softmax(), 0.5),
    "FedAdam": lambda: learning.build_fed_adam(_softmax(), 0.5),
    "FedYogi": lambda: learning.build_fed_yogi(_softmax(), 0.5),
    "SCAFFOLD": lambda: learning.build_scaffold(_softmax(), CLIENTS, 0.5),
    "in NumPy": mean_process,
    "clients that remember": lambda: mean_process(keeps=True),
}


def _rounds(process: Any, data: Any, count: int = 2) -> Any:
    state, metrics = process.initialize(), []
    kept = process._first_states(DATA)
    for _ in range(count):
        state, measured, *kept = process.next(state, data, *kept)
        metrics.append(measured)
    return bits([state, metrics, kept])


def _per_group(round_: Round) -> float:
    groups = {message.first_client for message in round_.messages}
    assert len(groups) == -(-CLIENTS // GROUP)
    return len(round_.messages) / len(groups)


@pytest.mark.parametrize("name", PROCESSES)
def test_rounds_give_the_bits_of_local_ones(name: str, cluster: Cluster) -> None:
    """In one message per group; one more where the server is told of clients."""
    process = PROCESSES[name]()
    batches = process.next.type_signature.parameter[1].member
    placed = cluster.place(lambda client: DATA[client], CLIENTS, batches)
    meant = _locally(lambda: _rounds(process, DATA))
    for data in (DATA, placed):
        assert _there(cluster, lambda data=data: _rounds(process, data)) == meant
    expected = 2 if process.keeps_client_states else 1
    assert _per_group(cluster.traffic().rounds[-1]) == expected
