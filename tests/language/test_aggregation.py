# SPDX-License-Identifier: Apache-2.0
"""Aggregations at the server: types and misuse; the conformance suite has results."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from tests.programs import FLOATS, INT, INTS, add, same, signature

VECTOR = fl.TensorType(np.int32, [None])


def aggregate(**changed: Any) -> Any:
    """The type of an aggregation with one argument replaced."""
    arguments = {"zero": 0, "accumulate": add, "merge": add, "report": same, **changed}
    body = lambda v: fl.federated_aggregate(v, **arguments)  # noqa: E731
    return fl.federated_computation(body, INTS).type_signature.result


def test_the_running_state_has_the_result_type_of_accumulate() -> None:
    grow = fl.np_computation(lambda s, x: np.append(s, x), VECTOR, np.int32)
    join = fl.np_computation(lambda s, t: np.concatenate([s, t]), VECTOR, VECTOR)
    keep = fl.np_computation(lambda s: s, VECTOR)
    nothing_yet = np.zeros([0], np.int32)  # int32[0], which int32[?] may stand for
    result = aggregate(zero=nothing_yet, accumulate=grow, merge=join, report=keep)
    assert str(result) == "int32[?]@SERVER"


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
    half = fl.np_computation(lambda x: np.float64(x) / 2, np.int32)
    assert str(aggregate(report=half)) == "float64@SERVER"


def test_polymorphic_functions_take_their_types_from_the_values() -> None:
    plus, same_ = fl.np_computation(lambda a, b: a + b), fl.np_computation(lambda a: a)
    result = aggregate(accumulate=plus, merge=plus, report=same_)
    assert str(result) == "int32@SERVER"


# ------------------------------------------------------------- sum, min, max, others


SUMMABLE = [np.int32, np.uint8, np.float64, np.complex64, (np.float32, [2, 3])]


@pytest.mark.parametrize("member", [*SUMMABLE, [], OrderedDict(a=np.int32)], ids=str)
def test_a_sum_has_the_type_of_its_summands(member: Any) -> None:
    type_ = fl.to_type(member)
    assert signature(lambda v: fl.federated_sum(v), fl.type_at_clients(type_)) == (
        f"({{{type_}}}@CLIENTS -> {type_}@SERVER)"
    )


@pytest.mark.parametrize(
    ("use", "result"),
    [
        (lambda v: fl.federated_min(v), "int32@SERVER"),
        (lambda v: fl.federated_max(v), "int32@SERVER"),
        (lambda v: fl.federated_collect(v), "int32*@SERVER"),
        (lambda v: fl.federated_reduce(v, 0, add), "int32@SERVER"),
    ],
)
def test_results_are_at_the_server(use: Callable[[Any], Any], result: str) -> None:
    made = fl.federated_computation(use, INTS)
    assert str(made.type_signature.result) == result


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


def test_the_two_names_of_a_weighted_mean_are_one() -> None:
    one = fl.federated_computation(lambda v, w: fl.federated_mean(v, w), FLOATS, INTS)
    other = fl.federated_computation(
        lambda v, w: fl.federated_weighted_mean(v, w), FLOATS, INTS
    )
    assert one == other
