# SPDX-License-Identifier: Apache-2.0
"""Counts the bytes on each edge of a recorded run, event by event.

    outside → server, clients     arguments, and what comes with the program
    server  → clients             what is broadcast, what is selected
    clients → server              what is aggregated, keys
    server, clients → outside     what is returned

Sequences do not count: a client's data set stays where it is. Clients that run together
hold their values in no executor; for them it is counted what each would have been sent.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.executors.base import as_node
from fedlearn_edu.executors.batched import Entries, Parts, Same
from fedlearn_edu.executors.recording import Event
from fedlearn_edu.executors.sizing import size_bytes
from fedlearn_edu.ir.traversal import captured_constants
from fedlearn_edu.simulation.log.recorded import check_kept
from fedlearn_edu.simulation.log.sizes import size_of
from fedlearn_edu.types import FunctionType, StructType, Type, released

TO_CLIENTS, TO_SERVER = "server → clients", "clients → server"
INTO_CLIENTS, INTO_SERVER = "outside → clients", "outside → server"
FROM_CLIENTS, FROM_SERVER = "clients → outside", "server → outside"
EDGES = (TO_CLIENTS, TO_SERVER, INTO_CLIENTS, INTO_SERVER, FROM_CLIENTS, FROM_SERVER)

_SENT = "federated_broadcast"
_GIVEN = "federated_value"
_ASKED = "federated_select"


@final
@dataclass(frozen=True)
class Transfer:
    """Data that crossed an edge.

    Attributes:
        number: the event in which they did.
        edge: one of `EDGES`.
        participant: on the clients' side of the edge, or the server.
        size: in bytes.
    """

    number: int
    edge: str
    participant: str
    size: int


def bytes_by_edge(events: tuple[Event, ...]) -> dict[str, int]:
    """All bytes that crossed, by edge.

    >>> import fedlearn_edu as fl
    >>> with fl.record() as tape:
    ...     total = fl.federated_sum(fl.place([1, 2, 3], fl.CLIENTS))
    >>> bytes_by_edge(tape.events)["clients → server"]
    12
    """
    sums = Counter(dict.fromkeys(EDGES, 0))
    for transfer in transfers(events):
        sums[transfer.edge] += transfer.size
    return dict(sums)


def transfers(events: tuple[Event, ...]) -> list[Transfer]:
    """Everything that crossed an edge, in the order of events.

    Raises:
        TypeMismatchError: if the tape kept no values.
    """
    check_kept(events)
    by_number: dict[int | None, Event] = {event.number: event for event in events}
    inside: dict[int, Event | None] = {}
    found: list[Transfer] = []
    for event in events:
        outer = by_number.get(event.caller)
        around = None if outer is None else inside[outer.number]
        is_asked = event.layer == "federating"
        is_fetch = is_asked and event.what == "compute" and around is None
        is_call = is_asked and event.what == "create_call"
        inside[event.number] = event if is_call or is_fetch else around
        if isinstance(event.made, Exception):
            continue
        if event.layer == "participant":
            found += _crossing(event, around, by_number)
        elif is_asked:
            found += _held_together(event, around, by_number)
    return [transfer for transfer in found if transfer.size]


def _crossing(
    event: Event, around: Event | None, by_number: dict[int | None, Event]
) -> Iterator[Transfer]:
    """What came to a participant, or from it, in one contract call."""
    who, number = event.participant, event.number
    uri = "" if around is None else around.detail if around.what != "compute" else "out"
    is_client = who.startswith("clients")
    if who == "unplaced":
        return
    if event.what == "create_value":
        inward = INTO_CLIENTS if is_client else INTO_SERVER
        node = as_node(event.given)
        if node is not None:
            size = sum(size_bytes(c.value) for c in captured_constants(node))
            yield Transfer(number, inward, who, size)
        elif uri in ("", _GIVEN):
            yield Transfer(number, inward, who, size_bytes(released(event.given)))
        elif uri == _SENT and is_client:
            yield Transfer(number, TO_CLIENTS, who, size_bytes(released(event.given)))
    elif event.what == "compute":
        size = size_bytes(event.made)
        if uri in ("", "out"):
            yield Transfer(
                number, FROM_CLIENTS if is_client else FROM_SERVER, who, size
            )
        elif is_client:
            yield Transfer(number, TO_SERVER, who, size)
        elif uri == _ASKED and _is_made_for_it(event, by_number):
            yield Transfer(number, TO_CLIENTS, who, size)


def _is_made_for_it(event: Event, by_number: dict[int | None, Event]) -> bool:
    """Whether what is computed was made in the same call: a slice, for a client.

    What was there before is what a server hands to the servers of groups.
    """
    return any(
        number in by_number and by_number[number].caller == event.caller
        for number in event.operands
    )


def _held_together(
    event: Event, around: Event | None, by_number: dict[int | None, Event]
) -> Iterator[Transfer]:
    """What clients were sent, or sent, that have their values in no executor."""
    number = event.number
    if event.what == "together" and around is not None and not event.error:
        if around.detail == "federated_map_aggregate":
            size = _size_of_results(by_number[around.operands[1]])
            yield Transfer(number, TO_SERVER, "clients", size * _clients(around))
    elif event.what == "compute" and around is None:
        if isinstance(held := _held(event), Entries | Same):
            size = 0 if _is_lowered(held, event) else size_bytes(event.made)
            yield Transfer(number, FROM_CLIENTS, "clients", size)
    elif isinstance(held := _held(event), Entries | Same):
        call = event if event.what == "create_call" else around
        uri = _GIVEN if call is None else call.detail
        if edge := {_SENT: TO_CLIENTS, _GIVEN: INTO_CLIENTS}.get(uri):
            yield Transfer(number, edge, "clients", _size(held, _clients(event)))


def _held(event: Event) -> Any:
    """How the value of an event is represented."""
    handle = event.given if event.what == "compute" else event.made
    value = getattr(handle, "value", handle)
    return getattr(value, "representation", None)


def _is_lowered(held: Entries | Same | Parts, event: Event) -> bool:
    """Whether each client was asked for its value, one by one, in events below."""
    is_all_equal: bool = event.given.type_signature.all_equal
    return isinstance(held, Same) != is_all_equal


def _size(held: Entries | Same, count: int) -> int:
    if isinstance(held, Same):
        return count * size_bytes(released(held.value))
    return sum(size_bytes(released(entry)) for entry in held.values)


def _clients(event: Event) -> int:
    """How many clients the strategy has that an event is about."""
    targets = event.made.value.owner.strategy.targets
    return sum(
        str(getattr(target, "participant", "")).startswith("clients")
        for target in targets
    )


def _size_of_results(argument: Event) -> int:
    """The size of what the function, the first argument, makes at one client."""
    function = argument.made.value.representation[0].type_signature
    assert isinstance(function, FunctionType)
    return type_bytes(function.result)


def type_bytes(type_: Type) -> int:
    """The size of a value of that type, 0 for the parts whose size is not known.

    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> type_bytes(fl.to_type([(np.float32, [784, 10]), np.int32]))
    31364
    """
    match type_:
        case StructType():
            return sum(map(type_bytes, type_))
        case _:
            return size_of(type_) or 0
