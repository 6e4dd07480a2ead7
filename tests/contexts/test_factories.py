# SPDX-License-Identifier: Apache-2.0
"""Factories: their arguments, and the stacks they keep."""

import gc
import threading
import weakref
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import CardinalityError
from tests.executors.examples import CountingExecutor
from tests.patience import PATIENCE_S
from tests.programs import INTS, increment, seven

fw = fl.framework
EVALUATED = fl.federated_computation(lambda: fl.federated_eval(seven, fl.CLIENTS))


@pytest.mark.parametrize(
    ("name", "least"),
    [("default_num_clients", 0), ("max_fanout", 2), ("clients_per_thread", 1)],
)
def test_numbers_have_a_least_value(name: str, least: int) -> None:
    makers: list[Any] = [fw.local_executor_factory, fw.sizing_executor_factory]
    for make in makers:
        assert make(**{name: least}) is not None
        with pytest.raises(CardinalityError, match=name) as caught:
            make(**{name: least - 1})
        assert f"at least {least}" in str(caught.value.expected)


@pytest.mark.parametrize(
    "make",
    [
        fw.local_executor_factory,
        fw.sizing_executor_factory,
        fw.thread_debugging_executor_factory,
    ],
    ids=["local", "sizing", "thread debugging"],
)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_default_number_of_clients_is_only_a_default(make: Any, count: int) -> None:
    with fw.SyncExecutionContext(make(count)):
        assert EVALUATED() == [7] * count
        echo = fl.federated_computation(lambda v: v, INTS)
        assert echo([1, 2, 3, 4, 5]) == [1, 2, 3, 4, 5]


def test_a_debugging_stack_runs_on_one_thread() -> None:
    seen = set()

    @fl.np_computation
    def where() -> Any:
        seen.add(threading.get_ident())
        return 0

    program = fl.federated_computation(lambda: fl.federated_eval(where, fl.CLIENTS))
    seen.clear()
    with fw.SyncExecutionContext(fw.thread_debugging_executor_factory(8)):
        program()
    assert len(seen) == 1


def test_equal_numbers_of_clients_share_a_stack() -> None:
    factory = fw.local_executor_factory(default_num_clients=2)
    stack = factory.create_executor({fl.CLIENTS: 2})
    assert factory.create_executor({fl.CLIENTS: 2}) is stack
    assert factory.create_executor({}) is stack
    assert factory.create_executor({fl.CLIENTS: 3}) is not stack
    assert factory.create_executor({}, frozenset({"numpy"})) is not stack


def test_the_latest_ten_stacks_are_kept() -> None:
    factory = fw.local_executor_factory()
    stacks = [factory.create_executor({fl.CLIENTS: count}) for count in range(10)]
    assert factory.create_executor({fl.CLIENTS: 0}) is stacks[0]  # used again: young
    factory.create_executor({fl.CLIENTS: 10})
    assert factory.create_executor({fl.CLIENTS: 0}) is stacks[0]
    assert factory.create_executor({fl.CLIENTS: 1}) is not stacks[1]


def test_a_call_under_way_keeps_its_stack_when_it_is_thrown_away() -> None:
    begun, thrown_away = threading.Event(), threading.Event()
    made: list[Any] = []

    class Waiting(CountingExecutor):
        async def around(self, what: str, work: Any, subject: Any) -> Any:
            if what == "create_call":
                begun.set()
                assert thrown_away.wait(PATIENCE_S)
            return await super().around(what, work, subject)

    def leaf() -> Any:
        executor = fw.ThreadDelegatingExecutor(Waiting())
        made.append(weakref.ref(executor))
        return executor

    factory = fw.local_executor_factory(leaf=leaf)
    results: list[Any] = []

    def call() -> None:
        with fw.SyncExecutionContext(factory):
            results.append(increment(1))

    thread = threading.Thread(target=call)
    thread.start()
    assert begun.wait(PATIENCE_S)
    own = list(made)
    for count in range(1, 12):
        factory.create_executor({fl.CLIENTS: count})
    gc.collect()
    assert any(each() is not None for each in own)
    thrown_away.set()
    thread.join(PATIENCE_S)
    assert results == [2]
    gc.collect()
    assert [each() for each in own] == len(own) * [None]


def test_the_tape_tells_which_stacks_were_built_and_which_were_there() -> None:
    tape = fw.Tape()
    factory = fw.local_executor_factory(default_num_clients=1, tape=tape)
    for counts in ({fl.CLIENTS: 2}, {}, {fl.CLIENTS: 2}):
        factory.create_executor(counts)
    factory.clean_up_executor({})
    factory.create_executor({})
    events = [(e.what, e.detail) for e in tape if e.layer == "context"]
    assert events == [
        ("built", "2 clients"),
        ("built", "1 client"),
        ("reused", "2 clients"),
        ("built", "1 client"),
    ]


def test_cleaning_up_closes_and_forgets() -> None:
    made: list[CountingExecutor] = []

    def leaf() -> CountingExecutor:
        made.append(CountingExecutor())
        return made[-1]

    factory = fw.local_executor_factory(leaf=leaf)
    stack = factory.create_executor({fl.CLIENTS: 1})
    other = factory.create_executor({fl.CLIENTS: 2})
    own = len(made)
    factory.clean_up_executor({fl.CLIENTS: 1})
    assert [executor.times_closed for executor in made].count(1) == 3
    assert factory.create_executor({fl.CLIENTS: 1}) is not stack
    assert len(made) > own
    assert factory.create_executor({fl.CLIENTS: 2}) is other
    factory.clean_up_executor({fl.CLIENTS: 5})  # nothing there: fine
