# SPDX-License-Identifier: Apache-2.0
"""Comparing what Python gets from a computation: exactly, but floats to a tolerance.

Conformance cases, graded cells and tests hand in two results; they receive nothing, or
one line that says where the first difference is.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fedlearn_edu.language.computation import Computation
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import Placement, to_type
from fedlearn_edu.types.dtypes import COMPLEX, REAL, kind_of

RELATIVE, LENIENT, ABSOLUTE = 1e-5, 1e-4, 1e-6


def assert_same(found: Any, expected: Any, *, relative: float = RELATIVE) -> None:
    """Asserts that two results agree, in containers, dtypes, shapes and content.

    Floats agree to a relative tolerance, and `nan` with `nan`. An expected Python
    number stands for a scalar of any dtype of its kind.

    >>> assert_same([np.float32(0.1), np.int64(2)], [0.1, 2])
    >>> assert_same([np.int32(1)], (1,))
    Traceback (most recent call last):
    ...
    AssertionError: at $: expected tuple (1,), found list [np.int32(1)]
    """
    problem = difference(found, expected, relative=relative)
    if problem is not None:
        raise AssertionError(problem)


def assert_type(computation: Computation, expected: Any) -> None:
    """Asserts the type signature of a computation, given in the notation or as a type.

    >>> from fedlearn_edu import federated_computation, federated_sum, type_at_clients
    >>> total = federated_computation(federated_sum, type_at_clients(np.int32))
    >>> assert_type(total, "({int32}@CLIENTS -> int32@SERVER)")
    """
    wanted = expected if isinstance(expected, str) else str(to_type(expected))
    found = str(computation.type_signature)
    if found != wanted:
        raise AssertionError(
            f"{computation.__name__} has another type\n"
            f"  expected: {wanted}\n  found:    {found}"
        )


def difference(
    found: Any,
    expected: Any,
    path: str = "$",
    *,
    relative: float = RELATIVE,
    lenient: bool = False,
) -> str | None:
    """The first difference between two results, `None` if they agree.

    `lenient` is how a learner's result is compared: any sequence or array may stand for
    another, a dict for a struct, and a number for one of another dtype.
    """
    mismatch = _mismatch(found, expected, path, relative, lenient)
    return None if mismatch is None else _says(*mismatch)


def alike(found: Any, expected: Any) -> bool:
    """Whether two results mean the same to a learner: to one part in 10,000, lenient.

    >>> alike(np.float32(0.3), 0.3), alike([1, 2], (1.0, 2.0)), alike([1], [1, 1])
    (True, True, False)
    >>> alike({"loss": 1.0}, {"loss": 2.0}), alike(b"yes", "yes")
    (False, True)
    """
    try:
        return _mismatch(found, expected, "$", LENIENT, lenient=True) is None
    except Exception:  # of an object that cannot even be compared
        return False


def to_plain(thing: Any) -> Any:
    """Dicts, lists and arrays; anything else as it is."""
    match thing:
        case Mapping():
            return dict(thing)
        case Struct():
            return {name or i: each for i, (name, each) in enumerate(thing.items())}
        case list() | tuple():
            return list(thing)
        case bytes():
            return thing.decode(errors="replace")
        case bool() | int() | float() | complex() | np.generic() | np.ndarray():
            return np.asarray(thing)
        case _ if hasattr(thing, "numpy") and callable(thing.numpy):  # a tf.Tensor
            return np.asarray(thing.numpy())
        case _:
            return thing


def _mismatch(
    found: Any, expected: Any, path: str, relative: float, lenient: bool
) -> tuple[str, Any, Any] | None:
    """Where two results first differ, and what is found and expected there."""
    if lenient:
        found, expected = _matched(found, expected)
    if not _is_container(expected, lenient):
        agree = _leaves_agree(found, expected, relative, lenient)
        return None if agree else (path, found, expected)
    if type(found) is not type(expected) or _outline(found) != _outline(expected):
        return path, found, expected
    pairs = zip(_fields(found), _fields(expected), strict=True)
    for (step, a), (_, b) in pairs:
        mismatch = _mismatch(a, b, path + step, relative, lenient)
        if mismatch is not None:
            return mismatch
    return None


def _matched(found: Any, expected: Any) -> tuple[Any, Any]:
    """Both as plain Python, an array as a list or a list as an array, if need be."""
    found, expected = to_plain(found), to_plain(expected)
    match found, expected:
        case np.ndarray(), list() if found.ndim:
            return list(found), expected
        case list(), np.ndarray():
            return np.asarray(found), expected
    return found, expected


def _is_container(thing: Any, lenient: bool) -> bool:
    if lenient or isinstance(thing, list | tuple | dict | Struct):
        return isinstance(thing, list | tuple | dict | Struct)
    return dataclasses.is_dataclass(thing) and not isinstance(thing, Placement | type)


def _outline(container: Any) -> Any:
    """What two containers have in common before their parts are compared."""
    match container:
        case dict():
            return list(container)
        case list() | tuple():
            return len(container)
        case Struct():
            return [name for name, _ in container.items()]
        case _:  # records of one class
            return None


def _fields(container: Any) -> Iterator[tuple[str, Any]]:
    match container:
        case dict():
            yield from ((f"[{key!r}]", value) for key, value in container.items())
        case list() | tuple():
            yield from ((f"[{i}]", value) for i, value in enumerate(container))
        case Struct():
            for i, (name, value) in enumerate(container.items()):
                yield (f".{name}" if name else f"[{i}]"), value
        case _:
            for field in dataclasses.fields(container):
                yield f".{field.name}", getattr(container, field.name)


def _leaves_agree(found: Any, expected: Any, relative: float, lenient: bool) -> bool:
    if isinstance(expected, str):
        return found in (expected, expected.encode())
    if not isinstance(expected, bool | int | float | complex | np.ndarray | np.generic):
        return type(found) is type(expected) and bool(found == expected)
    if not isinstance(found, np.ndarray | np.generic):
        return False
    wanted = np.asarray(expected)
    if found.shape != wanted.shape:
        return False
    if lenient:
        kinds = {found.dtype.kind, wanted.dtype.kind}
        same_dtype, close = "b" not in kinds or len(kinds) == 1, kinds <= set("biufc")
    else:
        exact = isinstance(expected, np.ndarray | np.generic)
        same_dtype = (
            (found.dtype == wanted.dtype) if exact else _one_kind(found, wanted)
        )
        close = kind_of(found.dtype) in REAL + COMPLEX
    if same_dtype and close:
        return np.allclose(found, wanted, relative, ABSOLUTE, equal_nan=True)
    return same_dtype and np.array_equal(found, wanted)


def _one_kind(found: Any, wanted: Any) -> bool:
    kinds = ["i" if x.dtype.kind == "u" else kind_of(x.dtype) for x in (found, wanted)]
    return kinds[0] == kinds[1]


def _says(path: str, found: Any, expected: Any) -> str:
    wanted = f"{type(expected).__name__} {expected!r}"
    return f"at {path}: expected {wanted}, found {type(found).__name__} {found!r}"
