# SPDX-License-Identifier: Apache-2.0
"""Sequences: a map is lazy, a reduction eager, and both keep the order."""

from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.ir import nodes as ir
from tests.executors.examples import CountingExecutor, run
from tests.programs import NUMBERS, increment, total

fw = fl.framework
MAP = fl.FunctionType(fl.StructType([increment.type_signature, NUMBERS]), NUMBERS)
ELEMENTS = (np.int32(1), np.int32(2), np.int32(3))


class Counted:
    """An element function that counts its runs, as a computation."""

    def __init__(self) -> None:
        self.runs = 0
        self.fn = fl.np_computation(self.increment, np.int32)
        self.runs = 0

    def increment(self, x: Any) -> Any:
        self.runs += 1
        return x + np.int32(1)


def over(target: Any = None) -> Any:
    leaf = target or fw.NumPyExecutor()
    return fw.SequenceExecutor(fw.ReferenceResolvingExecutor(leaf))


async def mapped(executor: Any, fn: Any, elements: Any = ELEMENTS) -> Any:
    operator = await executor.create_value(ir.Intrinsic("sequence_map", MAP))
    parts = [
        await executor.create_value(fn),
        await executor.create_value(elements, NUMBERS),
    ]
    return await executor.create_call(operator, await executor.create_struct(parts))


def test_nothing_is_mapped_before_somebody_reads() -> None:
    async def work() -> Any:
        counted = Counted()
        sequence = await mapped(over(), counted.fn)
        runs = [counted.runs]
        for _ in range(2):
            assert list(await sequence.compute()) == [2, 3, 4]
            runs.append(counted.runs)
        return runs

    assert run(work()) == [0, 3, 6]


def test_leaf_code_that_reads_a_mapped_sequence_reads_it_once() -> None:
    async def work() -> Any:
        counted = Counted()
        executor = over()
        sequence = await mapped(executor, counted.fn)
        fn = await executor.create_value(total)
        result = await (await executor.create_call(fn, sequence)).compute()
        return result, counted.runs

    assert run(work()) == (9, 3)


def test_a_sequence_stays_here_until_leaf_code_wants_it() -> None:
    target = CountingExecutor()

    async def work() -> Any:
        executor = over(target)
        value = await executor.create_value(ELEMENTS, NUMBERS)
        before = dict(target.calls)
        assert await value.compute() == ELEMENTS
        fn = await executor.create_value(total)
        return before, await (await executor.create_call(fn, value)).compute()

    assert run(work()) == ({}, 6)
