# SPDX-License-Identifier: Apache-2.0
"""Cases: computations that call each other, in every spelling."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.case import ALL, CaseBook, Leaf, gives

CALLS = CaseBook()

INT = np.int32
INTS = fl.type_at_clients(INT)


@CALLS.add(
    positions=gives(3, 7, 4),
    keywords=gives(3, b=4, a=7),
    both=gives(3, 7, b=4),
    struct=gives(3, (7, 4)),
    dictionary=gives(3, {"b": 4, "a": 7}),
)
def call_from_python(leaf: Leaf) -> Computation:
    """Arguments may be given by position, by name, or as one structure."""
    computation: Computation = leaf(lambda a, b: a - b, INT, INT)
    return computation


@CALLS.add(gives([3, 3, 3, 3, -3], 7, 4), of=[INT, INT])
def call_in_a_body(leaf: Leaf, x: Any, y: Any) -> Any:
    """The same spellings work while a body is traced."""
    subtract = leaf(lambda a, b: a - b, INT, INT)
    return [
        subtract(x, y),
        subtract(a=x, b=y),
        subtract(x, b=y),
        subtract([x, y]),
        subtract(b=x, a=y),
    ]


@CALLS.add(gives(3, 7, 4))
def call_with_an_unnamed_parameter(leaf: Leaf) -> Computation:
    """A function of one Python parameter may take an unnamed structure."""
    computation: Computation = leaf(lambda p: p[0] - p[1], (INT, INT))
    return computation


@CALLS.add(gives(12), of=[])
def call_without_arguments(leaf: Leaf) -> Any:
    """Computations without parameter are called like functions."""
    five = leaf(lambda: INT(5))
    seven = fl.federated_computation(lambda: INT(7))
    return five() + seven()


@CALLS.add(gives(([3, 4], 9, [5, 6]), [1, 2], 7), of=[INTS, fl.type_at_server(INT)])
def federated_calls_federated(leaf: Leaf, v: Any, s: Any) -> Any:
    """A federated computation may be made of others."""
    add_two = leaf(lambda x: x + INT(2), INT)
    at_clients = fl.federated_computation(lambda v: fl.federated_map(add_two, v), INTS)
    at_server = fl.federated_computation(
        lambda v: fl.federated_map(add_two, v), fl.type_at_server(INT)
    )
    return at_clients(v), at_server(s), at_clients(at_clients(v))


@CALLS.add(gives([15, 18], [1, 2]), runtimes=ALL, of=[INTS])
def leaf_code_below_three_floors(leaf: Leaf, v: Any) -> Any:
    """Map over a computation that calls a computation that calls leaf code."""
    add_two = leaf(lambda x: x + INT(2), INT)
    triple = leaf(lambda x: x * INT(3), INT)
    inner = fl.federated_computation(lambda x: add_two(add_two(x)), INT)
    outer = fl.federated_computation(lambda x: triple(inner(x)), INT)
    return fl.federated_map(outer, v)


@CALLS.add(gives([12, 15], [1, 2]), of=[INTS])
def leaf_code_calls_leaf_code(leaf: Leaf, v: Any) -> Any:
    """Leaf code may call other leaf code of its runtime."""
    add_two = leaf(lambda x: x + INT(2), INT)
    inner = leaf(lambda x: add_two(x) + INT(1), INT)
    outer = leaf(lambda x: inner(x) * INT(3), INT)
    return fl.federated_map(outer, v)


@CALLS.add(
    gives((4, 5.0, [6], [b"ab"]), 2, 2.5, [3], ["a"]),
    of=[INT, np.float32, INTS, fl.type_at_clients(np.str_)],
)
def polymorphic_leaf_code(leaf: Leaf, x: Any, y: Any, v: Any, w: Any) -> Any:
    """A computation without types takes the types it meets."""
    double = leaf(lambda x: x + x)
    greet = leaf(lambda x: x + b"b")
    mapped = fl.federated_map(double, v), fl.federated_map(greet, w)
    return double(x), double(y), *mapped


@CALLS.add(gives((11, [3, 7]), 5, [1, 3], [2, 4]), of=[INT, INTS, INTS])
def polymorphic_federated_code(leaf: Leaf, x: Any, v: Any, w: Any) -> Any:
    """A polymorphic computation over a zipped pair may have two parameters."""
    add = leaf(lambda a, b: a + b)
    outer = fl.federated_computation(lambda x: add(x, x) + 1)
    return outer(x), fl.federated_map(add, (v, w))


@CALLS.add(gives(10, [1, 2, 3, 4]), of=[INTS])
def polymorphic_aggregate(leaf: Leaf, v: Any) -> Any:
    """The functions of an aggregation take their types from its value and zero."""
    add = leaf(lambda a, b: a + b)
    same = leaf(lambda a: a)
    return fl.federated_aggregate(v, INT(0), add, add, same)


@CALLS.add(gives([-9, -18], [1, 2], [10, 20]), of=[INTS, INTS])
def call_with_an_implicit_zip(leaf: Leaf, v: Any, w: Any) -> Any:
    """A structure of federated values is zipped where a federated one is wanted."""
    subtract = leaf(lambda p: p[0] - p[1], (INT, INT))
    pairwise = fl.federated_computation(
        lambda p: fl.federated_map(subtract, p), fl.type_at_clients((INT, INT))
    )
    return pairwise([v, w])


@CALLS.add(gives(([1, 2], 30), OrderedDict(data=[1, 2], k=30)))
def fields_become_parameters(_: Leaf) -> Computation:
    """A structure type is spread over the parameters of its names."""
    parameter = fl.to_type(OrderedDict(data=INTS, k=INT))
    return fl.federated_computation(lambda k, data: (data, k), parameter)


@CALLS.add(gives((4, 6, 10), 1), of=[INT])
def bindings_follow_each_other(leaf: Leaf, x: Any) -> Any:
    """A body is a block: later lines see earlier ones, unused ones change nothing."""
    double = leaf(lambda x: x + x, INT)
    a = double(double(x))
    double(a)
    b = double(x) + a
    return a, b, a + b


@CALLS.add(gives((1, 2, 1, 2), 1, 2), of=[INT, INT])
def names_do_not_clash(_: Leaf, a: Any, b: Any) -> Any:
    """Bodies of one name that call each other keep their values apart."""

    def swap(a: Any, b: Any) -> Any:
        return b, a

    inner = fl.federated_computation(swap, INT, INT)

    def outer() -> Any:
        @fl.federated_computation(INT, INT)
        def swap(a: Any, b: Any) -> Any:
            c, d = inner(a, b)
            return d, c

        return swap

    return *outer()(a, b), *inner(b, a)
