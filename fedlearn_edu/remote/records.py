# SPDX-License-Identifier: Apache-2.0
"""What a cluster says of itself: its workers, and the messages of each round.

Plain data: printed they are tables, in a notebook they are drawn (`fl.viz`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from fedlearn_edu.errors import counted

_SHOWN_AT_AN_END = 10

_TRAFFIC = "round messages down-(kB) up-(kB) time-(ms) clients lost computation"
_ROUND = "worker clients sent-(ms) began-(ms) ended-(ms) back-(ms) down-(kB) up-(kB)"


@final
@dataclass(frozen=True)
class WorkerInfo:
    """A worker as it is now.

    Attributes:
        name: `worker 0`, `worker 1`, …, in the order in which they joined.
        address: where it listens.
        pid: its process, on its machine.
        is_alive: whether it answers.
        clients: how many clients' data it holds.
        nbytes: the size of these data, and of what clients keep there.
    """

    name: str
    address: str
    pid: int
    is_alive: bool
    clients: int
    nbytes: int


@final
@dataclass(frozen=True)
class Message:
    """One message to a worker, about one group of clients, and the answer.

    Messages that wait for the same worker may travel together. They were sent, and
    their answers received, at the same moment; each has bytes of its own.

    Times are seconds since the round began. Clocks of machines differ: `began` and
    `ended` are the worker's, shifted to lie between `sent` and `received`.

    Attributes:
        worker: its name.
        first_client: the number of the first client in the group.
        num_clients: how many there are in the group.
        sent: when the message left.
        began: when the work began.
        ended: when the work ended.
        received: when the answer was there, or the loss of the worker noticed.
        bytes_down: the size of the message.
        bytes_up: the size of the answer.
        is_lost: whether the worker was lost before it answered.
    """

    worker: str
    first_client: int
    num_clients: int
    sent: float
    began: float
    ended: float
    received: float
    bytes_down: int
    bytes_up: int
    is_lost: bool = False

    @property
    def clients(self) -> str:
        """The numbers of the clients: `0–99`, or `7`; `none` of an empty group."""
        if not self.num_clients:
            return "none"
        last = self.first_client + self.num_clients - 1
        numbers = [self.first_client, last] if self.num_clients > 1 else [last]
        return "–".join(f"{number:,}" for number in numbers)


@final
@dataclass(frozen=True, repr=False)
class Round:
    """One call of a computation; printed, a table of its messages.

    Attributes:
        number: counted from 1.
        name: of the computation.
        messages: in the order in which they were sent.

    >>> message = Message("worker 0", 0, 100, 0.0, 0.002, 0.05, 0.052, 31_400, 31_600)
    >>> Round(1, "next_round", (message,))
    round 1 of next_round: 1 message
      worker  clients  sent (ms)  began (ms)  ended (ms)  back (ms)  down (kB)  up (kB)
    worker 0     0–99        0.0         2.0        50.0       52.0       31.4     31.6
    """

    number: int
    name: str
    messages: tuple[Message, ...]

    @property
    def bytes_down(self) -> int:
        """What was sent to workers, repetitions included."""
        return sum(message.bytes_down for message in self.messages)

    @property
    def bytes_up(self) -> int:
        """What came back."""
        return sum(message.bytes_up for message in self.messages)

    @property
    def duration(self) -> float:
        """Seconds until the last answer was there."""
        return max((message.received for message in self.messages), default=0.0)

    @property
    def num_clients(self) -> int:
        """How many clients the messages were about; each counts once."""
        return sum(dict(self._groups).values())

    @property
    def num_groups(self) -> int:
        """How many groups of clients the messages were about."""
        return len(dict(self._groups))

    @property
    def num_lost(self) -> int:
        """How many messages were lost with their worker."""
        return sum(message.is_lost for message in self.messages)

    @property
    def _groups(self) -> list[tuple[int, int]]:
        return [(m.first_client, m.num_clients) for m in self.messages]

    def __repr__(self) -> str:
        count = len(self.messages)
        lost = f", {self.num_lost} of them lost" if self.num_lost else ""
        of = f" of {self.name}" if self.name else ""
        said = f"round {self.number}{of}: {counted(count, 'message')}{lost}"
        return f"{said}\n{_table(_ROUND, [_cells(m) for m in self.messages])}"


@final
@dataclass(frozen=True, repr=False)
class Traffic:
    """The messages of all rounds; printed, a table with a row for each round.

    Attributes:
        rounds: in the order in which they ran.
    """

    rounds: tuple[Round, ...]

    def __repr__(self) -> str:
        rows: list[list[str | float]] = [
            [
                *(each.number, len(each.messages)),
                *(each.bytes_down / 1e3, each.bytes_up / 1e3, 1e3 * each.duration),
                *(each.num_clients, each.num_lost, each.name),
            ]
            for each in self.rounds
        ]
        return _table(_TRAFFIC, rows)


def _cells(message: Message) -> list[str | float]:
    times = (message.sent, message.began, message.ended, message.received)
    sizes = [message.bytes_down / 1e3, message.bytes_up / 1e3]
    sent, began, ended, received = (1e3 * time for time in times)
    work = ["lost", ""] if message.is_lost else [began, ended]
    return [message.worker, message.clients, sent, *work, received, *sizes]


def _table(head: str, rows: Sequence[Sequence[str | float]]) -> str:
    """Columns, aligned; only the ends of a long table."""
    cells = [head.split(), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]
    lines[0] = lines[0].replace("-", " ")
    left_out = len(rows) - 2 * _SHOWN_AT_AN_END
    if left_out > 0:
        said = f"… {left_out:,} more …"
        lines[_SHOWN_AT_AN_END + 1 : -_SHOWN_AT_AN_END] = [said]
    return "\n".join(lines)


def _text(cell: str | float) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.1f}"
