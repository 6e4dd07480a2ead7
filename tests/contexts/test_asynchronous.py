# SPDX-License-Identifier: Apache-2.0
"""`AsyncExecutionContext`: a call is a coroutine."""

import asyncio
import inspect
import threading
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ArgumentsError, CardinalityError, TypeMismatchError
from fedlearn_edu.language import context_stack
from tests.executors.examples import run
from tests.programs import INTS, increment

fw = fl.framework
SUM = fl.federated_computation(lambda v: fl.federated_sum(v), INTS)


def context(**options: Any) -> Any:
    return fw.AsyncExecutionContext(fw.local_executor_factory(**options))


def test_a_call_returns_a_coroutine() -> None:
    with context():
        coroutine = increment(1)
        assert inspect.iscoroutine(coroutine)
        assert run(coroutine) == 2


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


def test_computations_can_be_defined_inside() -> None:
    async def program() -> Any:
        with context():
            double = fl.federated_computation(lambda x: x + x, np.int32)
            return await double(4)

    assert run(program()) == 8


def test_it_can_be_the_default_context() -> None:
    before = list(context_stack._default)
    fw.set_default_context(context())
    try:
        assert run(increment(1)) == 2
    finally:
        context_stack._default[:] = before


def test_a_synchronous_context_inside_an_asynchronous_one_waits() -> None:
    async def program() -> Any:
        with context():
            with fw.SyncExecutionContext(fw.local_executor_factory()):
                waited = increment(1)
            return waited, await increment(1)

    assert run(program()) == (2, 2)
