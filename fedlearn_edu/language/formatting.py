# SPDX-License-Identifier: Apache-2.0
"""Who holds what, in words: the rows of the table that a placed value shows itself as.

`FederatedValue.__repr__` prints them; a notebook draws them.
"""

from typing import Any

import numpy as np

from fedlearn_edu.structure import Struct
from fedlearn_edu.types import CLIENTS, Kept, Placed, infer_type

_MAX_ROWS = 10
_MAX_CHARS = 60
_MAX_ITEMS = 4
_DIGITS, _SMALL = 6, 1e-3


def participants(placed: Placed) -> list[tuple[str, Any]]:
    """Pairs of participant and data; the middle of a long group is left out.

    A remark in the place of data is a `str`, which plain data never are.
    """
    type_ = placed.type_signature
    noun = "client" if type_.placement is CLIENTS else "server"
    if type_.all_equal:
        return [("every client" if noun == "client" else noun, placed.kept)]
    members = placed.kept
    if not members:
        return [(f"no {noun}", "")]
    rows = [(f"{noun} {i}", members[i]) for i in range(min(len(members), _MAX_ROWS))]
    if len(members) > _MAX_ROWS:
        rows[-2] = ("…", f"({len(members) - _MAX_ROWS + 1} more)")
        rows[-1] = (f"{noun} {len(members) - 1}", members[-1])
    return rows


def brief(plain: Any, *, inside: bool = False) -> str:
    """Plain data in a few words, fewer `inside` of other data.

    >>> brief(np.ones([100, 10], np.float32))
    'float32[100,10]: 1.0, 1.0, 1.0, 1.0, …'
    """
    text = " ".join(_text(plain, inside=inside).split())
    if len(text) <= _MAX_CHARS:
        return text
    head, comma, _ = text[: _MAX_CHARS - 2].rpartition(", ")
    return f"{head}, …" if comma else f"{text[: _MAX_CHARS - 1]}…"


def _text(plain: Any, *, inside: bool) -> str:
    match plain:
        case Kept():
            return _text(plain.plain, inside=inside)
        case Struct():
            parts = [(name, _text(part, inside=True)) for name, part in plain.items()]
            fields = (f"{name}={text}" if name else text for name, text in parts)
            return f"<{', '.join(fields)}>"
        case tuple() if inside:
            return f"[{_some(plain)}]"
        case tuple():
            count = f"{len(plain)} element" + "s" * (len(plain) != 1)
            return f"{count}: {_some(plain)}" if plain else count
        case np.ndarray() if inside and plain.ndim == 1:
            return f"[{_some(plain)}]"
        case np.ndarray():
            values = "" if inside else f": {_some(plain.flat)}"
            return f"{infer_type(plain)}{values if plain.size else ''}"
        case bytes():
            return repr(plain)
        case np.floating() if inside and abs(plain) > _SMALL:
            return str(round(float(plain), _DIGITS))
        case str() | np.generic():
            return str(plain)
        case _:
            return "a sequence that is read when it is needed"


def _some(items: Any) -> str:
    first = [_text(items[i], inside=True) for i in range(min(len(items), _MAX_ITEMS))]
    return ", ".join(first) + (", …" if len(items) > _MAX_ITEMS else "")
