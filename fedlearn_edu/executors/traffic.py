# SPDX-License-Identifier: Apache-2.0
"""Counts the bytes on each edge of a recorded run, event by event.

    outside → server, clients     arguments, and what comes with the program
    server  → clients             what is broadcast, what is selected
    clients → server              what is aggregated, keys
    server, clients → outside     what is returned

Sequences do not count: a client's data set stays where it is. Clients that run in one
batched call hold their values in no executor; what each would have been sent counts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.executors import messages
from fedlearn_edu.executors.base import Executor, ExecutorValue, as_node
from fedlearn_edu.executors.batched import Entries, Same
from fedlearn_edu.executors.recording import Event
from fedlearn_edu.executors.sizing import size_bytes, type_bytes
from fedlearn_edu.executors.wrapping import EventKind
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import captured_constants
from fedlearn_edu.types import CLIENTS, SERVER, Placement, Type
from fedlearn_edu.types.sequences import unwrap

TO_CLIENTS, TO_SERVER = "server → clients", "clients → server"
INTO_CLIENTS, INTO_SERVER = "outside → clients", "outside → server"
FROM_CLIENTS, FROM_SERVER = "clients → outside", "server → outside"
EDGES = (TO_CLIENTS, TO_SERVER, INTO_CLIENTS, INTO_SERVER, FROM_CLIENTS, FROM_SERVER)

NO_EDGE = ""

INTO = {CLIENTS: INTO_CLIENTS, SERVER: INTO_SERVER}
FROM = {CLIENTS: FROM_CLIENTS, SERVER: FROM_SERVER}

_SENT = "federated_broadcast"
_FOLDS = ("federated_map_aggregate", "federated_aggregate")
_GIVEN = "federated_value"
_ASKED = "federated_select"


# What strategies say. Nothing is noted yet.


async def sent(edge: str, target: Executor, value: Any, type_: Type) -> ExecutorValue:
    """The value, plain or a function, embedded at a participant: it moved there."""
    return await target.create_value(value, type_)


async def fetched(edge: str, value: ExecutorValue) -> Any:
    """A participant's value in plain form: it moved from there."""
    return await value.compute()


def moved(
    edge: str,
    participant: ExecutorValue | None,
    type_: Type,
    plain: Any,
    number: int | None = None,
) -> None:
    """Notes that data crossed an edge, if a recorder watches."""


def inward(placement: Placement) -> str:
    """The edge that is crossed by what is embedded at `placement` just now."""
    return INTO[placement]


def outward(placement: Placement) -> str:
    """The edge that is crossed by what is fetched from `placement` just now."""
    return FROM[placement]


def crossing(edge: str) -> AbstractContextManager[None]:
    """What is embedded or fetched within, here or in a stack below, crosses `edge`."""
    return nullcontext()


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
        is_fetch = is_asked and event.what is EventKind.COMPUTE and around is None
        is_call = is_asked and event.what is EventKind.CREATE_CALL
        inside[event.number] = event if is_call or is_fetch else around
        if event.error:
            continue
        if event.layer == "participant":
            found += _crossing(event, around, by_number)
        elif is_asked:
            found += _held_by_group(event, around)
    return [transfer for transfer in found if transfer.size]


def check_kept(events: tuple[Event, ...]) -> None:
    """Refuses the events of a tape that kept no values."""
    for event in events:
        is_call = event.what.startswith("create_") or event.what is EventKind.COMPUTE
        if is_call and event.given is None and event.made is None:
            raise messages.no_values_kept()


def _crossing(
    event: Event, around: Event | None, by_number: dict[int | None, Event]
) -> Iterator[Transfer]:
    """What came to a participant, or from it, in one contract call."""
    if event.who is None:
        return
    is_client = event.who.placement is CLIENTS
    inward, outward = (
        (INTO_CLIENTS, FROM_CLIENTS) if is_client else (INTO_SERVER, FROM_SERVER)
    )
    is_outside = _is_outside(around)
    uri = "" if around is None or is_outside else around.detail
    edge, size = "", 0
    if event.what is EventKind.CREATE_VALUE:
        node = as_node(event.given)
        if node is not None:
            edge = inward
            size = _captured_bytes(node)
        elif around is None or uri == _GIVEN:
            edge, size = inward, size_bytes(unwrap(event.given))
        elif uri == _SENT and is_client:
            edge, size = TO_CLIENTS, size_bytes(unwrap(event.given))
    elif event.what is EventKind.COMPUTE:
        size = size_bytes(event.made)
        if is_outside:
            edge = outward
        elif is_client:
            edge = TO_SERVER
        elif uri == _ASKED and _is_made_for_it(event, by_number):
            edge = TO_CLIENTS
    if edge:
        yield Transfer(event.number, edge, event.participant, size)


def _captured_bytes(node: ir.Node) -> int:
    return sum(size_bytes(constant.value) for constant in captured_constants(node))


def _is_outside(around: Event | None) -> bool:
    """Whether no intrinsic asked, but the program's caller."""
    return around is None or around.what is EventKind.COMPUTE


def _is_made_for_it(event: Event, by_number: dict[int | None, Event]) -> bool:
    """Whether what is computed was made in the same call: a slice, for a client.

    What was there before is what a server hands to the servers of groups.
    """
    makers = map(by_number.get, event.operands)
    return any(maker and maker.caller == event.caller for maker in makers)


def _held_by_group(event: Event, around: Event | None) -> Iterator[Transfer]:
    """Transfers to and from clients whose values are in no executor."""
    edge, size = "", 0
    if event.what is EventKind.BATCHED_CALL and event.given:
        function, count = event.given
        captured = _captured_bytes(function) * count
        yield Transfer(event.number, INTO_CLIENTS, "clients", captured)
        if around is not None and around.detail in _FOLDS:
            edge, size = TO_SERVER, type_bytes(function.type.result) * count
    elif event.what is EventKind.COMPUTE and _is_outside(around):
        held = _held(event.given)
        is_all_equal = isinstance(held, Same)
        # Otherwise each client was asked for its value, one by one, in events below.
        if held and is_all_equal == event.given.type_signature.all_equal:
            members = [held.value] if isinstance(held, Same) else held.values
            edge, size = FROM_CLIENTS, _size(members)
    elif held := _held(event.made):
        call = event if event.what is EventKind.CREATE_CALL else around
        uri = _GIVEN if call is None else call.detail
        edge = {_SENT: TO_CLIENTS, _GIVEN: INTO_CLIENTS}.get(uri, "")
        match held:
            case Same(value=value, count=count):
                size = count * _size([value])
            case Entries(values=values):
                size = _size(values)
    if edge:
        yield Transfer(event.number, edge, "clients", size)


def _held(handle: Any) -> Entries | Same | None:
    """What clients hold of a value that is in no executor."""
    held = getattr(getattr(handle, "value", handle), "representation", None)
    return held if isinstance(held, Entries | Same) else None


def _size(values: Sequence[Any]) -> int:
    return sum(size_bytes(unwrap(value)) for value in values)
