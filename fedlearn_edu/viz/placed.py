# SPDX-License-Identifier: Apache-2.0
"""Draws a placed value: a table of the participants and what they hold, in HTML.

One row per participant, the middle of a long group folded; one column per field, if
there are few. The text is that of the plain `repr`; its color is the page's own.
"""

from html import escape
from typing import Any

from fedlearn_edu.language.federated_value import FederatedValue
from fedlearn_edu.language.formatting import brief, participants
from fedlearn_edu.types import CLIENTS as AT_CLIENTS
from fedlearn_edu.types import StructType, TensorType, Type
from fedlearn_edu.types.dtypes import NUMERIC, kind_of
from fedlearn_edu.viz.colors import CLIENTS, QUIET, SERVER

_MAX_COLUMNS, _MAX_WIDTH = 4, 48
_LINE = f"border:0;border-bottom:1px solid {QUIET}66"
_CELL = f"{_LINE};padding:3px 8px;vertical-align:baseline"
_LEFT, _RIGHT = "text-align:left", "text-align:right"


def draw_placed(placed: FederatedValue) -> str:
    """The participants and their data, as a `<table>`.

    >>> import fedlearn_edu as fl
    >>> html = draw_placed(fl.place([1.0, 2.5], fl.CLIENTS))
    >>> "{float32}@CLIENTS" in html, html.count("<tr>"), "client 1" in html
    (True, 3, True)
    """
    columns = _columns(placed.type_signature.member)
    rows = "".join(_row(who, data, columns) for who, data in participants(placed))
    heads = "".join(_head(*column) for column in columns)
    caption, width = _caption(placed)
    return (
        '<div style="overflow-x:auto;margin:.5em 0">'
        '<table style="border-collapse:collapse;margin:0;line-height:1.4;'
        f'min-width:min(100%,{width}ch)">'
        f'<caption style="caption-side:top;{_LEFT};padding:0 0 4px;color:inherit;'
        f'overflow-wrap:anywhere">{caption}</caption>'
        f'<thead><tr><th scope="col" style="{_CELL};{_LEFT}">who</th>{heads}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _caption(placed: FederatedValue) -> tuple[str, int]:
    """Who holds what in general, and how many characters wide the table shall be."""
    type_ = placed.type_signature
    color, who = CLIENTS, "every client, the same"
    if type_.placement is not AT_CLIENTS:
        color, who = SERVER, "the server"
    elif not type_.all_equal:
        who = f"{len(placed):,} client" + "s" * (len(placed) != 1)
    text = f"{who}: <code>{escape(str(type_))}</code>"
    border = f"display:block;border-left:6px solid {color};padding-left:6px"
    width = min(len(f"{who}: {type_}"), _MAX_WIDTH)
    return f'<span style="{border}">{text}</span>', width


def _columns(member: Type) -> list[tuple[str, Type]]:
    """The heading and the type of each column; one that is not a field has none."""
    if isinstance(member, StructType) and 0 < len(member) <= _MAX_COLUMNS:
        return [(name or f"[{i}]", t) for i, (name, t) in enumerate(member.items())]
    return [("", member)]


def _head(heading: str, type_: Type) -> str:
    text = "holds"
    if heading:
        code = '<code style="font-weight:normal">'
        text = f"{escape(heading)} {code}{escape(brief(str(type_)))}</code>"
    return f'<th scope="col" style="{_CELL};{_side(type_)}">{text}</th>'


def _row(who: str, data: Any, columns: list[tuple[str, Type]]) -> str:
    style = f"{_CELL};{_LEFT};font-weight:normal;white-space:nowrap"
    head = f'<th scope="row" style="{style}">{who}</th>'
    if isinstance(data, str):
        cells = (
            f'<td colspan="{len(columns)}" style="{_CELL};{_LEFT};font-style:italic">'
            f"{escape(data)}</td>"
        )
    elif columns[0][0]:
        parts = zip(data, columns, strict=True)
        cells = "".join(_cell(part, t, inside=True) for part, (_, t) in parts)
    else:
        cells = _cell(data, columns[0][1])
    return f"<tr>{head}{cells}</tr>"


def _cell(data: Any, type_: Type, *, inside: bool = False) -> str:
    text = escape(brief(data, inside=inside))
    style = f"{_CELL};{_side(type_)};overflow-wrap:anywhere"
    return f'<td style="{style}">{text}</td>'


def _side(type_: Type) -> str:
    """Numbers stand below each other at the right."""
    is_number = isinstance(type_, TensorType) and type_.is_scalar
    if is_number and kind_of(type_.dtype) in NUMERIC:  # type: ignore[attr-defined]
        return f"{_RIGHT};font-variant-numeric:tabular-nums"
    return _LEFT
