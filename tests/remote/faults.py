# SPDX-License-Identifier: Apache-2.0
"""A round whose workers can be killed at points that are counted, not timed.

A point is a step of the round at a client. It is armed by a file: the worker that
reaches it first deletes the file, and kills itself as `kill -9` would.
"""

import hashlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu import remote
from tests.patience import PATIENCE_S
from tests.programs import local

CLIENTS = 6
SIZE = 40
ROW = fl.TensorType(np.float32, [SIZE])
STEPS = ("load", "train", "fold")


def reach(folder: str, step: str, client: int) -> None:
    """Kills this process if the point is armed, and it is a worker."""
    if multiprocessing.parent_process() is None:
        return
    try:
        os.unlink(f"{folder}/{step}-{client}")
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def load(folder: str, client: int) -> Any:
    """The data of a client; the first number says whose they are."""
    reach(folder, "load", client)
    row = np.random.default_rng(client).normal(size=SIZE).astype(np.float32)
    row[0] = client
    return row


@final
@dataclass(frozen=True)
class Round:
    """A round of averaging, its points, and its data."""

    folder: Path

    def arm(self, step: str, client: int) -> None:
        """Has the worker die that reaches this point next."""
        (self.folder / f"{step}-{client}").touch()

    @property
    def is_armed(self) -> bool:
        """Whether a point was not reached."""
        return any(self.folder.iterdir())

    def load(self) -> Callable[[int], Any]:
        """Loads the data of a client; other workers' caches do not have them."""
        return partial(load, str(self.folder))

    def computation(self) -> Any:
        """From a model and the data of clients to the next model."""
        folder = str(self.folder)

        @fl.np_computation(ROW, ROW)
        def train(x: Any, model: Any) -> Any:
            reach(folder, "train", int(x[0]))
            return np.where(np.arange(SIZE) == 0, x, model + 0.3 * np.sin(x - model))

        @fl.np_computation(ROW, ROW)
        def fold(total: Any, x: Any) -> Any:
            reach(folder, "fold", int(x[0]))
            return total + x

        @fl.np_computation(ROW, ROW)
        def merge(total: Any, other: Any) -> Any:
            return total + other

        @fl.np_computation(ROW)
        def report(total: Any) -> Any:
            return total / np.float32(CLIENTS)

        @fl.federated_computation(fl.type_at_server(ROW), fl.type_at_clients(ROW))
        def next_round(model: Any, data: Any) -> Any:
            models = fl.federated_broadcast(model)
            trained = fl.federated_map(train, (data, models))
            zero = np.zeros(SIZE, np.float32)
            return fl.federated_aggregate(trained, zero, fold, merge, report)

        return next_round

    def run(self, data: Any, rounds: int = 1) -> str:
        """A digest of the model after some rounds."""
        model, next_round = np.zeros(SIZE, np.float32), self.computation()
        for _ in range(rounds):
            model = next_round(model, data)
        return hashlib.sha256(model.tobytes()).hexdigest()

    def run_here(self, max_fanout: int, rounds: int = 1) -> str:
        """The same in this process."""
        with local(max_fanout=max_fanout):
            return self.run(list(map(self.load(), range(CLIENTS))), rounds)


def waiting(folder: Path) -> Any:
    """A sum over clients whose function says that it began, and waits for a file."""
    name = str(folder)

    def wait(x: Any) -> Any:
        Path(f"{name}/began-{int(x)}").touch()
        while not Path(f"{name}/go").exists():
            time.sleep(0.01)
        return x

    slow = fl.np_computation(wait, np.float32, result=np.float32)

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def slow_total(x: Any) -> Any:
        return fl.federated_sum(fl.federated_map(slow, x))

    return slow_total


def until(is_so: Callable[[], bool]) -> None:
    """Waits for what must come."""
    deadline = time.monotonic() + PATIENCE_S / 8
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def until_whole(cluster: remote.Cluster, workers: int = 2) -> None:
    """Waits until so many workers are alive."""
    until(lambda: sum(info.is_alive for info in cluster.workers()) == workers)
