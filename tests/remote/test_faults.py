# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a cluster, and what happens then."""

import asyncio
import gc
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster

import fedlearn_edu as fl
from fedlearn_edu import remote
from fedlearn_edu.errors import ComputationTimeoutError
from fedlearn_edu.remote import roster, worker
from fedlearn_edu.remote.worker import Service
from tests.patience import PATIENCE_S
from tests.remote import cut_off
from tests.remote.conftest import MAX_FANOUT
from tests.remote.faults import (
    CLIENTS,
    ROW,
    STEPS,
    Round,
    reach,
    until,
    until_whole,
    waiting,
)


@fl.federated_computation(fl.type_at_clients(np.float32))
def total(x: Any) -> Any:
    return fl.federated_sum(x)


NUMBERS = [1.0, 2.0, 3.0, 4.0]
# Dask leaves the socket of a worker that is killed during its handshake as garbage.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*ignored in. <ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    yield
    gc.collect()  # here, or another test would meet that garbage


# ------------------------------------------------------------------- workers are killed


@pytest.mark.parametrize("step", STEPS)
def test_round_survives_the_kill_of_a_worker_bit_by_bit(
    step: str, processes: remote.Cluster, tmp_path: Path
) -> None:
    one = Round(tmp_path)
    data = processes.place(one.load(), CLIENTS, ROW)
    one.arm(step, 3)
    joined, lines = len(processes.workers()), len(processes.log())
    assert one.run(data) == one.run_here(MAX_FANOUT)
    assert not one.is_armed
    lost = [line for line in processes.log()[lines:] if "was lost" in line]
    assert len(lost) == 1
    assert "its connection broke off" in lost[0]
    messages = processes.traffic().rounds[-1].messages
    assert any(m.is_lost and m.first_client == 2 for m in messages)
    until_whole(processes)  # its nanny starts another, at another address
    *_, new = processes.workers()
    assert len(processes.workers()) == joined + 1
    assert one.run(data, rounds=2) == one.run_here(MAX_FANOUT, rounds=2)
    assert new.name in {m.worker for m in processes.traffic().rounds[-1].messages}


def test_worker_may_die_between_the_fold_and_the_answer(
    processes: remote.Cluster, tmp_path: Path
) -> None:
    one = Round(tmp_path)
    data = processes.place(one.load(), CLIENTS, ROW)
    one.arm("answer", 0)
    folder, answer = str(tmp_path), Service._answer

    async def answer_or_die(self: Service, *args: Any) -> bytes:
        done = await answer(self, *args)
        reach(folder, "answer", 0)
        return done

    def patch() -> None:
        setattr(Service, "_answer", answer_or_die)  # noqa: B010

    processes._dispatcher._client.run(patch)
    assert one.run(data) == one.run_here(MAX_FANOUT)
    assert not one.is_armed
    assert processes.traffic().rounds[-1].num_lost >= 1
    until_whole(processes)


@pytest.mark.thorough
def test_no_kill_in_twenty_hangs_or_changes_a_bit(
    processes: remote.Cluster, tmp_path: Path
) -> None:
    chance = random.Random(18)
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        one = Round(folder)
        data = processes.place(one.load(), CLIENTS, ROW)
        for client in chance.sample(range(CLIENTS), chance.choice([1, 1, 2])):
            one.arm(chance.choice(STEPS), client)
        assert one.run(data, rounds=2) == one.run_here(MAX_FANOUT, rounds=2)
        assert not one.is_armed
        until_whole(processes)


@pytest.mark.parametrize(
    "patience", [0.3, pytest.param(10.0, marks=pytest.mark.thorough)]
)
def test_stopped_worker_is_noticed_and_may_come_back(
    patience: float,
    processes: remote.Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    until_whole(processes)
    one = Round(tmp_path)
    data = processes.place(one.load(), CLIENTS, ROW)
    here = one.run_here(MAX_FANOUT)
    assert one.run(data) == here
    victim = next(info for info in processes.workers() if info.is_alive)
    monkeypatch.setattr(roster, "PATIENCE", patience)
    monkeypatch.setattr(roster, "PING_EVERY", patience / 2)
    os.kill(victim.pid, signal.SIGSTOP)
    try:
        assert one.run(data) == here
        [late] = [m for m in processes.traffic().rounds[-1].messages if m.is_lost][:1]
        assert late.worker == victim.name
        assert late.received - late.sent < 20
        assert "it does not answer" in processes.log()[-1]
    finally:
        os.kill(victim.pid, signal.SIGCONT)
    monkeypatch.undo()
    until_whole(processes)
    assert processes.log()[-1].endswith(f"{victim.name} is back")
    assert one.run(data) == here
    assert victim.name in {m.worker for m in processes.traffic().rounds[-1].messages}


@pytest.mark.thorough
def test_worker_that_is_cut_off_is_noticed_and_may_come_back(tmp_path: Path) -> None:
    try:
        tried = [*cut_off.ALONE, *cut_off.VETH.split()]
        subprocess.run(tried, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", b"") or str(error).encode()
        pytest.skip(f"no network namespaces here: {said.decode().strip()}")
    program = [*cut_off.ALONE, sys.executable, "-m", cut_off.__name__, str(tmp_path)]
    run = subprocess.run(
        program, capture_output=True, text=True, check=False, timeout=PATIENCE_S / 2
    )
    assert (run.returncode, run.stderr) == (0, "")
    found: cut_off.Found = json.loads(run.stdout)
    assert found["there"] == found["here"]
    assert cut_off.THERE in found["lost"]
    assert found["seconds"] < 20
    joined, lost, back = found["log"][:2], *found["log"][2:]
    assert all("joined" in line for line in joined)
    assert "it does not answer" in lost
    assert back.endswith("is back")


def test_stopped_worker_does_not_stop_others_from_being_joined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(roster, "PATIENCE", 0.3)

    def hang(dask_worker: Any) -> None:
        for name in ("run", "versions", "plugin-add"):
            dask_worker.handlers[name] = lambda **_: asyncio.sleep(60)

    nowhere = "127.0.0.1:0"
    with LocalCluster(
        n_workers=2, processes=False, dashboard_address=nowhere
    ) as running:
        stopped = running.workers[0].address
        with Client(running, set_as_default=False) as client:
            client.run(hang, workers=[stopped])
        with remote.connect(running) as cluster:
            assert total(NUMBERS) == 10
            assert stopped not in {info.address for info in cluster.workers()}
            assert f"{stopped} was left out" in "\n".join(cluster.log())


def test_message_that_kills_every_worker_is_given_up(
    processes: remote.Cluster, tmp_path: Path
) -> None:
    def leave(x: Any) -> Any:
        if x == 3:
            (tmp_path / f"{os.getpid()}").touch()
            os._exit(1)
        return x

    leaving = fl.np_computation(leave, np.float32, result=np.float32)

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def leave_together(x: Any) -> Any:
        return fl.federated_sum(fl.federated_map(leaving, x))

    with pytest.raises(remote.ClusterError, match="lost with 3 workers") as caught:
        leave_together(NUMBERS)
    assert "clients 2 to 3" in str(caught.value)
    assert len(list(tmp_path.iterdir())) == 3  # and not once more, step by step
    assert total(NUMBERS) == 10
    until_whole(processes)


def test_worker_that_dies_between_calls_is_noticed_soon(
    processes: remote.Cluster,
) -> None:
    until_whole(processes)
    victim = next(info for info in processes.workers() if info.is_alive)
    os.kill(victim.pid, signal.SIGKILL)
    assert total(NUMBERS) == 10
    assert processes.traffic().rounds[-1].duration < roster.PING_EVERY
    until_whole(processes)


def test_error_says_when_all_workers_were_lost() -> None:
    with remote.local(2, processes=False, timeout=0.3) as cluster:
        assert total(NUMBERS) == 10
        cluster._dispatcher._client.cluster.scale(0)
        until(lambda: not any(info.is_alive for info in cluster.workers()))
        with pytest.raises(remote.ClusterError, match="no worker is left") as caught:
            total(NUMBERS)
        found = str(caught.value.found)
        assert re.match(
            r"2 that joined and were lost: worker 0 \(\d\d:\d\d:\d\d, ", found
        )
        cluster._dispatcher._client.cluster.scale(1)
        until_whole(cluster, 1)
        assert total(NUMBERS) == 10


# ------------------------------------------------------------------- calls are given up


def _tasks(cluster: remote.Cluster) -> int:
    """How many messages are under way at the workers."""

    def count(dask_worker: Any) -> int:
        return len(dask_worker.handlers["fl_run"].__self__._tasks)

    return sum(cluster._dispatcher._client.run(count).values())


def _given_up(
    cluster: remote.Cluster, folder: Path, call: Callable[[Any], None]
) -> None:
    """Gives up a call that waits at clients 0 and 2; nothing remains of it."""
    with cluster.context:
        call(waiting(folder))
        until(lambda: _tasks(cluster) == 0)
        assert total(NUMBERS) == 10  # while the code that was given up still waits
        (folder / "go").touch()
        assert total(NUMBERS) == 10
    assert {file.name for file in folder.iterdir()} == {"began-0", "began-2", "go"}


def _both_began(folder: Path) -> bool:
    return all((folder / f"began-{client}").exists() for client in (0, 2))


def test_interrupt_ends_the_round_at_the_workers_too(
    processes: remote.Cluster, tmp_path: Path
) -> None:
    until_whole(processes)

    def press() -> None:
        until(lambda: _both_began(tmp_path))
        os.kill(os.getpid(), signal.SIGINT)

    def call(slow_total: Any) -> None:
        threading.Thread(target=press).start()
        with pytest.raises(KeyboardInterrupt):
            slow_total([0.0, 1.0, 2.0, 3.0])

    _given_up(processes, tmp_path, call)


def test_time_limit_ends_the_round_at_the_workers_too(
    processes: remote.Cluster, tmp_path: Path
) -> None:
    until_whole(processes)

    def call(slow_total: Any) -> None:
        with fl.timeout(2), pytest.raises(ComputationTimeoutError) as caught:
            slow_total([0.0, 1.0, 2.0, 3.0])
        assert "the work of clients 0 to 1" in str(caught.value)

    _given_up(processes, tmp_path, call)


def test_message_of_a_program_that_says_nothing_is_given_up(
    in_process: remote.Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When another program asks; if the first one is alive, it is sent again."""
    other = remote.connect(in_process._dispatcher._client, max_fanout=MAX_FANOUT)
    results: list[Any] = []

    def call() -> None:
        with other.context:
            results.append(waiting(tmp_path)([0.0, 1.0, 2.0, 3.0]))

    thread = threading.Thread(target=call)
    thread.start()
    until(lambda: _both_began(tmp_path))
    assert in_process.workers()
    assert not any("was lost" in line for line in other.log())
    monkeypatch.setattr(worker, "SILENCE", 0.0)
    assert in_process.workers()
    until(lambda: any("was lost" in line for line in other.log()))
    monkeypatch.undo()
    (tmp_path / "go").touch()
    thread.join()
    assert results == [6]


def test_close_ends_calls_under_way(tmp_path: Path) -> None:
    cluster = remote.local(2, max_fanout=2, processes=False)

    def close() -> None:
        until(lambda: _both_began(tmp_path))
        cluster.close()

    thread = threading.Thread(target=close)
    thread.start()
    with cluster, pytest.raises(remote.ClusterError, match="was closed"):
        waiting(tmp_path)([0.0, 1.0, 2.0, 3.0])
    (tmp_path / "go").touch()
    thread.join()


def test_closed_cluster_says_so_and_can_be_shown() -> None:
    with remote.local(2, processes=False) as cluster:
        data = cluster.place(float, 4, np.float32)
        assert total(data) == 6
    cluster.close()
    assert total(data) == 6  # in this process, after the block
    assert repr(cluster) == "<closed cluster of 2 workers>"
    with cluster.context, pytest.raises(remote.ClusterError, match="was closed"):
        total(data)


# ------------------------------------------------------------------------ what differs


def _forget_all(dask_worker: Any) -> None:
    store = dask_worker.handlers["fl_run"].__self__._store
    for key in store.list_keys():
        store.forget(key)


def test_data_that_change_are_noticed(
    in_process: remote.Cluster, tmp_path: Path
) -> None:
    file = tmp_path / "value"
    file.write_text("1")

    def read(client: int) -> float:
        return client * float(file.read_text())

    data = in_process.place(read, 4, np.float32)
    with in_process.context:
        assert total(data) == 6
        file.write_text("2")
        assert total(data) == 6  # they are kept
        in_process._dispatcher._client.run(_forget_all)
        with pytest.raises(remote.ClusterError, match="client data changed"):
            total(data)


def test_result_for_each_client_has_its_price(in_process: remote.Cluster) -> None:
    @fl.federated_computation(fl.type_at_clients(ROW))
    def collect(x: Any) -> Any:
        return fl.federated_collect(x)

    rows = [np.arange(40, dtype=np.float32) + client for client in range(6)]
    data = in_process.place(lambda client: rows[client], 6, ROW)
    with in_process.context:
        found = collect(data)
    assert np.array_equal(np.stack(list(found)), np.stack(rows))
    assert in_process.traffic().rounds[-1].bytes_up >= 6 * 40 * 4
