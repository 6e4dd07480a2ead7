# SPDX-License-Identifier: Apache-2.0
"""Derived intrinsics that an executor is asked for, and runs by their expansion."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import Handle, implements
from fedlearn_edu.language.application import define
from fedlearn_edu.language.intrinsic import intrinsic_named
from tests.executors.direct import called, composed, with_sequences
from tests.executors.examples import Plain, federating, run
from tests.programs import FLOAT, FLOATS, INT, INT_AT_SERVER, INTS, add, increment

fw = fl.framework
MEAN = (
    intrinsic_named("federated_mean"),
    fl.FunctionType(FLOATS, fl.type_at_server(FLOAT)),
)


async def ask(executor: Any, fn: Any, *arguments: Any) -> Any:
    """The handle that a call on these arguments returns."""
    values = [await executor.create_value(*argument) for argument in arguments]
    arg = values[0] if len(values) == 1 else await executor.create_struct(values)
    return await executor.create_call(await executor.create_value(*fn), arg)


class Lacking(Plain):
    """One value for everybody, and of all intrinsics only the sum."""

    @implements("federated_sum")
    async def _sum(self, type_: Any, value: Handle) -> Any:
        return 1000


def lacking() -> Any:
    return fw.FederatingExecutor(lambda _: Lacking(), fw.NumPyExecutor())


def test_an_expansion_that_comes_to_a_missing_primitive_says_by_which_way() -> None:
    with pytest.raises(NotImplementedError) as caught:
        run(called(lacking(), MEAN, ([1.0, 2.0], FLOATS)))
    text = str(caught.value)
    assert "Lacking does not implement federated_value" in text
    assert "in the expansion of federated_mean" in text
    assert '@implements("federated_value")' in text


def test_a_use_inside_an_uncompiled_tree_is_expanded_too() -> None:
    program = fl.federated_computation(lambda v: fl.federated_mean(v), FLOATS)
    stack = fw.ReferenceResolvingExecutor(federating())
    assert run(called(stack, (program,), ([1.0, 2.0], FLOATS))) == 1.5


def test_a_definition_may_be_handed_in_above_the_federating_executor() -> None:
    stack = fw.ReferenceResolvingExecutor(federating())
    assert run(called(stack, MEAN, ([1.0, 2.0], FLOATS))) == 1.5


@fl.federated_computation(np.int32, np.int32)
def twice_and_add(state: Any, item: Any) -> Any:
    return add(state, add(item, item))


@pytest.mark.parametrize(
    ("op", "result"), [(add, 16), (twice_and_add, 22)], ids=["leaf", "lambda"]
)
def test_functions_among_the_arguments_are_opened(op: Any, result: int) -> None:
    """The composing strategy has no reduce of its own: it collects, then reduces."""
    parameter = fl.StructType([INTS, INT, op.type_signature])
    reduce = intrinsic_named("federated_reduce")
    fn = (reduce, fl.FunctionType(parameter, INT_AT_SERVER))
    arguments = ([1, 2, 3], INTS), (10, INT), (op,)
    assert run(called(composed(3), fn, *arguments)) == result


@pytest.mark.usefixtures("intrinsics_as_before")
@pytest.mark.parametrize(
    "fn",
    [increment, fl.federated_computation(lambda x: increment(x), np.int32)],
    ids=["leaf", "lambda"],
)
def test_a_function_may_travel_inside_another_one(fn: Any) -> None:
    def map_twice(fn: Any, value: Any) -> Any:
        twice = fl.federated_computation(lambda x: fn(fn(x)), np.int32)
        return fl.federated_map(twice, value)

    defined = define(
        "federated_map_twice",
        "(<(T -> T),{T}@CLIENTS> -> {T}@CLIENTS)",
        expand=map_twice,
    )
    parameter = fl.StructType([fn.type_signature, INTS])
    use = (defined, fl.FunctionType(parameter, INTS))
    assert run(called(federating(), use, (fn,), ([1, 2], INTS))) == (3, 4)


@pytest.mark.usefixtures("intrinsics_as_before")
def test_an_expansion_may_return_a_structure() -> None:
    def extremes(value: Any) -> Any:
        return [fl.federated_min(value), fl.federated_max(value)]

    defined = define(
        "federated_extremes", "({T}@CLIENTS -> <T@SERVER,T@SERVER>)", expand=extremes
    )
    type_ = fl.FunctionType(INTS, fl.to_type([INT_AT_SERVER, INT_AT_SERVER]))

    async def work() -> Any:
        executor = federating()
        both = await ask(executor, (defined, type_), ([1, 2], INTS))
        last = await executor.create_selection(both, 1)
        return list(await both.compute()), await last.compute()

    assert run(work()) == ([1, 2], 2)


def test_sequence_sum_is_expanded_where_sequences_are_understood() -> None:
    numbers = fl.SequenceType(np.int32)
    fn = (intrinsic_named("sequence_sum"), fl.FunctionType(numbers, INT))
    strategy = fw.FederatedResolvingStrategy.factory({})
    executor = fw.FederatingExecutor(strategy, with_sequences(fw.NumPyExecutor))
    assert run(called(executor, fn, ([1, 2, 3], numbers))) == 6


def test_a_recorder_sees_one_call_above_and_the_steps_below() -> None:
    tape = fw.Tape()

    def watched(who: str) -> Any:
        leaf = fw.ReferenceResolvingExecutor(fw.NumPyExecutor())
        return fw.RecordingExecutor(leaf, tape, layer="leaf", participant=who)

    targets: Any = {fl.SERVER: watched("server"), fl.CLIENTS: [watched("client")]}
    strategy = fw.FederatedResolvingStrategy.factory(targets)
    federating = fw.FederatingExecutor(strategy, watched("unplaced"))
    top = fw.RecordingExecutor(federating, tape, layer="federating")
    assert run(called(top, MEAN, ([3.0], FLOATS))) == 3.0

    calls = [e for e in tape if e.what == "create_call"]
    assert [(e.layer, e.detail) for e in calls if e.layer == "federating"] == [
        ("federating", "federated_mean")
    ]
    below = [e for e in calls if e.layer == "leaf"]
    # Accumulate the one client's pair, report it, divide.
    assert [e.participant for e in below] == ["server"] * 3
    assert str(MEAN[1].result) == calls[0].type
    assert all(calls[0].number < e.number for e in below)
    assert all(
        calls[0].start_s <= e.start_s <= e.end_s <= calls[0].end_s for e in below
    )
