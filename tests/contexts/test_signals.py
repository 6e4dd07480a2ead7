# SPDX-License-Identifier: Apache-2.0
"""What a signal raises while a call runs is for whoever has set the signal up."""

import asyncio
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, InvalidStateError
from functools import partial
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    AsyncExecutionContext,
    ReferenceContext,
    SyncExecutionContext,
    local_executor_factory,
    thread_debugging_executor_factory,
)
from tests.executors.examples import threads_at_work, wait_for_threads
from tests.patience import PATIENCE_S
from tests.programs import local

F32 = fl.to_type(np.float32)
CONTEXTS: dict[str, Callable[[], Any]] = {
    "local": lambda: local(),
    "limited": lambda: SyncExecutionContext(local_executor_factory(), timeout=60),
    "groups of groups": lambda: local(max_fanout=2),
    "step by step": lambda: local(fuse=False),
    "on this thread": lambda: SyncExecutionContext(thread_debugging_executor_factory()),
    "async": lambda: AsyncExecutionContext(local_executor_factory()),
    "reference": ReferenceContext,
}


class Own(BaseException):
    pass


class Alarm:
    """Handlers of three kinds."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, *_: object) -> None:
        raise self.error

    def ring(self, *_: object) -> None:
        raise self.error


class Bell(Alarm):
    """Inherits what makes it a handler."""


def called(leaf: Any, data: list[float]) -> Any:
    program = fl.federated_computation(
        lambda v: fl.federated_map(leaf, v), fl.type_at_clients(F32)
    )

    async def wait_for(found: Any) -> Any:
        return await found

    found = program(data)
    return asyncio.run(wait_for(found)) if asyncio.iscoroutine(found) else found


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize(
    "error", [TimeoutError("mine"), RuntimeError(), SystemExit(3), Own()], ids=repr
)
def test_it_comes_through_unchanged_and_nothing_goes_on(
    context: str, error: BaseException
) -> None:
    began, over = [], threading.Event()

    def work(x: Any) -> Any:
        began.append(x)
        time.sleep(0.05)  # asyncio passes over a TimeoutError while it hands work on
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
        assert over.wait(PATIENCE_S)
        return x

    alarm = Alarm(error)
    handlers: list[Any] = [alarm, alarm.ring, partial(Alarm.ring, alarm)]
    before = signal.signal(signal.SIGALRM, handlers[len(context) % 3])
    try:
        with CONTEXTS[context](), pytest.raises(type(error)) as caught:
            called(fl.np_computation(work, F32, result=F32), [1.0] * 64)
    finally:
        over.set()
        signal.signal(signal.SIGALRM, before)
    assert caught.value is error
    assert not hasattr(error, "__notes__")
    wait_for_threads()
    assert len(began) < 64


@pytest.mark.parametrize(
    ("handler", "define", "type_"),
    [
        (Alarm, fl.np_computation, F32),
        (Bell, fl.np_computation, F32),
        (Alarm, fl.tf_computation, fl.SequenceType(F32)),
    ],
)
def test_it_comes_through_a_definition(
    handler: type[Alarm], define: Any, type_: Any
) -> None:
    """Where a body is tried on ones, or on what stands in for a dataset."""
    runs: list[Any] = []

    def work(x: Any) -> Any:
        if not runs:
            runs.append(x)
            signal.raise_signal(signal.SIGALRM)
        return x

    error = TimeoutError("mine")
    before = signal.signal(signal.SIGALRM, handler(error))
    try:
        with pytest.raises(TimeoutError) as caught:
            define(work, type_)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert caught.value is error


@pytest.mark.parametrize("context", ["local", "groups of groups", "reference"])
def test_ctrl_c_comes_through_leaf_code(context: str) -> None:
    """That of leaf code itself does not: it would end whoever calls it."""

    def pressed(x: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return x

    with CONTEXTS[context](), pytest.raises(KeyboardInterrupt):
        called(fl.np_computation(pressed, F32, result=F32), [1.0])


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("kind", [TimeoutError, CancelledError, InvalidStateError])
def test_leaf_code_may_raise_what_futures_raise(context: str, kind: Any) -> None:
    """Futures copy these errors, and leave out who raised them where."""

    def fail(x: Any) -> Any:
        raise error

    error = kind("mine")
    with CONTEXTS[context](), pytest.raises(kind) as caught:
        called(fl.np_computation(fail, F32, result=F32), [1.0])
    assert caught.value is error
    if context != "reference":
        assert error.__notes__ == ["  in the computation fail", "  at client 0"]


@pytest.mark.tensorflow
@pytest.mark.parametrize("fuse", [False, True])
def test_it_comes_through_tensorflow_at_once(fuse: bool) -> None:
    """Inside of a graph, the main thread would hear nothing."""
    from fedlearn_edu import tf

    @fl.tf_computation(F32)
    def takes_seconds(x: Any) -> Any:
        steps = tf.constant(500_000)
        count = tf.while_loop(lambda i: i < steps, lambda i: [i + 1], [0])[0]
        return x + tf.cast(count, tf.float32) * 0

    error = TimeoutError("mine")
    before = signal.signal(signal.SIGALRM, Alarm(error))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with local(fuse=fuse), pytest.raises(TimeoutError) as caught:
            called(takes_seconds, [1.0, 2.0, 3.0, 4.0])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert caught.value is error
    assert threads_at_work(), "the graph goes on"
    wait_for_threads()
