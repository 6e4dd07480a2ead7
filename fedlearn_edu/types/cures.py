# SPDX-License-Identifier: Apache-2.0
"""What to do about well-known mismatches of two types.

`definitions.py` hands in two types that do not fit and receives one sentence for the
`do` line of an error, or `None`. Whether types fit is decided elsewhere.
"""

from fedlearn_edu.types.base import Type
from fedlearn_edu.types.differences import Difference, TypeKind

Names = tuple[str | None, ...]

CAST = (
    "declare the same dtype on both sides, or cast (np.float32(x), tf.cast); "
    "the language never converts a dtype by itself"
)
SHAPE = "declare `?` (None) for a size that varies; a scalar is not a vector of one"
PLACEMENTS = (
    "federated_broadcast takes a value from SERVER to CLIENTS; "
    "federated_sum, federated_mean and others take values from CLIENTS to SERVER"
)
ALL_EQUAL = (
    "only a broadcast or constant value is equal at all clients; "
    "declare {T}@CLIENTS (all_equal=False) if members may differ"
)


def wrong_kind(target: Type, source: Type, path: str) -> Difference | None:
    """A difference if the types are of two kinds."""
    if target._kind is source._kind:
        return None
    return Difference(path, target, source, _kind_cure(target, source))


def _kind_cure(target: Type, source: Type) -> str | None:
    """What to do when a type of quite another kind was found."""
    match (target._kind, source._kind):
        case (TypeKind.FEDERATED, TypeKind.STRUCT) if _all_federated(source):
            return "zip the values into one: federated_zip((x, y))"
        case (TypeKind.FEDERATED, TypeKind.FUNCTION):
            return "call the function, or check the order of the arguments"
        case (TypeKind.FEDERATED, _):
            return "give the value a placement: federated_value(x, SERVER)"
        case (_, TypeKind.FEDERATED):
            return "work on the members: federated_map(fn, x)"
        case (TypeKind.FUNCTION, _):
            return "pass a computation here, not a value; check the order"
        case (_, TypeKind.FUNCTION):
            return "call the function first"
        case (TypeKind.SEQUENCE, TypeKind.TENSOR):
            return (
                "a tensor is one value, not a sequence; declare `T*` to read elements"
            )
        case (TypeKind.TENSOR, TypeKind.STRUCT):
            return "select a field (x[0], x.name), or declare a struct"
        case (_, TypeKind.ABSTRACT) | (TypeKind.ABSTRACT, _):
            return "abstract types stand in signatures only: unify, then substitute"
        case _:
            return None


def names_cure(target: Names, source: Names) -> str:
    """What to do when structs have the same length but other names."""
    if not any(target):
        return "names may be added, not dropped: declare the names here too"
    if None not in source and sorted(map(str, target)) == sorted(map(str, source)):
        order = ", ".join(str(name) for name in target)
        return f"fields are matched by position: list them in the order {order}"
    return "give the fields the same names in the same order, or no names at all"


def _all_federated(type_: Type) -> bool:
    children = type_.children()
    return bool(children) and all(c.is_federated() for c in children)
