# SPDX-License-Identifier: Apache-2.0
"""Aggregations at the server: types and misuse; the conformance suite has results."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import SumIncompatibleError, TypeMismatchError
from tests.programs import (
    FLOAT,
    FLOATS,
    INT,
    INT_AT_SERVER,
    INTS,
    add,
    increment,
    same,
    signature,
)

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


FLOAT_ADD = fl.np_computation(lambda a, b: a + b, np.float32, np.float32)


@pytest.mark.parametrize(
    ("role", "wrong"),
    [
        ("zero", 1.5),
        ("zero", [0]),
        ("accumulate", increment),
        ("merge", increment),
        ("merge", FLOAT_ADD),
        ("report", add),
        ("report", fl.np_computation(lambda x: x, np.float32)),
    ],
)
def test_an_argument_of_the_wrong_type_is_named(role: str, wrong: Any) -> None:
    with pytest.raises(TypeMismatchError, match=role) as caught:
        aggregate(**{role: wrong})
    assert "int32" in str(caught.value.expected)


@pytest.mark.parametrize("role", ["accumulate", "merge", "report"])
def test_what_is_no_function_is_refused(role: str) -> None:
    with pytest.raises(TypeMismatchError, match="computation"):
        aggregate(**{role: 3})


def test_a_zero_with_a_placement_is_refused() -> None:
    body = lambda v, z: fl.federated_aggregate(v, z, add, add, same)  # noqa: E731
    with pytest.raises(TypeMismatchError, match="zero"):
        fl.federated_computation(body, INTS, INT_AT_SERVER)


# ------------------------------------------------------------- sum, min, max, others


SUMMABLE = [np.int32, np.uint8, np.float64, np.complex64, (np.float32, [2, 3])]
NOT_SUMMABLE = [
    np.bool_,
    np.str_,
    (np.int32, [None]),
    fl.SequenceType(np.int32),
    OrderedDict(a=np.int32, b=np.bool_),
]


@pytest.mark.parametrize("member", [*SUMMABLE, [], OrderedDict(a=np.int32)], ids=str)
def test_a_sum_has_the_type_of_its_summands(member: Any) -> None:
    type_ = fl.to_type(member)
    assert signature(lambda v: fl.federated_sum(v), fl.type_at_clients(type_)) == (
        f"({{{type_}}}@CLIENTS -> {type_}@SERVER)"
    )


@pytest.mark.parametrize(
    ("intrinsic", "done"),
    [(fl.federated_sum, "added up"), (fl.federated_min, "compared")],
)
@pytest.mark.parametrize("member", NOT_SUMMABLE, ids=str)
def test_what_cannot_be_added_is_refused(
    intrinsic: Any, done: str, member: Any
) -> None:
    with pytest.raises(SumIncompatibleError, match=f"cannot be {done}"):
        fl.federated_computation(lambda v: intrinsic(v), fl.type_at_clients(member))


@pytest.mark.parametrize("intrinsic", [fl.federated_min, fl.federated_max])
def test_complex_numbers_have_no_order(intrinsic: Any) -> None:
    with pytest.raises(TypeMismatchError, match="no order"):
        fl.federated_computation(
            lambda v: intrinsic(v), fl.type_at_clients(np.complex64)
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


@pytest.mark.parametrize("op", [increment, FLOAT_ADD, 3], ids=["one", "dtype", "3"])
def test_a_reduction_needs_an_operator_that_fits(op: Any) -> None:
    with pytest.raises(TypeMismatchError, match="reduce"):
        fl.federated_computation(lambda v: fl.federated_reduce(v, 0, op), INTS)


def test_a_reduction_blames_the_operator_before_the_data() -> None:
    named = fl.np_computation(lambda a, b: {"x": a}, np.int32, np.int32)
    with pytest.raises(TypeMismatchError, match="reduce cannot use this function"):
        fl.federated_computation(lambda v: fl.federated_reduce(v, 0, named), INTS)


@pytest.mark.parametrize("intrinsic", ["federated_collect", "federated_reduce"])
def test_sequences_cannot_be_collected(intrinsic: str) -> None:
    def program(data: Any) -> Any:
        if intrinsic == "federated_collect":
            return fl.federated_collect(data)
        return fl.federated_reduce(data, 0, add)

    sequences = fl.type_at_clients(fl.SequenceType(np.int32))
    with pytest.raises(TypeMismatchError, match="cannot hold sequences"):
        fl.federated_computation(program, sequences)


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
    "member",
    [np.int32, np.bool_, np.str_, [np.float32, np.int32], fl.SequenceType(np.float32)],
    ids=str,
)
def test_only_floats_are_averaged(member: Any) -> None:
    with pytest.raises(TypeMismatchError, match="federated_mean") as caught:
        fl.federated_computation(
            lambda v: fl.federated_mean(v), fl.type_at_clients(member)
        )
    assert "float" in str(caught.value)


def test_every_size_must_be_known() -> None:
    """differs: there it traced, and the unweighted form failed when it ran."""
    vectors = fl.type_at_clients(fl.TensorType(np.float32, [None]))
    with pytest.raises(SumIncompatibleError, match=r"static|size"):
        fl.federated_computation(lambda v: fl.federated_mean(v), vectors)


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


@pytest.mark.parametrize(
    "weight",
    [np.bool_, np.complex64, (np.float32, [2]), [np.float32], np.str_],
    ids=str,
)
def test_other_weights_are_refused(weight: Any) -> None:
    with pytest.raises(TypeMismatchError, match="weight"):
        fl.federated_computation(
            lambda v, w: fl.federated_mean(v, w), FLOATS, fl.type_at_clients(weight)
        )


@pytest.mark.parametrize("weight", [fl.type_at_server(FLOAT), FLOAT], ids=str)
def test_a_weight_is_at_the_clients(weight: Any) -> None:
    with pytest.raises(TypeMismatchError, match="federated"):
        fl.federated_computation(lambda v, w: fl.federated_mean(v, w), FLOATS, weight)


def test_a_constant_is_no_weight() -> None:
    with pytest.raises(TypeMismatchError, match="federated"):
        fl.federated_computation(lambda v: fl.federated_mean(v, 1.0), FLOATS)


def test_the_two_names_of_a_weighted_mean_are_one() -> None:
    one = fl.federated_computation(lambda v, w: fl.federated_mean(v, w), FLOATS, INTS)
    other = fl.federated_computation(
        lambda v, w: fl.federated_weighted_mean(v, w), FLOATS, INTS
    )
    assert one == other
