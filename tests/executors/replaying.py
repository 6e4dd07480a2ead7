# SPDX-License-Identifier: Apache-2.0
"""Replays a log without the computation: what went in and what leaves made is enough.

Events are redone in the order in which they ended. Structures are put together and
taken apart again, members are collected, what is computed is passed up; only what leaf
code made is taken from the log. No executor takes part: nothing can be hidden in one.
"""

from typing import Any, final

from fedlearn_edu.contexts.arguments import to_python
from fedlearn_edu.executors.base import as_node
from fedlearn_edu.executors.batched import Entries, Parts, Same
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.executors.recording import Event, Tape, look
from fedlearn_edu.executors.sequence import Mapped, Source
from fedlearn_edu.executors.wrapping import WrappedValue
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FederatedType, FunctionType
from fedlearn_edu.types.sequences import LazySequence, unwrap

# The names `contexts/factories.py` gives the layers on top and at the bottom.
TOP_LAYER, BOTTOM_LAYER = "reference_resolving", "leaf"


def results_of(tape: Tape) -> list[Any]:
    """What the calls on a tape returned, put together from the log alone.

    Calls that failed returned nothing; they are left out.
    """
    events: dict[int | None, Event] = {event.number: event for event in tape.events}
    values = Replay(tape.events).values
    called = {e.participant for e in tape.events if e.participant.startswith("clients")}

    def result(event: Event) -> Any:
        found = event.given.type_signature
        call = events[event.operands[0]]
        promised = found
        if call.what == "create_call":
            promised = events[call.operands[0]].made.type_signature.result
        value = values[event.number]
        return to_python(value, found, promised, len(called))

    return [
        result(event)
        for event in tape.events
        if event.number in values
        and event.what == "compute"
        and event.caller is None
        and event.layer == TOP_LAYER
    ]


@final
class Replay:
    """The values that a log comes to.

    Attributes:
        values: from the number of an event to what it made, in plain form: data that
            is at the bottom of a stack, and all that was computed.
    """

    def __init__(self, events: tuple[Event, ...]) -> None:
        self.values: dict[int | None, Any] = {}
        self._fetched: dict[int | None, dict[int | None, Any]] = {}
        # What ends at the same moment ends inside first.
        for event in sorted(events, key=lambda e: (e.end_s, -e.number)):
            if isinstance(event.made, Exception):
                continue
            if event.what == "compute":
                value = self._computed(event)
                self.values[event.number] = value
                below = self._fetched.setdefault(event.caller, {})
                below[event.operands[0]] = value
            elif event.layer == BOTTOM_LAYER and isinstance(event.made, WrappedValue):
                self.values[event.number] = self._redone(event)

    def _redone(self, event: Event) -> Any:
        """What a call at the bottom made."""
        operands = [self.values[number] for number in event.operands]
        match event.what, event.given:
            case "create_value", given if as_node(given) is None:
                return unwrap(given)
            case "create_struct", fields:
                return fields.with_values(operands)
            case "create_selection", str(name):
                return operands[0][operands[0].names().index(name)]
            case "create_selection", index:
                return operands[0][index]
            case _ if isinstance(event.made.type_signature, FunctionType):
                return event.given
            case _:
                return look(event.made.value)

    def _computed(self, event: Event) -> Any:
        """What a handle comes to, of what its parts came to meanwhile."""
        inside = self._fetched.pop(event.number, {})
        if event.layer != BOTTOM_LAYER:
            return _gathered(event.given, inside)
        value = self.values[event.operands[0]]
        return event.made if isinstance(value, LazySequence) else value


def _gathered(value: Any, inside: dict[int | None, Any]) -> Any:
    """A handle's value, given those of the handles below that were computed for it."""
    if isinstance(value, WrappedValue):
        return inside[value.made_by]
    match value.representation:
        case WrappedValue() | Handle() as below:
            return _gathered(below, inside)
        case Struct() as fields:
            return fields.map(lambda field: _gathered(field, inside))
        case Source(payload=payload):
            return unwrap(payload)
        case Mapped() as mapped:
            read = _source(mapped)
            return tuple(one for number, one in inside.items() if number != read)
        case Same(value=same) if _is_all_equal(value):
            return unwrap(same)
        case Entries(values=entries):
            return tuple(map(unwrap, entries))
        case Same() | Parts():
            return tuple(inside.values())
        case tuple() as members:
            return _members(value, members, inside)
        case data:
            return data


def _members(
    value: Handle, members: tuple[Any, ...], inside: dict[int | None, Any]
) -> Any:
    """The members of a federated value; of groups of them, one after the other."""
    parts = [inside[m.made_by] for m in members if m.made_by in inside]
    if _is_all_equal(value):
        return parts[0]
    if any(isinstance(m.type_signature, FederatedType) for m in members):
        return tuple(one for part in parts for one in part)
    return tuple(parts)


def _source(mapped: Mapped) -> int | None:
    """The number of the event that made the sequence a mapped one is read from."""
    held: Any = mapped
    while isinstance(held, Mapped | Handle):
        held = held.source if isinstance(held, Mapped) else held.representation
    return held.made_by if isinstance(held, WrappedValue) else None


def _is_all_equal(value: Handle) -> bool:
    type_ = value.type_signature
    return isinstance(type_, FederatedType) and type_.all_equal
