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
class Call:
    """A function called by a server: the argument and the result, in plain form."""

    argument: Any
    result: Any


@final
@dataclass(frozen=True)
class Message:
    """What a client sent.

    Attributes:
        client: its number.
        value: in plain form.
        origin: the argument of the call that made the value; `None` without a call.
    """

    client: int
    value: Any
    origin: Any


@final
@dataclass(frozen=True)
class Aggregation:
    """One server's part in an aggregation.

    Attributes:
        messages: from the server's clients, in the order of their arrival.
        calls: the server's own; the last one is the report.
        below: the parts of the servers below; empty if there are clients instead.
    """

    messages: tuple[Message, ...]
    calls: tuple[Call, ...]
    below: tuple["Aggregation", ...]


def aggregations(tape: Tape) -> list[Aggregation]:
    """The aggregations at the topmost server, in order.

    >>> import fedlearn_edu as fl
    >>> with fl.record(max_fanout=2) as tape:
    ...     total = fl.federated_sum(fl.place([1, 2, 6], fl.CLIENTS)).value
    >>> (top,) = aggregations(tape)
    >>> [[numbers(each.value) for each in server.messages] for server in top.below]
    [[(1,), (2,)], [(6,)]]
    >>> [numbers(call.argument) for call in top.calls]
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
            messages = tuple(
                Message(client, event.made, argument(event.operands[0]))
                for event in done
                if event.what == "compute" and (client := _client(event)) is not None
            )
            below = tuple(read([event for event in done if _is_group_call(event)]))
            if messages or below:
                calls = (
                    Call(argument(event.number), look(event.made))
                    for event in done
                    if event.what == "create_call" and event.participant == "server"
                )
                yield Aggregation(messages, tuple(calls), below)

    groups = [event for event in events.values() if _is_group_call(event)]
    return list(read([e for e in groups if not _is_group_call(events[e.caller or 0])]))


def _is_group_call(event: Event) -> bool:
    """Whether a group of participants, as a whole, is to call something."""
    return event.layer == "federating" and event.what == "create_call"


def _client(event: Event) -> int | None:
    """The number of the client whose event it is, if it is a client's."""
    name, _, number = event.participant.rstrip("]").partition("[")
    return int(number) if name == "clients" else None


def numbers(value: Any) -> tuple[Any, ...]:
    """The numbers in a plain value, one after the other.

    >>> numbers(Struct([(None, Struct([(None, 1.0), (None, 2.0)])), (None, 3)]))
    (1.0, 2.0, 3)
    """
    if isinstance(value, Struct | tuple | list):
        return tuple(number for part in value for number in numbers(part))
    return (value.item() if isinstance(value, np.generic | np.ndarray) else value,)
