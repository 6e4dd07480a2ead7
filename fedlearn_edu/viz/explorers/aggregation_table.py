# SPDX-License-Identifier: Apache-2.0
"""An aggregation up to one of its steps, as a table and in words.

Clients are on the left. A server that folds them has a row for `zero` and one for each
client; one that merges stands to the right of those below it, as high as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from fedlearn_edu.viz.colors import ALARM, CLIENTS, CLIENTS_EDGE, QUIET, SERVER
from fedlearn_edu.viz.html import FAINT, figure, head, table, tag
from fedlearn_edu.viz.shortening import written

_CELL = "border:0;padding:3px 8px;text-align:left;font-variant-numeric:tabular-nums"
_HELD, _FOLDED = (f"{_CELL};background:{each}{FAINT}" for each in (CLIENTS, SERVER))
_GROUP = f"{_CELL};border-bottom:3px solid "
_FIRST = f";border-top:1px solid {QUIET}"
_MERGED = f"{_FOLDED}{_FIRST};vertical-align:middle;border-left:3px solid {SERVER}"
_TO_COME = "not yet"
"""Also in explorers.js."""

TAKEN = f"font-weight:bold;outline:2px solid {SERVER};outline-offset:2px"
"""The look of the step just taken, also in site.css."""


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


def aggregation_table(run: AggregationRun, step: int) -> str:
    """The first `step` steps as a table; what a step brings has it in `data-step`.

    >>> top = Server(range(2), ())
    >>> steps = Step(top, 0, 1, 1, 0), Step(top, 1, 2, 3, 1)
    >>> html = aggregation_table(AggregationRun((1, 2), 0, (top,), steps, 3), 1)
    >>> "0 + 1 = 1" in html, "1 + 2 = 3" in html, "not yet" in html
    (True, False, True)
    """
    return _Table(run, step).html()


@final
class _Table:
    """Rows of clients, and beside them what the servers did."""

    def __init__(self, run: AggregationRun, step: int) -> None:
        self._run, self._step = run, step
        self._taken: dict[Server, list[int]] = {each: [] for each in run.servers}
        for number, taken in enumerate(run.steps, 1):
            self._taken[taken.server].append(number)

    def html(self) -> str:
        """The whole table."""
        top = self._run.servers[-1]
        levels = ["accumulate", *["merge"] * top.level]
        groups = (
            ("each client holds", CLIENTS_EDGE, 2),
            ("servers have" if top.level else "the server has", SERVER, len(levels)),
        )
        over = [
            head(name, f"{_GROUP}{color}", "colgroup", colspan=str(columns))
            for name, color, columns in groups
        ]
        heads = [head(each, _CELL, "col") for each in ("client", "value", *levels)]
        rows = [*self._rows(top), self._report(len(levels))]
        shown = table(
            heads, rows, style=";width:100%;line-height:1.4", groups="".join(over)
        )
        return figure("a federated aggregate", shown, style="margin:0;overflow-x:auto")

    def _rows(self, server: Server) -> list[str]:
        """The rows of all clients below a server; what it merges is in the first."""
        if not server.below:
            return self._folding(server)
        rows = [row for below in server.below for row in self._rows(below)]
        lines = [self._line(number) for number in self._taken[server]]
        if len(server.below) == 1:  # what is below goes up as it is
            last = self._last_step(server)
            state = written(self._run.steps[last - 1].result)
            lines = [_shown(state, self._step >= last, last)]
        merged = tag("td", *lines, style=_MERGED, rowspan=str(len(rows)))
        return [rows[0] + merged, *rows[1:]]

    def _folding(self, server: Server) -> list[str]:
        """A row for zero, and one for each client."""
        zero = self._run.zero
        look = f"font-weight:bold;border-bottom:2px solid {ALARM}" if zero else ""
        begins = tag("span", f"zero {written(zero)}", style=look)
        rows = [
            tag("td", style=f"{_HELD}{_FIRST}", colspan="2")
            + tag("td", begins, style=f"{_FOLDED}{_FIRST}")
        ]
        for client, number in zip(server.clients, self._taken[server], strict=True):
            name = head(f"client {client}", f"{_HELD};font-weight:normal")
            value = tag("td", written(self._run.values[client]), style=_HELD)
            rows.append(name + value + tag("td", self._line(number), style=_FOLDED))
        return rows

    def _last_step(self, server: Server) -> int:
        """The step that gives a server its final state."""
        return (self._taken[server] or [self._last_step(server.below[-1])])[-1]

    def _line(self, number: int) -> str:
        """The equation of a step; the step just taken stands out."""
        look = TAKEN if number == self._step else ""
        equation = self._run.steps[number - 1].equation
        is_done = number <= self._step
        return tag("div", _shown(equation, is_done, number, style=look, data_taken=""))

    def _report(self, columns: int) -> str:
        """The last row."""
        last, look = self._run.last, f"{_FOLDED};border-top:3px solid {SERVER}"
        text = _shown(written(self._run.result), self._step >= last, last)
        name = head("report", look, colspan="2")
        return name + tag(
            "td", text, style=f"{look};font-weight:bold", colspan=str(columns)
        )


def _shown(html: str, is_done: bool, step: int, **attributes: str) -> str:
    """What a step brings, or that it is still to come."""
    shown = html if is_done else _TO_COME
    return tag("span", shown, data_step=str(step), **attributes)
