# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of mismatches: kinds, paths, one difference, and what to do about it.

`base.py` and `definitions.py` make differences and ask for cures; `base.py` turns them
into errors. Whether types fit is decided there; types themselves are not known here.
"""

from dataclasses import dataclass
from enum import Enum
from typing import final

from fedlearn_edu.errors import TypeMismatchError

ROOT = "$"
PARAMETER, RESULT, MEMBER, ELEMENT = "→parameter", "→result", "→member", "→element"
_MAX_CHARS = 80


@final
class TypeKind(Enum):
    """The kinds of types; the value is what a message calls it."""

    TENSOR = "tensor"
    STRUCT = "struct"
    SEQUENCE = "sequence"
    FUNCTION = "function"
    FEDERATED = "federated"
    PLACEMENT = "placement"
    ABSTRACT = "abstract"


@final
@dataclass(frozen=True)
class Difference:
    """The first place where a type does not fit, and what to do about it."""

    path: str
    expected: object
    found: object
    do: str | None = None


def misfit(
    summary: str,
    expected: object,
    found: object,
    where: str | None = None,
    do: str | None = None,
) -> TypeMismatchError:
    """The error whose parts are given in the order in which they are printed."""
    return TypeMismatchError(
        summary, expected=expected, found=found, where=where, do=do
    )


def field_step(name: str | None, index: int) -> str:
    """How a path goes to a field: by name if it has one, otherwise by position."""
    return f".{name}" if name is not None else f"[{index}]"


def inside(path: str) -> str | None:
    """Where in the type a path leads, for messages; `None` for the whole type."""
    return None if path == ROOT else f"at {path.removeprefix(ROOT)} of the type"


def clip(text: object) -> str:
    """At most eighty characters of the text."""
    text = str(text)
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"


CAST = (
    "declare the same dtype on both sides, or cast (np.float32(x), tf.cast); "
    "the language never converts a dtype by itself"
)
SHAPE = "declare `?` (None) for a size that varies, and one size for each axis"
PLACES = (
    "federated_broadcast takes a value from SERVER to CLIENTS; "
    "federated_sum, federated_mean and others take values from CLIENTS to SERVER"
)
ALL_EQUAL = (
    "only a broadcast or constant value is equal at all clients; "
    "declare {T}@CLIENTS (all_equal=False) if members may differ"
)
ZIP = "zip the values into one: federated_zip((x, y))"


def kind_cure(target: TypeKind, source: TypeKind) -> str | None:
    """What to do when a type of quite another kind was found."""
    match (target, source):
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
        case (TypeKind.TENSOR, TypeKind.SEQUENCE):
            return (
                "read the elements with sequence_map or sequence_reduce; a list that "
                "is placed is a sequence, unless place(x, SERVER, type) says otherwise"
            )
        case (TypeKind.STRUCT, TypeKind.SEQUENCE) | (
            TypeKind.SEQUENCE,
            TypeKind.STRUCT,
        ):
            return (
                "place takes a list for a sequence, federated_value for a structure; "
                "place(x, SERVER, type) takes it for what you say"
            )
        case (TypeKind.TENSOR, TypeKind.STRUCT):
            return "select a field (x[0], x.name), or declare a struct"
        case (_, TypeKind.ABSTRACT) | (TypeKind.ABSTRACT, _):
            return "abstract types stand in signatures only: unify, then substitute"
    return None


def names_cure(target: tuple[str | None, ...], source: tuple[str | None, ...]) -> str:
    """What to do when structs have the same length but other names."""
    if not any(target):
        return "names may be added, not dropped: declare the names here too"
    if None not in source and sorted(map(str, target)) == sorted(map(str, source)):
        order = ", ".join(str(name) for name in target)
        return f"fields are matched by position: list them in the order {order}"
    return "give the fields the same names in the same order, or no names at all"
