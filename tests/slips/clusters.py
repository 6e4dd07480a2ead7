# SPDX-License-Identifier: Apache-2.0
"""Slips with clusters: workers that are gone or differ, and what cannot travel."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import remote
from fedlearn_edu.remote import roster, start, worker
from tests.remote.faults import until
from tests.slips.slip import slip

PLACED = [1.0, 2.0]


@fl.federated_computation(fl.type_at_clients(np.float32))
def total(x: Any) -> Any:
    return fl.federated_sum(x)


@contextmanager
def two_workers() -> Iterator[tuple[remote.Cluster, Any]]:
    with remote.local(2, processes=False, timeout=0.1) as cluster:
        yield cluster, cluster._dispatcher._client


@slip(380, ConnectionError, "worker 1", "lost", "run the cell again")
def a_call_when_all_workers_are_gone() -> None:
    with pytest.MonkeyPatch.context() as patch, two_workers() as (cluster, client):
        patch.setattr(roster, "now", lambda: "09:41:07")
        client.cluster.scale(0)
        until(lambda: not any(info.is_alive for info in cluster.workers()))
        total(PLACED)


@slip(381, ConnectionError, "numpy", "1.26", "all workers")
def workers_with_other_versions() -> None:
    with pytest.MonkeyPatch.context() as patch, two_workers() as (_, client):
        here = {"python": "3.13", "numpy": "2.1", "tensorflow": "2.19"}
        there = {"python": "3.11", "numpy": "1.26", "tensorflow": "2.19"}
        patch.setattr(start, "versions", lambda: here)
        patch.setattr(worker, "versions", lambda: there)
        remote.connect(client)


@slip(382, TypeError, "guarded", "lock", "inside of the function")
def a_function_that_holds_a_lock() -> None:
    lock = threading.Lock()

    def guarded(x: Any) -> Any:
        with lock:
            return x

    mapped = fl.np_computation(guarded, np.float32)
    with two_workers():
        fl.federated_map(mapped, fl.place(PLACED, fl.CLIENTS, np.float32))


@slip(383, ConnectionError, "changed", "client's id")
def a_loader_that_reads_the_clock() -> None:
    with two_workers() as (cluster, client):
        data = cluster.place(lambda _: time.perf_counter(), 2, np.float64)
        at_clients = fl.type_at_clients(np.float64)
        mean = fl.federated_computation(fl.federated_mean, at_clients)
        mean(data)
        client.run(forget_all)
        mean(data)


def forget_all(dask_worker: Any) -> None:
    store = dask_worker.handlers["fl_run"].__self__._store
    for key in store.list_keys():
        store.forget(key)


@slip(386, ConnectionError, "was closed")
def a_call_on_a_closed_cluster() -> None:
    with two_workers() as (cluster, _):
        pass
    with cluster.context:
        total(PLACED)


@slip(384, ConnectionError, "tcp://192.0.2.1:8786", "tls://")
def an_open_address_elsewhere() -> None:
    remote.connect("tcp://192.0.2.1:8786")
