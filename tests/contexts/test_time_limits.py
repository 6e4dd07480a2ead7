# SPDX-License-Identifier: Apache-2.0
"""Calls that take too long, or that nobody waits for any more."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import wait
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.contexts import calls, clock
from fedlearn_edu.errors import ComputationTimeoutError, ContextError
from fedlearn_edu.framework import (
    AsyncExecutionContext,
    SyncExecutionContext,
    local_executor_factory,
    thread_debugging_executor_factory,
)
from fedlearn_edu.runtimes.registry import RUNTIMES, Runtime
from tests.executors.examples import run, wait_for_threads
from tests.patience import PATIENCE_S
from tests.programs import local

F32 = fl.to_type(np.float32)
HANGS = np.float32(7)


class Hanging:
    """Leaf code that does not end at one of the clients, until it is let go."""

    def __init__(self) -> None:
        self.hangs, self.go = threading.Event(), threading.Event()
        self.began: list[float] = []

    def stay(self, x: Any) -> Any:
        self.began.append(float(x))
        if x == HANGS:
            self.hangs.set()
            assert self.go.wait(60)
        return x

    def everywhere(self) -> Any:
        leaf = fl.np_computation(self.stay, F32)
        self.began.clear()
        mapped = lambda v: fl.federated_map(leaf, v)  # noqa: E731
        return fl.federated_computation(mapped, fl.type_at_clients(F32))


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    one = Hanging()
    yield one
    one.go.set()
    wait_for_threads()


@pytest.fixture
def no_clock(hanging: Hanging, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is up as soon as the leaf code hangs."""

    def wait_in_time(futures: Any, timeout: float | None = None) -> Any:
        if timeout != 5:
            return wait(futures, timeout)
        assert hanging.hangs.wait(60)
        return wait(futures, 0)

    monkeypatch.setattr(calls, "wait", wait_in_time)


def test_other_tasks_go_on_while_leaf_code_runs(hanging: Hanging) -> None:
    everywhere = hanging.everywhere()

    async def program() -> Any:
        with AsyncExecutionContext(local_executor_factory()):
            call = asyncio.create_task(everywhere([1.0, HANGS]))
            await asyncio.to_thread(hanging.hangs.wait, 60)
            assert await everywhere([2.0]) == [2.0]
            hanging.go.set()
            return await call

    assert run(program()) == [1.0, 7.0]


def test_who_cancels_is_free_at_once_and_no_other_client_starts(
    hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a call that was given up keep the turn of the next one."""
    monkeypatch.setattr(calls, "_AT_ONCE", 1)
    everywhere = hanging.everywhere()

    async def program() -> None:
        with AsyncExecutionContext(local_executor_factory()):
            call = asyncio.create_task(everywhere([1.0, HANGS, 2.0]))
            await asyncio.to_thread(hanging.hangs.wait, 60)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(everywhere([HANGS, 3.0]), 0.01)
            assert not hanging.go.is_set()
            assert await everywhere([4.0, 5.0]) == [4.0, 5.0]

    run(program())
    hanging.go.set()
    wait_for_threads()
    assert not {2.0, 3.0} & set(hanging.began)


@pytest.mark.usefixtures("no_clock")
@pytest.mark.parametrize("max_fanout", [100, 2])
@pytest.mark.parametrize("context", [SyncExecutionContext, AsyncExecutionContext])
def test_time_limit_names_the_client_that_hangs(
    hanging: Hanging, context: Any, max_fanout: int
) -> None:
    everywhere = hanging.everywhere()

    async def wait_for(call: Any) -> Any:
        return await call

    def call(data: Any) -> Any:
        found = everywhere(data)
        return run(wait_for(found)) if context is AsyncExecutionContext else found

    factory = local_executor_factory(max_fanout=max_fanout)
    with context(factory, timeout=5), pytest.raises(ComputationTimeoutError) as caught:
        call([1.0, 2.0, HANGS, 3.0])
    assert isinstance(caught.value, TimeoutError)
    assert str(caught.value).splitlines()[:3] == [
        "lambda did not end in time",
        "  expected: a result within 5 s",
        "  found:    still running: stay at client 2",
    ]


@pytest.mark.usefixtures("no_clock")
def test_threads_that_hang_hold_up_no_later_call(
    hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RUNTIMES, "numpy", Runtime(fl.framework.NumPyExecutor))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    everywhere = hanging.everywhere()
    with local():
        for _ in range(3):
            hanging.hangs.clear()
            with fl.timeout(5), pytest.raises(ComputationTimeoutError, match="at clie"):
                everywhere([HANGS, HANGS, HANGS])
            assert everywhere([1.0, 2.0, 3.0]) == [1.0, 2.0, 3.0]


def test_an_error_that_is_about_time_is_no_time_limit() -> None:
    def fail(x: Any) -> Any:
        if x == HANGS:
            raise TimeoutError("mine")
        return x

    leaf = fl.np_computation(fail, F32)
    with fl.timeout(60), pytest.raises(TimeoutError, match="mine") as caught:
        leaf(HANGS)
    assert not isinstance(caught.value, ComputationTimeoutError)


def test_a_call_on_your_own_thread_cannot_be_given_up() -> None:
    factory = thread_debugging_executor_factory()
    with pytest.raises(ContextError, match="on your own thread"):
        AsyncExecutionContext(factory, timeout=1)
    leaf = fl.np_computation(lambda x: x, F32)
    with SyncExecutionContext(factory), fl.timeout(1), pytest.raises(ContextError):
        leaf(1.0)


# ----------------------------------------
# A time limit that looks at the clock, in a Python that can


PROGRAM = """
import importlib.util, sys, threading, time
from contextlib import contextmanager
from weakref import WeakSet
spec = importlib.util.spec_from_file_location("clock", sys.argv[1])
clock = importlib.util.module_from_spec(spec)
spec.loader.exec_module(clock)

def endless():
    while True:
        pass

def recursive():
    for _ in iter(int, 1):
        (lambda: None)()

def stubborn():
    while True:
        try:
            endless()
        except BaseException:
            pass

def collecting():
    class Thing:
        pass
    held = WeakSet()
    while True:
        held.add(Thing())

def elsewhere():
    def count():
        for _ in range(1000):
            time.sleep(0.0001)
        done.append(True)
    done = []
    thread = threading.Thread(target=count)
    thread.start()
    thread.join()
    assert done

@contextmanager
def holding():
    held.append("held")
    try:
        yield
    finally:
        held.clear()

def leaving():
    with holding():
        time.sleep(0.1)  # what begins next is the end of the block
    endless()

def within():
    with clock.Limit(60, lambda: ValueError("inner")):
        endless()

def inner():
    try:
        with clock.Limit(0.02, lambda: ValueError("inner")):
            endless()
    except ValueError as error:
        print(error, end=" ")

def late():
    for _ in range(100):  # also code that is called now is not interrupted
        pass
    return KeyError("late")

held = []
for limited in (
    endless, recursive, stubborn, collecting, elsewhere, leaving, within
):
    try:
        with clock.Limit(0.05, late):
            limited()
        print("no limit")
    except KeyError as error:
        print(limited.__name__, *held)
with clock.Limit(60, late):
    inner()
with clock.Limit(None, late):
    pass
print(sys.monitoring.get_tool(4))
"""


def _able() -> str | None:
    """A Python that has `sys.monitoring`; it needs no packages."""
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    others = map(str, installed.glob("versions/3.1[2-9]*/bin/python"))
    for python in [sys.executable, which("python3"), *others]:
        if python is None:
            continue
        found = subprocess.run(
            [python, "-c", "import sys; sys.monitoring"],
            capture_output=True,
            check=False,
        )
        if not found.returncode:
            return python
    return None


def test_every_kind_of_endless_code_ends() -> None:
    python = _able()
    if python is None:
        pytest.skip("no Python from 3.12 on is installed")
    file = str(Path(clock.__file__))
    done = subprocess.run(
        [python, "-c", PROGRAM, file],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
    )
    names = "endless recursive stubborn collecting elsewhere leaving within"
    found = done.stderr, done.stdout.split()
    assert found == ("", [*names.split(), "inner", "None"])
