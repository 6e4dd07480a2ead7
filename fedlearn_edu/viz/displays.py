# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of plain things: types, placed values, histories, errors.

The words are those of the plain `repr`. Long tables and deep lists are folded. Text has
the page's color: placements are marked by an underline and a tinted ground, and named.
"""

from collections.abc import Iterable
from html import escape
from typing import Any

from fedlearn_edu.errors import FedLearnError, counted
from fedlearn_edu.executors.traffic import size_of
from fedlearn_edu.language.federated_value import FederatedValue, brief, participants
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.simulation.partitions.skew import Skew
from fedlearn_edu.types import CLIENTS as AT_CLIENTS
from fedlearn_edu.types import SERVER as AT_SERVER
from fedlearn_edu.types import (
    AbstractType,
    FederatedType,
    FunctionType,
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
    edge,
    figure,
    head,
    rows,
    strong,
    table,
    tag,
)
from fedlearn_edu.viz.shortening import size_text

_ANYWHERE = "overflow-wrap:anywhere"
_HUES = {AT_CLIENTS: CLIENTS, AT_SERVER: SERVER}


# Types.

_MAX_OPEN_FIELDS = 8
_MAX_CHARS = 60
_FIELDS = "list-style:none;margin:2px 0 2px 2px;padding:0 0 0 12px"
_FIELDS += f";border-left:1px solid {QUIET}66"


def draw_type(type_: Type) -> str:
    """The notation colored by placement, the size, and the fields as a list.

    >>> import fedlearn_edu as fl
    >>> html = draw_type(fl.parse_type("{<w=float32[10],n=int32>}@CLIENTS"))
    >>> "44 B at each client" in html, "<summary" in html
    (True, True)
    """
    size = tag("div", escape(_size_and_place(type_)))
    # What a function takes and gives is open, too.
    fields = _fields(type_, depth=-isinstance(type_, FunctionType))
    look = "margin:.5em 0;max-width:60em;line-height:1.5"
    return figure("a type", notation(type_), size, fields, style=look)


def notation(type_: Type) -> str:
    """The notation as text, its placed parts marked in their colors."""
    return tag(
        "code", _marked(type_), style=f"{_ANYWHERE};white-space:normal;background:none"
    )


def _marked(type_: Type) -> str:
    match type_:
        case FederatedType(placement=placement):
            hue = _HUES[placement]
            look = f"background:{hue}{FAINT};{edge('-bottom:2px', hue)};padding:0 2px"
            return tag("span", _breakable(str(type_)), style=look)
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
    size = size_text(size_of(type_)) or "its size depends on the data"
    if not isinstance(type_, FederatedType):
        return size
    if type_.placement is not AT_CLIENTS:
        return f"{size} at the server"
    return f"{size} at each client{', the same for all' * type_.all_equal}"


def _parts(type_: Type) -> list[tuple[str, Type]]:
    """What is listed of a type, by name; of values, and of elements, what they hold."""
    match type_:
        case StructType():
            return [(name or f"[{i}]", t) for i, (name, t) in enumerate(type_.items())]
        case FederatedType(member=inner) | SequenceType(element=inner):
            return _parts(inner)
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
    inner = _fields(part, depth + 1)
    is_long = len(str(part)) > _MAX_CHARS and inner
    shown = "" if is_long else f" {notation(part)}"
    size = _size_and_place(part) if is_long else size_text(size_of(part))
    behind = f" · {size}" if size and not isinstance(part, FunctionType) else ""
    return tag("li", strong(name), f"{shown}{behind}{inner}", style="margin:0")


# Tables. A look is that of a column.

_CELL = f"border:0;border-bottom:1px solid {QUIET}66;padding:3px 8px"
_CELL += ";vertical-align:baseline"
_NAME = "text-align:left;white-space:nowrap;font-weight:normal"
_TEXT = f"text-align:left;{_ANYWHERE}"
_NUMBER = "text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums"
_HEAD = "vertical-align:bottom;white-space:normal"


def _table(
    heads: Iterable[str], body: Iterable[Iterable[str]], looks: list[str], **more: str
) -> str:
    """A table of HTML, with a head for each row.

    A row may end with one cell for all columns that are left.
    """
    sides = [f"{_CELL};{look}" for look in looks]
    below = []
    for name, *cells in body:
        wide = {"colspan": f"{len(looks) - 1}"} if len(cells) < len(looks) - 1 else {}
        pairs = zip(cells, sides[1:], strict=False)
        row = [tag("td", cell, style=side, **wide) for cell, side in pairs]
        below.append("".join([head(name, sides[0]), *row]))
    above = zip(heads, sides, strict=False)
    top = [head(text, f"{side};{_HEAD}", "col") for text, side in above]
    return table(top, below, **more)


# Placed values: one row per participant, one column per field if there are few.

_MAX_COLUMNS, _MAX_WIDTH = 4, 48


def draw_placed(placed: FederatedValue) -> str:
    """The participants and their data, as a `<table>`.

    >>> import fedlearn_edu as fl
    >>> html = draw_placed(fl.place([1.0, 2.5], fl.CLIENTS))
    >>> "{float32}@CLIENTS" in html, html.count("<tr>"), "client 1" in html
    (True, 3, True)
    """
    columns = _columns(placed.type_signature.member)
    heads = [strong("who"), *(_heading(*column) for column in columns)]
    body = [[who, *_held(data, columns)] for who, data in participants(placed)]
    looks = [_NAME, *(_look(type_) for _, type_ in columns)]
    caption, width = _caption(placed)
    more = f";line-height:1.4;min-width:min(100%,{width}ch)"
    found = _table(heads, body, looks, style=more, caption=caption)
    return tag("div", found, style="overflow-x:auto;margin:.5em 0")


def _caption(placed: FederatedValue) -> tuple[str, int]:
    """Who holds what in general, and how many characters wide the table shall be."""
    type_ = placed.type_signature
    who = "every client, the same"
    if type_.placement is not AT_CLIENTS:
        who = "the server"
    elif not type_.all_equal:
        who = counted(len(placed), "client")
    border = f"{edge('-left:6px', _HUES[type_.placement])};padding-left:6px"
    text = tag("div", f"{who}: {code(str(type_))}", style=border)
    look = f"caption-side:top;{_TEXT};padding:0 0 4px;color:inherit"
    width = min(len(f"{who}: {type_}"), _MAX_WIDTH)
    return tag("caption", text, style=look), width


def _columns(member: Type) -> list[tuple[str, Type]]:
    """The heading and the type of each column; one that is not a field has none."""
    if isinstance(member, StructType) and 0 < len(member) <= _MAX_COLUMNS:
        return _parts(member)
    return [("", member)]


def _heading(name: str, type_: Type) -> str:
    if not name:
        return "holds"
    return f"{escape(name)} {code(brief(str(type_)), style='font-weight:normal')}"


def _held(data: Any, columns: list[tuple[str, Type]]) -> list[str]:
    """What a participant holds, or a remark."""
    if isinstance(data, str):
        return [tag("em", escape(data))]
    inside = bool(columns[0][0])
    parts = data if inside else [data]
    return [escape(brief(part, inside=inside)) for part in parts]


def _look(type_: Type) -> str:
    """Numbers stand below each other at the right."""
    is_number = isinstance(type_, TensorType) and type_.is_scalar
    is_number = is_number and kind_of(type_.dtype) in NUMERIC  # type: ignore[attr-defined]
    return _NUMBER if is_number else _TEXT


# Tables of numbers: the middle of a long one is folded.

_END_ROWS, _DIGITS = 5, 4


def history_table(history: History) -> str:
    """One row for each round, and curves of losses and accuracies if there are any.

    >>> history = History().with_row({"round": 1, "clients": 5, "loss": 2.5})
    >>> html = history_table(history)
    >>> "of 1 round" in html, "2.5" in html
    (True, True)
    """
    return _rounds(rounds_of("History", len(history)), history)


def run_table(run: Run) -> str:
    """The history of a run, and why it stopped, if it did."""
    why = f", stopped: {escape(run.stopped)}" if run.stopped else ""
    return _rounds(f"{rounds_of('Run', run.rounds)}{why}", run.history)


def rounds_of(name: str, count: int) -> str:
    """The caption of a table with a row for each round."""
    told = f" of {counted(count, 'round')}" if count else ": no rounds yet"
    return f"{strong(name)}{told}"


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
    names = [n for n in history.columns if any(n in row for row in history)]
    columns = [_aligned([row.get(n) for row in history]) for n in names]
    body = [list(row) for row in zip(*columns, strict=True)]
    return f"{folded_table(caption, names, body)}{_curves(history)}"


def _curves(history: History) -> str:
    if not any("loss" in name or "accuracy" in name for name in history.columns):
        return ""
    from fedlearn_edu.viz import pictures, style
    from fedlearn_edu.viz.rounds import draw_curves

    try:
        return pictures.html(draw_curves(history)) or ""
    except style.FigureDataError:  # rounds that are not in order: the table has them
        return ""


def _aligned(values: list[Any]) -> list[str]:
    """A column, with the digits behind the point that one of its numbers needs."""
    texts = [f"{v:.4g}" for v in values if not isinstance(v, int | None)]
    digits = max((len(text.partition(".")[2]) for text in texts), default=0)
    look = ",.4g" if "e" in "".join(texts) else f",.{min(digits, _DIGITS)}f"
    return ["" if v is None else f"{v:{look}}".replace("nan", "NaN") for v in values]


def folded_table(caption: str, heads: list[str], body: list[list[str]]) -> str:
    """The table; if it is long, its ends, and all of it to be opened."""
    if len(body) <= 2 * _END_ROWS:
        return _numbers(caption, heads, body) if body else tag("div", caption)
    dots = ["…"] * len(heads)
    shown = [*body[:_END_ROWS], dots, *body[-_END_ROWS:]]
    look = "max-height:24em;overflow-y:auto"
    whole = tag("div", _numbers("", heads, body), style=look)
    fold = details(f"all {len(body):,} rows", whole, style="margin:0 0 .5em")
    return _numbers(caption, heads, shown) + fold


def _numbers(caption: str, heads: list[str], body: list[list[str]]) -> str:
    names = [escape(name).replace("_", "_<wbr>") for name in heads]
    cells = (map(escape, row) for row in body)
    looks = ["text-align:right", *[_NUMBER] * (len(heads) - 1)]
    found = tag("div", _table(names, cells, looks), style="overflow-x:auto")
    return tag("div", tag("div", caption), found, style="margin:.5em 0;line-height:1.4")


# Errors. One that is raised shows itself as text; this is for one that is looked at.

_ERROR_PARTS = {name: name for name in ("expected", "found", "where")}
_ERROR_PARTS["do"] = "what to do"


def draw_error(error: FedLearnError) -> str:
    """What was expected, found, where, and what to do, below each other.

    >>> html = draw_error(FedLearnError("wrong fruit", expected="apple", found="pear"))
    >>> "wrong fruit" in html, html.count('<th scope="row"')
    (True, 2)
    """
    values = [(word, getattr(error, name)) for name, word in _ERROR_PARTS.items()]
    body = [[strong(word), _spaced(str(v))] for word, v in values if v is not None]
    told = getattr(error, "__notes__", [])
    notes = [tag("div", escape(note), style=_ANYWHERE) for note in told]
    said = f"{type(error).__name__}: {strong(error.summary)}"
    look = f"{edge('-left:6px', ALARM)};padding-left:8px;margin:.5em 0"
    parts = _table([], body, [_NAME, f"{_TEXT};white-space:pre-wrap"]) if body else ""
    style = f"{look};line-height:1.4;max-width:60em"
    inner = (tag("div", said), parts, *notes)
    return tag("div", *inner, role="group", aria_label="an error", style=style)


def _spaced(text: str) -> str:
    """`where` draws carets, which stay below what they point at."""
    if "\n" not in text:
        return escape(text)
    return tag("span", escape(text), style="font-family:monospace")
