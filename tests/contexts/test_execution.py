# SPDX-License-Identifier: Apache-2.0
"""`SyncExecutionContext`: in scripts, in threads, inside running event loops."""

import asyncio
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ContextError
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.framework import ExecutorFactory, SyncExecutionContext
from tests.executors.examples import CountingExecutor
from tests.programs import INT, INTS, in_another_process, increment

fw = fl.framework
SUM = fl.federated_computation(lambda v: fl.federated_sum(v), INTS)


def test_the_older_name_is_the_same_class() -> None:
    assert fw.ExecutionContext is fw.SyncExecutionContext


def test_it_works_inside_a_running_event_loop() -> None:
    async def notebook_cell() -> Any:
        return SUM([1, 2, 3])

    assert asyncio.run(notebook_cell()) == 6


class CallingBack(CountingExecutor):
    """An executor that makes a synchronous call, which it must not."""

    async def around(self, what: str, work: Any, subject: Any) -> Any:
        """Calls."""
        return SUM([1])


def test_on_a_loop_of_ours_a_synchronous_call_is_refused() -> None:
    factory = fw.local_executor_factory(leaf=CallingBack)
    with SyncExecutionContext(factory), pytest.raises(ContextError, match="await"):
        SUM([1, 2])


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


def test_a_function_argument_may_use_derived_intrinsics() -> None:
    at_server = fl.type_at_server(INT)
    program = fl.federated_computation(
        lambda f, v: f(v), fl.FunctionType(INTS, at_server), INTS
    )
    with SyncExecutionContext(fw.local_executor_factory()):
        assert program(SUM, [1, 2]) == 3


NOTEBOOK = """
import asyncio, sys
{before}
import numpy as np
import fedlearn_edu as fl
{after}
at_clients = fl.type_at_clients(np.int32)
total = fl.federated_computation(lambda v: fl.federated_sum(v), at_clients)

async def cell():
    {inside}
    other = asyncio.get_running_loop().run_until_complete(asyncio.sleep(0, "patched"))
    return int(total([1, 2, 3])), other

print(asyncio.run(cell()))
"""
PATCH = "import nest_asyncio; nest_asyncio.apply()"


@pytest.mark.parametrize("moment", ["before", "after", "inside"])
def test_a_patched_event_loop_does_no_harm(moment: str) -> None:
    """Old notebooks begin with this line; it must not matter when."""
    parts = {"before": "", "after": "", "inside": "", moment: PATCH}
    assert in_another_process(NOTEBOOK.format(**parts)) == "(6, 'patched')\n"


def test_a_patch_in_the_middle_of_a_session_does_no_harm() -> None:
    program = NOTEBOOK.format(
        before="",
        after="",
        inside=f"first = int(total([1])); {PATCH}; assert first == 1",
    )
    assert in_another_process(program) == "(6, 'patched')\n"
