# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of plain things: types, placed values, histories, errors.

The words are those of the plain `repr`. Long tables and deep lists are folded. Text has
the page's color: placements are marked by an underline and a tinted ground, and named.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from fedlearn_edu.errors import FedLearnError, counted
from fedlearn_edu.executors.traffic import size_of
from fedlearn_edu.language.federated_value import FederatedValue, brief, participants
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.simulation.partitions.skew import Skew
from fedlearn_edu.types import CLIENTS as AT_CLIENTS
from fedlearn_edu.types import (
    AbstractType,
    FederatedType,
    FunctionType,
    Placement,
    PlacementType,
    SequenceType,
    StructType,
    TensorType,
    Type,
)
from fedlearn_edu.types.dtypes import NUMERIC, kind_of
from fedlearn_edu.viz.colors import ALARM, CLIENTS, QUIET, SERVER
from fedlearn_edu.viz.html import (
    FAINT,
    code,
    details,
    figure,
    head,
    rows,
    strong,
    table,
    tag,
)
from fedlearn_edu.viz.shortening import clipped, size_text

_LEFT, _RIGHT = "text-align:left", "text-align:right"
_CELL = f"border:0;border-bottom:1px solid {QUIET}66;padding:3px 8px"
_DIGITS = "font-variant-numeric:tabular-nums"
_ANYWHERE = "overflow-wrap:anywhere"


# Types.

_MAX_OPEN_FIELDS = 8
_MAX_CHARS = 200
_FIELDS = "list-style:none;margin:2px 0 2px 2px;padding:0 0 0 12px"
_FIELDS += f";border-left:1px solid {QUIET}66"


def draw_type(type_: Type) -> str:
    """The notation colored by placement, the size, and the fields as a list.

    >>> import fedlearn_edu as fl
    >>> html = draw_type(fl.parse_type("{<w=float32[10],n=int32>}@CLIENTS"))
    >>> "44 B at each client" in html, "<summary" in html
    (True, True)
    """
    said = _size_and_place(type_)
    size = tag("div", escape(said), style="font-size:.9em") if said else ""
    parts = (notation(type_), size, _fields(_unwrapped(type_), depth=0))
    look = "margin:.5em 0;max-width:60em;line-height:1.5"
    return figure("a type", *parts, style=look)


def notation(type_: Type) -> str:
    """The notation as text, its placed parts marked in their colors."""
    return tag(
        "code", _marked(type_), style=f"{_ANYWHERE};white-space:normal;background:none"
    )


def color_of(placement: Placement) -> str:
    """The color of a placement."""
    return CLIENTS if placement is AT_CLIENTS else SERVER


def _marked(type_: Type) -> str:
    match type_:
        case FederatedType(placement=placement):
            color = color_of(placement)
            look = f"background:{color}{FAINT};border-bottom:2px solid {color}"
            return tag("span", _breakable(str(type_)), style=f"{look};padding:0 2px")
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


def _size_and_place(type_: Type) -> str:
    """How many bytes a value has, and where, as far as the type says."""
    if isinstance(type_, FunctionType | PlacementType | AbstractType):
        return ""
    size = size_text(size_of(type_))
    place = ""
    if isinstance(type_, FederatedType):
        same = ", the same for all" if type_.all_equal else ""
        is_clients = type_.placement is AT_CLIENTS
        place = f"at each client{same}" if is_clients else "at the server"
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
        case FunctionType(parameter=parameter, result=result):
            given = [] if parameter is None else [("parameter", parameter)]
            return [*given, ("result", result)]
        case _:
            return []


def _fields(type_: Type, depth: int) -> str:
    """A folded list of what is inside; open if it is short."""
    parts = _parts(type_)
    if not parts:
        return ""
    is_open = depth < 1 and len(parts) <= _MAX_OPEN_FIELDS
    noun = "part" if isinstance(type_, FunctionType) else "field"
    listed = rows([_field(name, part, depth) for name, part in parts], _FIELDS)
    return details(counted(len(parts), noun), listed, more=" open" * is_open)


def _field(name: str, part: Type, depth: int) -> str:
    inner = _fields(_unwrapped(part), depth + 1)
    shown = notation(part)
    if len(str(part)) > _MAX_CHARS and inner:
        shown = code(clipped(str(part), _MAX_CHARS))
    size = size_text(size_of(part))
    behind = f" · {size}" if size and not isinstance(part, FunctionType) else ""
    return tag("li", strong(name), f" {shown}{behind}{inner}", style="margin:0")


# Placed values: one row per participant, one column per field if there are few.

_MAX_COLUMNS, _MAX_WIDTH = 4, 48
_BASELINE = f"{_CELL};vertical-align:baseline"


def draw_placed(placed: FederatedValue) -> str:
    """The participants and their data, as a `<table>`.

    >>> import fedlearn_edu as fl
    >>> html = draw_placed(fl.place([1.0, 2.5], fl.CLIENTS))
    >>> "{float32}@CLIENTS" in html, html.count("<tr>"), "client 1" in html
    (True, 3, True)
    """
    columns = _columns(placed.type_signature.member)
    body = [_held(who, data, columns) for who, data in participants(placed)]
    heads = [head("who", f"{_BASELINE};{_LEFT}", "col")]
    heads += [_heading(*column) for column in columns]
    caption, width = _caption(placed)
    look = f";line-height:1.4;min-width:min(100%,{width}ch)"
    scrolls = "overflow-x:auto;margin:.5em 0"
    return tag("div", table(heads, body, style=look, caption=caption), style=scrolls)


def _caption(placed: FederatedValue) -> tuple[str, int]:
    """Who holds what in general, and how many characters wide the table shall be."""
    type_ = placed.type_signature
    who = "every client, the same"
    if type_.placement is not AT_CLIENTS:
        who = "the server"
    elif not type_.all_equal:
        who = counted(len(placed), "client")
    border = f"border-left:6px solid {color_of(type_.placement)}"
    text = tag(
        *("span", f"{who}: {code(str(type_))}"),
        style=f"display:block;{border};padding-left:6px",
    )
    look = f"caption-side:top;{_LEFT};padding:0 0 4px;color:inherit;{_ANYWHERE}"
    width = min(len(f"{who}: {type_}"), _MAX_WIDTH)
    return tag("caption", text, style=look), width


def _columns(member: Type) -> list[tuple[str, Type]]:
    """The heading and the type of each column; one that is not a field has none."""
    if isinstance(member, StructType) and 0 < len(member) <= _MAX_COLUMNS:
        return _parts(member)
    return [("", member)]


def _heading(name: str, type_: Type) -> str:
    text = "holds"
    if name:
        light = code(brief(str(type_)), style="font-weight:normal")
        text = f"{escape(name)} {light}"
    return head(text, f"{_BASELINE};{_side(type_)}", "col")


def _held(who: str, data: Any, columns: list[tuple[str, Type]]) -> str:
    look = f"{_BASELINE};{_LEFT}"
    if isinstance(data, str):
        span = str(len(columns))
        italic = f"{look};font-style:italic"
        cells = [tag("td", escape(data), colspan=span, style=italic)]
    else:
        inside = bool(columns[0][0])
        parts = zip(data if inside else [data], columns, strict=True)
        cells = [
            tag(
                *("td", escape(brief(part, inside=inside))),
                style=f"{_BASELINE};{_side(type_)};{_ANYWHERE}",
            )
            for part, (_, type_) in parts
        ]
    name = head(who, f"{look};font-weight:normal;white-space:nowrap")
    return "".join([name, *cells])


def _side(type_: Type) -> str:
    """Numbers stand below each other at the right."""
    is_number = isinstance(type_, TensorType) and type_.is_scalar
    if is_number and kind_of(type_.dtype) in NUMERIC:  # type: ignore[attr-defined]
        return f"{_RIGHT};{_DIGITS}"
    return _LEFT


# Tables of numbers: the middle of a long one is folded.

_END_ROWS = 5
_NUMBER = f"{_CELL};{_RIGHT}"


def history_table(history: History) -> str:
    """One row for each round, and curves of losses and accuracies if there are any.

    >>> history = History().with_row({"round": 1, "clients": 5, "loss": 2.5})
    >>> html = history_table(history)
    >>> "of 1 round" in html, "2.5" in html
    (True, True)
    """
    count = counted(len(history), "round")
    return _rounds(f"{strong('History')} of {count}", history)


def run_table(run: Run) -> str:
    """The history of a run, and why it stopped, if it did."""
    why = f", stopped: {escape(run.stopped)}" if run.stopped else ""
    count = counted(run.rounds, "round")
    return _rounds(f"{strong('Run')} of {count}{why}", run.history)


def skew_table(skew: Skew) -> str:
    """What each client holds, and how much that differs from the whole."""
    heads = ["client", "examples", "effective labels", "total variation"]
    heads += [f"label {label}" for label in skew.labels]
    measures = (skew.sizes, skew.effective_labels, skew.total_variation, skew.histogram)
    body = [
        [f"{k}", f"{size:,}", f"{effective:.2f}", f"{variation:.2f}", *map(str, counts)]
        for k, (size, effective, variation, counts) in enumerate(
            zip(*measures, strict=True)
        )
    ]
    mean = (
        f"on average {skew.sizes.mean():,.1f} examples, "
        f"{skew.effective_labels.mean():.2f} effective labels, "
        f"total variation {skew.total_variation.mean():.2f}"
    )
    count = counted(len(body), "client")
    return folded_table(f"{strong('Skew')} of {count}: {mean}", heads, body)


def _rounds(caption: str, history: History) -> str:
    body = [[_number(row, name) for name in history.columns] for row in history]
    return f"{folded_table(caption, list(history.columns), body)}{_curves(history)}"


def _curves(history: History) -> str:
    if not any("loss" in name or "accuracy" in name for name in history.columns):
        return ""
    from fedlearn_edu.viz import pictures, style
    from fedlearn_edu.viz.rounds import draw_curves

    try:
        return pictures.html(draw_curves(history)) or ""
    except style.FigureDataError:  # rounds that are not in order: the table has them
        return ""


def _number(row: Mapping[str, float], name: str) -> str:
    if name not in row:
        return ""
    value = row[name]
    if math.isnan(value):
        return "NaN"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def folded_table(caption: str, heads: list[str], body: list[list[str]]) -> str:
    """The table; if it is long, its ends, and all of it to be opened."""
    if len(body) <= 2 * _END_ROWS:
        return _numbers(caption, heads, body)
    dots = ["…"] * len(heads)
    shown = [*body[:_END_ROWS], dots, *body[-_END_ROWS:]]
    look = "max-height:24em;overflow-y:auto"
    whole = tag("div", _numbers("", heads, body), style=look)
    fold = details(f"all {len(body):,} rows", whole, style="margin:0 0 .5em")
    return _numbers(caption, heads, shown) + fold


def _numbers(caption: str, heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    look = f"{_NUMBER};{_DIGITS}"
    names = [escape(name).replace("_", "_<wbr>") for name in heads]
    top = [head(name, f"{_NUMBER};vertical-align:bottom", "col") for name in names]
    below = [
        head(escape(first), look)
        + "".join(tag("td", escape(cell), style=look) for cell in cells)
        for first, *cells in body
    ]
    said = tag("div", caption) if caption else ""
    scrolls = tag("div", table(top, below), style="overflow-x:auto")
    return tag("div", said, scrolls, style="margin:.5em 0;line-height:1.4")


# Errors. One that is raised shows itself as text; this is for one that is looked at.

_ERROR_PARTS = {name: name for name in ("expected", "found", "where")}
_ERROR_PARTS["do"] = "what to do"
_ERROR_CELL = "padding:1px 12px 1px 0;margin:0"


def draw_error(error: FedLearnError) -> str:
    """What was expected, found, where, and what to do, below each other.

    >>> html = draw_error(FedLearnError("wrong fruit", expected="apple", found="pear"))
    >>> "wrong fruit" in html, html.count('<th scope="row"')
    (True, 2)
    """
    values = [(word, getattr(error, name)) for name, word in _ERROR_PARTS.items()]
    body = [_error_row(word, str(v)) for word, v in values if v is not None]
    notes = [
        tag("div", escape(note), style=_ANYWHERE)
        for note in getattr(error, "__notes__", [])
    ]
    said = f"{type(error).__name__}: {strong(error.summary)}"
    look = f"border-left:6px solid {ALARM};padding-left:8px;margin:.5em 0"
    parts = table([], body, style=";margin-top:4px") if body else ""
    style = f"{look};line-height:1.4;max-width:60em"
    inner = (tag("div", said), parts, *notes)
    return tag("div", *inner, role="group", aria_label="an error", style=style)


def _error_row(word: str, text: str) -> str:
    """`where` draws carets, so it keeps its spaces."""
    name = f"font-weight:bold;{_LEFT};vertical-align:baseline;white-space:nowrap"
    look = f"{_LEFT};{_ANYWHERE};white-space:pre-wrap"
    look += ";font-family:monospace" * ("\n" in text)
    cell = tag("td", escape(text), style=f"{_ERROR_CELL};{look}")
    return head(word, f"{_ERROR_CELL};{name}") + cell
