# SPDX-License-Identifier: Apache-2.0
"""What clients keep: it stays at the workers, and comes home when it is wanted."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import learning, remote
from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.learning import Checkpoints, Options, Run
from fedlearn_edu.learning.run_state import entries_of
from fedlearn_edu.simulation import ClientSampling
from tests.learning.small import FEATURES, mean_process, small_data, small_lists
from tests.programs import local
from tests.remote.conftest import MAX_FANOUT
from tests.remote.faults import until_whole
from tests.remote.programs import bits

SIZE = 1000
ROW = fl.TensorType(np.float32, [SIZE])
HERE = local(support_sequence_ops=True, max_fanout=MAX_FANOUT)
ROWS = [np.full(SIZE, client, np.float32) for client in range(5)]


@fl.federated_computation(fl.type_at_clients(ROW))
def double(x: Any) -> Any:
    return fl.federated_map(fl.np_computation(lambda row: row + row, ROW), x)


@pytest.fixture
def doubled(in_process: remote.Cluster) -> Iterator[Any]:
    """Five rows at two workers; with a block in which results stay there."""
    with in_process, fl.framework.value_references():
        yield double(ROWS)


def _first(rows: Any) -> list[float]:
    return [float(row[0]) for row in fl.framework.materialize(rows)]


def test_references_are_entries_beside_values(
    doubled: Any, in_process: remote.Cluster
) -> None:
    """In another order: some are where they are needed, others have to move."""
    again = double([doubled[4], ROWS[1], *doubled[:3]])
    assert _first(again) == [16, 2, 0, 4, 8]
    down, up = ((r.bytes_down, r.bytes_up) for r in in_process.traffic().rounds)
    assert down[1] < 1.2 * len(ROWS) * ROWS[0].nbytes
    assert down[1] < 3000
    assert up[1] < 5 * ROWS[0].nbytes
    with local():
        assert _first(double(doubled)) == [0, 4, 8, 12, 16]
        assert fl.np_computation(lambda row: row[0], ROW)(doubled[3]) == 6


def test_references_have_types(doubled: Any) -> None:
    number = fl.federated_computation(lambda x: x, fl.type_at_clients(np.float32))
    with pytest.raises(TypeMismatchError, match=r"client 1\]"):
        number([1.0, doubled[0]])


def test_what_nothing_refers_to_is_let_go(
    doubled: Any, in_process: remote.Cluster
) -> None:
    def held() -> int:
        return sum(info.nbytes for info in in_process.workers())

    before = held()
    for _ in range(5):
        doubled = double(doubled)
    gc.collect()
    double(ROWS)  # the next message says what is not used
    assert held() <= before + 2 * len(ROWS) * ROWS[0].nbytes


@pytest.mark.tensorflow
def test_scaffold_keeps_variates_at_the_workers(in_process: remote.Cluster) -> None:
    """In a run, with the bits of a local one."""
    clients = 10
    model = learning.models.softmax_regression(FEATURES, 2)
    process = learning.build_scaffold(model, clients, 0.5)
    sampling = ClientSampling(count=6, seed=1)

    def learned(*callbacks: Any) -> Run:
        options = Options(callbacks=callbacks)
        return learning.run(
            process, small_lists(clients), 4, client_sampling=sampling, options=options
        )

    at_workers = []

    def count(run: Run) -> None:
        entries = entries_of(run.client_states or ())
        are_away = [isinstance(e, fl.framework.ValueReference) for e in entries]
        at_workers.append(sum(are_away))

    with in_process:
        found = learned(count)
    with HERE:
        meant = learned()
    assert at_workers[0] == 6
    assert at_workers[-1] >= 6
    assert type(found.client_states) is tuple
    assert bits([found.state, found.client_states]) == bits(
        [meant.state, meant.client_states]
    )


def _kill_one_after(cluster: remote.Cluster, rounds: int) -> Any:
    def kill(run: Run) -> None:
        assert run.client_states is not None
        assert run.client_states[0]["rounds"] == run.rounds
        if run.rounds == rounds:
            os.kill(cluster.workers()[-1].pid, signal.SIGKILL)

    return kill


def test_run_goes_on_from_its_checkpoint_if_states_are_lost(
    processes: remote.Cluster, tmp_path: Path
) -> None:
    def learned(*callbacks: Any) -> Run:
        saved = Checkpoints(tmp_path, every=2)
        options = Options(checkpoints=saved, callbacks=callbacks)
        return learning.run(mean_process(keeps=True), data, 5, options=options)

    data = small_data(6)
    with processes.context:
        with pytest.raises(remote.ClusterError, match="lost with their worker") as lost:
            learned(_kill_one_after(processes, 3))
        assert "round 4" in str(lost.value)
        assert "its connection broke off" in str(lost.value)
        until_whole(processes)
        found = learned()
    with HERE:
        meant = learning.run(mean_process(keeps=True), data, 5)
    assert bits([found.state, found.client_states]) == bits(
        [meant.state, meant.client_states]
    )
    assert found.history["round"].tolist() == [1, 2, 3, 4, 5]
