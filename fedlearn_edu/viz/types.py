# SPDX-License-Identifier: Apache-2.0
"""Draws a type: the notation colored by placement, and its fields as a list, in HTML.

The notation is text that can be selected and copied. Lists that are long or deep are
folded. Text has the page's color: placements are marked by an underline and a faint
ground, and named in words as ever.
"""

from html import escape

from fedlearn_edu.executors.sizing import size_of
from fedlearn_edu.types import CLIENTS as AT_CLIENTS
from fedlearn_edu.types import (
    AbstractType,
    FederatedType,
    FunctionType,
    Placement,
    PlacementType,
    SequenceType,
    StructType,
    Type,
)
from fedlearn_edu.viz.colors import CLIENTS, QUIET, SERVER
from fedlearn_edu.viz.shortening import clipped, size_text

_FAINT = "1f"
_MAX_OPEN_FIELDS = 8
_MAX_CHARS = 200
_LIST = f"margin:2px 0 2px 2px;padding:0 0 0 12px;border-left:1px solid {QUIET}66"
_BREAKS = "overflow-wrap:anywhere;white-space:normal"


def draw_type(type_: Type) -> str:
    """A type, as a `<figure>`.

    >>> import fedlearn_edu as fl
    >>> html = draw_type(fl.parse_type("{<w=float32[10],n=int32>}@CLIENTS"))
    >>> "44 B at each client" in html, "<summary" in html
    (True, True)
    """
    said = _said(type_)
    size = f'<div style="font-size:.9em">{escape(said)}</div>' if said else ""
    fields = _fields(_unwrapped(type_), depth=0)
    return (
        '<figure role="group" aria-label="a type" '
        'style="margin:.5em 0;max-width:60em;line-height:1.5">'
        f"{notation(type_)}{size}{fields}</figure>"
    )


def notation(type_: Type) -> str:
    """The notation as text, its placed parts marked in their colors."""
    return f'<code style="{_BREAKS};background:none">{_marked(type_)}</code>'


def color_of(placement: Placement) -> str:
    """The color of a placement."""
    return CLIENTS if placement is AT_CLIENTS else SERVER


def _marked(type_: Type) -> str:
    match type_:
        case FederatedType(placement=placement):
            color = color_of(placement)
            style = (
                f"background:{color}{_FAINT};border-bottom:2px solid {color};"
                "padding:0 2px"
            )
            return f'<span style="{style}">{_breakable(str(type_))}</span>'
        case FunctionType(parameter=parameter, result=result):
            given = "" if parameter is None else _marked(parameter)
            return f"({given} -&gt; {_marked(result)})"
        case StructType() if type_.contains(Type.is_federated):
            named = ((f"{name}=" if name else "", t) for name, t in type_.items())
            inner = ",<wbr>".join(f"{escape(name)}{_marked(t)}" for name, t in named)
            return f"&lt;{inner}&gt;"
        case _:
            return _breakable(str(type_))


def _breakable(text: str) -> str:
    """Text that may go on in the next line behind a comma."""
    return escape(text).replace(",", ",<wbr>")


def _said(type_: Type) -> str:
    """How many bytes a value has, and where, as far as the type says."""
    if isinstance(type_, FunctionType | PlacementType | AbstractType):
        return ""
    size = size_text(size_of(type_))
    place = ""
    if isinstance(type_, FederatedType):
        at_clients = type_.placement is AT_CLIENTS
        place = "at the server"
        if at_clients:
            same = ", the same for all" if type_.all_equal else ""
            place = f"at each client{same}"
    if size:
        return f"{size} {place}".strip()
    unknown = "how many bytes a value has depends on the data"
    return f"{place}; {unknown}" if place else unknown


def _unwrapped(type_: Type) -> Type:
    """What there are fields of: the member, or the element."""
    match type_:
        case FederatedType(member=inner) | SequenceType(element=inner):
            return _unwrapped(inner)
        case _:
            return type_


def _parts(type_: Type) -> list[tuple[str, Type]]:
    """What is listed of a type, by name."""
    match type_:
        case StructType():
            return [(name or f"[{i}]", t) for i, (name, t) in enumerate(type_.items())]
        case FunctionType(parameter=None, result=result):
            return [("result", result)]
        case FunctionType(parameter=parameter, result=result):
            assert parameter is not None
            return [("parameter", parameter), ("result", result)]
        case _:
            return []


def _fields(type_: Type, depth: int) -> str:
    """A folded list of what is inside; open if it is short."""
    parts = _parts(type_)
    if not parts:
        return ""
    rows = "".join(_row(name, part, depth) for name, part in parts)
    is_open = " open" if depth < 1 and len(parts) <= _MAX_OPEN_FIELDS else ""
    noun = "part" if isinstance(type_, FunctionType) else "field"
    count = f"{len(parts)} {noun}{'s' * (len(parts) != 1)}"
    return (
        f'<details{is_open} style="margin:0"><summary style="cursor:pointer">'
        f'{count}</summary><ul role="list" style="list-style:none;{_LIST}">'
        f"{rows}</ul></details>"
    )


def _row(name: str, part: Type, depth: int) -> str:
    inner = _fields(_unwrapped(part), depth + 1)
    shown = notation(part)
    if len(str(part)) > _MAX_CHARS and inner:
        shown = f"<code>{escape(clipped(str(part), _MAX_CHARS))}</code>"
    size = size_text(size_of(part))
    behind = f" · {size}" if size and not isinstance(part, FunctionType) else ""
    return (
        f'<li style="margin:0"><strong>{escape(name)}</strong> '
        f"{shown}{behind}{inner}</li>"
    )
