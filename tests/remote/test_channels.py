# SPDX-License-Identifier: Apache-2.0
"""The ways to a cluster that TFF programs know, and those that lead nowhere."""

import asyncio
import atexit
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.language import context_stack
from tests.programs import FLOATS, in_another_process

native = fl.backends.native


@fl.federated_computation(FLOATS)
def mean(x: Any) -> Any:
    return fl.federated_mean(x)


@fl.federated_computation
def heads() -> Any:
    return fl.federated_sum(fl.federated_value(np.float32(1), fl.CLIENTS))


@pytest.fixture(scope="module")
def running() -> Iterator[LocalCluster]:
    nowhere = "127.0.0.1:0"
    with LocalCluster(processes=False, dashboard_address=nowhere) as cluster:
        yield cluster


@pytest.fixture
def _default_context_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_stack, "_default", list(context_stack._default))


@pytest.fixture(autouse=True)
def _joined_clusters_are_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Else they are when the process ends, where this one's workers are gone."""
    with ExitStack() as left:
        monkeypatch.setattr(atexit, "register", left.callback)
        yield


@pytest.mark.parametrize("form", ["cluster", "list", "address", "client", "ours"])
def test_every_form_of_channels_leads_to_the_workers(
    running: LocalCluster, form: str
) -> None:
    with ExitStack() as stack:
        channels: Any = running
        match form:
            case "list":
                channels = [running]
            case "address":
                channels = running.scheduler_address
            case "client":
                channels = stack.enter_context(Client(running, set_as_default=False))
            case "ours":
                channels = stack.enter_context(fl.remote.connect(running))
        context = native.create_remote_python_execution_context(
            channels, default_num_clients=5, max_fanout=2
        )
        with context:
            assert (heads(), mean([1.0, 2.0, 6.0])) == (5, 3.0)


@pytest.mark.usefixtures("_default_context_comes_back")
def test_context_that_is_set_is_the_default_one(running: LocalCluster) -> None:
    native.set_remote_python_execution_context(running, default_num_clients=3)
    assert heads() == 3
    native.set_remote_async_python_execution_context(running, default_num_clients=4)
    assert asyncio.run(heads()) == 4
    native.set_local_execution_context(default_num_clients=2)
    assert heads() == 2
    native.set_sync_local_cpp_execution_context(3, max_concurrent_computation_calls=8)
    assert heads() == 3


def test_number_of_workers_is_started_once_and_ended_with_the_process() -> None:
    program = """
    import fedlearn_edu as fl
    if __name__ == "__main__":
        for channels in (2, [2]):
            fl.backends.native.set_remote_python_execution_context(channels)
            print(float(fl.federated_mean(fl.place([1.0, 3.0], fl.CLIENTS))))
        from multiprocessing import active_children
        print(len(active_children()))
    """
    assert in_another_process(program) == "2.0\n2.0\n2\n"


def test_address_may_be_in_the_environment(
    running: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TypeMismatchError, match="this is no cluster"):
        fl.remote.connect()
    monkeypatch.setenv("FEDLEARN_EDU_CLUSTER", running.scheduler_address)
    with fl.remote.connect() as cluster:
        assert cluster.address == running.scheduler_address
