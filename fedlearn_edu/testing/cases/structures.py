# SPDX-License-Identifier: Apache-2.0
"""Cases: structures in, structures out, and parts of structures."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import fedlearn_edu as fl
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


@STRUCTURES.add(
    gives((1, 2, 3, OrderedDict(y=2, z=3), 1, [2, 3], 3), POINT_VALUE), of=[POINT]
)
def parts_of_a_structure(_: Leaf, p: Any) -> Any:
    """Attributes, names, indices, slices, unpacking and `len`."""
    return parts(p)


@STRUCTURES.add(
    gives((1, 2, 3, OrderedDict(y=2, z=3), 1, [2, 3], 3), POINT_VALUE),
    of=[fl.type_at_server(POINT)],
)
def parts_of_a_structure_at_server(_: Leaf, p: Any) -> Any:
    """Parts of a value at SERVER are at SERVER."""
    return parts(p)


@STRUCTURES.add(
    nobody=gives(([], []), []),
    many=gives(([1, 4], [3, 6]), [(1, 2, 3), (4, 5, 6)]),
    of=[fl.type_at_clients(POINT)],
)
def parts_of_a_structure_at_clients(_: Leaf, p: Any) -> Any:
    """Parts of a value at CLIENTS are at CLIENTS."""
    return p.x, p[2]


@STRUCTURES.add(
    gives((1, [(1, 2)] * 3), POINT_VALUE, [0, 0, 0]),
    of=[fl.type_at_clients(POINT, all_equal=True), fl.type_at_clients(INT)],
)
def parts_of_equal_structures_are_equal(_: Leaf, p: Any, clients: Any) -> Any:
    """Taking a part keeps the all-equal bit; zipping parts does not."""
    return p.x, fl.federated_zip((p.x, p.y))


@STRUCTURES.add(
    nobody=gives([], []),
    many=gives([2.5], [OrderedDict(a=(1, OrderedDict(b=2.5)), c=())]),
    of=[fl.type_at_clients(NESTED)],
)
def part_of_a_nested_structure_at_clients(_: Leaf, p: Any) -> Any:
    """Selections follow each other into the depth."""
    return p.a[1].b


@STRUCTURES.add(
    ordered=gives(POINT_VALUE, OrderedDict(x=1, y=2, z=3)),
    dictionary=gives(POINT_VALUE, {"z": 3, "x": 1, "y": 2}),
    tuple=gives(POINT_VALUE, (1, 2, 3)),
    list=gives(POINT_VALUE, [1, 2, 3]),
    struct=gives(POINT_VALUE, Struct.named(x=1, y=2, z=3)),
    keywords=gives(POINT_VALUE, z=3, x=1, y=2),
    positions=gives(POINT_VALUE, 1, 2, 3),
    of=[POINT],
)
def structure_in_many_spellings(_: Leaf, p: Any) -> Any:
    """One structure, however it is handed in, comes out as it was declared."""
    return p


@STRUCTURES.add(
    gives(OrderedDict(a=(1, OrderedDict(b=2.0)), c=()), ((1, [2.0]), [])), of=[NESTED]
)
def structure_nested_and_empty(_: Leaf, p: Any) -> Any:
    """Nested and empty structures keep their containers."""
    return p


@STRUCTURES.add(gives(()), of=[])
def structure_without_anything(_: Leaf) -> Any:
    """An empty structure is a value."""
    return ()


@STRUCTURES.add(gives([[], OrderedDict(a=())], [], ()), of=[[], ()])
def structures_without_anything(_: Leaf, a: Any, b: Any) -> Any:
    """Empty structures are as good as others in arguments and results."""
    return [a, OrderedDict(a=b)]


@STRUCTURES.add(gives(Record(1, Pair(2, [1, (2,)])), 1, 2), of=[INT, INT])
def structure_rebuilt(_: Leaf, a: Any, b: Any) -> Any:
    """Results come back in the containers the body wrote."""
    return Record(a, Pair(b, [a, (b,)]))


@STRUCTURES.add(gives(Pair(4, 3), 3, 4), of=[INT, INT])
def structure_rebuilt_by_leaf_code(leaf: Leaf, a: Any, b: Any) -> Any:
    """Leaf code may return a container, too."""
    swap = leaf(lambda a, b: Pair(b, a), INT, INT)
    return swap(a, b)


@STRUCTURES.add(
    gives((4, 3, [4, 6]), 3, 4, [3, 5]),
    runtimes=ALL,
    of=[INT, INT, fl.type_at_clients(INT)],
)
def parts_of_what_leaf_code_returns(leaf: Leaf, a: Any, b: Any, v: Any) -> Any:
    """Fields of a leaf's result can be selected, unplaced and at the clients."""
    swap = leaf(lambda a, b: Pair(b, a), INT, INT)
    add_one = leaf(lambda x: x + INT(1), INT)
    fn = fl.federated_computation(lambda x: swap(x, add_one(x)).left, INT)
    return swap(a, b).left, swap(a, b)[1], fl.federated_map(fn, v)


@STRUCTURES.add(gives(Struct([("a", 1), (None, 2)]), 1, 2), of=[INT, INT])
def structure_with_some_names(_: Leaf, a: Any, b: Any) -> Any:
    """Where only some fields have names, the result is a `Struct`."""
    return Struct([("a", a), (None, b)])


@STRUCTURES.add(
    many=gives([Pair(1, 2), Pair(3, 4)], [Pair(1, 2), Pair(3, 4)]),
    nobody=gives([], []),
    of=[fl.type_at_clients(fl.to_type(Pair(INT, INT)))],
)
def structure_class_at_clients(_: Leaf, v: Any) -> Any:
    """Every client's value comes back in its container."""
    return v


@STRUCTURES.add(
    gives((b"text", np.array([b"a", b"\xc3\xa9"], object)), "text", ["a", "é"]),
    of=[np.str_, fl.TensorType(np.str_, [None])],
)
def strings_come_back_as_bytes(_: Leaf, a: Any, b: Any) -> Any:
    """Text is UTF-8 bytes; several strings are an array of objects."""
    return a, b


@STRUCTURES.add(gives((1, 2.5, True, b"x", np.array([1, 2], np.int64))), of=[])
def constants_of_every_kind(_: Leaf) -> Any:
    """Python numbers, truth values, text and arrays are constants."""
    return (1, 2.5, True, "x", np.array([1, 2]))


@STRUCTURES.add(
    gives(([1, 2], 5, 6, OrderedDict(s=7, c=[8, 9])), [1, 2], 5, 6, 7, [8, 9]),
    of=[
        fl.type_at_clients(INT),
        INT,
        fl.type_at_clients(INT, all_equal=True),
        fl.type_at_server(INT),
        fl.type_at_clients(INT),
    ],
)
def placements_side_by_side(_: Leaf, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    """Unplaced and placed values may share a structure."""
    return a, b, c, OrderedDict(s=d, c=e)


@STRUCTURES.add(gives([5], [5]), of=[fl.FederatedType(INT, fl.SERVER, all_equal=False)])
def server_value_in_a_list(_: Leaf, v: Any) -> Any:
    """A server value that is not all-equal is a list of one entry."""
    return v
