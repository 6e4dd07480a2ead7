# SPDX-License-Identifier: Apache-2.0
"""Cases: structures in, structures out, and parts of structures."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.structure import Struct
from fedlearn_edu.testing.case import ALL, CaseBook, Leaf, gives

STRUCTURES = CaseBook()

POINT = fl.to_type(OrderedDict(x=np.int32, y=np.int32, z=np.int32))
POINT_VALUE = OrderedDict(x=1, y=2, z=3)
NESTED = fl.to_type(OrderedDict(a=(np.int32, OrderedDict(b=np.float32)), c=()))
INT = np.int32


class Pair(NamedTuple):
    """A container with names."""

    left: Any
    right: Any


@dataclass(frozen=True)
class Record:
    """Another one."""

    value: Any
    parts: Any


def parts(p: Any) -> Any:
    """By attribute, name, index, slice and iteration."""
    x, *others = p
    return p.x, p["y"], p[2], p[1:], x, others, len(p)


@STRUCTURES.add(gives((1, 2, 3, OrderedDict(y=2, z=3), 1, [2, 3], 3), POINT_VALUE))
def parts_of_a_structure(_: Leaf) -> Computation:
    """Attributes, names, indices, slices, unpacking and `len`."""
    return fl.federated_computation(lambda p: parts(p), POINT)


@STRUCTURES.add(gives((1, 2, 3, OrderedDict(y=2, z=3), 1, [2, 3], 3), POINT_VALUE))
def parts_of_a_structure_at_server(_: Leaf) -> Computation:
    """Parts of a value at SERVER are at SERVER."""
    return fl.federated_computation(lambda p: parts(p), fl.type_at_server(POINT))


@STRUCTURES.add(
    nobody=gives(([], []), []), many=gives(([1, 4], [3, 6]), [(1, 2, 3), (4, 5, 6)])
)
def parts_of_a_structure_at_clients(_: Leaf) -> Computation:
    """Parts of a value at CLIENTS are at CLIENTS."""
    return fl.federated_computation(lambda p: (p.x, p[2]), fl.type_at_clients(POINT))


@STRUCTURES.add(gives((1, [(1, 2)] * 3), POINT_VALUE, [0, 0, 0]))
def parts_of_equal_structures_are_equal(_: Leaf) -> Computation:
    """Taking a part keeps the all-equal bit; zipping parts does not."""
    return fl.federated_computation(
        lambda p, clients: (p.x, fl.federated_zip((p.x, p.y))),
        fl.type_at_clients(POINT, all_equal=True),
        fl.type_at_clients(INT),
    )


@STRUCTURES.add(
    nobody=gives([], []),
    many=gives([2.5], [OrderedDict(a=(1, OrderedDict(b=2.5)), c=())]),
)
def part_of_a_nested_structure_at_clients(_: Leaf) -> Computation:
    """Selections follow each other into the depth."""
    return fl.federated_computation(lambda p: p.a[1].b, fl.type_at_clients(NESTED))


@STRUCTURES.add(
    ordered=gives(POINT_VALUE, OrderedDict(x=1, y=2, z=3)),
    dictionary=gives(POINT_VALUE, {"z": 3, "x": 1, "y": 2}),
    tuple=gives(POINT_VALUE, (1, 2, 3)),
    list=gives(POINT_VALUE, [1, 2, 3]),
    struct=gives(POINT_VALUE, Struct.named(x=1, y=2, z=3)),
    keywords=gives(POINT_VALUE, z=3, x=1, y=2),
    positions=gives(POINT_VALUE, 1, 2, 3),
)
def structure_in_many_spellings(_: Leaf) -> Computation:
    """One structure, however it is handed in, comes out as it was declared."""
    return fl.federated_computation(lambda p: p, POINT)


@STRUCTURES.add(gives(OrderedDict(a=(1, OrderedDict(b=2.0)), c=()), ((1, [2.0]), [])))
def structure_nested_and_empty(_: Leaf) -> Computation:
    """Nested and empty structures keep their containers."""
    return fl.federated_computation(lambda p: p, NESTED)


@STRUCTURES.add(gives(()))
def structure_without_anything(_: Leaf) -> Computation:
    """An empty structure is a value."""
    return fl.federated_computation(lambda: ())


@STRUCTURES.add(gives([[], OrderedDict(a=())], [], ()))
def structures_without_anything(_: Leaf) -> Computation:
    """Empty structures are as good as others in arguments and results."""
    return fl.federated_computation(lambda a, b: [a, OrderedDict(a=b)], [], ())


@STRUCTURES.add(gives(Record(1, Pair(2, [1, (2,)])), 1, 2))
def structure_rebuilt(_: Leaf) -> Computation:
    """Results come back in the containers the body wrote."""
    return fl.federated_computation(
        lambda a, b: Record(a, Pair(b, [a, (b,)])), INT, INT
    )


@STRUCTURES.add(gives(Pair(4, 3), 3, 4))
def structure_rebuilt_by_leaf_code(leaf: Leaf) -> Computation:
    """Leaf code may return a container, too."""
    swap = leaf(lambda a, b: Pair(b, a), INT, INT)
    return fl.federated_computation(lambda a, b: swap(a, b), INT, INT)


@STRUCTURES.add(gives((4, 3, [4, 6]), 3, 4, [3, 5]), runtimes=ALL)
def parts_of_what_leaf_code_returns(leaf: Leaf) -> Computation:
    """Fields of a leaf's result can be selected, unplaced and at the clients."""
    swap = leaf(lambda a, b: Pair(b, a), INT, INT)
    add_one = leaf(lambda x: x + INT(1), INT)
    fn = fl.federated_computation(lambda x: swap(x, add_one(x)).left, INT)
    return fl.federated_computation(
        lambda a, b, v: (swap(a, b).left, swap(a, b)[1], fl.federated_map(fn, v)),
        INT,
        INT,
        fl.type_at_clients(INT),
    )


@STRUCTURES.add(gives(Struct([("a", 1), (None, 2)]), 1, 2))
def structure_with_some_names(_: Leaf) -> Computation:
    """Where only some fields have names, the result is a `Struct`."""
    return fl.federated_computation(
        lambda a, b: Struct([("a", a), (None, b)]), INT, INT
    )


@STRUCTURES.add(
    many=gives([Pair(1, 2), Pair(3, 4)], [Pair(1, 2), Pair(3, 4)]), nobody=gives([], [])
)
def structure_class_at_clients(_: Leaf) -> Computation:
    """Every client's value comes back in its container."""
    return fl.federated_computation(
        lambda v: v, fl.type_at_clients(fl.to_type(Pair(INT, INT)))
    )


@STRUCTURES.add(
    gives((b"text", np.array([b"a", b"\xc3\xa9"], object)), "text", ["a", "é"])
)
def strings_come_back_as_bytes(_: Leaf) -> Computation:
    """Text is UTF-8 bytes; several strings are an array of objects."""
    return fl.federated_computation(
        lambda a, b: (a, b), np.str_, fl.TensorType(np.str_, [None])
    )


@STRUCTURES.add(gives((1, 2.5, True, b"x", np.array([1, 2], np.int64))))
def constants_of_every_kind(_: Leaf) -> Computation:
    """Python numbers, truth values, text and arrays are constants."""
    return fl.federated_computation(lambda: (1, 2.5, True, "x", np.array([1, 2])))


@STRUCTURES.add(
    gives(([1, 2], 5, 6, OrderedDict(s=7, c=[8, 9])), [1, 2], 5, 6, 7, [8, 9])
)
def placements_side_by_side(_: Leaf) -> Computation:
    """Unplaced and placed values may share a structure."""
    return fl.federated_computation(
        lambda a, b, c, d, e: (a, b, c, OrderedDict(s=d, c=e)),
        fl.type_at_clients(INT),
        INT,
        fl.type_at_clients(INT, all_equal=True),
        fl.type_at_server(INT),
        fl.type_at_clients(INT),
    )


@STRUCTURES.add(gives([5], [5]))
def server_value_in_a_list(_: Leaf) -> Computation:
    """A server value that is not all-equal is a list of one entry."""
    return fl.federated_computation(
        lambda v: v, fl.FederatedType(INT, fl.SERVER, all_equal=False)
    )
