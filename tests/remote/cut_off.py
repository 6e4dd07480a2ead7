# SPDX-License-Identifier: Apache-2.0
"""A round during which one of two workers is cut off.

    this namespace, 10.0.0.1                 another one, 10.0.0.2
    scheduler, coordinator, worker 0  ─────  worker 1

The far end of the link goes down in the middle of the round: no connection is closed,
packets vanish. The program prints JSON. It is the first process of a namespace, so
that all the others end with it.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from distributed import LocalCluster
from distributed.security import Security

from fedlearn_edu import remote
from tests.programs import local
from tests.remote.conftest import MAX_FANOUT
from tests.remote.faults import until, until_whole, waiting

_NEW = "--map-root-user --net --pid --fork --kill-child --mount-proc"
ALONE = ["unshare", *_NEW.split()]
VETH = "ip link add here type veth peer name there"
HERE, THERE = "10.0.0.1", "10.0.0.2"
NOWHERE = "127.0.0.1:0"
# With other groups their sum is another one.
NUMBERS = [0.1, 1e8, 2.3, 3.4]


class Found(TypedDict):
    """What came of the round; of a sum, the bits."""

    there: str
    here: str
    seconds: float
    lost: str
    log: list[str]


class _Far:
    """Another namespace, and the link to it."""

    def __init__(self) -> None:
        hold = ["unshare", "--net", "sh", "-c", "echo made; exec sleep infinity"]
        holder = subprocess.Popen(hold, stdout=subprocess.PIPE)
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"made\n"
        self._enter = ["nsenter", "--target", str(holder.pid), "--net"]
        _run([*VETH.split(), "netns", str(holder.pid)])
        for enter, end, address in ([], "here", HERE), (self._enter, "there", THERE):
            _run([*enter, *f"ip addr add {address}/24 dev {end}".split()])
            for name in ("lo", end):
                _run([*enter, *f"ip link set {name} up".split()])

    def set_link(self, state: str) -> None:
        """Sets the far end of the link up, or down."""
        _run([*self._enter, *f"ip link set there {state}".split()])

    def start(self, command: list[str]) -> None:
        """Starts a process there."""
        _start([*self._enter, *command])


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True)


def _start(command: list[str]) -> None:
    subprocess.Popen(command, stderr=subprocess.DEVNULL)


def _worker(scheduler: str, host: str, folder: Path) -> list[str]:
    """The command that starts a worker."""
    files = (
        f"--tls-ca-file {folder}/cert --tls-cert {folder}/cert --tls-key {folder}/key"
    )
    options = (
        f"--no-nanny --no-dashboard --dashboard-address {NOWHERE} --memory-limit 0"
    )
    command = f"-m distributed.cli.dask_worker {scheduler} --host {host}"
    return [sys.executable, *f"{command} {options} {files}".split()]


def _total(folder: Path) -> str:
    return np.float32(waiting(folder)(NUMBERS)).tobytes().hex()


def _scheduler(folder: Path) -> Any:
    security = Security.temporary()
    (folder / "cert").write_text(security.tls_ca_file)
    (folder / "key").write_text(security.tls_client_key)
    return LocalCluster(
        n_workers=0,
        host=HERE,
        protocol="tls://",
        security=security,
        dashboard_address=NOWHERE,
    )


def main(folder: Path) -> Found:
    """Runs the round, heals the link, and waits until the worker is back."""

    def cut() -> None:
        until(lambda: all((folder / f"began-{client}").exists() for client in (0, 2)))
        far.set_link("down")
        (folder / "go").touch()

    far = _Far()
    with _scheduler(folder) as running:
        _start(_worker(running.scheduler_address, HERE, folder))
        far.start(_worker(running.scheduler_address, THERE, folder))
        running.wait_for_workers(2)
        with remote.connect(running, max_fanout=MAX_FANOUT) as cluster:
            until_whole(cluster)
            threading.Thread(target=cut).start()
            there = _total(folder)
            [late] = [m for m in cluster.traffic().rounds[-1].messages if m.is_lost]
            [lost] = [i.address for i in cluster.workers() if i.name == late.worker]
            far.set_link("up")
            until_whole(cluster)
    with local(max_fanout=MAX_FANOUT):
        here = _total(folder)
    seconds = late.received - late.sent
    return Found(there=there, here=here, seconds=seconds, lost=lost, log=cluster.log())


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]))))
