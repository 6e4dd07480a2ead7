# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.long_runs`: memory of a cluster over many rounds and clients.

No part of `make bench`: it takes minutes, and its figures are written down by hand.

    rounds     1,000 rounds of FedAvg with 100 clients, in four groups
    clients    100,000 clients with eight floats each, all of them in every round
    cohorts    FedAvg with 1,000,000 clients, another 10,000 of them in every round

A client of FedAvg has one batch of ten examples of one digit, a view of arrays that a
worker reads once; a client with eight floats makes them of its number.
"""

import argparse
import os
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import psutil

import fedlearn_edu as fl
from benchmarks.ours import BATCHES
from benchmarks.workloads import Source
from fedlearn_edu import remote

_SIZES = {"rounds": 1000, "clients": 100, "cohorts": 100}
_ROWS = 10


@cache
def _source() -> Source:
    """Read once in each process; what it hands out are views."""
    return Source("mnist")


def _examples(client: int) -> Any:
    """A client's batch: the first of its batches in W2."""
    x, y = _source().consecutive(client, 10)
    return [OrderedDict(x=x, y=y)]


def _small(client: int) -> Any:
    return np.random.default_rng(client).normal(size=8).astype(np.float32)


def rounds(count: int) -> None:
    """The same clients in every round."""
    with remote.local(2, max_fanout=25) as cluster:
        data = cluster.place(_examples, 100, BATCHES)
        train = _train()
        _watch(cluster, count, lambda _: train(data))


def clients(count: int) -> None:
    """A mean over 100,000 vectors of eight floats, made of their client's number."""
    kind = fl.TensorType(np.float32, [8])

    @fl.federated_computation(fl.type_at_clients(kind))
    def mean(vectors: Any) -> Any:
        half = fl.tf_computation(lambda x: x / 2.0, kind)
        return fl.federated_mean(fl.federated_map(half, vectors))

    with remote.local(2, max_fanout=1000) as cluster:
        data = cluster.place(_small, 100_000, kind)
        _watch(cluster, count, lambda _: mean(data))


def cohorts(count: int) -> None:
    """Every round another 10,000 of 1,000,000 clients: all of them in 100 rounds."""
    order = np.random.default_rng(0).permutation(1_000_000).reshape(100, -1)
    with remote.local(2, max_bytes=500_000_000) as cluster:
        train = _train()

        def of_round(number: int) -> None:
            ids = order[number % len(order)].tolist()
            train(cluster.place(_examples, ids, BATCHES))

        _watch(cluster, count, of_round)


def _train() -> Callable[[Any], None]:
    """Rounds of FedAvg, one after the other."""
    process = fl.learning.build_fed_avg(fl.learning.models.softmax_regression(), 0.05)
    state = process.initialize()

    def train(data: Any) -> None:
        nonlocal state
        state = process.next(state, data).state

    return train


def _watch(cluster: Any, count: int, run: Callable[[int], Any]) -> None:
    """Prints time and memory after every tenth of the rounds."""
    pids = [os.getpid(), *(worker.pid for worker in cluster.workers())]
    began, shown = time.perf_counter(), max(count // _ROWS, 1)
    _line(["round", "seconds", "this process, MB", "workers, MB"])
    for number in range(count):
        run(number)
        if number == 0 or (number + 1) % shown == 0:
            used = [f"{_resident(pid) / 1e6:.0f}" for pid in pids]
            seconds = f"{time.perf_counter() - began:.1f}"
            _line([f"{number + 1:,}", seconds, used[0], " and ".join(used[1:])])


def _line(cells: Iterable[str]) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


def _resident(pid: int) -> int:
    resident: int = psutil.Process(pid).memory_info().rss
    return resident


def main() -> None:
    """Runs what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_runs")
    parser.add_argument("run", choices=_SIZES)
    parser.add_argument("--rounds", type=int, help="how many; without, as documented")
    chosen = parser.parse_args()
    run = {"rounds": rounds, "clients": clients, "cohorts": cohorts}[chosen.run]
    run(chosen.rounds or _SIZES[chosen.run])


if __name__ == "__main__":
    main()
