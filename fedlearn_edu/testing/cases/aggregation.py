# SPDX-License-Identifier: Apache-2.0
"""Cases: `federated_aggregate`, `_sum`, `_min`, `_max`, `_collect`, `_reduce`."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.case import ALL, CaseBook, Leaf, gives

AGGREGATION = CaseBook()

INTS = fl.type_at_clients(np.int32)
FLOATS = fl.type_at_clients(np.float32)
MODEL = fl.to_type(
    OrderedDict(w=fl.TensorType(np.float32, [2]), b=(np.int32, np.int64))
)
INT32, UINT8 = np.iinfo(np.int32), np.iinfo(np.uint8)


def model(w: list[float], *b: int) -> Any:
    """A value of type MODEL."""
    return OrderedDict(w=np.array(w, np.float32), b=(np.int32(b[0]), np.int64(b[1])))


@AGGREGATION.add(
    nobody=gives(0, []), one=gives(5, [5]), many=gives(15, [1, 2, 3, 4, 5]), of=[INTS]
)
def sum_of_integers(_: Leaf, v: Any) -> Any:
    """The sum over nobody is zero, over one client its value."""
    return fl.federated_sum(v)


@AGGREGATION.add(
    nobody=gives(model([0, 0], 0, 0), []),
    one=gives(model([1, 2], 3, 4), [model([1, 2], 3, 4)]),
    many=gives(model([11, 22], 33, 44), [model([1, 2], 3, 4), model([10, 20], 30, 40)]),
    of=[fl.type_at_clients(MODEL)],
)
def sum_of_structures(_: Leaf, v: Any) -> Any:
    """A structure is summed leaf by leaf and keeps its containers."""
    return fl.federated_sum(v)


@AGGREGATION.add(gives(np.uint8(44), [200, 100]), of=[fl.type_at_clients(np.uint8)])
def sum_of_small_integers_wraps(_: Leaf, v: Any) -> Any:
    """Integers wrap around, as they do in NumPy and TensorFlow."""
    return fl.federated_sum(v)


@AGGREGATION.add(
    gives(12, 4, [0, 0, 0]), of=[fl.type_at_clients(np.int32, all_equal=True), INTS]
)
def sum_of_equal_values(_: Leaf, v: Any, clients: Any) -> Any:
    """An all-equal value counts once per client."""
    return fl.federated_sum(v)


@AGGREGATION.add(gives([3, 7.5], [1, 2], [2.5, 5.0]), of=[INTS, FLOATS])
def sum_of_an_implicit_zip(_: Leaf, v: Any, w: Any) -> Any:
    """A list of federated values is zipped before it is summed."""
    return fl.federated_sum([v, w])


@AGGREGATION.add(gives((), [(), ()]), of=[fl.type_at_clients(())])
def sum_of_empty_structures(_: Leaf, v: Any) -> Any:
    """There is nothing to add, and that is the sum."""
    return fl.federated_sum(v)


@AGGREGATION.add(
    nobody=gives((INT32.max, INT32.min), []),
    one=gives((-4, -4), [-4]),
    many=gives((-7, 9), [3, -7, 9, 0, 2]),
    of=[INTS],
)
def least_and_greatest_integer(_: Leaf, v: Any) -> Any:
    """Over nobody these are the neutral elements of the dtype."""
    return fl.federated_min(v), fl.federated_max(v)


@AGGREGATION.add(
    nobody=gives((np.inf, -np.inf), []),
    many=gives((-0.5, 2.5), [1.0, 2.5, -0.5]),
    of=[FLOATS],
)
def least_and_greatest_float(_: Leaf, v: Any) -> Any:
    """Over nobody these are the infinities."""
    return fl.federated_min(v), fl.federated_max(v)


@AGGREGATION.add(
    gives(model([1, 20], 3, 40), [model([1, 20], 30, 40), model([10, 20], 3, 400)]),
    of=[fl.type_at_clients(MODEL)],
)
def least_of_structures(_: Leaf, v: Any) -> Any:
    """The least is taken leaf by leaf, element by element."""
    return fl.federated_min(v)


@AGGREGATION.add(
    gives(model([10, 20], 30, 400), [model([1, 20], 30, 40), model([10, 20], 3, 400)]),
    of=[fl.type_at_clients(MODEL)],
)
def greatest_of_structures(_: Leaf, v: Any) -> Any:
    """The greatest is taken leaf by leaf, element by element."""
    return fl.federated_max(v)


@AGGREGATION.add(
    runtimes=ALL,
    nobody=gives((0, 0.0), []),
    one=gives((1, 4.0), [4.0]),
    many=gives((5, 25.0), [1.0, 3.0, 5.0, 7.0, 9.0]),
    of=[FLOATS],
)
def aggregate_with_four_functions(leaf: Leaf, v: Any) -> Any:
    """Count and total travel together; the report turns them round."""
    state = fl.to_type(OrderedDict(total=np.float32, n=np.int32))
    accumulate = leaf(
        lambda s, x: OrderedDict(total=s["total"] + x, n=s["n"] + np.int32(1)),
        state,
        np.float32,
    )
    merge = leaf(
        lambda s, t: OrderedDict(total=s["total"] + t["total"], n=s["n"] + t["n"]),
        state,
        state,
    )
    report = leaf(lambda s: (s["n"], s["total"]), state)
    zero = OrderedDict(total=0.0, n=0)
    return fl.federated_aggregate(v, zero, accumulate, merge, report)


@AGGREGATION.add(
    nobody=gives(b"", []),
    one=gives(b"a", ["a"]),
    many=gives(b"abcdefghijk", list("abcdefghijk")),
    of=[fl.type_at_clients(np.str_)],
)
def aggregate_folds_in_client_order(leaf: Leaf, v: Any) -> Any:
    """Joining text shows the order: that of the clients, however they are grouped."""
    join = leaf(lambda s, x: s + x, np.str_, np.str_)
    same = leaf(lambda s: s, np.str_)
    return fl.federated_aggregate(v, "", join, join, same)


@AGGREGATION.add(
    gives(np.array([3, 1, 2], np.int32), [3, 1, 2]), runtimes=("numpy",), of=[INTS]
)
def aggregate_grows_its_state(leaf: Leaf, v: Any) -> Any:
    """A zero of length 0 may start a state of unknown length."""
    unknown = fl.TensorType(np.int32, [None])
    append = leaf(lambda s, x: np.append(s, x), unknown, np.int32)
    join = leaf(lambda s, t: np.append(s, t), unknown, unknown)
    same = leaf(lambda s: s, unknown)
    return fl.federated_aggregate(v, np.zeros([0], np.int32), append, join, same)


@AGGREGATION.add(gives(32, [1, 2, 3], [4, 5, 6]), of=[INTS, INTS])
def aggregate_of_an_implicit_zip_with_lambdas(leaf: Leaf, v: Any, w: Any) -> Any:
    """The four functions may be federated computations, and items structures."""
    multiply = leaf(lambda a, b: a * b, np.int32, np.int32)
    add = fl.federated_computation(lambda s, t: s + t, np.int32, np.int32)
    same = fl.federated_computation(lambda s: s, np.int32)

    def step(state: Any, pair: Any) -> Any:
        return state + multiply(pair[0], pair[1])

    accumulate = fl.federated_computation(step, np.int32, (np.int32, np.int32))
    return fl.federated_aggregate([v, w], np.int32(0), accumulate, add, same)


@AGGREGATION.add(
    nobody=gives([], []), many=gives([4, 2, 9, 2], [4, 2, 9, 2]), of=[INTS]
)
def collect_integers(_: Leaf, v: Any) -> Any:
    """All members arrive at the server, in client order, as one sequence."""
    return fl.federated_collect(v)


@AGGREGATION.add(
    gives(
        [OrderedDict(name=b"x", n=1), OrderedDict(name=b"y", n=2)],
        [OrderedDict(name="x", n=1), OrderedDict(name="y", n=2)],
    )
)
def collect_structures(_: Leaf) -> Computation:
    """Elements keep their names and containers."""
    record = fl.to_type(OrderedDict(name=np.str_, n=np.int32))
    return fl.federated_computation(fl.federated_collect, fl.type_at_clients(record))


@AGGREGATION.add(
    nobody=gives(100, []),
    one=gives(99, [1]),
    many=gives(85, [1, 2, 3, 4, 5]),
    of=[INTS],
)
def reduce_subtracts_in_client_order(leaf: Leaf, v: Any) -> Any:
    """A reduction has no merge, so its operator need not be associative."""
    subtract = leaf(lambda s, x: s - x, np.int32, np.int32)
    return fl.federated_reduce(v, np.int32(100), subtract)


@AGGREGATION.add(
    gives(b"((((.a)b)c)d)", list("abcd")), of=[fl.type_at_clients(np.str_)]
)
def reduce_nests_to_the_left(leaf: Leaf, v: Any) -> Any:
    """The fold starts at zero and takes one client after the other."""
    nest = leaf(lambda s, x: b"(" + s + x + b")", np.str_, np.str_)
    return fl.federated_reduce(v, ".", nest)


@AGGREGATION.add(gives(123, 10, [1, 2, 3]), of=[np.int32, INTS])
def reduce_with_a_function_that_captures(_: Leaf, base: Any, v: Any) -> Any:
    """Digits become a number; the base is captured."""
    fn = fl.federated_computation(lambda s, x: s * base + x, np.int32, np.int32)
    return fl.federated_reduce(v, np.int32(0), fn)


@AGGREGATION.add(
    first=gives((np.nan, np.nan), [np.nan, 1.0]),
    last=gives((np.nan, np.nan), [1.0, np.nan]),
    of=[FLOATS],
)
def least_and_greatest_with_nan(_: Leaf, v: Any) -> Any:
    """What is not a number is neither least nor greatest, and is not lost."""
    return fl.federated_min(v), fl.federated_max(v)
