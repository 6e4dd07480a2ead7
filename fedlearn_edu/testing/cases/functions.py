# SPDX-License-Identifier: Apache-2.0
"""Cases: functions as arguments, as results, and in structures."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.case import ALL, NUMPY, CaseBook, Leaf, gives
from fedlearn_edu.types import CLIENTS

FUNCTIONS = CaseBook()

INT = np.int32
INTS = fl.type_at_clients(INT)
INT_TO_INT = fl.FunctionType(INT, INT)
AGGREGATION = fl.FunctionType(INTS, fl.type_at_server(INT))

TRIPLE = fl.federated_computation(lambda x: x * 3, INT)
FIVE = fl.federated_computation(lambda: INT(5))
TOTAL = fl.federated_computation(fl.federated_sum, INTS)
GREATEST = fl.federated_computation(fl.federated_max, INTS)


@FUNCTIONS.add(gives(18, TRIPLE, 2), of=[INT_TO_INT, INT])
def function_handed_in(_: Leaf, f: Any, x: Any) -> Any:
    """A computation may be the argument of another one."""
    return f(f(x))


@FUNCTIONS.add(gives(18, OrderedDict(f=TRIPLE, x=2)))
def function_in_a_structure(_: Leaf) -> Computation:
    """A computation may be a field of the argument."""
    parameter = fl.StructType([("f", INT_TO_INT), ("x", INT)])
    return fl.federated_computation(lambda p: p.f(p.f(p.x)), parameter)


@FUNCTIONS.add(
    many=gives([3, 6], TRIPLE, [1, 2]),
    nobody=gives([], TRIPLE, []),
    of=[INT_TO_INT, INTS],
)
def function_handed_on_to_a_map(_: Leaf, f: Any, v: Any) -> Any:
    """A function argument may be given to an intrinsic."""
    return fl.federated_map(f, v)


@FUNCTIONS.add(gives([5, 5], FIVE, [0, 0]), of=[fl.FunctionType(None, INT), INTS])
def function_without_parameter(_: Leaf, f: Any, clients: Any) -> Any:
    """A function argument without parameter may be evaluated at the clients."""
    return fl.federated_eval(f, CLIENTS)


@FUNCTIONS.add(
    total=gives(6, TOTAL, [1, 2, 3]),
    greatest=gives(3, GREATEST, [1, 2, 3]),
    of=[AGGREGATION, INTS],
)
def function_that_aggregates(_: Leaf, f: Any, v: Any) -> Any:
    """A function argument may hold derived intrinsics, which expand there, too."""
    return f(v)


@FUNCTIONS.add(gives(12, 3), runtimes=ALL, of=[INT])
def leaf_code_handed_in(leaf: Leaf, x: Any) -> Any:
    """Leaf code is a function like any other."""
    twice = fl.federated_computation(lambda f, x: f(f(x)), INT_TO_INT, INT)
    double = leaf(lambda x: x + x, INT)
    again = leaf(lambda x: x, INT)
    return again(twice(double, x))


@FUNCTIONS.add(
    gives([0.0, 0.125], [1, 0.25]),
    runtimes=(NUMPY,),
    of=[fl.type_at_clients(np.float32)],
)
def leaf_code_that_says_its_result(leaf: Leaf, v: Any) -> Any:
    """A result becomes what was said, also where ones would give another type."""
    half = leaf(lambda x: 0 if x > 0.5 else x / 2, np.float32, result=np.float32)
    return fl.federated_map(half, v)


@FUNCTIONS.add(gives((7, 10), 5), runtimes=ALL, of=[INT])
def functions_in_a_list(leaf: Leaf, x: Any) -> Any:
    """A body may choose from a structure of functions."""
    add_two = leaf(lambda x: x + INT(2), INT)
    double = leaf(lambda x: x + x, INT)
    pick = fl.federated_computation(
        lambda fs, x: (fs[0](x), fs[1](x)), [INT_TO_INT, INT_TO_INT], INT
    )
    return pick([add_two, double], x)


@FUNCTIONS.add(gives(7, 5), of=[INT])
def function_as_result(leaf: Leaf, x: Any) -> Any:
    """A computation may return a function to the body that calls it."""
    add_two = leaf(lambda x: x + INT(2), INT)
    give = fl.federated_computation(lambda: add_two)
    return give()(x)


@FUNCTIONS.add(gives(8, 5), of=[INT])
def function_made_of_an_argument(leaf: Leaf, x: Any) -> Any:
    """A returned function remembers what it captured."""
    add = leaf(lambda a, b: a + b, INT, INT)

    @fl.federated_computation(INT)
    def adder(k: Any) -> Any:
        return fl.federated_computation(lambda x: add(x, k), INT)

    return adder(INT(3))(x)


@FUNCTIONS.add(
    gives([[3], [6, 9]], TRIPLE, [[1], [2, 3]]),
    needs_sequences=True,
    of=[INT_TO_INT, fl.type_at_clients(fl.SequenceType(INT))],
)
def function_over_client_data(_: Leaf, f: Any, d: Any) -> Any:
    """A function argument may be applied to each element at each client."""
    return fl.sequence_map(f, d)
