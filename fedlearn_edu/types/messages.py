# SPDX-License-Identifier: Apache-2.0
"""What to do about types that do not fit, and about objects that denote no type.

The other modules of the package write their own errors. Here are the words they share,
and the cures that are chosen by looking at two types, or at an object.
"""

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fedlearn_edu.errors import FieldError, TypeMismatchError, describe
from fedlearn_edu.types import dtypes
from fedlearn_edu.types.dtypes import Shape, as_dtype, dtype_name

ROOT = "$"
_MAX_CHARS = 80
Names = tuple[str | None, ...]


def misfit(
    summary: str,
    expected: object,
    found: object,
    where: str | None = None,
    do: str | None = None,
) -> TypeMismatchError:
    """The error whose parts are given in the order in which they are printed."""
    do = "await it first" if found == "a coroutine" else do
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


KINDS = (
    *("tensor", "struct", "sequence", "function"),
    *("federated", "placement", "abstract"),
)


def kind_word(type_: object) -> str:
    """The kind of a type as messages call it, one of `KINDS`."""
    return type(type_).__name__.removesuffix("Type").lower()


_PYTHON_CLASSES = {
    int: "write np.int32 (or tf.int32): the language has no implicit width",
    float: "write np.float32 (or tf.float32): the language has no implicit width",
    bool: "write np.bool_ (or tf.bool)",
    str: "write np.str_ (or tf.string)",
    complex: "write np.complex64 (or tf.complex64)",
}


def no_type(x: object) -> TypeMismatchError:
    expected = "np.int32, (np.float32, [10]), [type, type], OrderedDict(a=type), …"
    summary = "this does not denote a type"
    return misfit(summary, expected, describe(x), do=_denote_it(x))


def _denote_it(x: object) -> str:
    if isinstance(x, str):
        return f"use fl.parse_type({x!r}) for a type in the notation"
    if isinstance(x, type):
        other = "fill an instance of the class with types and pass that"
        return _PYTHON_CLASSES.get(x, other)
    if isinstance(x, Mapping):
        return (
            "use collections.OrderedDict: the order of the fields is part of the type"
        )
    if isinstance(x, int):
        return "a shape comes second in a tuple: (np.float32, [10])"
    if isinstance(x, np.ndarray | np.generic):
        dtype = dtypes.python_name(dtype_name(as_dtype(x.dtype) or x.dtype))
        return f"this is a value; write its type: ({dtype}, {list(x.shape)})"
    if hasattr(x, "type_signature"):
        return "pass its type: x.type_signature"
    return "write down the type of the values, not a value"


def not_a_dtype(x: object) -> TypeMismatchError:
    name = str(getattr(x, "__name__", x)).lower()
    alias = {"str": "string", "int": "int32", "float": "float32"}.get(name, name)
    near = [*difflib.get_close_matches(alias, dtypes.DTYPE_NAMES, n=1), "float32"][0]
    summary = "this is not the dtype of a tensor"
    expected = "np.int32, np.float32, np.bool_, np.str_, tf.int32, …"
    cure = f"write {dtypes.python_name(near)}, without quotes"
    return misfit(summary, expected, describe(x), do=cure)


def not_a_shape(x: object) -> TypeMismatchError:
    summary = "this is not the shape of a tensor"
    expected = "a list of sizes, None where the size is unknown"
    cure = (
        "write [10] for a vector, [None, 784] for rows of any number, "
        "[] or nothing for a scalar"
    )
    if hasattr(x, "as_list"):  # a `tf.TensorShape` without a rank
        summary = "the number of axes of this tensor is not known"
        cure = "say it: tf.ensure_shape(x, [None, 10]), with None where a size varies"
    return misfit(summary, expected, repr(x), do=cure)


FIELD_NAME = r"\w(?:[\w./~]|-(?!>))*"
"""What the notation reads as one word: `w`, `fc1.weight`, `block-2/w`."""


OTHER_NESTING = {
    ("federated", "federated"): "place the member: x.member, not x",
    ("sequence", "sequence"): "declare rows as tensors: float32[?]*",
    ("sequence", "federated"): "turn it around: {T*}@CLIENTS",
}
"""What to do about a type inside another, by their kinds."""

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
BY_ELEMENT = (
    "sequence_map, sequence_reduce and sequence_sum go through the elements of a "
    "sequence; federated_… brings clients together"
)
"""What to do about a sequence where a single value is wanted."""
ONE_ELEMENT = (
    "this is a whole sequence, and one element is taken: sequence_map, "
    "sequence_reduce and sequence_sum go through the elements"
)
BY_CLIENT = (
    "federated_map, federated_sum and others work on what clients hold; sequence_… "
    "goes through the elements of one sequence"
)
"""What to do about clients' values where a sequence is wanted."""


def other_kind(type_: object, word: str) -> TypeMismatchError:
    needed = f"a {word} type"
    found = f"{clip(type_)}, a {kind_word(type_)} type"
    return misfit(f"{needed} is needed here", needed, found)


def kind_cure(target: Any, source: Any) -> str | None:
    """What to do about a type of another kind than the wanted one."""
    cure = None
    match (kind_word(target), kind_word(source)):
        case ("federated", "struct") if _are_federated(source.children()):
            return ZIP
        case ("federated", "function"):
            return "call the function, or check the order of the arguments"
        case ("federated", _):
            return "give the value a placement: federated_value(x, SERVER)"
        case (_, "federated"):
            return "work on the members: federated_map(fn, x)"
        case ("function", _):
            return "pass a computation here, not a value; check the order"
        case (_, "function"):
            return "call the function first"
        case ("sequence", "tensor"):
            return (
                "a tensor is one value, not a sequence; declare `T*` to read elements"
            )
        case ("tensor", "sequence"):
            return (
                "read the elements with sequence_map or sequence_reduce; a list that "
                "is placed is a sequence, unless place(x, SERVER, type) says otherwise"
            )
        case ("struct", "sequence") if target.is_assignable_from(source.element):
            cure = ONE_ELEMENT
        case ("struct", "sequence") | ("sequence", "struct"):
            cure = (
                "place takes a list for a sequence, federated_value for a structure; "
                "place(x, SERVER, type) takes it for what you say"
            )
        case ("tensor", "struct"):
            return "select a field (x[0], x.name), or declare a struct"
        case (_, "abstract") | ("abstract", _):
            return "abstract types stand in signatures only: unify, then substitute"
    return cure


def _are_federated(types: Sequence[Any]) -> bool:
    return len(types) > 0 and all(type_.is_federated() for type_ in types)


def names_cure(target: Names, source: Names) -> str:
    """What to do when structs have the same length but other names."""
    if not any(target):
        return "names may be added, not dropped: declare the names here too"
    if None not in source and sorted(map(str, target)) == sorted(map(str, source)):
        order = ", ".join(str(name) for name in target)
        return f"fields are matched by position: list them in the order {order}"
    do = "give the fields the same names in the same order, or no names at all"
    if {*target}.isdisjoint(source) and None not in source:
        return f"is an argument missing, or are two swapped? If not, {do}"
    return do


def rank_cure(type_: Any, source: Shape) -> str | None:
    """What to do about a shape of another rank, where something is usual.

    >>> from fedlearn_edu.types import TensorType
    >>> rank_cure(TensorType(np.float32, [None, 784]), (20, 28, 28))
    'flatten what is behind the first axis: x.reshape(len(x), -1)'
    """
    target, fits = type_.shape, dtypes.fits
    if fits(target, source) or not target:
        return None
    if fits(target[:1], (1,)) and fits(target[1:], source):
        added = "x[None]" if source else "[x]"
        return f"the first axis is missing: {added} adds it, .batch(…) to a dataset"
    if fits(target, source[:-1]) and source[-1] == 1:
        return "the last axis is one too many: [..., 0] takes it away"
    if fits(target, source[:-1]) and type_.dtype.kind in dtypes.WHOLE:
        return "one number each, if it is one-hot: .argmax(axis=-1)"
    *rows, size = target
    if len(rows) == 1 and fits(target[:1], source[:1]) and _are(size, source[1:]):
        return "flatten what is behind the first axis: x.reshape(len(x), -1)"
    if (
        len(source) == 2
        and fits(target[:1], source[:1])
        and _are(source[1], target[1:])
    ):
        shape = ", ".join(map(str, target[1:]))
        return f"x.reshape(-1, {shape}), or place(…, batch_type=model.batch_type)"
    if fits(tuple(rows), (1,) * len(rows)) and _are(size, source):
        return f"flatten it: x.reshape({'1, ' * len(rows)}-1)"
    return None


def _are(size: int | None, sizes: tuple[int | None, ...]) -> bool:
    """Whether axes of these sizes hold `size` numbers; unknown sizes count as 0."""
    return size == math.prod(each or 0 for each in sizes)


def by_element(*types: Any) -> str:
    """What to do if one of the types holds a sequence; nothing if none does."""
    holds = (part for type_ in types for part in type_._walk())
    return BY_ELEMENT * any(part.is_sequence() for part in holds)


_FORMER_METHODS = {
    "is_identical_to": "a == b",
    "check_identical_to": "assert a == b",
    "check_equivalent_to": "assert a.is_equivalent_to(b)",
    "is_struct_with_python": "isinstance(type_, fl.StructWithPythonType)",
    "check_struct_with_python": "isinstance(type_, fl.StructWithPythonType)",
    **{f"check_{kind}": f"assert type_.is_{kind}()" for kind in KINDS},
}


def check_known_method(name: str) -> None:
    """Refuses a method of the ancestor's types, and says what to write instead."""
    if name in _FORMER_METHODS:
        raise FieldError(
            f"types have no {name} any more", found=name, do=_FORMER_METHODS[name]
        )
