# SPDX-License-Identifier: Apache-2.0
"""Whether two results mean the same to a learner, and how a result is shown.

Kinder than `testing.comparison`: a list may stand for a tuple or an array, and a Python
number for one of NumPy's, as long as the numbers are right.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fedlearn_edu.errors import describe
from fedlearn_edu.structure import Struct

RELATIVE, ABSOLUTE = 1e-4, 1e-6
_MAX_CHARS = 160
_MAX_ENTRIES = 80
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def alike(found: Any, expected: Any) -> bool:
    """Whether two results agree: in shape, and in numbers to one part in 10,000.

    >>> alike(np.float32(0.3), 0.3), alike([1, 2], (1.0, 2.0)), alike([1], [1, 1])
    (True, True, False)
    >>> alike({"loss": 1.0}, {"loss": 2.0}), alike(b"yes", "yes")
    (False, True)
    """
    try:
        return _alike(found, expected)
    except Exception:  # of an object that cannot even be compared
        return False


def _alike(found: Any, expected: Any) -> bool:
    found, expected = _plain(found), _plain(expected)
    match expected:
        case dict():
            if not isinstance(found, dict) or list(found) != list(expected):
                return False
            return all(_alike(found[name], expected[name]) for name in expected)
        case list():
            if isinstance(found, np.ndarray) and found.ndim:
                found = list(found)
            if not isinstance(found, list) or len(found) != len(expected):
                return False
            return all(map(_alike, found, expected))
        case np.ndarray():
            return _arrays_agree(found, expected)
        case _:
            return type(found) is type(expected) and bool(found == expected)


def _plain(thing: Any) -> Any:
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


def _arrays_agree(found: Any, expected: np.ndarray[Any, Any]) -> bool:
    if isinstance(found, list):  # of numbers, perhaps of arrays of one shape
        try:
            found = np.asarray(found)
        except ValueError:
            return False
    if not isinstance(found, np.ndarray) or found.shape != expected.shape:
        return False
    if (found.dtype.kind == "b") != (expected.dtype.kind == "b"):
        return False
    if not {found.dtype.kind, expected.dtype.kind} <= set("biufc"):
        return bool(np.array_equal(found, expected))
    return bool(np.allclose(found, expected, RELATIVE, ABSOLUTE, equal_nan=True))


def has_nan(thing: Any) -> bool:
    """Whether there is a number in it that is none.

    >>> has_nan([1.0, float("nan")]), has_nan("nan")
    (True, False)
    """
    try:
        numbers = np.asarray(_plain(thing))
        return numbers.dtype.kind in "fc" and bool(np.isnan(numbers).any())
    except Exception:  # it holds no numbers
        return False


def shown(thing: Any) -> str:
    """A result in at most two lines, with its class where that says something.

    >>> shown([np.float32(0.5), 2]), shown(np.arange(3.0))
    ('[0.5, 2]', '[0. 1. 2.]')
    """
    try:
        text = _ADDRESS.sub("", " ".join(_text(thing).split()))
    except Exception:  # of an object that cannot even be shown
        text = named(thing)
    if len(text) <= _MAX_CHARS:
        return text
    half = _MAX_CHARS // 2 - 2
    return f"{text[:half]} … {text[-half:]}"


def named(thing: Any) -> str:
    """A thing with its class, and the class alone if the thing cannot be shown.

    >>> named(3), named([])
    ('an int: 3', 'a list: []')
    """
    try:
        return describe(thing)
    except Exception:  # of its `__repr__`
        return f"an object of the class {type(thing).__name__}"


def _text(thing: Any) -> str:
    match thing:
        case np.generic():  # first: a np.float64 is a float, too
            return f"{thing.item()!r}" if thing.dtype.kind in "SUO" else str(thing)
        case None | bool() | int() | float() | str() | bytes():
            return repr(thing)
        case np.ndarray():
            shape = "×".join(map(str, thing.shape))
            text = np.array2string(thing, precision=5, threshold=20, edgeitems=3)
            return text if thing.size <= 20 else f"{shape} numbers {text}"
        case Mapping():
            inside = ", ".join(f"{name}: {_text(each)}" for name, each in thing.items())
            return f"{{{inside}}}"
        case list():
            return f"[{_entries(thing)}]"
        case tuple():
            return f"({_entries(thing)})"
        case _:
            text = str(thing)
            return describe(thing) if " at 0x" in text else text


def _entries(things: Sequence[Any]) -> str:
    if len(things) <= 2 * _MAX_ENTRIES:
        return ", ".join(map(_text, things))
    ends = [*things[:_MAX_ENTRIES], *things[-_MAX_ENTRIES:]]
    return ", ".join(map(_text, ends))  # the middle is not shown anyway
