# SPDX-License-Identifier: Apache-2.0
"""Learning on a cluster: the weights of a local run to the bit, and what travels."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import learning
from fedlearn_edu.framework import Context
from fedlearn_edu.remote import Cluster
from fedlearn_edu.simulation import ClientSampling
from tests.learning.small import FEATURES, mean_process, small_data, small_lists
from tests.programs import local
from tests.remote.programs import bits

pytestmark = pytest.mark.tensorflow

GROUP, CLIENTS = 3, 10
HERE = local(support_sequence_ops=True, max_fanout=GROUP)
DATA = small_lists(CLIENTS)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with fl.remote.local(2, max_fanout=GROUP, processes=False) as made:
        yield made


def _softmax() -> Any:
    return learning.models.softmax_regression(features=FEATURES, classes=2)


PROCESSES: dict[str, Callable[[], Any]] = {
    "FedAvg": lambda: learning.build_fed_avg(_softmax(), 0.5, local_epochs=2),
    "SCAFFOLD": lambda: learning.build_scaffold(_softmax(), CLIENTS, 0.5),
    "in NumPy": mean_process,
    "clients that remember": lambda: mean_process(keeps=True),
}
# One for each aggregation, where NumPy's cannot be joined, and one for what each client
# keeps. Clients work once all the same.
MESSAGES = {"SCAFFOLD": 2, "in NumPy": 4, "clients that remember": 5}


def _rounds(context: Context, process: Any, data: Any, count: int = 2) -> Any:
    with context:
        state, metrics = process.initialize(), []
        kept = process.beside(range(len(DATA)))
        for _ in range(count):
            state, measured, *kept = process.next(state, data, *kept)
            metrics.append(measured)
    return bits([state, metrics, kept])


def _batches(process: Any) -> Any:
    return process.next.type_signature.parameter[1].member


@pytest.mark.parametrize("name", PROCESSES)
def test_rounds_give_the_bits_of_local_ones(name: str, cluster: Cluster) -> None:
    process = PROCESSES[name]()
    placed = cluster.place(lambda client: DATA[client], CLIENTS, _batches(process))
    meant = _rounds(HERE, process, DATA)
    assert _rounds(cluster.context, process, DATA) == meant
    assert _rounds(cluster.context, process, placed) == meant
    sent = cluster.traffic().rounds[-1].messages
    assert len({message.first_client for message in sent}) == 4
    assert len(sent) == 4 * MESSAGES.get(name, 1)


def test_runs_with_cohorts_give_the_bits_of_local_ones(cluster: Cluster) -> None:
    """Other clients, and other numbers of them, in each round."""
    sampling = ClientSampling(count=5, dropout=0.3, seed=1)

    def learned(context: Context) -> Any:
        how: Any = {"batch_size": 4, "client_sampling": sampling}
        with context:
            run = learning.run(mean_process(), small_data(CLIENTS), 4, **how)
        return bits([run.state, run.history["loss_per_example"]])

    assert learned(cluster.context) == learned(HERE)


def test_traffic_is_the_model_for_each_group_and_little_more(cluster: Cluster) -> None:
    """In the steady state, with data from a loader."""
    model = learning.models.softmax_regression(features=200, classes=10)
    process = learning.build_fed_avg(model, 0.5)
    clients = 10 * GROUP

    def load(client: int) -> list[Any]:
        chance = np.random.default_rng(client)
        x = chance.standard_normal([5, 200]).astype(np.float32)
        return [{"x": x, "y": chance.integers(0, 10, 5).astype(np.int32)}]

    data = cluster.place(load, clients, _batches(process))
    _rounds(cluster.context, process, data, 3)
    sent = cluster.traffic().rounds[-1].messages
    size = sum(m.bytes_down + m.bytes_up for m in sent)
    assert len(sent) == 10
    assert size <= 10 * 2 * (200 * 10 + 10) * 4 + 10_000
