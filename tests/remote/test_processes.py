# SPDX-License-Identifier: Apache-2.0
"""How a cluster and its processes end: closed, interrupted, killed."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import psutil
import pytest

import fedlearn_edu as fl
from fedlearn_edu import remote
from tests.patience import PATIENCE_S
from tests.remote.faults import until

PROGRAM = """
import os, time
import numpy as np
import fedlearn_edu as fl

def wait(x):
    open(f"began-{os.getpid()}", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.01)
    return x

def total(fn):
    mapped = fl.np_computation(fn, np.float32, result=np.float32)
    at_clients = fl.type_at_clients(np.float32)
    body = lambda x: fl.federated_sum(fl.federated_map(mapped, x))
    return fl.federated_computation(body, at_clients)

def run(cluster):
    BODY

with fl.remote.local(2, max_fanout=2) as cluster:
    run(cluster)
    begin = time.perf_counter()
print(time.perf_counter() - begin < 2)
"""
SCHEDULER = """
import asyncio, sys
from distributed import Scheduler

async def main():
    here = {"host": "127.0.0.1", "port": 0, "dashboard_address": "127.0.0.1:0"}
    async with Scheduler(**here) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(main())
"""
WORKER = """
import asyncio, sys
from distributed import Worker

async def main():
    async with Worker(sys.argv[1], host="127.0.0.1") as worker:
        await worker.finished()

if __name__ == "__main__":
    asyncio.run(main())
"""


def start(folder: Path, body: str) -> "subprocess.Popen[bytes]":
    """A program with a cluster, in a process group of its own."""
    script = folder / "program.py"
    indented = textwrap.indent(textwrap.dedent(body), "    ").strip()
    script.write_text(PROGRAM.replace("BODY", indented))
    return subprocess.Popen(
        [sys.executable, "-W", "error::ResourceWarning", str(script)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def until_begun(folder: Path) -> None:
    until(lambda: len(list(folder.glob("began-*"))) == 2)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_closing_is_quick_and_a_run_leaves_nothing_on_stderr(tmp_path: Path) -> None:
    process = start(
        tmp_path,
        """
        def loaded(x):
            import fedlearn_edu.runtimes.tensorflow.computation
            return x
        assert total(loaded)([1.0, 2.0, 3.0, 4.0]) == 10
        """,
    )
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (out, err) == (b"True\n", b"")


def test_workers_survive_the_interrupt_of_their_group(tmp_path: Path) -> None:
    process = start(
        tmp_path,
        """
        try:
            total(wait)([1.0, 2.0, 3.0, 4.0])
        except KeyboardInterrupt:
            open("go", "w").close()
            assert total(wait)([1.0, 2.0, 3.0, 4.0]) == 10
            assert len(cluster.log()) == 2, cluster.log()
        """,
    )
    until_begun(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (out, err) == (b"True\n", b"")


def test_killed_program_leaves_no_process(tmp_path: Path) -> None:
    process = start(tmp_path, "total(wait)([1.0, 2.0, 3.0, 4.0])")
    until_begun(tmp_path)
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    _, left = psutil.wait_procs(children, timeout=30)
    assert left == []


def _serve() -> "tuple[subprocess.Popen[str], subprocess.Popen[str], str]":
    scheduler = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert scheduler.stdout is not None
    address = scheduler.stdout.readline().strip()
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, address], stderr=subprocess.DEVNULL, text=True
    )
    return scheduler, worker, address


def _until_noticed(cluster: remote.Cluster) -> None:
    until(lambda: cluster._dispatcher._client.status != "running")


def test_scheduler_that_is_gone_is_an_error_at_once() -> None:
    at_clients = fl.type_at_clients(np.float32)
    total = fl.federated_computation(fl.federated_sum, at_clients)
    for _ in range(2):
        scheduler, worker, address = _serve()
        with scheduler, worker:
            with remote.connect(address, timeout=PATIENCE_S) as cluster:
                assert total([1.0, 2.0]) == 3
                scheduler.kill()
                _until_noticed(cluster)
                with pytest.raises(remote.ClusterError, match="scheduler") as caught:
                    total([1.0, 2.0])
                assert "connect once more" in str(caught.value)
            worker.kill()
