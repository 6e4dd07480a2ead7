# SPDX-License-Identifier: Apache-2.0
"""Zeros and leaf-by-leaf arithmetic, of which expansions are made."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.language.arithmetic import binary, constant_like, leafwise, zeros
from tests.programs import FLOAT, INT


def run(body: Any, *types: Any) -> Any:
    return fl.federated_computation(body, *types)


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
    made = run(lambda: zeros(fl.to_type(type_)))
    assert made() == value
    assert made.type_signature.result == fl.to_type(type_)


def test_zeros_of_an_unknown_size_are_of_size_zero() -> None:
    made = run(lambda: zeros(fl.TensorType(np.int32, [2, None])))
    assert made().shape == (2, 0)


def test_a_constant_is_chosen_leaf_by_leaf() -> None:
    pair = fl.to_type(OrderedDict(a=np.uint8, b=np.float32))
    made = run(lambda: constant_like(pair, lambda t: t.dtype.itemsize))
    assert made() == OrderedDict(a=1, b=4)


def test_a_scalar_meets_every_leaf() -> None:
    pair = fl.to_type(OrderedDict(a=np.float32, b=(np.float32, [2])))
    made = run(lambda p, k: leafwise("multiply", p, k), pair, FLOAT)
    result = made(OrderedDict(a=1, b=[2, 3]), 10)
    assert result["a"] == 10
    np.testing.assert_array_equal(result["b"], [20, 30])


def test_a_binary_function_takes_a_pair_of_one_type() -> None:
    pair = fl.to_type([np.int32, (np.int32, [2])])
    made = run(lambda p, q: binary("maximum", pair)(p, q), pair, pair)
    assert str(binary_type(pair)) == f"(<{pair},{pair}> -> {pair})"
    low, high = made([1, [5, 6]], [3, [4, 9]])
    assert low == 3
    np.testing.assert_array_equal(high, [5, 9])


def test_of_tensors_a_binary_function_is_the_operation_itself() -> None:
    total = fl.federated_computation(fl.federated_sum, fl.type_at_clients(np.int32))
    stack = fl.framework.local_executor_factory().native({fl.CLIENTS: 2})
    text = to_text(fl.framework.compile_tree(total.tree, stack))
    assert "federated_aggregate(<value,0,add,add," in text


def binary_type(type_: Any) -> Any:
    types = []

    def body(x: Any) -> Any:
        types.append(binary("add", type_).type_signature)
        return x

    run(body, INT)
    return types[0]
