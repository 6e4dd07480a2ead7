# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of mismatches: kinds of types, paths into a type, one difference.

`definitions.py` and `relations.py` make differences; `base.py` turns them into errors.
Types themselves are not known here.
"""

from dataclasses import dataclass
from enum import Enum
from typing import final

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
