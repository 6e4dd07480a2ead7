# SPDX-License-Identifier: Apache-2.0
"""A mean, drawn and in words.

Clients are on the left, the server is on the right, messages are between them. Each
client has a row with its message and the sums after it; the division is below. Lengths
are in inches, rows run from the top down.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.viz.colors import ALARM, CLIENTS, SERVER
from fedlearn_edu.viz.explorers.canvas import FOOT_IN, HEAD_IN, Canvas, written

SCALE = 100
"""Secure sums are over whole numbers: hundredths."""

_LINE, _PAD, _GAP, _EDGE = 0.23, 0.08, 0.08, 0.1
_PLAIN_COLUMN, _MASKED_COLUMN, _POINT = 0.56, 1.38, 0.14
# The numbers of a message take at least this share of the width.
_SHARE = 0.28
_MINUS = "\N{MINUS SIGN}"


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


def _maskings(run: MeanRun, client: int) -> list[str]:
    """Lines with what a client hides in a secure sum, and the mask it adds."""
    lines = []
    for hidden, mask in zip(run.hidden[client], run.masks[client], strict=True):
        sign = _MINUS if mask < 0 else "+"
        lines.append(f"{written(hidden)} {sign} {written(abs(mask))}")
    return lines


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


@final
class MeanDrawing:
    """One mean on one sheet."""

    def __init__(self, sheet: Canvas, run: MeanRun) -> None:
        self._sheet, self._run = sheet, run
        self._least = _SHARE * sheet.width / len(run.sent[0])
        self._sent, self._sums = self._widths(run.sent), self._widths(run.sums)
        self._sums_end = sheet.width - _EDGE - _PAD
        self._server = self._sums_end - sum(self._sums)
        self._message_end = self._server - 2 * _PAD
        self._sent_end = self._message_end - _POINT
        self._message = self._sent_end - sum(self._sent) - _PAD
        self._num_lines = len(self._client_lines(0))
        self._row = self._num_lines * _LINE + 2 * _PAD

    def draw(self) -> None:
        """Wipes the sheet, and draws everything."""
        run, sheet = self._run, self._sheet
        count = len(run.values)
        sheet.wipe(HEAD_IN + count * self._row + _GAP * (count + 1) + FOOT_IN)
        self._draw_lanes()
        top = sheet.height - HEAD_IN
        for client in range(count):
            top -= self._row + _GAP
            self._draw_row(client, top)
        color = ALARM if math.isnan(run.mean) else SERVER
        sheet.result(_division(run), color, weight="bold")

    def _widths(self, rows: Sequence[Sequence[Any]]) -> list[float]:
        """The widths of the columns, with room for all their numbers."""
        if self._run.is_secure:
            return [max(_MASKED_COLUMN, self._least)]
        columns = zip(*rows, strict=True)
        longest = [max(len(written(each)) for each in column) for column in columns]
        least = max(_PLAIN_COLUMN, self._least)
        return [max(least, 0.1 * chars + 0.12) for chars in longest]

    def _client_lines(self, client: int) -> list[str]:
        """The lines about a client, beside its numbers."""
        run, name = self._run, f"client {client}"
        held = f"v = {written(run.values[client])}"
        if run.weights is not None:
            held += f"   w = {written(run.weights[client])}"
        if run.is_secure:
            ones = ["1"] if run.weights is None else []
            return [f"{name}   {held}", *_maskings(run, client), *ones]
        if run.weights is None:
            return [f"{name}   {held}"]
        return [name, held]

    def _draw_lanes(self) -> None:
        sheet, y = self._sheet, self._sheet.height - 0.24
        sheet.lanes(self._message - 1.1 * _PAD, self._server - 0.6 * _PAD, "SERVER")
        sheet.text(self._sent_end, y, "sends", ha="right", style="italic")
        sheet.text(self._sums_end, y, "adds", ha="right", style="italic")
        for x, name in self._heads():
            sheet.text(x, sheet.height - 0.53, name, ha="right")

    def _heads(self) -> list[tuple[float, str]]:
        """The heads of the columns of numbers, and their right edges."""
        if not self._run.is_secure:
            names = ["v", "1"] if self._run.weights is None else ["v × w", "w", "1"]
            sent = zip(self._rights(self._sent, self._sent_end), names, strict=True)
            sums = zip(self._rights(self._sums, self._sums_end), names, strict=True)
            return [*sent, *sums]
        beside = (self._message - 3 * _PAD, "hundredths + mask")
        return [beside, (self._sent_end, "masked"), (self._sums_end, "so far")]

    def _rights(self, widths: Sequence[float], end: float) -> list[float]:
        """The right edge of each column, if that of the last one is `end`."""
        return [end - sum(widths[i + 1 :]) for i in range(len(widths))]

    def _draw_row(self, client: int, bottom: float) -> None:
        run, sheet = self._run, self._sheet
        sides = (bottom, self._message_end - self._message, self._row)
        sheet.message(self._message, *sides, edgecolor=CLIENTS, lw=2)
        sides = (bottom, sum(self._sums) + _PAD, self._row)
        sheet.box(self._server, *sides, edgecolor=SERVER)
        top = bottom + self._row - _PAD
        lines = [top - (i + 0.5) * _LINE for i in range(self._num_lines)]
        self._draw_client(client, lines, bottom)
        last = {"weight": "bold"} if client == len(run.values) - 1 else {}
        for numbers, widths, end, look in (
            (run.sent[client], self._sent, self._sent_end, {}),
            (run.sums[client], self._sums, self._sums_end, last),
        ):
            middle = bottom + self._row / 2
            places = [(right, middle) for right in self._rights(widths, end)]
            if run.is_secure:
                places = [(end, line) for line in lines[1 : 1 + len(numbers)]]
            for (x, y), each in zip(places, numbers, strict=True):
                sheet.text(x, y, written(each), ha="right", **look)

    def _draw_client(self, client: int, lines: list[float], bottom: float) -> None:
        left, right = _EDGE, self._message - 2 * _PAD
        sides = (left, bottom, right - left, self._row)
        self._sheet.box(*sides, edgecolor=CLIENTS)
        first, *others = self._client_lines(client)
        self._sheet.text(left + _PAD, lines[0], first, ha="left")
        x, ha = left + _PAD, "left"
        if self._run.is_secure:
            x, ha = right - _PAD, "right"
        for line, text in zip(lines[1:], others, strict=False):
            self._sheet.text(x, line, text, ha=ha)
