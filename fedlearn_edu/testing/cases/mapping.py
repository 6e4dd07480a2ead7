# SPDX-License-Identifier: Apache-2.0
"""Cases: `federated_map`, `federated_apply`, `federated_zip`, `federated_select`."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.language.aggregation import federated_map_aggregate
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.case import ALL, CaseBook, Leaf, gives
from fedlearn_edu.types import CLIENTS

MAPPING = CaseBook()

INTS = fl.type_at_clients(np.int32)
FLOATS = fl.type_at_clients(np.float32)
EQUAL_INT = fl.type_at_clients(np.int32, all_equal=True)
SERVER_INT = fl.type_at_server(np.int32)
VECTOR = fl.TensorType(np.float32, [3])


@MAPPING.add(
    nobody=gives([], []),
    one=gives([2], [1]),
    many=gives([2, 4, 6, 8, 10], range(1, 6)),
    of=[INTS],
)
def map_at_clients(leaf: Leaf, v: Any) -> Any:
    """A computation is applied to each client's value; the order of clients stays."""
    double = leaf(lambda x: x + x, np.int32)
    return fl.federated_map(double, v)


@MAPPING.add(gives(14, 7), of=[SERVER_INT])
def map_at_server(leaf: Leaf, v: Any) -> Any:
    """At SERVER there is one value to map."""
    double = leaf(lambda x: x + x, np.int32)
    return fl.federated_map(double, v)


@MAPPING.add(gives(14, 7), of=[SERVER_INT])
def apply_is_map_at_server(leaf: Leaf, v: Any) -> Any:
    """`federated_apply` is the older name of a map at SERVER."""
    double = leaf(lambda x: x + x, np.int32)
    return fl.federated_apply(double, v)


@MAPPING.add(gives([8, 8, 8], 7, [0, 0, 0]), of=[EQUAL_INT, INTS])
def map_forgets_that_values_are_equal(leaf: Leaf, v: Any, clients: Any) -> Any:
    """A map of an all-equal value gives a list: the function might be random."""
    add_one = leaf(lambda x: x + np.int32(1), np.int32)
    return fl.federated_map(add_one, v)


@MAPPING.add(
    runtimes=ALL, many=gives([3, 5, 7], [1, 2, 3]), nobody=gives([], []), of=[INTS]
)
def map_of_a_map(leaf: Leaf, v: Any) -> Any:
    """Maps follow each other, where the data are."""
    double = leaf(lambda x: x + x, np.int32)
    add_one = leaf(lambda x: x + np.int32(1), np.int32)
    return fl.federated_map(add_one, fl.federated_map(double, v))


@MAPPING.add(gives([4, 10], [1, 2], [4, 5]), of=[INTS, INTS])
def map_over_an_implicit_zip(leaf: Leaf, v: Any, w: Any) -> Any:
    """A list of federated values is zipped before it is mapped."""
    product = leaf(lambda a, b: a * b, np.int32, np.int32)
    return fl.federated_map(product, [v, w])


@MAPPING.add(gives([11, 12], [1, 2], 10), of=[INTS, SERVER_INT])
def map_over_clients_and_a_broadcast(leaf: Leaf, v: Any, w: Any) -> Any:
    """A broadcast value and the clients' own values are zipped."""
    add = leaf(lambda a, b: a + b, np.int32, np.int32)
    return fl.federated_map(add, (v, fl.federated_broadcast(w)))


@MAPPING.add(
    gives([np.array([0, 2, 4], np.float32)], [[0, 1, 2]]),
    of=[fl.type_at_clients(VECTOR)],
)
def map_of_vectors(leaf: Leaf, v: Any) -> Any:
    """Members may be arrays."""
    double = leaf(lambda x: x + x, VECTOR)
    return fl.federated_map(double, v)


@MAPPING.add(
    gives([b"hello Ada", b"hello Blaise"], ["Ada", "Blaise"]),
    of=[fl.type_at_clients(np.str_)],
)
def map_of_strings(leaf: Leaf, v: Any) -> Any:
    """Members may be text."""
    greet = leaf(lambda name: b"hello " + name, np.str_)
    return fl.federated_map(greet, v)


@MAPPING.add(
    many=gives([(1, 0.5), (2, 1.5)], [1, 2], [0.5, 1.5]),
    nobody=gives([], [], []),
    of=[INTS, FLOATS],
)
def zip_at_clients(_: Leaf, v: Any, w: Any) -> Any:
    """A pair of federated values becomes a federated pair."""
    return fl.federated_zip((v, w))


@MAPPING.add(gives([(1,), (2,)], [1, 2]), of=[INTS])
def zip_of_one_element(_: Leaf, v: Any) -> Any:
    """A structure of one federated value zips as well."""
    return fl.federated_zip((v,))


@MAPPING.add(gives(OrderedDict(a=1, b=[2, 1]), 1, 2), of=[SERVER_INT, SERVER_INT])
def zip_at_server_nested(_: Leaf, v: Any, w: Any) -> Any:
    """Names, nesting and containers survive a zip at SERVER."""
    return fl.federated_zip(OrderedDict(a=v, b=[w, v]))


@MAPPING.add(
    gives(
        [OrderedDict(a=1, b=(0.5, 1)), OrderedDict(a=2, b=(1.5, 2))], [1, 2], [0.5, 1.5]
    ),
    of=[INTS, FLOATS],
)
def zip_at_clients_nested(_: Leaf, v: Any, w: Any) -> Any:
    """Names, nesting and containers survive a zip at CLIENTS."""
    return fl.federated_zip(OrderedDict(a=v, b=(w, v)))


@MAPPING.add(gives([(4, 9), (4, 9)], 4, [0, 0]), of=[EQUAL_INT, INTS])
def zip_of_equal_values_is_a_list(_: Leaf, v: Any, clients: Any) -> Any:
    """Two all-equal values zip to a value that is not all-equal."""
    return fl.federated_zip((v, fl.federated_value(np.int32(9), CLIENTS)))


@MAPPING.add(gives([(1, ()), (2, ())], [1, 2]), of=[INTS])
def zip_with_an_empty_structure(_: Leaf, v: Any) -> Any:
    """An empty structure has no placement and joins any."""
    return fl.federated_zip((v, ()))


@MAPPING.add(
    many=gives([[30, 10], [20, 20]], [[2, 0], [1, 1]], 3, [10, 20, 30]),
    nobody=gives([], [], 3, [10, 20, 30]),
    of=[
        fl.type_at_clients(fl.TensorType(np.int32, [2])),
        SERVER_INT,
        fl.type_at_server(fl.TensorType(np.int32, [3])),
    ],
)
def select_gives_the_wanted_slices(leaf: Leaf, keys: Any, top: Any, table: Any) -> Any:
    """Each client receives the entries it asks for, in the order of its keys."""
    entry = leaf(lambda t, key: t[key], fl.TensorType(np.int32, [3]), np.int32)
    return fl.federated_select(keys, top, table, entry)


@MAPPING.add(gives([[111, 110], [112, 111]], [[1, 0], [2, 1]], 3, 10, 100))
def select_by_a_function_that_captures(_: Leaf) -> Computation:
    """What selects may be a federated computation, and take a value along."""

    def body(keys: Any, top: Any, table: Any, k: Any) -> Any:
        fn = fl.federated_computation(
            lambda value, key: value + key + k, np.int32, np.int32
        )
        return fl.federated_select(keys, top, table, fn)

    keys = fl.type_at_clients(fl.TensorType(np.int32, [2]))
    return fl.federated_computation(body, keys, SERVER_INT, SERVER_INT, np.int32)


@MAPPING.add(
    runtimes=ALL,
    many=gives(b"aabbcc", ["a", "b", "c"]),
    nobody=gives(b"", []),
    of=[fl.type_at_clients(np.str_)],
)
def map_and_aggregate_in_one_step(leaf: Leaf, v: Any) -> Any:
    """What clients make is folded in their order, however they are grouped."""
    twice = leaf(lambda x: x + x, np.str_)
    join = leaf(lambda s, x: s + x, np.str_, np.str_)
    same = leaf(lambda s: s, np.str_)
    return federated_map_aggregate(twice, v, "", join, join, same)
