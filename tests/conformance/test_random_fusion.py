# SPDX-License-Identifier: Apache-2.0
"""Fusing changes nothing but the rounding of floats, whatever the program is.

Random programs of NumPy code, of TensorFlow code and of both run fused, step by step
and by the oracle, in one group of clients and in groups of groups, on two sets of
data. `--hypothesis-profile=thorough` tries more of them.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    ReferenceContext,
    SyncExecutionContext,
    Tape,
    Value,
    local_executor_factory,
)
from fedlearn_edu.structure import Struct
from fedlearn_edu.testing import assert_same
from tests.conformance.random_functions import Chooser, FunctionWriter
from tests.conformance.random_leaves import (
    BATCHES,
    FLOAT,
    INT,
    INTS,
    MODEL,
    POINT,
    TEXT,
)
from tests.conformance.random_writer import Writer

ONE_GROUP = 100
PARAMETERS = OrderedDict(
    k=INT,
    x=FLOAT,
    t=TEXT,
    v=fl.type_at_clients(INT),
    u=fl.type_at_clients(FLOAT),
    w=fl.type_at_clients(TEXT),
    p=fl.type_at_clients(POINT),
    e=fl.type_at_clients(FLOAT, all_equal=True),
    d=fl.type_at_clients(BATCHES),
    n=fl.type_at_clients(INTS),
    s=fl.type_at_server(INT),
    m=fl.type_at_server(MODEL),
)


@cache
def stack(max_fanout: int, *, fuse: bool) -> tuple[SyncExecutionContext, Tape]:
    """A context, and what it does itself; its executors are not recorded."""
    factory = local_executor_factory(
        max_fanout=max_fanout, support_sequence_ops=True, fuse=fuse
    )
    vars(factory)["tape"] = tape = Tape()
    return SyncExecutionContext(factory), tape


def written(writer: Writer) -> Any:
    def body(
        k: Value, x: Value, t: Value, v: Value, u: Value, w: Value,
        p: Value, e: Value, d: Value, n: Value, s: Value, m: Value,
    ) -> Any:  # fmt: skip
        return writer.program([k, x, t, v, u, w, p, e, d, n, s, m])

    return fl.federated_computation(body, *PARAMETERS.values())


# --------------------------------------------------------------------------- the data


def an_int(choose: Chooser) -> int:
    return choose.pick([choose.number(-5, 5), choose.number(-(2**31), 2**31 - 1)])  # type: ignore[no-any-return]


def a_float(choose: Chooser) -> float:
    return choose.number(-16, 16) / 4


def a_text(choose: Chooser) -> str:
    return choose.pick(["", "a", "bc", "Ω"])  # type: ignore[no-any-return]


def a_point(choose: Chooser) -> Any:
    return OrderedDict(z=a_float(choose), a=an_int(choose))


def a_batch(choose: Chooser, rows: int) -> Any:
    x = [[a_float(choose), a_float(choose)] for _ in range(rows)]
    n = [choose.number(0, 9) for _ in range(rows)]
    x_n = np.array(x, np.float32).reshape(rows, 2), np.array(n, np.int32)
    return OrderedDict(zip("xn", x_n, strict=True))


def lengths(choose: Chooser, clients: int) -> list[list[int]]:
    """How many rows the batches of each client have."""
    size, count = choose.number(1, 3), choose.number(0, 3)
    match choose.pick(["equal", "ragged", "unequal", "unequal and ragged", "any"]):
        case "equal":
            return [[size] * count] * clients
        case "ragged":
            return [[size] * count + [choose.number(0, size)]] * clients
        case "unequal":
            return [[size] * choose.number(0, 3) for _ in range(clients)]
        case "unequal and ragged":
            counts = [choose.number(0, 3) for _ in range(clients)]
            return [[size] * c + [choose.number(1, size)] for c in counts]
        case _:
            ends = [choose.number(0, 3) for _ in range(clients)]
            return [[choose.number(0, 3) for _ in range(end)] for end in ends]


def arguments(choose: Chooser, clients: int) -> list[Any]:
    """Plain ones, or placed ones, which are kept from call to call."""

    def each(make: Callable[[Chooser], Any], type_: Any) -> Any:
        values = [make(choose) for _ in range(clients)]
        return fl.place(values, fl.CLIENTS, type_) if placed else values

    placed = choose.flip()
    rows = iter(lengths(choose, clients))
    least, most = choose.pick([(2, 2), (0, 3)])
    model = OrderedDict(w=[a_float(choose), a_float(choose)], b=a_float(choose))
    return [
        *(an_int(choose), a_float(choose), a_text(choose)),
        each(an_int, INT),
        each(a_float, FLOAT),
        each(a_text, TEXT),
        each(a_point, POINT),
        a_float(choose),
        each(lambda _: [a_batch(choose, r) for r in next(rows)], BATCHES),
        each(lambda _: [an_int(choose)] * choose.number(least, most), INTS),
        *(an_int(choose), model),
    ]


# --------------------------------------------------------------------- the comparison


def assert_close(found: Any, expected: Any) -> None:
    """Everything is the same, but floats to rounding: what was added may cancel out."""
    assert_same(without_floats(found), without_floats(expected))
    numbers = [*floats_in(expected)]
    finite = [np.max(np.abs(n), initial=0, where=np.isfinite(n)) for n in numbers]
    scale = max([1.0, *finite])
    for number, wanted in zip(floats_in(found), numbers, strict=True):
        np.testing.assert_allclose(number, wanted, rtol=1e-4, atol=1e-5 * scale)


def without_floats(result: Any) -> Any:
    match result:
        case list() | tuple():
            return type(result)(map(without_floats, result))
        case dict():
            return OrderedDict((n, without_floats(v)) for n, v in result.items())
        case Struct():
            return result.map(without_floats)
        case np.ndarray() | np.generic() if result.dtype.kind == "f":
            return np.zeros_like(result)
        case _:
            return result


def floats_in(result: Any) -> Iterator[Any]:
    match result:
        case dict():
            yield from floats_in(list(result.values()))
        case list() | tuple() | Struct():
            for part in result:
                yield from floats_in(part)
        case np.ndarray() | np.generic() if result.dtype.kind == "f":
            yield result


def outcome(context: Any, program: Any, args: list[Any]) -> Any:
    """The result, or what kind of error there is instead."""
    with np.errstate(all="ignore"), context:
        try:
            return program(*args)
        except fl.FedLearnError as error:
            return type(error).__name__


# Not choice by choice: programs of what Hypothesis draws one by one are much alike. So
# what fails shrinks to fewer steps, not to simpler ones; its text is shown.
chance = st.randoms(use_true_random=True).map(Chooser)
most = st.integers(2, 4)
# Each program is traced, which takes TensorFlow a third of a second. More of them are
# tried with `--hypothesis-profile=thorough`.
few = settings(max_examples=min(settings().max_examples // 2, 50))


def check(runtimes: list[str], choose: Chooser, steps: int, chains: int) -> None:
    writer = Writer(choose, FunctionWriter(choose, runtimes, steps), chains, steps)
    program = written(writer)
    note(program.to_text())
    fanout = choose.pick([ONE_GROUP, 2, 3])
    (by_step, _), (fused, tape) = (stack(fanout, fuse=fuse) for fuse in (False, True))
    for _ in range(2):
        args = arguments(choose, clients=choose.number(0, 7))
        expected, found = outcome(by_step, program, args), outcome(fused, program, args)
        assert_close(found, expected)
        if not isinstance(expected, str):
            # Otherwise it would be the step-by-step run which was right.
            assert "again, step by step" not in [event.what for event in tape]
        tape.clear()
        if fanout == ONE_GROUP or not writer.depends_on_groups:
            assert_close(expected, outcome(ReferenceContext(), program, args))


@given(chance, most, most)
def test_numpy_programs_mean_the_same_fused_and_step_by_step(
    choose: Chooser, steps: int, chains: int
) -> None:
    check(["numpy"], choose, steps, chains)


@pytest.mark.skipif(np.__version__ < "2", reason="for NumPy 1 int32(1) + 1 is an int64")
@pytest.mark.tensorflow
@few
@given(chance, most, most)
def test_programs_with_tensorflow_mean_the_same_fused_and_step_by_step(
    choose: Chooser, steps: int, chains: int
) -> None:
    runtimes = choose.pick([["tensorflow"], ["numpy", "tensorflow"]])
    check(runtimes, choose, steps, chains)
