# SPDX-License-Identifier: Apache-2.0
"""Draws a `MeanRun`: clients at the left, the server at the right, messages between.

One row for each client, with its message and the sums after it; below them the
division. On a narrow sheet a client's own lines are inside of its message. Lengths are
inches, the rows go down from the top.
"""

import math
from collections.abc import Sequence
from typing import Any, final

from fedlearn_edu.viz.colors import ALARM, CLIENTS, SERVER
from fedlearn_edu.viz.explorers.canvas import Canvas, whole_eighths
from fedlearn_edu.viz.explorers.mean_run import MeanRun
from fedlearn_edu.viz.explorers.mean_texts import (
    division,
    heads,
    holdings,
    maskings,
    number,
    shown_rows,
)

_HEAD, _FOOT, _LINE, _PAD, _GAP, _EDGE = 0.68, 0.62, 0.23, 0.08, 0.08, 0.1
_PLAIN_COLUMN, _MASKED_COLUMN, _POINT = 0.56, 1.38, 0.14
# The numbers of a message take at least this share of the width.
_SHARE = 0.28
_NARROW_BELOW_IN = 6.0


@final
class MeanDrawing:
    """One mean on one sheet."""

    def __init__(self, width_in: float, run: MeanRun) -> None:
        self._run = run
        self._rows = shown_rows(len(run.values))
        self._narrow = width_in < _NARROW_BELOW_IN
        self._least = _SHARE * width_in / len(run.sent[0])
        self._sent, self._sums = self._widths(run.sent), self._widths(run.sums)
        self._server = width_in - _EDGE - sum(self._sums) - _PAD
        self._message_end = self._server - 2 * _PAD
        wide = self._message_end - _POINT - sum(self._sent) - _PAD
        self._message = _EDGE if self._narrow else wide
        lines = len(self._client_lines(0)) + self._narrow * len(self._number_lines())
        self._num_lines = lines
        self._row = lines * _LINE + 2 * _PAD
        rows = sum(self._height_of(row) + _GAP for row in self._rows)
        self.height = whole_eighths(_HEAD + rows + _GAP + _FOOT)

    def draw(self, sheet: Canvas) -> None:
        """Draws everything on a sheet of the width and height of this drawing."""
        self._draw_lanes(sheet)
        top = sheet.height - _HEAD
        for row in self._rows:
            top -= self._height_of(row) + _GAP
            if row is None:
                left_out = len(self._run.values) - len(self._rows) + 1
                text = f"… {left_out} more clients …"
                sheet.text(2 * _EDGE, top + _GAP, text, ha="left", style="italic")
            else:
                self._draw_row(sheet, row, top)
        self._draw_division(sheet)

    def _height_of(self, row: int | None) -> float:
        return _LINE if row is None else self._row

    def _widths(self, rows: Sequence[Sequence[Any]]) -> list[float]:
        """How wide the columns are, for all the numbers in them."""
        if self._run.is_secure:
            return [max(_MASKED_COLUMN, self._least)]
        shown = [rows[row] for row in self._rows if row is not None]
        columns = zip(*shown, strict=True)
        longest = [max(len(number(each)) for each in column) for column in columns]
        least = max(_PLAIN_COLUMN, self._least)
        return [max(least, 0.1 * chars + 0.12) for chars in longest]

    def _client_lines(self, client: int) -> list[str]:
        """What is written about a client, beside or above its numbers."""
        run = self._run
        held = holdings(run, client)
        if run.is_secure:
            ones = ["1"] if run.weights is None and not self._narrow else []
            return ["   ".join(held), *maskings(run, client), *ones]
        if self._narrow or run.weights is None:
            return ["   ".join(held)]
        return [held[0], "   ".join(held[1:])]

    def _number_lines(self) -> list[int]:
        """At which of the lines of a row the numbers stand that are sent."""
        if not self._run.is_secure:
            return [1]
        masked = len(self._run.masks[0])
        plain = range(len(self._run.sent[0]) - masked)
        if self._narrow:
            return [*(2 * (i + 1) for i in range(masked)), *(3 for _ in plain)]
        return [i + 1 for i in range(len(self._run.sent[0]))]

    def _draw_lanes(self, sheet: Canvas) -> None:
        bottom, y = _FOOT + 0.06, sheet.height - 0.24
        height = sheet.height - bottom - 0.06
        gap = self._message_end if self._narrow else self._message
        lanes = (
            ("CLIENTS", CLIENTS, 0.04, gap - 1.1 * _PAD),
            ("SERVER", SERVER, self._server - 0.6 * _PAD, sheet.width - 0.04),
        )
        for name, color, left, right in lanes:
            shape = (left, bottom, right - left, height)
            sheet.box(*shape, facecolor=color, alpha=0.16, lw=0)
            sheet.text(left + 0.1, y, name, ha="left", weight="bold")
        sheet.text(self._message_end - _POINT, y, "sends", ha="right", style="italic")
        sheet.text(self._sums_end(sheet), y, "adds", ha="right", style="italic")
        self._draw_heads(sheet, sheet.height - 0.53)

    def _draw_heads(self, sheet: Canvas, y: float) -> None:
        if self._run.is_secure:
            end = self._message_end - _POINT
            if not self._narrow:
                sheet.text(end, y, "masked", ha="right")
                end = self._message - 3 * _PAD
            sheet.text(end, y, "hundredths + mask", ha="right")
            sheet.text(self._sums_end(sheet), y, "so far", ha="right")
            return
        end = self._message_end - _POINT
        for widths, right in ((self._sent, end), (self._sums, self._sums_end(sheet))):
            names = heads(self._run)
            for x, name in zip(self._rights(widths, right), names, strict=True):
                sheet.text(x, y, name, ha="right")

    def _sums_end(self, sheet: Canvas) -> float:
        return sheet.width - _EDGE - _PAD

    def _rights(self, widths: Sequence[float], end: float) -> list[float]:
        """Where the numbers of each column end, if the last one ends at `end`."""
        return [end - sum(widths[i + 1 :]) for i in range(len(widths))]

    def _draw_row(self, sheet: Canvas, client: int, bottom: float) -> None:
        run, end = self._run, self._message_end
        message = (self._message, bottom, end - self._message, self._row)
        sheet.message(*message, edgecolor=CLIENTS, lw=2)
        box = (self._server, bottom, sum(self._sums) + _PAD, self._row)
        sheet.box(*box, edgecolor=SERVER)
        self._draw_client(sheet, client, bottom)
        is_last = client == len(run.values) - 1
        self._write(sheet, run.sent[client], end - _POINT, bottom)
        look = {"weight": "bold"} if is_last else {}
        self._write(sheet, run.sums[client], self._sums_end(sheet), bottom, **look)

    def _draw_client(self, sheet: Canvas, client: int, bottom: float) -> None:
        left, right = _EDGE, self._message - 2 * _PAD
        if self._narrow:
            right = self._message_end - _POINT + _PAD
        else:
            sheet.box(left, bottom, right - left, self._row, edgecolor=CLIENTS)
        first, *others = self._client_lines(client)
        lines = self._lines(bottom)
        sheet.text(left + _PAD, lines[0], first, ha="left")
        if not self._run.is_secure:
            for line, text in zip(lines[1:], others, strict=False):
                sheet.text(left + _PAD, line, text, ha="left")
            return
        for line, text in zip(lines[1 :: 1 + self._narrow], others, strict=False):
            sheet.text(right - _PAD, line, text, ha="right")

    def _write(
        self,
        sheet: Canvas,
        numbers: Sequence[Any],
        end: float,
        bottom: float,
        **look: Any,
    ) -> None:
        """Writes the numbers of one box, beside or below each other."""
        lines = self._lines(bottom)
        if self._run.is_secure:
            places = [(end, lines[line]) for line in self._number_lines()]
        else:
            y = lines[1] if self._narrow else bottom + self._row / 2
            widths = self._sent if end < self._server else self._sums
            places = [(right, y) for right in self._rights(widths, end)]
        for (x, y), each in zip(places, numbers, strict=True):
            sheet.text(x, y, number(each), ha="right", **look)

    def _lines(self, bottom: float) -> list[float]:
        """The heights of the lines of a row, from the top."""
        top = bottom + self._row - _PAD
        return [top - (i + 0.5) * _LINE for i in range(self._num_lines)]

    def _draw_division(self, sheet: Canvas) -> None:
        color = ALARM if math.isnan(self._run.mean) else SERVER
        shape = (0.05, 0.06, sheet.width - 0.1, _FOOT - 0.12)
        sheet.box(*shape, edgecolor=color, linewidth=2)
        sheet.text(sheet.width / 2, _FOOT / 2, division(self._run), weight="bold")
