# SPDX-License-Identifier: Apache-2.0
"""Compiled programs are found again by what they mean, stacks by how many there are."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.contexts import execution
from fedlearn_edu.framework import (
    AsyncExecutionContext,
    SyncExecutionContext,
    Tape,
    derived,
    ir,
    local_executor_factory,
)
from fedlearn_edu.language import intrinsic as definition
from tests.executors.examples import run
from tests.programs import INT, INTS, NUMBERS, add, at_once, increment, local


@pytest.fixture
def tape() -> Any:
    """What a stack records that all calls of the test run on."""
    tape = Tape()
    factory = local_executor_factory(support_sequence_ops=True, tape=tape)
    with SyncExecutionContext(factory):
        yield tape


def told(tape: Tape) -> list[str]:
    """What the context did since the last time."""
    events = [f"{e.what}: {e.detail}" for e in tape if e.layer == "context"]
    tape.clear()
    return events


def cell(shift: Any = 1, name: str = "shift_all") -> Any:
    """A cell of a notebook: each time it is run, the program is traced anew."""

    def body(values: Any, k: Any) -> Any:
        shifted = fl.federated_map(
            fl.federated_computation(lambda x: add(add(x, k), shift), INT), values
        )
        return fl.federated_sum(shifted)

    body.__name__ = name
    return fl.federated_computation(body, INTS, INT)


def test_a_program_traced_anew_finds_what_was_compiled(tape: Tape) -> None:
    first, again = cell(), cell()
    assert first.tree is not again.tree
    assert [first([1, 2], 3), again([1, 2], 3), first([5], 0)] == [11, 11, 6]
    assert told(tape) == [
        "compiled: shift_all",
        "built: 2 clients",
        "reused: shift_all",
        "reused: 2 clients",
        "reused: shift_all",
        "built: 1 client",
    ]


def test_the_tape_shows_the_type_of_what_was_compiled(tape: Tape) -> None:
    program = cell()
    program([1, 2], 3)
    compiled, built = [event for event in tape if event.layer == "context"]
    assert compiled.type == str(program.type_signature)
    assert (built.type, built.participant) == ("", "all")


def test_another_constant_is_another_program(tape: Tape) -> None:
    assert [cell(shift)([1, 2], 0) for shift in (1, 2, 1)] == [5, 7, 5]
    assert [line for line in told(tape) if "shift_all" in line] == [
        "compiled: shift_all",
        "compiled: shift_all",
        "reused: shift_all",
    ]


def test_constants_that_read_the_same_are_told_apart(tape: Tape) -> None:
    def plus(row: list[int]) -> Any:
        constant = np.array(row, np.int32)
        return fl.federated_computation(lambda x: x + constant, (np.int32, [2]))

    programs = [plus([1, 2]), plus([1, 3]), plus([1, 2])]
    assert len({program.to_text() for program in programs}) == 1
    results = [program([0, 0]).tolist() for program in programs]
    assert results == [[1, 2], [1, 3], [1, 2]]
    assert [line.split(":")[0] for line in told(tape)] == [
        *("compiled", "built", "compiled", "reused", "reused", "reused")
    ]


def test_other_names_are_another_program(tape: Tape) -> None:
    """Messages and tapes tell them."""
    for name in ("first", "second", "first"):
        cell(name=name)([1], 1)
    compiled = [line for line in told(tape) if "client" not in line]
    assert compiled == ["compiled: first", "compiled: second", "reused: first"]


class Named:
    """Leaf code that is equal to any other, whatever its name, and counts questions."""

    digest_asked = 0

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def digest(self) -> str:
        """The same for all."""
        Named.digest_asked += 1
        return "always the same"

    def __call__(self, argument: Any) -> Any:
        """Fails for zero."""
        return np.int32(12 // int(argument))


def over(name: str) -> Any:
    leaf = ir.Leaf("numpy", Named(name), fl.FunctionType(INT, INT))
    return fl.framework.Computation(leaf, name)


def test_equal_code_of_two_names_keeps_them_apart() -> None:
    context = local()
    for name in ("mine", "add"):  # of an operation, too
        with pytest.raises(ZeroDivisionError) as caught, context:
            over(name)(0)
        assert f"in the computation {name}" in "".join(caught.value.__notes__)


def test_code_is_digested_only_if_something_reads_the_same() -> None:
    Named.digest_asked = 0
    with local():
        mine, yours = over("mine"), over("yours")
        assert [mine(3), mine(4), yours(3), mine(2)] == [4, 3, 4, 6]
        assert Named.digest_asked == 0
        assert over("mine")(6) == 2
    assert Named.digest_asked == 2


def test_a_definition_that_was_replaced_is_compiled_anew(
    tape: Tape, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests count the definitions there are.
    monkeypatch.setattr(definition, "_registry", dict(definition._registry))

    def define(factor: int) -> Any:
        @derived("({T}@CLIENTS -> T@SERVER)")
        def federated_scaled(value: Any) -> Any:
            return fl.federated_sum(value) * np.int32(factor)

        return fl.federated_computation(lambda v: federated_scaled(v), INTS)

    assert [define(factor)([1, 2]) for factor in (1, 2)] == [3, 6]
    assert [line for line in told(tape) if "lambda" in line] == 2 * ["compiled: lambda"]


def test_another_kind_of_stack_needs_another_tree() -> None:
    """Groups do not reduce by themselves."""
    tape = Tape()
    factory = local_executor_factory(max_fanout=2, support_sequence_ops=True, tape=tape)
    program = fl.federated_computation(
        lambda v: fl.federated_reduce(v, np.int32(0), add), INTS
    )
    with SyncExecutionContext(factory):
        results = [program(values) for values in ([1], [1, 2, 3], [4], [4, 5])]
    assert results == [1, 6, 4, 9]
    assert [line.split(":")[0] for line in told(tape) if "lambda" in line] == [
        *("compiled", "compiled", "reused", "reused")
    ]


def test_what_is_used_at_once_is_found_again(tape: Tape) -> None:
    values = fl.place([1, 2, 3], fl.CLIENTS, np.int32)
    assert [int(fl.federated_sum(values).value) for _ in range(2)] == [6, 6]
    assert [line.split(":")[0] for line in told(tape)] == [
        *("compiled", "built", "reused", "reused")
    ]


def test_functions_among_the_arguments_are_found_again(tape: Tape) -> None:
    twice = fl.federated_computation(lambda f: f(f(1)), fl.FunctionType(INT, INT))
    assert [twice(increment), twice(increment)] == [3, 3]
    assert [line for line in told(tape) if "argument" in line] == [
        "compiled: lambda's argument",
        "reused: lambda's argument",
    ]


def test_the_programs_used_last_are_kept(
    tape: Tape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "_MAX_COMPILED", 2)
    with local(tape=tape):
        for name in ("a", "b", "a", "c", "a", "b"):
            cell(name=name)([1], 1)
    assert [line for line in told(tape) if "client" not in line] == [
        *("compiled: a", "compiled: b", "reused: a"),
        *("compiled: c", "reused: a", "compiled: b"),
    ]


def test_an_asynchronous_context_finds_again_too() -> None:
    tape = Tape()
    with AsyncExecutionContext(local_executor_factory(tape=tape)):

        async def both() -> list[Any]:
            return [await cell()([1], 1), await cell()([1], 1)]

        assert run(both()) == [3, 3]
    assert [line.split(":")[0] for line in told(tape)] == [
        *("compiled", "built", "reused", "reused")
    ]


def test_threads_that_come_together_compile_once() -> None:
    tape = Tape()
    context = local(tape=tape)

    def call(program: Any) -> Any:
        with context:
            return program([1, 2], 0)

    assert at_once(call, [cell() for _ in range(6)]) == 6 * [5]
    lines = sorted(told(tape))
    assert lines == [
        *("built: 2 clients", "compiled: shift_all"),
        *(5 * ["reused: 2 clients"] + 5 * ["reused: shift_all"]),
    ]


def test_an_error_throws_nothing_away(tape: Tape) -> None:
    def refuse_zero(x: Any) -> Any:
        if x == 0:
            raise ValueError("zero")
        return x

    checked = fl.np_computation(refuse_zero, INT)

    def again() -> Any:
        mapped = fl.federated_computation(
            lambda s: fl.sequence_map(checked, s), NUMBERS
        )
        return fl.federated_computation(
            lambda v: fl.federated_map(mapped, v), fl.type_at_clients(NUMBERS)
        )

    for data in ([[1], [0]], [[1], [2]], [[0], [1]], [[3], [4]]):
        if [0] in data:
            with pytest.raises(ValueError, match="zero"):
                again()(data)
        else:
            again()(data)
    kinds = [line.split(":")[0] for line in told(tape)]
    assert kinds == ["compiled", "built", *6 * ["reused"]]


def test_a_program_that_is_refused_is_refused_again(tape: Tape) -> None:
    unknown = fl.federated_computation(lambda s: fl.sequence_sum(s), NUMBERS)
    with local(tape=tape):
        for _ in range(2):
            with pytest.raises(fl.FedLearnError, match="sequence_"):
                unknown([1])
    assert told(tape) == []
