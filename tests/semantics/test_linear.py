# SPDX-License-Identifier: Apache-2.0
"""Twice as many fields are twice as much work: counted in instructions, not seconds."""

import asyncio
import pickle
import sys
from collections import OrderedDict
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    AsyncExecutionContext,
    ReferenceContext,
    local_executor_factory,
)

FIELDS = 60
TWICE = 2.2


def instructions(work: Callable[[], object]) -> int:
    """How many instructions of Python it takes on this thread."""
    count = 0

    def local(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "opcode"
        return local

    def begin(frame: FrameType, event: str, arg: object) -> Any:
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return local

    before = sys.gettrace()
    sys.settrace(begin)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def model(n: int) -> fl.StructType:
    return fl.StructType([(f"f{i}", np.float32) for i in range(n)])


def weights(n: int) -> OrderedDict[str, float]:
    return OrderedDict((f"f{i}", 1.0) for i in range(n))


def each_field(v: Any) -> Any:
    return [v[name] for name, _ in v.type_signature.items()]


def types(n: int) -> Callable[[], object]:
    def work() -> None:
        type_, other = model(n), fl.to_type(weights_of_types(n))
        assert type_.is_equivalent_to(fl.parse_type(str(other)))
        for i in range(n):
            assert type_[i] is type_[f"f{i}"]

    return work


def weights_of_types(n: int) -> OrderedDict[str, Any]:
    return OrderedDict((f"f{i}", np.float32) for i in range(n))


def tracing(n: int) -> Callable[[], object]:
    return lambda: fl.federated_computation(lambda v: [2 * v, each_field(v)], model(n))


def printing(n: int) -> Callable[[], object]:
    made = fl.federated_computation(each_field, model(n))
    return lambda: (str(made), made.to_text(), repr(made.type_signature))


def a_pickle(n: int) -> Callable[[], object]:
    made = fl.federated_computation(each_field, model(n))
    return lambda: pickle.loads(pickle.dumps(made))


def placing(n: int) -> Callable[[], object]:
    def work() -> None:
        placed = fl.place([weights(n)] * 2, fl.CLIENTS)
        repr(placed), placed.members, placed.numpy(), placed.f1

    return work


def the_oracle(n: int) -> Callable[[], object]:
    mean = fl.federated_computation(fl.federated_mean, fl.type_at_clients(model(n)))

    def work() -> None:
        with ReferenceContext():
            mean([weights(n)] * 2)

    return work


def a_stack(n: int) -> Callable[[], object]:
    mean = fl.federated_computation(fl.federated_mean, fl.type_at_clients(model(n)))
    # Of the asynchronous context all the work is on this thread.
    context = AsyncExecutionContext(local_executor_factory(max_fanout=2))

    async def run() -> Any:
        with context:
            return await mean([weights(n)] * 3)

    return lambda: asyncio.run(run())


@pytest.mark.parametrize(
    "subject",
    [types, tracing, printing, a_pickle, placing, the_oracle, a_stack],
    ids=lambda subject: str(subject.__name__),
)
def test_work_grows_with_the_number_of_fields(
    subject: Callable[[int], Callable[[], object]],
) -> None:
    subject(2)()  # what is made once
    once, twice = (instructions(subject(n)) for n in (FIELDS, 2 * FIELDS))
    assert twice <= TWICE * once
