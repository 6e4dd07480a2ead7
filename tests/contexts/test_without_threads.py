# SPDX-License-Identifier: Apache-2.0
"""Calls where there are no threads, as in a browser."""

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import framework
from fedlearn_edu.errors import ComputationTimeoutError
from fedlearn_edu.testing import cases
from fedlearn_edu.testing.comparison import difference
from tests.conformance.stacks import SMOKE
from tests.executors.examples import run
from tests.programs import in_another_process, local

I32 = fl.to_type(np.int32)
INTS = fl.type_at_clients(I32)
SUM = fl.federated_computation(lambda v: fl.federated_sum(v), INTS)


@pytest.fixture(autouse=True)
def browser(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Poses as one; every call has a stack of its own, and nobody starts a thread."""
    monkeypatch.setenv("FEDLEARN_EDU_PLATFORM", "emscripten")
    factory = framework.local_executor_factory(support_sequence_ops=True)
    before = set(threading.enumerate())
    with framework.SyncExecutionContext(factory):
        yield
    factory.close()
    assert set(threading.enumerate()) <= before  # (others may end meanwhile)


def sleeping(seconds: float) -> Any:
    def work(x: Any) -> Any:
        time.sleep(seconds)
        return x

    return fl.np_computation(work, I32, result=I32)


@pytest.mark.parametrize(
    "case",
    [each for each in cases("numpy") if each.name in SMOKE],
    ids=lambda case: case.name,
)
@pytest.mark.parametrize("max_fanout", [100, 2])
def test_every_intrinsic_runs(case: Any, max_fanout: int) -> None:
    with local(max_fanout=max_fanout, support_sequence_ops=True):
        assert difference(case.run(), case.expected) is None


def test_a_call_inside_a_running_loop_leaves_it_as_it_was() -> None:
    async def program() -> Any:
        before = asyncio.current_task(), asyncio.get_running_loop()
        found = SUM([1, 2])
        assert (asyncio.current_task(), asyncio.get_running_loop()) == before
        await asyncio.sleep(0)
        return found

    assert run(program()) == 3


def test_coroutines_are_awaited_at_the_top_level() -> None:
    async def program() -> Any:
        with framework.AsyncExecutionContext(framework.local_executor_factory()):
            return await asyncio.gather(SUM([1, 2]), SUM([3, 4]))

    assert run(program()) == [3, 7]


def test_a_generator_may_call_while_it_is_read() -> None:
    def elements() -> Iterator[Any]:
        for number in range(3):
            yield double(number)

    double = fl.np_computation(lambda x: x + x, I32)
    total = fl.np_computation(lambda s: np.int32(sum(s)), fl.SequenceType(I32))
    assert total(elements) == total(elements()) == 6


def test_leaf_code_may_call() -> None:
    def ask(x: Any) -> Any:
        with local():
            return SUM([x, x])

    assert fl.np_computation(ask, I32, result=I32)(1) == 2


def test_a_limit_counts_what_is_slept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser's own lets the page go on, which has no limit."""

    def sleep(seconds: float) -> None:
        raise AssertionError("would never end")

    slept: list[float] = []
    sleep.__wrapped__ = slept.append  # type: ignore[attr-defined]
    monkeypatch.setattr(time, "sleep", sleep)
    with fl.timeout(60):
        assert sleeping(0.5)(3) == 3
    assert slept == [0.5]
    assert time.sleep is sleep


def test_a_thread_delegating_executor_stays_on_the_callers_thread() -> None:
    executor = framework.ThreadDelegatingExecutor(framework.NumPyExecutor())

    async def embed() -> Any:
        return await (await executor.create_value(5, I32)).compute()

    assert run(embed()) == 5


def test_an_interrupt_goes_through_leaf_code() -> None:
    def pressed(x: Any) -> Any:
        if x:
            raise KeyboardInterrupt
        return x

    with pytest.raises(KeyboardInterrupt):
        fl.np_computation(pressed, I32, result=I32)(1)
    assert SUM([1, 2]) == 3


def test_what_returns_too_late_is_too_late() -> None:
    leaf = sleeping(0.02)
    with (
        fl.timeout(0.01),
        pytest.raises(ComputationTimeoutError, match=r"within 0\.01 s") as caught,
    ):
        leaf(1)
    assert "its thread" not in str(caught.value)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")
def test_time_limit_names_the_client_that_hangs() -> None:
    def stay(x: Any) -> Any:
        while x > 6:
            pass
        return x

    leaf = fl.np_computation(stay, I32)
    everywhere = fl.federated_computation(lambda v: fl.federated_map(leaf, v), INTS)
    with (
        fl.timeout(0.05),
        pytest.raises(ComputationTimeoutError, match="stay at client 1"),
    ):
        everywhere([1, 7])
    assert everywhere([1, 2]) == [1, 2]


NO_TENSORFLOW = """
import os, sys
os.environ["FEDLEARN_EDU_PLATFORM"] = "emscripten"
import fedlearn_edu as fl, numpy as np
try:
    from fedlearn_edu import tf
except ImportError as error:
    print(error)
try:
    fl.tf_computation
except fl.FedLearnError as error:
    print(type(error).__name__)
try:
    fl.remote
except ImportError as error:
    print(error)
mean = fl.federated_computation(fl.federated_mean, fl.type_at_clients(np.float32))
print(mean([1, 2]), "tensorflow" in sys.modules)
"""


def test_what_is_not_there_says_what_to_do_and_tensorflow_is_not_looked_for() -> None:
    assert in_another_process(NO_TENSORFLOW).splitlines() == [
        "this needs TensorFlow",
        "  expected: TensorFlow, installed",
        "  found:    Python in a browser, for which there is none",
        "  do:       write it in NumPy, as an np_computation; or work on your own "
        "computer",
        "NoTensorFlowError",
        "fedlearn_edu.remote needs other processes, and connections to them",
        "  expected: Python on a computer",
        "  found:    Python in a browser, which has neither",
        "  do:       run it here with local_executor_factory(), or work on your own "
        "computer",
        "1.5 False",
    ]
