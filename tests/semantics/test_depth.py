# SPDX-License-Identifier: Apache-2.0
"""Deep programs work or are refused in a paragraph; wide ones take linear time."""

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
from fedlearn_edu.errors import FedLearnError, TooDeepError
from fedlearn_edu.framework import (
    AsyncExecutionContext,
    ReferenceContext,
    SyncExecutionContext,
    local_executor_factory,
)

LEVELS = 2000


def nested(levels: int, inner: Any = np.float32) -> Any:
    for _ in range(levels):
        inner = [inner]
    return inner


def deep_type(levels: int) -> fl.Type:
    type_: fl.Type = fl.TensorType(np.float32)
    for _ in range(levels):
        type_ = fl.StructType([type_])
    return type_


def chained(levels: int) -> Any:
    """Computations that call each other."""
    made = fl.federated_computation(lambda x: x + 1.0, np.float32)
    for _ in range(levels):

        @fl.federated_computation(np.float32)
        def made(x: Any, inner: Any = made) -> Any:
            return inner(x)

    return made


TOO_DEEP = {
    "a type": lambda: fl.to_type(nested(LEVELS)),
    "notation": lambda: fl.parse_type("<" * LEVELS + "int32" + ">" * LEVELS),
    "a type of types": lambda: deep_type(LEVELS),
    "a placed value": lambda: fl.place([nested(LEVELS, 1.0)], fl.CLIENTS),
    "a constant": lambda: fl.federated_computation(lambda: nested(LEVELS, 1.0)),
    "computations": lambda: chained(300)(1.0),
}


@pytest.mark.parametrize("use", TOO_DEEP.values(), ids=TOO_DEEP)
def test_what_is_too_deep_is_said_in_four_lines(use: Callable[[], Any]) -> None:
    with pytest.raises(RecursionError, match="nested too deeply") as caught:
        use()
    assert isinstance(caught.value, FedLearnError)
    assert len(str(caught.value).splitlines()) == 4


@pytest.mark.parametrize("fuse", [True, False])
def test_a_hundred_computations_may_call_each_other(fuse: bool) -> None:
    hundred = chained(100)
    for context in (
        ReferenceContext(),
        SyncExecutionContext(local_executor_factory(fuse=fuse)),
    ):
        with context:
            assert hundred(1.0) == 2.0


def test_python_goes_through_every_type_that_there_is() -> None:
    with pytest.raises(TooDeepError):
        deep_type(101)
    deepest, same = deep_type(100), deep_type(100)
    assert {deepest} == {same} == {pickle.loads(pickle.dumps(deepest))}
    assert fl.parse_type(str(deepest)) == deepest
    assert repr(deepest) == repr(same)


def test_sixty_levels_of_structures_may_be_summed() -> None:
    total = fl.federated_computation(fl.federated_sum, fl.type_at_clients(nested(60)))
    found = total([nested(60, 1.0), nested(60, 2.0)])
    assert found == nested(60, 3.0)


def test_a_function_that_calls_itself_for_ever_keeps_its_error() -> None:
    def forever(x: Any) -> Any:
        return forever(x)

    with pytest.raises(RecursionError) as caught:
        fl.federated_computation(forever, np.float32)
    assert not isinstance(caught.value, FedLearnError)


@pytest.mark.parametrize("levels", range(600, 606))
def test_the_error_shows_no_frame_of_the_package(levels: int) -> None:
    """Whichever function of the package is the one too many."""
    with pytest.raises(TooDeepError) as caught:
        fl.federated_value(nested(levels, 1.0), fl.SERVER)
    files = {str(entry.path) for entry in caught.traceback}
    assert files == {__file__}


# ----------------------------------------
# Twice as many fields are twice as much work: counted in instructions, not seconds


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
