# SPDX-License-Identifier: Apache-2.0
"""Random small programs: whatever is well typed means the same on every stack.

A program is written while it is traced: every step picks an operation that fits some of
the values there are already. Integers wrap around, so results are compared exactly.
"""

import operator
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    ReferenceContext,
    SyncExecutionContext,
    Value,
    local_executor_factory,
)
from fedlearn_edu.ir.checking import check
from fedlearn_edu.testing import assert_same
from fedlearn_edu.types import CLIENTS, SERVER, Type

INT = fl.to_type(np.int32)
DATA = fl.SequenceType(INT)
CLIENT, SHARED = fl.type_at_clients(INT), fl.type_at_clients(INT, all_equal=True)
CENTRAL = fl.type_at_server(INT)
CLIENT_DATA, CENTRAL_DATA = fl.type_at_clients(DATA), fl.type_at_server(DATA)
AT_CLIENTS, PLACED = (CLIENT, SHARED), (CLIENT, SHARED, CENTRAL)

PARAMETERS = OrderedDict(k=INT, v=CLIENT, s=CENTRAL, e=SHARED, d=CLIENT_DATA)
MAX_STEPS = 10

REFERENCE = ReferenceContext()
STACKS = [
    SyncExecutionContext(
        local_executor_factory(max_fanout=fanout, support_sequence_ops=True)
    )
    for fanout in (100, 2, 3)
]

SQUARE = fl.np_computation(lambda x: x * x - np.int32(3), INT)
TWICE_LESS = fl.np_computation(lambda a, b: a - b - b, INT, INT)
SAME = fl.np_computation(lambda a: a, INT)
ADD = fl.np_computation(lambda a, b: a + b, INT, INT)


def _one(k: Value) -> Any:
    """A function of one number, which captures `k`."""
    return fl.federated_computation(lambda x: SQUARE(x) + k, INT)


def _two(k: Value) -> Any:
    """A function of two numbers, which captures `k` in a function of its own."""

    def body(a: Value, b: Value) -> Any:
        return fl.federated_computation(lambda c: TWICE_LESS(a, c) * k, INT)(b)

    return fl.federated_computation(body, INT, INT)


def _called(fn: Any, type_: Type) -> Callable[[Value], Any]:
    """The body `fn` as a computation of its own, which is called."""
    return lambda x: fl.federated_computation(fn, type_)(x)


def _packed(a: Value, b: Value) -> Any:
    pairs = fl.federated_zip(OrderedDict(a=a, b=[b, a]))
    return fl.federated_map(
        fl.federated_computation(
            lambda p: p.b[0] - p.a,
            pairs.type_signature.member,  # type: ignore[attr-defined]
        ),
        pairs,
    )


Operation = tuple[tuple[tuple[Type, ...], ...], Callable[..., Any]]

# Each operation: what types its operands may have, and what it does with them.
OPERATIONS: dict[str, Operation] = {
    "leaf": (((INT,),), lambda a: SQUARE(a)),
    "times": (((INT,), (INT,)), operator.mul),
    "minus": ((PLACED, (INT,)), operator.sub),
    "plus at clients": ((AT_CLIENTS, AT_CLIENTS), operator.add),
    "plus at server": (((CENTRAL,), (CENTRAL,)), operator.add),
    "called": ((AT_CLIENTS,), _called(lambda x: fl.federated_sum(x + 1), CLIENT)),
    "map": ((PLACED, (INT,)), lambda v, k: fl.federated_map(_one(k), v)),
    "map pairs": (
        (AT_CLIENTS, AT_CLIENTS, (INT,)),
        lambda v, w, k: fl.federated_map(_two(k), [v, w]),
    ),
    "zip": ((AT_CLIENTS, AT_CLIENTS), _packed),
    "zip at server": (((CENTRAL,), (CENTRAL,)), _packed),
    "value at clients": (((INT,),), lambda k: fl.federated_value(k, CLIENTS)),
    "value at server": (((INT,),), lambda k: fl.federated_value(k, SERVER)),
    "eval": (
        ((INT,),),
        lambda k: fl.federated_eval(fl.federated_computation(lambda: k - 1), CLIENTS),
    ),
    "broadcast": (((CENTRAL,),), fl.federated_broadcast),
    "sum": ((AT_CLIENTS,), fl.federated_sum),
    "least": ((AT_CLIENTS,), fl.federated_min),
    "greatest": ((AT_CLIENTS,), fl.federated_max),
    "aggregate": (
        (AT_CLIENTS, (INT,)),
        lambda v, k: fl.federated_aggregate(v, k - k, ADD, ADD, _one(k)),
    ),
    "reduce": ((AT_CLIENTS, (INT,)), lambda v, k: fl.federated_reduce(v, k, _two(k))),
    "collect": ((AT_CLIENTS,), fl.federated_collect),
    "read": (((CLIENT_DATA, CENTRAL_DATA),), fl.sequence_sum),
    "map data": (
        ((CLIENT_DATA, CENTRAL_DATA), (INT,)),
        lambda d, k: fl.sequence_map(_one(k), d),
    ),
    "fold data": (
        ((CLIENT_DATA, CENTRAL_DATA), (INT,)),
        lambda d, k: fl.sequence_reduce(d, k, _two(k)),
    ),
    "fold data from": (
        ((CLIENT_DATA,), AT_CLIENTS, (INT,)),
        lambda d, z, k: fl.sequence_reduce(d, z, _two(k)),
    ),
}


def _write(data: st.DataObject, values: list[Value]) -> list[Value]:
    """Adds random steps to the values there are."""
    for _ in range(data.draw(st.integers(1, MAX_STEPS))):
        fitting = {
            name: operands
            for name, (wanted, _) in OPERATIONS.items()
            if all(operands := [_of_type(values, types) for types in wanted])
        }
        name = data.draw(st.sampled_from(sorted(fitting)))
        chosen = [data.draw(st.sampled_from(choice)) for choice in fitting[name]]
        values.append(OPERATIONS[name][1](*chosen))
    return values


def _of_type(values: list[Value], types: tuple[Type, ...]) -> list[Value]:
    return [
        v for v in values if any(v.type_signature.is_equivalent_to(t) for t in types)
    ]


def _program(data: st.DataObject) -> Any:
    def body(k: Value, v: Value, s: Value, e: Value, d: Value) -> Any:
        return _write(data, [k, v, s, e, d])

    return fl.federated_computation(body, *PARAMETERS.values())


numbers = st.integers(-(2**31), 2**31 - 1)


@given(st.data())
def test_random_program_means_the_same_everywhere(data: st.DataObject) -> None:
    program = _program(data)
    check(program.tree)
    count = data.draw(st.integers(1, 5), label="clients")
    arguments = [
        data.draw(numbers),
        data.draw(st.lists(numbers, min_size=count, max_size=count)),
        data.draw(numbers),
        data.draw(numbers),
        [data.draw(st.lists(numbers, max_size=3)) for _ in range(count)],
    ]
    with np.errstate(over="ignore"):
        with REFERENCE:
            expected = program(*arguments)
        for stack in STACKS:
            with stack:
                assert_same(program(*arguments), expected)
