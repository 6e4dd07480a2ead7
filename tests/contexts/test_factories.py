# SPDX-License-Identifier: Apache-2.0
"""Factories: their arguments, the stacks they build and those they keep."""

import gc
import threading
import weakref
from collections import Counter
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import CardinalityError
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.federating import implements
from fedlearn_edu.runtimes.registry import RUNTIMES, Runtime, leaf_executor
from tests.executors.examples import CountingExecutor, Plain
from tests.patience import PATIENCE_S
from tests.programs import INTS, NUMBERS, in_another_process, increment, local, seven

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


# ----------------------------------------
# Which executors are wrapped in which, for how many clients, and what is the leaf


INCREMENTED = fl.federated_computation(lambda v: fl.federated_map(increment, v), INTS)


def layers(program: Any, *arguments: Any, **options: Any) -> set[tuple[str, str]]:
    """The layers a run of a program went through, and at whom."""
    tape = fw.Tape()
    with local(tape=tape, **options):
        program(*arguments)
    pairs = {(event.layer, event.participant) for event in tape}
    return pairs - {("context", "all")}


def test_a_flat_stack_has_a_participant_for_everybody() -> None:
    assert layers(INCREMENTED, [1, 2]) == {
        ("reference_resolving", "all"),
        ("federating", "all"),
        ("participant", "clients[0]"),
        ("participant", "clients[1]"),
        ("leaf", "clients[0]"),
        ("leaf", "clients[1]"),
    }


def test_unplaced_work_has_a_participant_of_its_own() -> None:
    assert ("leaf", "unplaced") in layers(increment, 1)


@pytest.mark.parametrize("support", [True, False])
def test_sequence_support_is_one_more_layer(support: bool) -> None:
    program = fl.federated_computation(lambda s: s, NUMBERS)
    found = layers(program, [1, 2], support_sequence_ops=support)
    assert (("sequence", "unplaced") in found) is support


def strategies(executor: Any) -> Counter[str]:
    """How many strategies of each kind are in a stack."""
    found: Counter[str] = Counter()
    todo, seen = [executor], set()
    while todo:
        node = todo.pop()
        if id(node) in seen or not hasattr(node, "__dict__"):
            continue
        seen.add(id(node))
        found[type(node).__name__] += isinstance(node, fw.FederatingStrategy)
        for value in vars(node).values():
            values = value.values() if isinstance(value, dict) else [value]
            for item in values:
                parts = item if isinstance(item, list | tuple) else [item]
                todo += [
                    part
                    for part in parts
                    if isinstance(part, Executor | fw.FederatingStrategy)
                ]
    return Counter({name: n for name, n in found.items() if n})


@pytest.mark.parametrize(
    ("clients", "fanout", "flat", "composing"),
    [
        (0, 2, 1, 0),
        (1, 2, 1, 0),
        (2, 3, 1, 0),
        # From max_fanout on there are groups, be it only one.
        (2, 2, 1, 1),
        (3, 3, 1, 1),
        (3, 2, 2, 1),
        (4, 3, 2, 1),
        (5, 2, 3, 3),
        (9, 3, 3, 1),
        (10, 3, 4, 3),
        (100, 100, 1, 1),
        (99, 100, 1, 0),
    ],
)
def test_many_clients_are_put_into_groups_of_groups(
    clients: int, fanout: int, flat: int, composing: int
) -> None:
    factory = fw.local_executor_factory(max_fanout=fanout)
    stack = factory.create_executor({fl.CLIENTS: clients})
    found = strategies(stack)
    # A server above groups works as a flat strategy without clients.
    assert found["FederatedResolvingStrategy"] == flat + composing
    assert found["FederatedComposingStrategy"] == composing


@pytest.mark.parametrize("default", [0, 3])
def test_the_default_number_of_clients_decides_too(default: int) -> None:
    """differs: there, only a number taken from an argument made a hierarchy."""
    factory = fw.local_executor_factory(default, max_fanout=2)
    found = strategies(factory.create_executor({}))
    assert ("FederatedComposingStrategy" in found) is (default >= 2)


def threads_of_clients(clients: int, **options: Any) -> list[int]:
    """The number of the thread each client works on, in the order of first use."""
    where = fl.np_computation(lambda: np.int64(threading.get_ident()))
    program = fl.federated_computation(lambda: fl.federated_eval(where, fl.CLIENTS))
    with local(clients, **options):
        threads = [int(thread) for thread in program()]
    return [list(dict.fromkeys(threads)).index(thread) for thread in threads]


@pytest.mark.parametrize(
    ("clients", "options", "threads"),
    [
        (1, {}, [0]),
        (2, {}, [0, 1]),
        (7, {}, [0, 1, 2, 0, 1, 2, 0]),
        (7, {"clients_per_thread": 4}, [0, 1, 0, 1, 0, 1, 0]),
        (7, {"clients_per_thread": 7}, [0] * 7),
        (7, {"use_threads": False}, [0] * 7),
    ],
    ids=str,
)
def test_clients_are_dealt_out_to_at_most_one_thread_per_core(
    clients: int, options: Any, threads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    monkeypatch.setitem(RUNTIMES, "numpy", Runtime(fw.NumPyExecutor))
    assert threads_of_clients(clients, **options) == threads


def test_clients_whose_code_cannot_run_side_by_side_share_a_thread() -> None:
    assert threads_of_clients(7) == [0] * 7


class Frugal(Plain):
    """A strategy that can do one thing, made the way a factory expects."""

    def __init__(self, clients: int) -> None:
        self.clients = clients

    @staticmethod
    def factory(target_executors: Any) -> Any:
        """Counts the clients."""
        count = len(target_executors[fl.CLIENTS])
        return lambda executor: Frugal(count)

    @implements("federated_sum")
    async def _sum(self, type_: Any, value: Any) -> Any:
        return np.int32(sum(value.representation) * 100 + self.clients)


def test_another_strategy_takes_the_place_of_the_flat_one() -> None:
    total = fl.federated_computation(lambda v: fl.federated_sum(v), INTS)
    with local(strategy=Frugal, max_fanout=2):
        assert total([1, 2, 3]) == 603


def test_what_a_stack_implements_is_what_its_layers_implement() -> None:
    flat = fw.local_executor_factory(max_fanout=3)
    few, many = flat.native({fl.CLIENTS: 2}), flat.native({fl.CLIENTS: 3})
    assert "federated_map" in few & many
    assert "federated_reduce" in few - many  # only one group folds without merging
    assert "sequence_map" not in few
    with_sequences = fw.local_executor_factory(support_sequence_ops=True)
    assert {"sequence_map", "sequence_reduce"} <= with_sequences.native({})
    assert fw.local_executor_factory(strategy=Frugal).native({}) == {"federated_sum"}


@pytest.mark.parametrize("runtimes", [set(), {"numpy"}], ids=str)
@pytest.mark.parametrize("leaf", [None, "numpy"])
def test_numpy_is_what_nobody_has_to_ask_for(leaf: Any, runtimes: Any) -> None:
    assert isinstance(leaf_executor(leaf, frozenset(runtimes)), fw.NumPyExecutor)


PROGRAM = """
import sys
import numpy as np
import fedlearn_edu as fl

half = fl.np_computation(lambda x: x / np.float32(2), np.float32)
at_clients = fl.type_at_clients(np.float32)
sequences = fl.type_at_clients(fl.SequenceType(np.float32))

@fl.federated_computation(at_clients, sequences)
def program(v, s):
    mapped = fl.sequence_map(half, s)
    return [fl.federated_mean(fl.federated_map(half, v)), fl.sequence_sum(mapped)]

mean, sums = program([2, 4], [[1, 2], [4]])
print([float(x) for x in [mean, *sums]])
print(sorted(name for name in sys.modules if name in ("tensorflow", "keras")))
"""


def test_a_numpy_program_never_loads_tensorflow() -> None:
    assert in_another_process(PROGRAM) == "[1.5, 1.5, 2.0]\n[]\n"
