# SPDX-License-Identifier: Apache-2.0
"""Intrinsics in bodies: their types; the conformance suite has their results."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from tests.programs import (
    FLOATS,
    INT,
    INT_AT_SERVER,
    INTS,
    NUMBERS,
    NUMBERS_AT_CLIENTS,
    add,
    increment,
    same,
    seven,
    signature,
)

EQUAL = fl.type_at_clients(INT, all_equal=True)
NUMBERS_AT_SERVER = fl.type_at_server(NUMBERS)
HALF = fl.np_computation(lambda x: np.float64(x) / 2, np.int32)
SIGNATURES: list[tuple[Callable[..., Any], list[Any], str]] = [
    (fl.federated_min, [INTS], "int32@SERVER"),
    (fl.federated_max, [INTS], "int32@SERVER"),
    (fl.federated_collect, [INTS], "int32*@SERVER"),
    (lambda v: fl.federated_reduce(v, 0, add), [INTS], "int32@SERVER"),
    (lambda v: fl.federated_secure_sum(v, 5), [INTS], "int32@SERVER"),
    (lambda v: fl.federated_secure_sum_bitwidth(v, 5), [INTS], "int32@SERVER"),
    (lambda v: fl.federated_secure_modular_sum(v, 5), [INTS], "int32@SERVER"),
    # A map stays where it is and forgets that all were equal; a zip, too.
    (lambda v: fl.federated_map(increment, v), [INTS], "{int32}@CLIENTS"),
    (lambda v: fl.federated_map(increment, v), [EQUAL], "{int32}@CLIENTS"),
    (lambda v: fl.federated_map(increment, v), [INT_AT_SERVER], "int32@SERVER"),
    (lambda v: fl.federated_apply(increment, v), [INT_AT_SERVER], "int32@SERVER"),
    (lambda v: fl.federated_zip([v, v]), [EQUAL], "{<int32,int32>}@CLIENTS"),
    (lambda v: fl.federated_zip([v, v]), [INT_AT_SERVER], "<int32,int32>@SERVER"),
    (fl.federated_broadcast, [INT_AT_SERVER], "int32@CLIENTS"),
    (lambda x: fl.federated_value(x, fl.CLIENTS), [INT], "int32@CLIENTS"),
    (lambda: fl.federated_eval(seven, fl.CLIENTS), [], "{int32}@CLIENTS"),
    (lambda: fl.federated_eval(seven, fl.SERVER), [], "int32@SERVER"),
    (lambda: fl.federated_compute(seven, fl.CLIENTS), [], "{int32}@CLIENTS"),
    # differs: there, a federated reduction wanted a federated zero
    (lambda s: fl.sequence_map(increment, s), [NUMBERS], "int32*"),
    (lambda s: fl.sequence_map(increment, s), [NUMBERS_AT_CLIENTS], "{int32*}@CLIENTS"),
    (lambda s: fl.sequence_map(increment, s), [NUMBERS_AT_SERVER], "int32*@SERVER"),
    (lambda s: fl.sequence_map(HALF, s), [NUMBERS], "float64*"),
    (lambda s: fl.sequence_reduce(s, 0, add), [NUMBERS], "int32"),
    (lambda s: fl.sequence_reduce(s, 0, add), [NUMBERS_AT_CLIENTS], "{int32}@CLIENTS"),
    (
        lambda s: fl.sequence_reduce(s, fl.federated_value(0, fl.CLIENTS), add),
        [NUMBERS_AT_CLIENTS],
        "{int32}@CLIENTS",
    ),
    (fl.sequence_sum, [NUMBERS], "int32"),
    (fl.sequence_sum, [NUMBERS_AT_CLIENTS], "{int32}@CLIENTS"),
]


@pytest.mark.parametrize(("use", "types", "result"), SIGNATURES)
def test_a_result_has_its_type_and_its_place(
    use: Callable[..., Any], types: list[Any], result: str
) -> None:
    made = fl.federated_computation(use, *types)
    assert str(made.type_signature.result) == result


def aggregate(**changed: Any) -> Any:
    """The type of an aggregation with one argument replaced."""
    arguments = {"zero": 0, "accumulate": add, "merge": add, "report": same, **changed}
    body = lambda v: fl.federated_aggregate(v, **arguments)  # noqa: E731
    return fl.federated_computation(body, INTS).type_signature.result


def test_zero_may_leave_out_names() -> None:
    pair = OrderedDict(s=INT, n=INT)
    step = fl.np_computation(
        lambda a, x: OrderedDict(s=a["s"] + x, n=a["n"]), pair, INT
    )
    join = fl.np_computation(lambda a, b: a, pair, pair)
    keep = fl.np_computation(lambda a: a, pair)
    result = aggregate(zero=[0, 0], accumulate=step, merge=join, report=keep)
    assert str(result) == "<s=int32,n=int32>@SERVER"


def test_report_decides_the_result() -> None:
    assert str(aggregate(report=HALF)) == "float64@SERVER"


# ------------------------------------------------------------- sum, min, max, others


SUMMABLE = [np.int32, np.uint8, np.float64, np.complex64, (np.float32, [2, 3])]


@pytest.mark.parametrize("member", [*SUMMABLE, [], OrderedDict(a=np.int32)], ids=str)
def test_a_sum_has_the_type_of_its_summands(member: Any) -> None:
    type_ = fl.to_type(member)
    assert signature(lambda v: fl.federated_sum(v), fl.type_at_clients(type_)) == (
        f"({{{type_}}}@CLIENTS -> {type_}@SERVER)"
    )


# ------------------------------------------------------------------ federated_mean


@pytest.mark.parametrize(
    "member",
    [
        np.float32,
        np.float64,
        np.complex64,
        (np.float32, [2]),
        OrderedDict(a=np.float32, b=[np.float64]),
        [],
    ],
    ids=str,
)
def test_a_mean_has_the_type_of_what_is_averaged(member: Any) -> None:
    type_ = fl.to_type(member)
    assert signature(lambda v: fl.federated_mean(v), fl.type_at_clients(type_)) == (
        f"({{{type_}}}@CLIENTS -> {type_}@SERVER)"
    )


@pytest.mark.parametrize(
    "weight", [np.int32, np.int64, np.uint8, np.float32, np.float64]
)
def test_a_weight_is_any_real_number(weight: Any) -> None:
    """differs: integers and other dtypes traced there, and failed when they ran."""
    made = fl.federated_computation(
        lambda v, w: fl.federated_mean(v, w), FLOATS, fl.type_at_clients(weight)
    )
    result = made([1, 2, 3], [1, 1, 2])
    assert (result, result.dtype) == (2.25, np.float32)


# ------------------------------------------------------------------ map


def test_a_member_may_be_more_special_than_the_parameter() -> None:
    total = fl.np_computation(lambda x: x.sum(), fl.TensorType(np.int32, [None]))
    vectors = fl.type_at_clients(fl.TensorType(np.int32, [3]))
    made = fl.federated_computation(lambda v: fl.federated_map(total, v), vectors)
    assert made([[1, 2, 3]]) == [6]


# ------------------------------------------------------------------ zip


@pytest.mark.parametrize(
    ("arrange", "result"),
    [
        (lambda v, w: [v, w], "{<int32,float32>}@CLIENTS"),
        (lambda v, w: OrderedDict(a=v, b=[w]), "{<a=int32,b=<float32>>}@CLIENTS"),
        (lambda v, w: [v], "{<int32>}@CLIENTS"),
        (lambda v, w: [v, []], "{<int32,<>>}@CLIENTS"),
        (lambda v, w: [[[v]], [w, v]], "{<<<int32>>,<float32,int32>>}@CLIENTS"),
    ],
)
def test_a_zip_takes_placements_out_of_a_structure(
    arrange: Callable[[Any, Any], Any], result: str
) -> None:
    made = fl.federated_computation(
        lambda v, w: fl.federated_zip(arrange(v, w)), INTS, FLOATS
    )
    assert str(made.type_signature.result) == result


# ---------------------------------------- values that come to a placement


@pytest.mark.parametrize(
    ("value", "placement", "result"),
    [
        (1, fl.SERVER, "int32@SERVER"),
        (1, fl.CLIENTS, "int32@CLIENTS"),
        (OrderedDict(a=1, b=2.5), fl.SERVER, "<a=int32,b=float32>@SERVER"),
        ((), fl.SERVER, "<>@SERVER"),
        # A list is a structure here, not one entry per client.
        ([1.0, 2.0], fl.CLIENTS, "<float32,float32>@CLIENTS"),
    ],
)
def test_a_placed_value_is_equal_everywhere(
    value: Any, placement: Any, result: str
) -> None:
    assert signature(lambda: fl.federated_value(value, placement)) == f"( -> {result})"


# ---------------------------------------- federated_select


KEYS = fl.type_at_clients(fl.TensorType(np.int32, [2]))
TABLE = fl.TensorType(np.float32, [3])


@fl.np_computation(TABLE, np.int32)
def pick(table: Any, key: Any) -> Any:
    return table[key]


def select(keys: Any = KEYS, limit: Any = INT_AT_SERVER, fn: Any = pick) -> Any:
    return fl.federated_computation(
        lambda k, m, t: fl.federated_select(k, m, t, fn),
        keys,
        limit,
        fl.type_at_server(TABLE),
    )


def test_each_client_gets_a_sequence_of_slices() -> None:
    assert str(select().type_signature.result) == "{float32*}@CLIENTS"
    assert select()([[0, 2], [1, 1]], 3, [1, 2, 3]) == [[1, 3], [2, 2]]


@pytest.mark.parametrize(
    "fn",
    [
        fl.np_computation(lambda t, k: t[k]),
        fl.np_computation(lambda p: p[0][p[1]], [TABLE, INT]),
        fl.np_computation(lambda table, row: table[row], TABLE, INT),
    ],
    ids=["polymorphic", "unnamed pair", "other names"],
)
def test_the_function_may_take_a_pair_in_any_way(fn: Any) -> None:
    assert select(fn=fn)([[0, 2]], 3, [1, 2, 3]) == [[1, 3]]


def test_a_slice_may_be_a_structure() -> None:
    fn = fl.np_computation(lambda t, k: OrderedDict(key=k, value=t[k]), TABLE, INT)
    assert select(fn=fn)([[2, 0]], 3, [1, 2, 3]) == [
        [OrderedDict(key=2, value=3), OrderedDict(key=0, value=1)]
    ]


# ---------------------------------------- sequences


def test_a_polymorphic_function_takes_its_type_from_the_elements() -> None:
    """differs: there, sequence intrinsics refused polymorphic functions."""
    double = fl.np_computation(lambda x: x + x)
    plus = fl.np_computation(lambda a, x: a + x)
    made = fl.federated_computation(
        lambda s: fl.sequence_reduce(fl.sequence_map(double, s), 0, plus), NUMBERS
    )
    assert made([1, 2]) == 6
