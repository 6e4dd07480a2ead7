# SPDX-License-Identifier: Apache-2.0
"""Cases: inner computations that use values of the body around them."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.case import ALL, CaseBook, Leaf, gives

CAPTURES = CaseBook()

INT = np.int32
INTS = fl.type_at_clients(INT)
INT_TO_INT = fl.FunctionType(INT, INT)
PAIR = fl.to_type(OrderedDict(a=INT, b=fl.TensorType(INT, [2])))


@CAPTURES.add(gives(13, 10, 3), of=[INT, INT])
def capture_in_a_called_function(leaf: Leaf, k: Any, x: Any) -> Any:
    """A function that is called sees the values around it."""
    add = leaf(lambda a, b: a + b, INT, INT)
    return fl.federated_computation(lambda y: add(y, k), INT)(x)


@CAPTURES.add(
    nobody=gives([], 10, []),
    one=gives([11], 10, [1]),
    many=gives([11, 12], 10, [1, 2]),
    of=[INT, INTS],
)
def capture_of_a_number(leaf: Leaf, k: Any, v: Any) -> Any:
    """A function that is mapped takes the number along to the clients."""
    add = leaf(lambda a, b: a + b, INT, INT)
    fn = fl.federated_computation(lambda x: add(x, k), INT)
    return fl.federated_map(fn, v)


@CAPTURES.add(
    gives(
        [(OrderedDict(a=1, b=np.array([2, 3], INT)), 6)],
        OrderedDict(a=1, b=[2, 3]),
        [5],
    ),
    of=[PAIR, INTS],
)
def capture_of_a_structure(_: Leaf, k: Any, v: Any) -> Any:
    """A captured structure keeps its form; its parts can be used."""
    fn = fl.federated_computation(lambda x: (k, x + k.a), INT)
    return fl.federated_map(fn, v)


@CAPTURES.add(
    gives([b"hi Ada", b"hi Bo"], "hi ", ["Ada", "Bo"]),
    of=[np.str_, fl.type_at_clients(np.str_)],
)
def capture_of_a_string(leaf: Leaf, k: Any, v: Any) -> Any:
    """Text can be captured."""
    join = leaf(lambda a, b: a + b, np.str_, np.str_)
    fn = fl.federated_computation(lambda x: join(k, x), np.str_)
    return fl.federated_map(fn, v)


@CAPTURES.add(gives([2, 3], [1, 2], ()), of=[INTS, ()])
def capture_of_an_empty_structure(_: Leaf, v: Any, nothing: Any) -> Any:
    """Nothing can be captured."""
    fn = fl.federated_computation(lambda x: [x + 1, nothing], INT)
    return fl.federated_map(fn, v)[0]


@CAPTURES.add(
    gives([20, 40], fl.federated_computation(lambda x: x * 10, INT), [1, 2]),
    of=[INT_TO_INT, INTS],
)
def capture_of_a_function(leaf: Leaf, f: Any, v: Any) -> Any:
    """A function argument can be captured."""
    double = leaf(lambda x: x + x, INT)
    fn = fl.federated_computation(lambda x: double(f(x)), INT)
    return fl.federated_map(fn, v)


@CAPTURES.add(gives([18, 19], 7, [1, 2]), runtimes=ALL, of=[INT, INTS])
def capture_of_a_result(leaf: Leaf, k: Any, v: Any) -> Any:
    """What the body computed before can be captured; it is computed once."""
    double = leaf(lambda x: x + x, INT)
    add = leaf(lambda a, b: a + b, INT, INT)
    twice = double(k) + 3
    fn = fl.federated_computation(lambda x: add(x, twice), INT)
    return fl.federated_map(fn, v)


@CAPTURES.add(gives([111, 212], 10, 100, [1, 2]), of=[INT, INT, INTS])
def capture_through_two_floors(leaf: Leaf, k: Any, m: Any, v: Any) -> Any:
    """A function inside a function sees both bodies around it."""
    add = leaf(lambda a, b: a + b, INT, INT)
    multiply = leaf(lambda a, b: a * b, INT, INT)

    def middle(x: Any) -> Any:
        def inner(y: Any) -> Any:
            return add(add(multiply(x, m), k), y)

        return fl.federated_computation(inner, INT)(x)

    return fl.federated_map(fl.federated_computation(middle, INT), v)


@CAPTURES.add(
    gives([[12, 13], [14]], 10, 1, [[1, 2], [3]]),
    needs_sequences=True,
    of=[INT, INT, fl.type_at_clients(fl.SequenceType(INT))],
)
def capture_by_the_function_of_an_element(_: Leaf, k: Any, m: Any, v: Any) -> Any:
    """A function mapped over data inside a mapped function captures from both."""

    def per_client(data: Any) -> Any:
        shift = k + m
        fn = fl.federated_computation(lambda x: x + shift, INT)
        return fl.sequence_map(fn, data)

    data = fl.SequenceType(INT)
    return fl.federated_map(fl.federated_computation(per_client, data), v)


@CAPTURES.add(nobody=gives(0, 2, []), many=gives(12, 2, [1, 2, 3]), of=[INT, INTS])
def capture_in_an_aggregation(leaf: Leaf, k: Any, v: Any) -> Any:
    """The functions of an aggregation may capture."""
    add = leaf(lambda a, b: a + b, INT, INT)
    multiply = leaf(lambda a, b: a * b, INT, INT)
    step = fl.federated_computation(lambda s, x: add(s, multiply(x, k)), INT, INT)
    same = fl.federated_computation(lambda s: s, INT)
    return fl.federated_aggregate(v, k - k, step, add, same)


@CAPTURES.add(gives((7, 6), [1, 2, 3], 1), of=[INTS, fl.type_at_server(INT)])
def capture_of_a_federated_value(_: Leaf, v: Any, s: Any) -> Any:
    """A function that is called, not mapped, may use federated values around it."""
    inner = fl.federated_computation(lambda: fl.federated_sum(v))
    plus = fl.federated_computation(lambda t: t + inner(), fl.type_at_server(INT))
    return plus(s), inner()


@CAPTURES.add(gives([6, 7], 5, [1, 2]), of=[INT, INTS])
def capture_under_a_name_that_is_used_again(_: Leaf, x: Any, v: Any) -> Any:
    """A parameter of the same name does not hide what was captured before."""

    def outer(y: Any) -> Any:
        def body(x: Any) -> Any:
            return x + y

        return fl.federated_computation(body, INT)(captured)

    captured = x
    return fl.federated_map(fl.federated_computation(outer, INT), v)


@CAPTURES.add(
    gives(
        [35, 38],
        OrderedDict(f=fl.federated_computation(lambda x: x * 3, INT), k=32),
        [1, 2],
    )
)
def capture_of_a_structure_with_a_function(_: Leaf) -> Computation:
    """A captured structure may hold functions beside its data."""

    def body(p: Any, v: Any) -> Any:
        fn = fl.federated_computation(lambda x: p.f(x) + p.k, INT)
        return fl.federated_map(fn, v)

    parameter = fl.StructType([("f", INT_TO_INT), ("k", INT)])
    return fl.federated_computation(body, parameter, INTS)
