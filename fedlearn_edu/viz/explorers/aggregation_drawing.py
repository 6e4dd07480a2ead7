# SPDX-License-Identifier: Apache-2.0
"""Draws an `AggregationRun` up to a step: clients at the left, servers to the right.

A server that folds clients has one line for `zero` and one for each of them; one that
merges stands right of those it merges. Lengths are inches, lines go down from the top.
"""

from typing import Any, final

from fedlearn_edu.viz.colors import ALARM, CLIENTS, INK, QUIET, SERVER
from fedlearn_edu.viz.explorers.aggregation_run import (
    AggregationRun,
    Kind,
    Server,
    Step,
)
from fedlearn_edu.viz.explorers.canvas import Canvas, whole_eighths
from fedlearn_edu.viz.explorers.mean_texts import number

_HEAD, _FOOT, _LINE, _EDGE, _GAP = 0.68, 0.62, 0.27, 0.1, 0.28
_CHAR_IN = 0.092
_NARROW_BELOW_IN = 6.0
_HEAD_FITS_FROM_IN = 1.05


@final
class AggregationDrawing:
    """One aggregation on one sheet, after the first `step` steps."""

    def __init__(self, width_in: float, run: AggregationRun, step: int) -> None:
        self._run, self._step = run, step
        self._narrow = width_in < _NARROW_BELOW_IN
        self._folding = [server for server in run.servers if not server.below]
        lines = len(run.values) + len(self._folding)
        gaps = 0.1 * len(self._folding)
        self.height = whole_eighths(_HEAD + lines * _LINE + gaps + _FOOT + 0.16)
        names = [len(self._client(i)) for i in range(len(run.values))]
        self._client_width = max(_CHAR_IN * max(names) + 0.24, 0.95)
        left = _EDGE + self._client_width + 0.1
        self._levels = max(server.level for server in run.servers) + 1
        self._pitch = (width_in - left - _EDGE) / self._levels
        gap = _GAP - 0.08 * self._narrow
        self._left, self._width = left, self._pitch - gap
        self._gap = gap
        longest = max(len(_equation(step)) for step in run.steps)
        self._in_full = _CHAR_IN * longest + 0.14 <= self._width

    def draw(self, sheet: Canvas) -> None:
        """Draws everything on a sheet of the width and height of this drawing."""
        self._draw_lanes(sheet)
        heights = self._line_heights()
        for server in self._run.servers:
            if server.below:
                self._draw_merging(sheet, server, heights)
            else:
                self._draw_folding(sheet, server, heights)
        self._draw_report(sheet)

    def _client(self, client: int) -> str:
        name = f"{client}" if self._narrow else f"client {client}"
        return f"{name}:  {number(self._run.values[client])}"

    def _steps_of(self, server: Server) -> list[tuple[int, Step]]:
        """The steps of a server that are shown, each with its place in all steps."""
        shown = enumerate(self._run.steps[: self._step])
        return [
            (i, step)
            for i, step in shown
            if step.who == server.name and step.kind is not Kind.REPORT
        ]

    def _line_heights(self) -> dict[int | str, float]:
        """Where the line of each client is, and that of each server's zero."""
        y, heights = self.height - _HEAD, dict[int | str, float]()
        for server in self._folding:
            for key in (server.name, *range(*server.clients)):
                y -= _LINE
                heights[key] = y + _LINE / 2
            y -= 0.1
        return heights

    def _draw_lanes(self, sheet: Canvas) -> None:
        bottom, y = _FOOT + 0.06, sheet.height - 0.24
        height = sheet.height - bottom - 0.06
        split = self._left + 0.06
        name = "SERVER" if self._levels == 1 else "SERVERS"
        for text, color, left, right in (
            ("CLIENTS", CLIENTS, 0.04, split - 0.12),
            (name, SERVER, split + 0.02, sheet.width - 0.04),
        ):
            shape = (left, bottom, right - left, height)
            sheet.box(*shape, facecolor=color, alpha=0.16, lw=0)
            sheet.text(left + 0.08, y, text, ha="left", weight="bold")
        for level in range(self._levels):
            fits = self._width >= _HEAD_FITS_FROM_IN
            text = "merge" if level else "accumulate" if fits else "fold"
            x = self._column(level) + self._width / 2
            sheet.text(x, sheet.height - 0.53, text, style="italic")

    def _column(self, level: int) -> float:
        """Where the boxes of a level begin."""
        return self._left + level * self._pitch + self._gap

    def _draw_folding(
        self, sheet: Canvas, server: Server, heights: dict[int | str, float]
    ) -> None:
        run, left = self._run, self._column(server.level)
        first, last = heights[server.name], heights[server.clients[1] - 1]
        shape = (left, last - _LINE / 2, self._width, first - last + _LINE)
        sheet.box(*shape, edgecolor=SERVER)
        look: dict[str, Any] = {"color": QUIET}
        if run.zero:
            look = {"color": ALARM, "weight": "bold"}
        text = f"zero {number(run.zero)}"
        if _CHAR_IN * len(text) + 0.14 > self._width:
            text = number(run.zero)
        sheet.text(left + self._width / 2, first, text, **look)
        done = self._steps_of(server)
        for client in range(*server.clients):
            y = heights[client]
            shape = (_EDGE, y - 0.12, self._client_width - 0.04, 0.24)
            sheet.box(*shape, edgecolor=CLIENTS)
            sheet.text(_EDGE + 0.08, y, self._client(client), ha="left")
            position = client - server.clients[0]
            came = position < len(done)
            look = {} if came else {"color": QUIET, "linewidth": 0.8}
            begin = (_EDGE + self._client_width, y)
            sheet.arrow(begin, (left - 0.02, y), **look)
            if came:
                self._write(sheet, left, y, *done[position])

    def _draw_merging(
        self, sheet: Canvas, server: Server, heights: dict[int | str, float]
    ) -> None:
        left = self._column(server.level)
        lines = max(1, len(server.below) - 1)
        middle = self._middle(server, heights)
        height = lines * _LINE + 0.06
        sheet.box(left, middle - height / 2, self._width, height, edgecolor=SERVER)
        top = middle + (lines - 1) / 2 * _LINE
        for i, lower in enumerate(server.below):
            look: dict[str, Any] = {"color": QUIET, "linewidth": 0.8}
            if self._is_done(lower):
                look = {}
            begin = self._column(lower.level) + self._width
            end = top - max(0, i - 1) * _LINE
            if len(server.below) > 1:  # the first two meet at one line
                end += -0.03 if i else 0.06
            ends = (begin, self._middle(lower, heights)), (left - 0.02, end)
            sheet.arrow(*ends, **look)
        for i, (place, step) in enumerate(self._steps_of(server)):
            self._write(sheet, left, top - i * _LINE, place, step)
        if len(server.below) == 1 and self._is_done(server.below[0]):
            text = number(self._state(server.below[0]))
            sheet.text(left + self._width / 2, middle, text)

    def _middle(self, server: Server, heights: dict[int | str, float]) -> float:
        """The height of a server's middle."""
        if server.below:
            ends = [self._middle(each, heights) for each in server.below]
            return (ends[0] + ends[-1]) / 2
        return (heights[server.name] + heights[server.clients[1] - 1]) / 2

    def _is_done(self, server: Server) -> bool:
        """Whether a server has all it will have, after the steps that are shown."""
        if len(server.below) == 1:
            return self._is_done(server.below[0])
        first, last = server.clients
        due = len(server.below) - 1 if server.below else last - first
        return len(self._steps_of(server)) == due

    def _state(self, server: Server) -> float:
        if len(server.below) == 1:
            return self._state(server.below[0])
        return self._steps_of(server)[-1][1].result

    def _write(
        self, sheet: Canvas, left: float, y: float, place: int, step: Step
    ) -> None:
        """Writes what a step did; the step just taken stands out."""
        text = _equation(step) if self._in_full else f"= {number(step.result)}"
        is_last = place == self._step - 1
        if is_last:
            shape = (left + 0.03, y - 0.12, self._width - 0.06, 0.24)
            sheet.box(*shape, facecolor=SERVER, alpha=0.25, lw=0)
        weight = "bold" if is_last else "normal"
        sheet.text(left + self._width / 2, y, text, weight=weight)

    def _draw_report(self, sheet: Canvas) -> None:
        is_done = self._step >= len(self._run.steps)
        color = SERVER if is_done else QUIET
        shape = (0.05, 0.06, sheet.width - 0.1, _FOOT - 0.12)
        sheet.box(*shape, edgecolor=color, linewidth=2)
        text = "report: not yet"
        if is_done:
            text = f"report: {number(self._run.result)}"
        look = {"weight": "bold", "color": INK} if is_done else {"color": QUIET}
        sheet.text(sheet.width / 2, _FOOT / 2, text, **look)


def _equation(step: Step) -> str:
    other = number(step.other)
    if step.other < 0:
        other = f"({other})"
    return f"{number(step.state)} + {other} = {number(step.result)}"
