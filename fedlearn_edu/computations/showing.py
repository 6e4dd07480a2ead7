# SPDX-License-Identifier: Apache-2.0
"""Who holds what, in words: the rows of the table that a placed value shows itself as.

`FederatedValue.__repr__` prints them; a notebook draws them.
"""

from typing import Any

import numpy as np

from fedlearn_edu.structure import Struct
from fedlearn_edu.types import CLIENTS, Placed, TensorType, infer_type, released

_MAX_ROWS = 10
_MAX_CHARS = 60
_MAX_ITEMS = 4


def participants(placed: Placed) -> list[tuple[str, str]]:
    """Pairs of participant and data; the middle of a long group is left out."""
    type_ = placed.type_signature
    noun = "client" if type_.placement is CLIENTS else "server"
    if type_.all_equal:
        who = "every client" if noun == "client" else noun
        return [(who, brief(released(placed.kept)))]
    members = placed.kept
    shown = list(range(len(members)))
    if len(shown) > _MAX_ROWS:
        shown = [*shown[: _MAX_ROWS - 2], shown[-1]]
    rows = [(f"{noun} {i}", brief(released(members[i]))) for i in shown]
    if len(shown) < len(members):
        rows.insert(-1, ("…", f"({len(members) - len(shown)} more)"))
    return rows or [(f"no {noun}", "")]


def brief(plain: Any) -> str:
    """Plain data in a few words.

    >>> brief(np.ones([100, 10], np.float32))
    'float32[100,10]: 1.0, 1.0, 1.0, 1.0, …'
    """
    text = " ".join(_text(plain).split())
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS - 1]}…"


def _text(plain: Any) -> str:
    match plain:
        case Struct():
            parts = (
                f"{name}={_text(v)}" if name else _text(v) for name, v in plain.items()
            )
            return f"<{', '.join(parts)}>"
        case tuple():
            count = f"{len(plain)} element" + "s" * (len(plain) != 1)
            return f"{count}: {_some(plain)}" if plain else count
        case np.ndarray():
            type_ = infer_type(plain)
            assert isinstance(type_, TensorType)
            return f"{type_}: {_some(plain.ravel())}"
        case bytes():
            return repr(plain)
        case np.generic():
            return str(plain)
        case _:
            return "a sequence that is read when it is needed"


def _some(items: Any) -> str:
    first = [_text(item) for item in items[:_MAX_ITEMS]]
    return ", ".join(first) + (", …" if len(items) > _MAX_ITEMS else "")
