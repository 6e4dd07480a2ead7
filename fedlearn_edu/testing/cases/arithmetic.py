# SPDX-License-Identifier: Apache-2.0
"""Cases: `+ - * /` on values, unplaced and at both placements."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.case import CaseBook, Leaf, gives

ARITHMETIC = CaseBook()

INTS = fl.type_at_clients(np.int32)
FLOATS = fl.type_at_clients(np.float32)
MODEL = fl.to_type(OrderedDict(w=fl.TensorType(np.float32, [2]), b=np.float32))


def model(w: list[float], b: float) -> OrderedDict[str, object]:
    """A value of type MODEL."""
    return OrderedDict(w=np.array(w, np.float32), b=np.float32(b))


def ints(*numbers: int) -> Any:
    """A vector of integers."""
    return np.array(numbers, np.int32)


def four(a: Any, b: Any) -> Any:
    """Sum, difference, product, quotient."""
    return a + b, a - b, a * b, a / b


@ARITHMETIC.add(gives((9, 5, 14, np.float64(3.5)), 7, 2))
def operators_on_integers(_: Leaf) -> Computation:
    """Only the quotient of integers is a float."""
    return fl.federated_computation(four, np.int32, np.int32)


@ARITHMETIC.add(gives((np.float32(2.5), 1.5, 1.0, np.float32(4.0)), 2.0, 0.5))
def operators_on_floats(_: Leaf) -> Computation:
    """The dtype stays."""
    return fl.federated_computation(four, np.float32, np.float32)


@ARITHMETIC.add(gives((5, 6, 8, 0.5, 5, 2, 8, 2.0), 4))
def operators_with_constants(_: Leaf) -> Computation:
    """A Python number may stand on either side."""

    def body(x: Any) -> Any:
        right = (x + 1, x - (-2), x * 2, x / 8)
        return (*right, 1 + x, 6 - x, 2 * x, 8 / x)

    return fl.federated_computation(body, np.int32)


@ARITHMETIC.add(gives(model([4, 6], 8), model([1, 2], 3), model([3, 4], 5)))
def operators_on_structures(_: Leaf) -> Computation:
    """Structures are combined leaf by leaf."""
    return fl.federated_computation(lambda a, b: a + b, MODEL, MODEL)


@ARITHMETIC.add(gives(model([0.5, 1], 1.5), model([1, 2], 3), 2.0))
def operators_spread_a_scalar(_: Leaf) -> Computation:
    """A scalar at the right meets every leaf."""
    return fl.federated_computation(lambda a, k: a / k, MODEL, np.float32)


LEFT = (model([3, 4], 6), model([1, 0], -2), model([2, 4], 8), model([2, 1], 0.5))


@ARITHMETIC.add(gives(LEFT, 2.0, model([1, 2], 4)))
def operators_spread_a_scalar_at_the_left(_: Leaf) -> Computation:
    """A scalar at the left meets every leaf."""
    return fl.federated_computation(four, np.float32, MODEL)


@ARITHMETIC.add(gives(LEFT, 2.0, model([1, 2], 4)))
def operators_spread_a_scalar_at_the_server(_: Leaf) -> Computation:
    """So it is with placed values."""
    return fl.federated_computation(
        four, fl.type_at_server(np.float32), fl.type_at_server(MODEL)
    )


@ARITHMETIC.add(
    nobody=gives(([], []), [], []),
    many=gives(
        ([model([1, 0], -2), model([3, 2], 0)], [model([2, 4], 8), model([4, 8], 16)]),
        [2, 4],
        [model([1, 2], 4), model([1, 2], 4)],
    ),
)
def operators_spread_each_clients_scalar(_: Leaf) -> Computation:
    """Every client's number meets its own structure."""
    return fl.federated_computation(
        lambda k, m: (k - m, k * m), FLOATS, fl.type_at_clients(MODEL)
    )


@ARITHMETIC.add(
    gives(
        (ints(1, -1), np.array([3.0, 1.5]), ints(0, 2), [-4, np.float32(-3)]),
        ints(2, 4),
        [3, 2.5],
    )
)
def operators_with_numbers_at_the_left(_: Leaf) -> Computation:
    """A Python number takes the dtype of every part that it meets."""

    def body(x: Any, mixed: Any) -> Any:
        return 3 - x, 6 / x, np.int32(-2) + x, 2 * (1 - mixed)

    return fl.federated_computation(
        body, fl.TensorType(np.int32, [2]), [np.int32, np.float32]
    )


@ARITHMETIC.add(gives((9, 5, 14, np.float64(3.5)), 7, 2))
def operators_at_server(_: Leaf) -> Computation:
    """Values at SERVER are combined there."""
    at_server = fl.type_at_server(np.int32)
    return fl.federated_computation(four, at_server, at_server)


@ARITHMETIC.add(
    nobody=gives(([], [], [], []), [], []),
    one=gives(([9], [5], [14], [3.5]), [7], [2]),
    many=gives(
        ([9, 2, 4], [5, 0, 2], [14, 1, 3], [3.5, 1.0, 3.0]), [7, 1, 3], [2, 1, 1]
    ),
)
def operators_at_clients(_: Leaf) -> Computation:
    """Values at CLIENTS are combined client by client."""
    return fl.federated_computation(four, INTS, INTS)


@ARITHMETIC.add(gives(([2, 3], [9, 8], 8, 2.5), [1, 2], 5))
def operators_place_a_constant(_: Leaf) -> Computation:
    """A number beside a placed value is placed with it."""

    def body(v: Any, s: Any) -> Any:
        return v + 1, 10 - v, s + 3, s / 2

    return fl.federated_computation(body, INTS, fl.type_at_server(np.int32))


@ARITHMETIC.add(
    gives([model([1, 2], 3), model([0, 1], 2)], [model([2, 4], 6), model([0, 2], 4)])
)
def operators_scale_models_at_clients(_: Leaf) -> Computation:
    """A constant meets every leaf of every client's structure."""
    return fl.federated_computation(lambda v: v / 2, fl.type_at_clients(MODEL))


@ARITHMETIC.add(
    gives(model([0.5, 1.5], 2.5), model([1, 2], 3), [model([0.5, 0.5], 0.5)] * 2)
)
def operators_between_server_model_and_mean(_: Leaf) -> Computation:
    """A server's step: the model minus the mean of the clients' updates."""
    return fl.federated_computation(
        lambda m, updates: m - fl.federated_mean(updates),
        fl.type_at_server(MODEL),
        fl.type_at_clients(MODEL),
    )


@ARITHMETIC.add(gives([8, 8], 7, [0, 0]))
def operators_forget_that_values_are_equal(_: Leaf) -> Computation:
    """The result of an operator at CLIENTS is a list."""
    return fl.federated_computation(
        lambda v, clients: v + 1, fl.type_at_clients(np.int32, all_equal=True), INTS
    )


@ARITHMETIC.add(gives([6.5, 10.5], [2, 4]))
def operators_beside_leaf_code(leaf: Leaf) -> Computation:
    """Operators and leaf code may be mixed in one function."""
    double = leaf(lambda x: x + x, np.float32)
    fn = fl.federated_computation(lambda x: double(x) + 2.5, np.float32)
    return fl.federated_computation(lambda v: fl.federated_map(fn, v), FLOATS)
