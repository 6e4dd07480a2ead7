# SPDX-License-Identifier: Apache-2.0
"""Synchronous and asynchronous contexts, and the event loops under them."""

import asyncio
import threading
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ArgumentsError, CardinalityError, TypeMismatchError
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.framework import ExecutorFactory, SyncExecutionContext
from tests.executors.examples import run
from tests.programs import INT, INTS, at_once, in_another_process, increment, local

fw = fl.framework
SUM = fl.federated_computation(lambda v: fl.federated_sum(v), INTS)


def test_the_older_name_is_the_same_class() -> None:
    assert fw.ExecutionContext is fw.SyncExecutionContext


def test_it_works_inside_a_running_event_loop() -> None:
    async def notebook_cell() -> Any:
        return SUM([1, 2, 3])

    assert asyncio.run(notebook_cell()) == 6


def test_numpy_runs_on_the_thread_of_its_caller() -> None:
    """Ctrl-C and debuggers reach it."""
    leaf = fl.np_computation(lambda: np.int64(threading.get_ident()))

    async def notebook_cell() -> Any:
        return leaf()

    assert leaf() == asyncio.run(notebook_cell()) == threading.get_ident()
    with fl.timeout(60):
        assert leaf() != threading.get_ident()


@pytest.mark.parametrize("seconds", [None, 60])
def test_leaf_code_may_call_and_so_may_threads_of_it(seconds: float | None) -> None:
    def ask(x: Any) -> Any:
        with local():
            return [SUM([x, x]), *at_once(lambda _: double_sum([x]), range(2))][-1]

    def double_sum(data: Any) -> Any:
        with local():
            return SUM(data * 2)

    leaf = fl.np_computation(ask, np.int32, result=np.int32)
    everywhere = fl.federated_computation(lambda v: fl.federated_map(leaf, v), INTS)
    with SyncExecutionContext(fw.local_executor_factory(), timeout=seconds):
        assert everywhere([1, 2]) == [2, 4]


class CountingFactory(ExecutorFactory):
    """Counts the stacks it is asked for."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.inner = fw.local_executor_factory()

    def create_executor(
        self, cardinalities: Any, runtimes: frozenset[str] = frozenset()
    ) -> Executor:
        """Notes the cardinalities."""
        self.asked.append((dict(cardinalities), set(runtimes)))
        return self.inner.create_executor(cardinalities, runtimes)

    def clean_up_executor(self, cardinalities: Any) -> None:
        """Passes on."""
        self.inner.clean_up_executor(cardinalities)

    def native(self, cardinalities: Any) -> frozenset[str]:
        """Passes on."""
        return self.inner.native(cardinalities)


def test_the_factory_is_told_how_many_there_are_and_what_they_run() -> None:
    factory = CountingFactory()
    mapped = fl.federated_computation(lambda v: fl.federated_map(increment, v), INTS)
    with SyncExecutionContext(factory):
        mapped([1, 2])
        SUM([1])
        increment(1)
    assert factory.asked == [
        ({fl.CLIENTS: 2}, {"numpy"}),
        ({fl.CLIENTS: 1}, set()),
        ({}, {"numpy"}),
    ]


def test_runtimes_of_function_arguments_count_too() -> None:
    factory = CountingFactory()
    twice = fl.federated_computation(lambda f: f(f(1)), fl.FunctionType(INT, INT))
    with SyncExecutionContext(factory):
        assert twice(increment) == 3
    assert factory.asked == [({}, {"numpy"})]


NOTEBOOK = """
import asyncio, sys
{before}
import numpy as np
import fedlearn_edu as fl
at_clients = fl.type_at_clients(np.int32)
total = fl.federated_computation(lambda v: fl.federated_sum(v), at_clients)

async def cell():
    {inside}
    other = asyncio.get_running_loop().run_until_complete(asyncio.sleep(0, "patched"))
    return int(total([1, 2, 3])), other

print(asyncio.run(cell()))
"""
PATCH = "import nest_asyncio; nest_asyncio.apply()"


def test_a_patched_event_loop_does_no_harm() -> None:
    """Old notebooks begin with this line."""
    program = NOTEBOOK.format(before=PATCH, inside="")
    assert in_another_process(program) == "(6, 'patched')\n"


def test_a_patch_in_the_middle_of_a_session_does_no_harm() -> None:
    program = NOTEBOOK.format(
        before="", inside=f"first = int(total([1])); {PATCH}; assert first == 1"
    )
    assert in_another_process(program) == "(6, 'patched')\n"


# ----------------------------------------
# `AsyncExecutionContext`: a call is a coroutine


def context(**options: Any) -> Any:
    return fw.AsyncExecutionContext(fw.local_executor_factory(**options))


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_arguments_are_awaited_first() -> None:
    with context():
        for call in (increment(increment(1)), SUM([increment(1)]), SUM(increment(1))):
            with pytest.raises(TypeError, match=r"a coroutine[^$]*await it first"):
                run(call)


@fl.np_computation(np.int32)
def meet(x: Any) -> Any:
    if x > 1:
        meeting.wait()
    return x


meeting = threading.Barrier(2)


def test_several_calls_are_under_way_at_once() -> None:
    async def program() -> Any:
        with context():
            return await asyncio.gather(meet(5), meet(6))

    assert run(program()) == [5, 6]


def test_different_numbers_of_clients_do_not_meet() -> None:
    async def program() -> Any:
        with context():
            return await asyncio.gather(*(SUM([1] * count) for count in range(5)))

    assert run(program()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: increment("a"), TypeMismatchError),
        (lambda: SUM(5), TypeMismatchError),
        (
            lambda: fl.federated_computation(lambda v, w: v, INTS, INTS)([1], [1, 2]),
            CardinalityError,
        ),
    ],
)
def test_errors_come_when_it_is_awaited(call: Any, error: type[Exception]) -> None:
    with context():
        coroutine = call()
        with pytest.raises(error):
            run(coroutine)


def test_arguments_are_packed_at_once() -> None:
    with context(), pytest.raises(ArgumentsError, match="takes one argument"):
        increment(1, 2)


def test_a_synchronous_context_inside_an_asynchronous_one_waits() -> None:
    async def program() -> Any:
        with context():
            with local():
                waited = increment(1)
            return waited, await increment(1)

    assert run(program()) == (2, 2)
