# SPDX-License-Identifier: Apache-2.0
"""The strategy of groups, over a runtime that is a Python loop and keeps a diary."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.batched import (
    BatchedRuntime,
    Declined,
    Entries,
    Group,
    Parts,
    Same,
)
from fedlearn_edu.framework import SyncExecutionContext, Tape
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.runtimes.registry import RUNTIMES, Runtime
from fedlearn_edu.structure import Struct
from tests.programs import INTS, add, increment, local, mapped, total


class Diary(BatchedRuntime):
    """Runs leaf code in a loop; declines what is written on its list."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, int]] = []
        self.declines: set[str] = set()
        self.threads: set[threading.Thread] = set()

    def map(self, function: ir.Node, group: Group) -> Sequence[Any]:
        self.threads.add(threading.current_thread())
        if "map" in self.declines or not isinstance(function, ir.Leaf):
            raise Declined("by hand")
        self.entries.append(("map", group.count))
        return [function.code(_member(group.held, i)) for i in range(group.count)]

    def fold(
        self, function: ir.Node, group: Group, zero: Any, accumulate: ir.Node
    ) -> Any:
        if "fold" in self.declines or not isinstance(function, ir.Leaf):
            raise Declined("by hand")
        self.entries.append(("fold", group.count))
        for i in range(group.count):
            item = function.code(_member(group.held, i))
            assert isinstance(accumulate, ir.Leaf)
            zero = accumulate.code(Struct.unnamed(zero, item))
        return zero


def _member(held: Any, index: int) -> Any:
    match held:
        case Entries(values=values):
            return values[index]
        case Same(value=value):
            return value
        case Parts(fields=fields):
            return fields.map(lambda part: _member(part, index))


@pytest.fixture
def diary(monkeypatch: pytest.MonkeyPatch) -> Diary:
    """NumPy code runs together while this is in use."""
    diary = Diary()
    together = Runtime(fl.framework.NumPyExecutor, batched=lambda: diary)
    monkeypatch.setitem(RUNTIMES, "numpy", together)
    return diary


def run(program: Any, *arguments: Any, **options: Any) -> Any:
    """The result on a stack that is not shared with other tests."""
    with local(**options):
        return program(*arguments)


MAPPED = fl.federated_computation(lambda v: fl.federated_map(increment, v), INTS)


def test_all_clients_are_mapped_in_one_call(diary: Diary) -> None:
    assert run(MAPPED, [1, 2, 3]) == [2, 3, 4]
    assert diary.entries == [("map", 3)]


def test_each_group_is_one_call(diary: Diary) -> None:
    assert run(MAPPED, [1, 2, 3, 4, 5], max_fanout=2) == [2, 3, 4, 5, 6]
    assert sorted(diary.entries) == [("map", 1), ("map", 2), ("map", 2)]


def test_what_the_runtime_declines_is_done_one_by_one(diary: Diary) -> None:
    diary.declines, tape = {"map"}, Tape()
    assert run(MAPPED, [1, 2, 3], tape=tape) == [2, 3, 4]
    assert diary.entries == []
    assert "increment, 3 clients: by hand" in [event.detail for event in tape]


def test_nobody_is_no_group(diary: Diary) -> None:
    assert run(MAPPED, []) == []
    assert diary.entries == []


def test_results_of_a_call_are_the_data_of_the_next(diary: Diary) -> None:
    def body(v: Any) -> Any:
        return fl.federated_map(increment, fl.federated_map(increment, v))

    assert run(fl.federated_computation(body, INTS), [1, 2]) == [3, 4]
    assert diary.entries == [("map", 2), ("map", 2)]


def test_what_is_equal_for_all_is_held_once(diary: Diary) -> None:
    def body(v: Any, k: Any) -> Any:
        return fl.federated_map(add, (v, fl.federated_broadcast(k)))

    program = fl.federated_computation(body, INTS, fl.type_at_server(np.int32))
    assert run(program, [1, 2], 10) == [11, 12]
    assert diary.entries == [("map", 2)]


def test_results_may_be_folded_elsewhere(diary: Diary) -> None:
    program = fl.federated_computation(
        lambda v: fl.federated_sum(fl.federated_map(increment, v)), INTS
    )
    assert run(program, [1, 2, 3]) == 9
    assert run(program, [1, 2, 3], max_fanout=2) == 9
    assert ("map", 3) in diary.entries


def test_sequences_are_data_of_a_group(diary: Diary) -> None:
    program = mapped(total)
    assert run(program, [[1, 2], [3]]) == [3, 3]
    assert diary.entries == [("map", 2)]


def test_a_group_is_seen_on_the_tape(diary: Diary) -> None:
    tape = Tape()
    run(MAPPED, [1, 2, 3], tape=tape)
    [event] = [event for event in tape if event.what == "batched_call"]
    assert event.detail == "increment, 3 clients"
    assert event.type == "(int32 -> int32)"


def test_step_by_step_nobody_works_together(diary: Diary) -> None:
    assert run(MAPPED, [1, 2, 3], fuse=False) == [2, 3, 4]
    assert diary.entries == []


def test_whoever_counts_bytes_sees_every_client(diary: Diary) -> None:
    factory = fl.framework.sizing_executor_factory()
    with SyncExecutionContext(factory):
        MAPPED([1, 2, 3])
    assert diary.entries == []
    assert factory.get_size_info().bytes_up == 12


def test_whether_a_group_failed_is_no_question_of_names(
    diary: Diary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(function: ir.Node, group: Group) -> Any:
        raise ValueError("for all")

    @fl.np_computation(np.int32)
    def failed_logins(x: Any) -> Any:
        return x

    program = mapped(failed_logins)
    tape = Tape(keep_values=True)
    assert run(program, [1, 2], tape=tape) == [1, 2]
    [event] = [event for event in tape if event.what == "batched_call"]
    assert (event.error, event.detail) == ("", "failed_logins, 2 clients")
    monkeypatch.setattr(diary, "map", fail)
    assert run(program, [1, 2], tape=tape) == [1, 2]
    [_, event] = [event for event in tape if event.what == "batched_call"]
    assert event.error == "ValueError"
