# SPDX-License-Identifier: Apache-2.0
"""The aggregations on a tape: what clients sent, and what the servers called.

Of a participant's layers only the outermost is read, so that each call is met once.
What a server does for an aggregation happens during one event of its federating layer;
the servers below work during events inside of that one.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.executors.recording import Event, Tape, look
from fedlearn_edu.structure import Struct


@final
@dataclass(frozen=True)
class Aggregation:
    """One server's part in an aggregation; all values are in plain form.

    Attributes:
        sent: what each of the server's clients sent, by their numbers.
        origins: the argument of the call that made it; `None` without a call.
        calls: argument and result of what the server called; `report` is the last.
        below: the parts of the servers below; empty if there are clients instead.
    """

    sent: dict[int, Any]
    origins: dict[int, Any]
    calls: tuple[tuple[Any, Any], ...]
    below: tuple["Aggregation", ...]


def aggregations(tape: Tape) -> list[Aggregation]:
    """The aggregations at the topmost server, in order.

    >>> import fedlearn_edu as fl
    >>> with fl.record(max_fanout=2) as tape:
    ...     total = fl.federated_sum(fl.place([1, 2, 6], fl.CLIENTS)).value
    >>> (top,) = aggregations(tape)
    >>> [list(server.sent) for server in top.below]
    [[0, 1], [2]]
    >>> [numbers(argument) for argument, _ in top.calls]
    [(3, 6), (9,)]
    """
    events = {event.number: event for event in tape.events}
    inside = defaultdict[int | None, list[Event]](list)
    for event in events.values():
        inside[event.caller].append(event)

    def argument(number: int | None) -> Any:
        event = events[number or 0]
        if event.what != "create_call" or len(event.operands) < 2:
            return None
        return look(events[event.operands[1] or 0].made)

    def read(callers: list[Event]) -> Iterator[Aggregation]:
        """Those among the calls of a federating layer in which something is sent."""
        for caller in callers:
            done = inside[caller.number]
            computed = [event for event in done if event.what == "compute"]
            sent = {i: e for e in computed if (i := e.client) is not None}
            below = tuple(read([event for event in done if _is_group_call(event)]))
            if sent or below:
                yield Aggregation(
                    {i: event.made for i, event in sent.items()},
                    {i: argument(event.operands[0]) for i, event in sent.items()},
                    tuple(
                        (argument(event.number), look(event.made))
                        for event in done
                        if event.what == "create_call" and event.participant == "server"
                    ),
                    below,
                )

    groups = [event for event in events.values() if _is_group_call(event)]
    return list(read([e for e in groups if not _is_group_call(events[e.caller or 0])]))


def _is_group_call(event: Event) -> bool:
    """Whether a group of participants, as a whole, is to call something."""
    return event.layer == "federating" and event.what == "create_call"


def numbers(value: Any) -> tuple[Any, ...]:
    """The numbers in a plain value, one after the other.

    >>> numbers(Struct([(None, Struct([(None, 1.0), (None, 2.0)])), (None, 3)]))
    (1.0, 2.0, 3)
    """
    if isinstance(value, Struct | tuple | list):
        return tuple(number for part in value for number in numbers(part))
    return (value.item() if isinstance(value, np.generic | np.ndarray) else value,)
