# SPDX-License-Identifier: Apache-2.0
"""An aggregation up to one of its steps, drawn and in words.

Clients are on the left. A server that folds them has a line for `zero` and one for each
client; a server that merges stands to the right of those below it. Lengths are in
inches, lines run from the top down.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.viz.colors import ALARM, CLIENTS, QUIET, SERVER
from fedlearn_edu.viz.explorers.canvas import FOOT_IN, HEAD_IN, Canvas, written

_LINE, _EDGE, _GAP = 0.27, 0.1, 0.28
_CHAR_IN = 0.092
_HEAD_FITS_FROM_IN = 1.05
_PENDING: dict[str, Any] = {"color": QUIET, "linewidth": 0.8}


@final
@dataclass(frozen=True)
class Server:
    """A server of a group of clients, or above other servers.

    Attributes:
        clients: the numbers of all clients below it.
        below: the servers it merges; none if it folds clients itself.
    """

    clients: range
    below: tuple["Server", ...]

    @property
    def level(self) -> int:
        """0 if it folds clients, otherwise one more than those below it."""
        return 1 + self.below[0].level if self.below else 0


@final
@dataclass(frozen=True)
class Step:
    """One call of `accumulate` or `merge` at one server.

    Attributes:
        server: where.
        state: what that server had before.
        other: the client's value, or the other group's state.
        result: what it has now.
        client: whose value was accumulated; `None` where states are merged.
    """

    server: Server
    state: float
    other: float
    result: float
    client: int | None

    @property
    def equation(self) -> str:
        """The two numbers and their sum."""
        other = f"({written(self.other)})" if self.other < 0 else written(self.other)
        return f"{written(self.state)} + {other} = {written(self.result)}"


@final
@dataclass(frozen=True)
class AggregationRun:
    """One aggregation with `accumulate` = `merge` = `+`.

    Attributes:
        values: what each client holds.
        zero: where every fold begins.
        servers: all servers, each after those below it.
        steps: in the order they were taken; `report` comes after them.
        result: what `report` gave.
    """

    values: tuple[float, ...]
    zero: float
    servers: tuple[Server, ...]
    steps: tuple[Step, ...]
    result: float

    @property
    def last(self) -> int:
        """The number of the report; steps count from 1."""
        return len(self.steps) + 1


def words(run: AggregationRun, step: int, others: Mapping[int | None, float]) -> str:
    """The step just taken; after the report what other groupings give.

    Args:
        run: What was run.
        step: How many of its steps are shown; one more is the report.
        others: The result of the same with each fan-out; `None` is a single group.
    """
    said = f"Step {step} of {run.last}:"
    if step == 0:
        folding = sum(not server.below for server in run.servers)
        who = "The server begins" if folding == 1 else f"{folding} groups begin"
        return f"{said} {who} from zero = {written(run.zero)}."
    if step == run.last:
        reported = f"The server reports {written(run.result)}."
        return f"{said} {reported} {_compare(run, others)}"
    taken = run.steps[step - 1]
    state, other, result = map(written, (taken.state, taken.other, taken.result))
    if taken.client is None:
        return f"{said} {state} and {other}, of two groups, are merged: {result}."
    who = "The server" if taken.server == run.servers[-1] else "A group"
    given = f"client {taken.client}'s {other}"
    return f"{said} {who} has {state} and accumulates {given}: {result}."


def _compare(run: AggregationRun, others: Mapping[int | None, float]) -> str:
    if len(set(others.values())) == 1:
        return f"Every grouping gives {written(run.result)}."
    listed = ", ".join(f"{written(r)} with {n}" for n, r in others.items() if n)
    listed = listed.replace("with", "with fan-out", 1)
    alone = written(others[None])
    return f"This zero counts once per group: {alone} in one, {listed}."


@final
class AggregationDrawing:
    """One aggregation on one sheet, after the first `step` steps."""

    def __init__(self, sheet: Canvas, run: AggregationRun, step: int) -> None:
        self._sheet, self._run, self._step = sheet, run, step
        self._folding = [server for server in run.servers if not server.below]
        # The steps of each server that are shown, by their places among all steps.
        self._done: dict[Server, dict[int, Step]] = {each: {} for each in run.servers}
        for place, taken in enumerate(run.steps[:step]):
            self._done[taken.server][place] = taken
        names = [len(self._client(i)) for i in range(len(run.values))]
        self._client_width = max(_CHAR_IN * max(names) + 0.24, 0.95)
        self._left = _EDGE + self._client_width + 0.1
        self._levels = run.servers[-1].level + 1
        self._pitch = (sheet.width - self._left - _EDGE) / self._levels
        self._width = self._pitch - _GAP
        longest = max(len(each.equation) for each in run.steps)
        self._in_full = _CHAR_IN * longest + 0.14 <= self._width

    def draw(self) -> None:
        """Wipes the sheet, and draws everything."""
        lines = len(self._run.values) + len(self._folding)
        gaps = 0.1 * len(self._folding)
        self._sheet.wipe(HEAD_IN + lines * _LINE + gaps + FOOT_IN + 0.16)
        self._draw_lanes()
        heights = self._line_heights()
        for server in self._run.servers:
            if server.below:
                self._draw_merging(server, heights)
            else:
                self._draw_folding(server, heights)
        if self._step < self._run.last:
            self._sheet.result("report: not yet", QUIET, color=QUIET)
        else:
            text = f"report: {written(self._run.result)}"
            self._sheet.result(text, SERVER, weight="bold")

    def _client(self, client: int) -> str:
        return f"client {client}:  {written(self._run.values[client])}"

    def _line_heights(self) -> dict[int | Server, float]:
        """The height of each client's line, and of each server's zero."""
        y, heights = self._sheet.height - HEAD_IN, dict[int | Server, float]()
        for server in self._folding:
            for key in (server, *server.clients):
                y -= _LINE
                heights[key] = y + _LINE / 2
            y -= 0.1
        return heights

    def _draw_lanes(self) -> None:
        split = self._left + 0.06
        name = "SERVER" if self._levels == 1 else "SERVERS"
        self._sheet.lanes(split - 0.12, split + 0.02, name)
        for level in range(self._levels):
            fits = self._width >= _HEAD_FITS_FROM_IN
            text = "merge" if level else "accumulate" if fits else "fold"
            x = self._column(level) + self._width / 2
            self._sheet.text(x, self._sheet.height - 0.53, text, style="italic")

    def _column(self, level: int) -> float:
        """The left edge of a level's boxes."""
        return self._left + level * self._pitch + _GAP

    def _draw_folding(self, server: Server, heights: dict[int | Server, float]) -> None:
        run, left, sheet = self._run, self._column(0), self._sheet
        first, last = heights[server], heights[server.clients[-1]]
        sides = (left, last - _LINE / 2, self._width, first - last + _LINE)
        sheet.box(*sides, edgecolor=SERVER)
        look = {"color": ALARM, "weight": "bold"} if run.zero else {"color": QUIET}
        text = f"zero {written(run.zero)}"
        if _CHAR_IN * len(text) + 0.14 > self._width:
            text = written(run.zero)
        sheet.text(left + self._width / 2, first, text, **look)
        done = {step.client: at for at, step in self._done[server].items()}
        for client in server.clients:
            y = heights[client]
            sides = (_EDGE, y - 0.12, self._client_width - 0.04, 0.24)
            sheet.box(*sides, edgecolor=CLIENTS)
            sheet.text(_EDGE + 0.08, y, self._client(client), ha="left")
            ends = (_EDGE + self._client_width, y), (left - 0.02, y)
            sheet.arrow(*ends, **({} if client in done else _PENDING))
            if client in done:
                self._write(left, y, done[client])

    def _draw_merging(self, server: Server, heights: dict[int | Server, float]) -> None:
        left, sheet = self._column(server.level), self._sheet
        lines = max(1, len(server.below) - 1)
        middle = self._middle(server, heights)
        height = lines * _LINE + 0.06
        sheet.box(left, middle - height / 2, self._width, height, edgecolor=SERVER)
        top = middle + (lines - 1) / 2 * _LINE
        for i, lower in enumerate(server.below):
            begin = self._column(lower.level) + self._width
            end = top - max(0, i - 1) * _LINE
            if len(server.below) > 1:  # the first two meet at one line
                end += -0.03 if i else 0.06
            ends = (begin, self._middle(lower, heights)), (left - 0.02, end)
            sheet.arrow(*ends, **(_PENDING if self._state(lower) is None else {}))
        for i, place in enumerate(self._done[server]):
            self._write(left, top - i * _LINE, place)
        if len(server.below) == 1 and (state := self._state(server)) is not None:
            sheet.text(left + self._width / 2, middle, written(state))

    def _middle(self, server: Server, heights: dict[int | Server, float]) -> float:
        """The height of a server's middle."""
        if server.below:
            ends = [self._middle(each, heights) for each in server.below]
            return (ends[0] + ends[-1]) / 2
        return (heights[server] + heights[server.clients[-1]]) / 2

    def _state(self, server: Server) -> float | None:
        """The final state of a server, `None` as long as it has none."""
        if len(server.below) == 1:
            return self._state(server.below[0])
        done = list(self._done[server].values())
        due = len(server.below) - 1 if server.below else len(server.clients)
        return done[-1].result if len(done) == due else None

    def _write(self, left: float, y: float, place: int) -> None:
        """Writes the equation of a step; the step just taken stands out."""
        step, is_last = self._run.steps[place], place == self._step - 1
        text = step.equation if self._in_full else f"= {written(step.result)}"
        if is_last:
            sides = (left + 0.03, y - 0.12, self._width - 0.06, 0.24)
            self._sheet.box(*sides, facecolor=SERVER, alpha=0.25, lw=0)
        weight = "bold" if is_last else "normal"
        self._sheet.text(left + self._width / 2, y, text, weight=weight)
