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


@ARITHMETIC.add(gives((9, 5, 14, np.float64(3.5)), 7, 2), of=[np.int32, np.int32])
def operators_on_integers(_: Leaf, a: Any, b: Any) -> Any:
    """Only the quotient of integers is a float."""
    return four(a, b)


@ARITHMETIC.add(
    gives((np.float32(2.5), 1.5, 1.0, np.float32(4.0)), 2.0, 0.5),
    of=[np.float32, np.float32],
)
def operators_on_floats(_: Leaf, a: Any, b: Any) -> Any:
    """The dtype stays."""
    return four(a, b)


@ARITHMETIC.add(gives((5, 6, 8, 0.5, 5, 2, 8, 2.0), 4), of=[np.int32])
def operators_with_constants(_: Leaf, x: Any) -> Any:
    """A Python number may stand on either side."""
    right = (x + 1, x - (-2), x * 2, x / 8)
    return (*right, 1 + x, 6 - x, 2 * x, 8 / x)


@ARITHMETIC.add(
    gives(model([4, 6], 8), model([1, 2], 3), model([3, 4], 5)), of=[MODEL, MODEL]
)
def operators_on_structures(_: Leaf, a: Any, b: Any) -> Any:
    """Structures are combined leaf by leaf."""
    return a + b


@ARITHMETIC.add(
    gives(model([0.5, 1], 1.5), model([1, 2], 3), 2.0), of=[MODEL, np.float32]
)
def operators_spread_a_scalar(_: Leaf, a: Any, k: Any) -> Any:
    """A scalar at the right meets every leaf."""
    return a / k


LEFT = (model([3, 4], 6), model([1, 0], -2), model([2, 4], 8), model([2, 1], 0.5))


@ARITHMETIC.add(gives(LEFT, 2.0, model([1, 2], 4)), of=[np.float32, MODEL])
def operators_spread_a_scalar_at_the_left(_: Leaf, a: Any, b: Any) -> Any:
    """A scalar at the left meets every leaf."""
    return four(a, b)


@ARITHMETIC.add(
    gives(LEFT, 2.0, model([1, 2], 4)),
    of=[fl.type_at_server(np.float32), fl.type_at_server(MODEL)],
)
def operators_spread_a_scalar_at_the_server(_: Leaf, a: Any, b: Any) -> Any:
    """So it is with placed values."""
    return four(a, b)


@ARITHMETIC.add(
    nobody=gives(([], []), [], []),
    many=gives(
        ([model([1, 0], -2), model([3, 2], 0)], [model([2, 4], 8), model([4, 8], 16)]),
        [2, 4],
        [model([1, 2], 4), model([1, 2], 4)],
    ),
    of=[FLOATS, fl.type_at_clients(MODEL)],
)
def operators_spread_each_clients_scalar(_: Leaf, k: Any, m: Any) -> Any:
    """Every client's number meets its own structure."""
    return k - m, k * m


@ARITHMETIC.add(
    gives(
        (ints(1, -1), np.array([3.0, 1.5]), ints(0, 2), [-4, np.float32(-3)]),
        ints(2, 4),
        [3, 2.5],
    ),
    of=[fl.TensorType(np.int32, [2]), [np.int32, np.float32]],
)
def operators_with_numbers_at_the_left(_: Leaf, x: Any, mixed: Any) -> Any:
    """A Python number takes the dtype of every part that it meets."""
    return 3 - x, 6 / x, np.int32(-2) + x, 2 * (1 - mixed)


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
    of=[INTS, INTS],
)
def operators_at_clients(_: Leaf, a: Any, b: Any) -> Any:
    """Values at CLIENTS are combined client by client."""
    return four(a, b)


@ARITHMETIC.add(
    gives(([2, 3], [9, 8], 8, 2.5), [1, 2], 5), of=[INTS, fl.type_at_server(np.int32)]
)
def operators_place_a_constant(_: Leaf, v: Any, s: Any) -> Any:
    """A number beside a placed value is placed with it."""
    return v + 1, 10 - v, s + 3, s / 2


@ARITHMETIC.add(
    gives([model([1, 2], 3), model([0, 1], 2)], [model([2, 4], 6), model([0, 2], 4)]),
    of=[fl.type_at_clients(MODEL)],
)
def operators_scale_models_at_clients(_: Leaf, v: Any) -> Any:
    """A constant meets every leaf of every client's structure."""
    return v / 2


@ARITHMETIC.add(
    gives(model([0.5, 1.5], 2.5), model([1, 2], 3), [model([0.5, 0.5], 0.5)] * 2),
    of=[fl.type_at_server(MODEL), fl.type_at_clients(MODEL)],
)
def operators_between_server_model_and_mean(_: Leaf, m: Any, updates: Any) -> Any:
    """A server's step: the model minus the mean of the clients' updates."""
    return m - fl.federated_mean(updates)


@ARITHMETIC.add(
    gives([8, 8], 7, [0, 0]), of=[fl.type_at_clients(np.int32, all_equal=True), INTS]
)
def operators_forget_that_values_are_equal(_: Leaf, v: Any, clients: Any) -> Any:
    """The result of an operator at CLIENTS is a list."""
    return v + 1


@ARITHMETIC.add(gives([6.5, 10.5], [2, 4]), of=[FLOATS])
def operators_beside_leaf_code(leaf: Leaf, v: Any) -> Any:
    """Operators and leaf code may be mixed in one function."""
    double = leaf(lambda x: x + x, np.float32)
    fn = fl.federated_computation(lambda x: double(x) + 2.5, np.float32)
    return fl.federated_map(fn, v)
