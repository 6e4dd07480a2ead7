# SPDX-License-Identifier: Apache-2.0
"""A mean as a table and in words.

Each client has a row: what it holds, where that lies, what it sends, and the sums that
the server has then. The last row has the division. What follows from values and weights
has a name in `data-is`, by which a page without a kernel finds it (explorers.js).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from fedlearn_edu.viz.colors import ALARM, CLIENTS, CLIENTS_EDGE, QUIET, SERVER
from fedlearn_edu.viz.html import FAINT, figure, head, table, tag
from fedlearn_edu.viz.shortening import written

SCALE = 100
"""Secure sums are over whole numbers: hundredths."""

_MINUS = "\N{MINUS SIGN}"
_HEAD = "border:0;padding:4px 3px;text-align:right;vertical-align:bottom"
_CELL = f"{_HEAD};white-space:nowrap;font-variant-numeric:tabular-nums"
_GROUP = f"{_HEAD};text-align:left;border-bottom:3px solid "
_HELD, _SUMMED = (
    f"{_CELL};vertical-align:middle;background:{each}{FAINT}"
    for each in (CLIENTS, SERVER)
)
_TRACK = ";width:40%;min-width:5em;position:relative"
_RULE = f"position:absolute;left:0;right:0;top:50%;border-top:1px solid {QUIET}66"
_PLACE = "position:absolute;top:50%;transform:translate(-50%,-50%)"
_MEAN = f"height:100%;border-left:2px dashed {SERVER}"
_DIAMOND = f"width:11px;height:11px;background:{SERVER}"
_DIAMOND += ";transform:translate(-50%,-50%) rotate(45deg)"
_LEAST_PX, _MOST_PX = 8, 20


@final
@dataclass(frozen=True)
class MeanRun:
    """One mean, step by step; tuples are in the order of the clients.

    Attributes:
        values: what each client holds.
        weights: the weight of each client; `None` where all are equal.
        sent: the numbers each client sends.
        sums: the server's running sums, after each client.
        mean: the result, `nan` over a weight of zero.
        hidden: for secure sums what each client had before masking; otherwise empty.
        masks: for secure sums what was added to that; otherwise empty.
        bound: for secure sums, values lie between `-bound` and `bound`.
    """

    values: tuple[float, ...]
    weights: tuple[float, ...] | None
    sent: tuple[tuple[Any, ...], ...]
    sums: tuple[tuple[Any, ...], ...]
    mean: float
    hidden: tuple[tuple[int, ...], ...] = ()
    masks: tuple[tuple[int, ...], ...] = ()
    bound: float = 0.0

    @property
    def is_secure(self) -> bool:
        """Whether what is sent is masked."""
        return bool(self.masks)


def _division(run: MeanRun) -> str:
    """The division, as a formula with its result."""
    total, divisor = (written(each) for each in run.sums[-1][:2])
    if not run.is_secure:
        return f"mean = {total} ÷ {divisor} = {written(run.mean)}"
    by = divisor if run.weights is not None else f"({SCALE} × {divisor})"
    back = written(int(run.bound))
    return f"mean = {total} ÷ {by} {_MINUS} {back} = {written(run.mean)}"


def words(run: MeanRun) -> str:
    """What is sent, what the server computes, and what is special about it."""
    return " ".join([_who_sends(run), _who_divides(run), *_special(run)])


def _who_sends(run: MeanRun) -> str:
    count = len(run.values)
    who = "The one client" if count == 1 else f"Each of {count} clients"
    if not run.is_secure:
        what = "its value v and a 1"
        if run.weights is not None:
            what = "its value v times its weight w, the weight, and a 1"
        return f"{who} sends {what}."
    above = f"its value, in hundredths above {_MINUS}{written(int(run.bound))}"
    if run.weights is None:
        return f"{who} masks {above}, and sends that and a 1."
    return f"{who} masks {above}, times its weight, and its weight, and sends both."


def _who_divides(run: MeanRun) -> str:
    total, divisor = (written(each) for each in run.sums[-1][:2])
    first = f"The server adds up {total} and {divisor}, and divides"
    if run.is_secure:
        first = (
            "What it sends looks random, but all masks add up to zero: "
            f"the server finds {total} and {divisor}, and divides"
        )
    if math.isnan(run.mean):
        return f"{first}: zero by zero is no number, nan."
    return f"{first}: the mean is {written(run.mean)}."


def _special(run: MeanRun) -> list[str]:
    if run.weights is not None and not any(run.weights):
        return ["A mean over a weight of zero does not exist."]
    if run.is_secure and not math.isfinite(run.mean):
        return ["In hundredths, all weights became 0."]
    if math.isinf(run.mean):
        return ["Such a sum is beyond the largest float32."]
    if len(run.values) == 1:
        alone = "Alone, a client has nobody to share a mask with: its mask is 0."
        known = "The mean of one value is that value: the server knows it."
        return [alone, known] if run.is_secure else [known]
    if len(set(run.values)) == 1:
        return ["Of equal values the mean is that value, whatever the weights."]
    return []


def mean_table(run: MeanRun, limits: tuple[float, float]) -> str:
    """The run as a table; values lie on a line between the limits.

    >>> run = MeanRun((1.0, 3.0), None, ((1.0, 1), (3.0, 1)), ((1.0, 1), (4.0, 2)), 2.0)
    >>> html = mean_table(run, (0.0, 4.0))
    >>> html.count("<tr"), html.count('scope="row"'), "4 ÷ 2 = 2" in html
    (5, 3, True)
    """
    held = ["client", "value v"]
    held += [] if run.is_secure else [_ends(limits)]
    held += [] if run.weights is None else ["weight w"]
    sent, summed = _secure_heads(run) if run.is_secure else _plain_heads(run)
    over = [
        head(name, f"{_GROUP}{color}", "colgroup", colspan=str(len(names)))
        for name, color, names in (
            ("each client holds", CLIENTS_EDGE, held),
            ("and sends", CLIENTS_EDGE, sent),
            ("the server then has", SERVER, summed),
        )
    ]
    heads = [head(name, _HEAD, "col") for name in (*held[1:], *sent, *summed)]
    heads = [head(held[0], f"{_HEAD};text-align:left", "col"), *heads]
    make = _secure_rows if run.is_secure else partial(_plain_rows, limits=limits)
    rows = [row for client in range(len(run.values)) for row in make(run, client)]
    rows.append(_last_row(run, limits, len(sent) + len(summed)))
    shown = table(
        heads, rows, style=";width:100%;line-height:1.4", groups="".join(over)
    )
    return figure("a federated mean", shown, style="margin:0;overflow-x:auto")


def _plain_heads(run: MeanRun) -> tuple[list[str], list[str]]:
    """The heads of what is sent, and of the sums."""
    if run.weights is None:
        return ["v", "1"], ["sum of v", "count"]
    product = "v × w".replace(" ", "\N{NO-BREAK SPACE}")
    return [product, "w", "1"], [f"sum of {product}", "sum of w", "count"]


def _secure_heads(run: MeanRun) -> tuple[list[str], list[str]]:
    sent, summed = ["hundredths", "+ mask<br>= sent"], ["so far"]
    return (sent, summed) if run.weights else ([*sent, "1"], [*summed, "count"])


def _plain_rows(
    run: MeanRun, client: int, limits: tuple[float, float]
) -> Iterator[str]:
    """The one row of a client."""
    weight, heaviest = 1.0, 1.0
    cells = [_cell(_HELD, run.values[client], f"value-{client}")]
    if run.weights is not None:
        weight, heaviest = run.weights[client], max(run.weights) or 1.0
    size = _LEAST_PX + (_MOST_PX - _LEAST_PX) * math.sqrt(weight / heaviest)
    dot = f"width:{size:.0f}px;height:{size:.0f}px;border-radius:50%"
    dot += f";background:{CLIENTS_EDGE}"
    mark = _mark(run.values[client], limits, dot, f"dot-{client}")
    cells.append(_line(_HELD, mark, _mark(run.mean, limits, _MEAN, "at-mean")))
    if run.weights is not None:
        cells.append(_cell(_HELD, run.weights[client], f"weight-{client}"))
    for name, look, numbers in (
        ("sent", _HELD, run.sent[client]),
        ("sum", _SUMMED, run.sums[client]),
    ):
        named = enumerate(numbers)
        cells += [_cell(look, each, f"{name}-{client}-{i}") for i, each in named]
    yield head(f"client {client}", f"{_HELD};text-align:left") + "".join(cells)


def _secure_rows(run: MeanRun, client: int) -> Iterator[str]:
    """A row for each number that is masked; the first also says whose it is."""
    count = len(run.masks[client])
    high = {"rowspan": str(count)}
    name = head(f"client {client}", f"{_HELD};text-align:left", **high)
    held = [run.values[client], *([run.weights[client]] if run.weights else [])]
    first = name + "".join(tag("td", written(x), style=_HELD, **high) for x in held)
    for i, (hidden, mask) in enumerate(
        zip(run.hidden[client], run.masks[client], strict=True)
    ):
        # Of a single number there is also the count.
        part = slice(i, i + 1) if count > 1 else slice(None)
        sent, sums = run.sent[client][part], run.sums[client][part]
        masked = f"{written(mask)}<br>{written(sent[0])}"
        cells = [(_HELD, x) for x in (written(hidden), masked, *map(written, sent[1:]))]
        cells += [(_SUMMED, written(x)) for x in sums]
        row = "".join(tag("td", x, style=look) for look, x in cells)
        yield row if i else first + row


def _last_row(run: MeanRun, limits: tuple[float, float], columns: int) -> str:
    """Where the mean lies, and the division."""
    color = ALARM if math.isnan(run.mean) else SERVER
    look = f"{_SUMMED};border-top:3px solid {color}"
    weight = "" if run.weights is None else tag("td", style=look)
    name = head("mean", f"{look};text-align:left", colspan="2")
    mark = _mark(run.mean, limits, _DIAMOND, "at-mean")
    line = "" if run.is_secure else _line(look, mark)
    division = tag("strong", _division(run), data_is="division")
    look += ";text-align:left" if run.is_secure else ""  # where a phone shows it
    return name + line + weight + tag("td", division, style=look, colspan=str(columns))


def _cell(look: str, number: float, name: str) -> str:
    return tag("td", written(number), style=look, data_is=name)


def _line(look: str, *marks: str) -> str:
    """A part of the line that values lie on."""
    rule = tag("div", style=_RULE)
    inner = tag("div", rule, *marks, style="position:absolute;inset:0 12px")
    return tag("td", inner, style=look + _TRACK, aria_hidden="true")


def _mark(value: float, limits: tuple[float, float], look: str, name: str) -> str:
    """A mark where this value lies; no number lies nowhere."""
    low, high = limits
    share = 100 * (value - low) / (high - low)
    place = f"left:{share:.2f}%" if math.isfinite(share) else "display:none"
    return tag("div", style=f"{_PLACE};{place};{look}", data_is=name)


def _ends(limits: tuple[float, float]) -> str:
    """The ends of the line, above it."""
    ends = zip(limits, ("low", "high"), strict=True)
    low, high = (tag("span", written(each), data_is=name) for each, name in ends)
    look = "display:flex;justify-content:space-between;gap:1em;font-weight:normal"
    return tag("div", low, high, style=look)
