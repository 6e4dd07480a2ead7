# SPDX-License-Identifier: Apache-2.0
"""How results and answers are written in feedback: in at most two lines."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fedlearn_edu.errors import describe

_MAX_CHARS = 160
_MAX_ENTRIES = 80
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


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
