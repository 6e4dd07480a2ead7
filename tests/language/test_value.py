# SPDX-License-Identifier: Apache-2.0
"""What a `Value` supports (semantics 2.7), and the arithmetic of the language."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.language.arithmetic import zeros
from tests.programs import INT, traced

AB = OrderedDict(a=np.int32, b=np.bool_)
STRUCTS = {
    "unplaced": (fl.to_type(AB), "{}"),
    "clients": (fl.type_at_clients(AB), "{{{}}}@CLIENTS"),
    "all-equal": (fl.type_at_clients(AB, all_equal=True), "{}@CLIENTS"),
    "server": (fl.type_at_server(AB), "{}@SERVER"),
}


@pytest.fixture(params=STRUCTS)
def struct(request: pytest.FixtureRequest) -> Any:
    """A structure type, and how the type of one of its fields looks."""
    return STRUCTS[request.param]


@pytest.mark.parametrize(
    ("cut", "fields"),
    [
        (lambda v: v[0:1], "<a=int32>"),
        (lambda v: v[:], "<a=int32,b=bool>"),
        (lambda v: v[::-1], "<b=bool,a=int32>"),
        (lambda v: v[0:0], "<>"),
    ],
    ids=["head", "all", "reversed", "empty"],
)
def test_a_slice_is_a_structure_with_its_names(
    struct: Any, cut: Callable[[Any], Any], fields: str
) -> None:
    """differs: there, an unplaced slice lost its names, and an empty one failed."""
    type_, pattern = struct
    assert str(traced(cut, type_).type_signature) == pattern.format(fields)


# ------------------------------------------------------------------ calls


PAIR_FUNCTION = fl.FunctionType(OrderedDict(p=np.int32, q=np.int32), np.int32)


@pytest.mark.parametrize(
    "call", [lambda f: f(1, 2), lambda f: f(q=1, p=2), lambda f: f([1, 2])]
)
def test_a_function_value_is_called_like_a_computation(
    call: Callable[[Any], Any],
) -> None:
    assert str(traced(call, PAIR_FUNCTION).type_signature) == "int32"


# ------------------------------------------------------------------ operators


def test_a_sign_may_stand_before_a_value() -> None:
    made = fl.federated_computation(lambda v: [-v, +v], [INT])
    assert made([2]) == [[-2], [2]]
    assert -fl.place([1, 2], fl.CLIENTS) == [-1, -2]


@pytest.mark.parametrize("number", [np.float32(2), np.array([2, 3], np.float32)])
def test_a_numpy_number_combines_with_a_value(number: Any) -> None:
    type_ = fl.TensorType(np.float32, number.shape)
    made = fl.federated_computation(lambda v: number * v, type_)
    np.testing.assert_array_equal(made(number), number * number)


def test_a_value_lists_its_fields_for_completion(struct: Any) -> None:
    names = traced(dir, struct[0])
    assert {"a", "b", "type_signature"} <= set(names)


def test_unnamed_fields_are_not_offered_for_completion() -> None:
    assert traced(dir, fl.to_type([("a", INT), INT])).count("a") == 1
    assert None not in traced(dir, fl.to_type([INT, INT]))


def test_a_value_prints_its_tree_and_its_type() -> None:
    value = traced(lambda v: v.a, fl.to_type(AB))
    assert str(value) == "value.a"
    assert repr(value) == "<value value.a: int32>"


# ----------------------------------------
# Zeros and leaf-by-leaf arithmetic, of which expansions are made


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (np.int32, 0),
        (np.float64, 0.0),
        (OrderedDict(a=np.int32, b=[np.float32]), OrderedDict(a=0, b=[0.0])),
        ([], []),
    ],
    ids=str,
)
def test_zeros_have_the_structure_of_a_type(type_: Any, value: Any) -> None:
    made = fl.federated_computation(lambda: zeros(fl.to_type(type_)))
    assert made() == value
    assert made.type_signature.result == fl.to_type(type_)


def test_zeros_of_an_unknown_size_are_of_size_zero() -> None:
    unknown = fl.TensorType(np.int32, [2, None])
    assert fl.federated_computation(lambda: zeros(unknown))().shape == (2, 0)


def test_of_tensors_a_binary_function_is_the_operation_itself() -> None:
    total = fl.federated_computation(fl.federated_sum, fl.type_at_clients(np.int32))
    stack = fl.framework.local_executor_factory().native({fl.CLIENTS: 2})
    text = to_text(fl.framework.compile_tree(total.tree, stack))
    assert "federated_aggregate(<value,0,add,add," in text
