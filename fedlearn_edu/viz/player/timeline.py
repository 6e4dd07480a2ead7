# SPDX-License-Identifier: Apache-2.0
"""A tape as the player needs it: for each step who, what, where in the program, bytes.

It is computed once, when a tape is opened; showing a step is a lookup. A step is an
event, counted from 0 here and from 1 for people.

Each participant has a lane. Inside a lane there is a row for each layer, the top of the
stack on top. Many clients share lanes, so that the picture stays one.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from fedlearn_edu.errors import TypeMismatchError, counted
from fedlearn_edu.executors.base import as_node
from fedlearn_edu.executors.recording import Event, Tape
from fedlearn_edu.executors.traffic import EDGES, TO_CLIENTS, TO_SERVER, transfers
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.viz.colors import CLIENTS_EDGE, QUIET, SERVER
from fedlearn_edu.viz.player.listing import Listing
from fedlearn_edu.viz.player.words import does, who
from fedlearn_edu.viz.shortening import size_text

ALL_CLIENTS = "all clients"
NOTHING = "The tape is empty: nothing was called while it ran."

MAX_LANES = 10
"""With more clients than that, several of them share a lane."""

_SHARED_LANES = 5
# From the top of a stack to its bottom, as `contexts/factories.py` names them.
_TOP_LAYER = "reference_resolving"
_LAYERS = ("context", _TOP_LAYER, "federating", "participant", "sequence", "leaf")


@final
@dataclass(frozen=True)
class Lane:
    """One lane.

    Attributes:
        label: who has it, e.g. `client 3` or `clients 0–9`.
        participants: as events name them.
        layers: its rows, from the top.
        color: of its bars.
    """

    label: str
    participants: frozenset[str]
    layers: tuple[str, ...]
    color: str

    @property
    def is_clients(self) -> bool:
        """Whether it is about clients."""
        return self.color == CLIENTS_EDGE


_BAR = np.dtype([("lane", int), ("top", float), ("bottom", float)])
"""The lane of an event by position, and where in all lanes its row begins and ends."""

Bars: TypeAlias = np.recarray[Any, Any]


def lanes_of(events: Sequence[Event]) -> tuple[Lane, ...]:
    """The lanes of a tape: first all but the clients, then the clients in order."""
    layers: dict[str, dict[str, None]] = defaultdict(dict)
    clients: dict[int, str] = {}
    for event in events:
        layers[event.participant][event.layer] = None
        if event.client is not None:
            clients[event.client] = event.participant
    usual = [name for name in ("all", "unplaced", "server") if name in layers]
    others = [name for name in layers if name not in {*usual, *clients.values()}]
    sharing = {name: [name] for name in (*usual, *others)}
    numbers = sorted(clients)
    size = 1 if len(numbers) <= MAX_LANES else math.ceil(len(numbers) / _SHARED_LANES)
    for start in range(0, len(numbers), size):
        first, *more = some = numbers[start : start + size]
        label = f"clients {first}–{more[-1]}" if more else f"client {first}"
        sharing[label] = [clients[number] for number in some]
    if not clients and any(map(is_batched, events)):
        sharing["clients"] = []
    return tuple(
        Lane(label or "(unnamed)", frozenset(names), rows, _color(label))
        for label, names in sharing.items()
        for rows in [_rows([layers[name] for name in names])]
    )


def is_batched(event: Event) -> bool:
    """Whether clients ran in one call."""
    return event.what == "batched_call"


def bars_of(events: Sequence[Event], lanes: Sequence[Lane]) -> Bars:
    """The bar of each event: rows with the fields `lane`, `top` and `bottom`."""
    at = {who: i for i, lane in enumerate(lanes) for who in lane.participants}
    rows: list[tuple[int, float, float]] = []
    for event in events:
        lane = at[event.participant]
        layers = lanes[lane].layers
        row, count = layers.index(event.layer), len(layers)
        rows.append((lane, lane + row / count, lane + (row + 1) / count))
    return np.array(rows, _BAR).view(np.recarray)


def ends_of(events: Sequence[Event]) -> np.ndarray[Any, Any]:
    """For each event how many had begun when it ended, itself included."""
    starts = np.array([event.start_s for event in events])
    ends = np.array([event.end_s for event in events])
    found = np.searchsorted(starts, ends, side="left")
    return np.maximum(found, np.arange(1, len(events) + 1))


def _rows(seen: Sequence[dict[str, None]]) -> tuple[str, ...]:
    layers = {layer: None for each in seen for layer in each}
    known = [layer for layer in _LAYERS if layer in layers]
    return (*known, *(layer for layer in layers if layer not in _LAYERS))


@final
class Timeline:
    """All that is shown of a tape.

    Attributes:
        events: in the order of their starts.
        lanes: who has one.
        bars: where each event lies.
        ends: how many events had begun when each one ended.
        programs: for each step the listing of its program, `None` if there is none.
        operators: for each step the outermost call of an operator it is inside of.
        lit: for each step the places in the listing it is about; the nearest that are
            known. A function is rewritten before it travels, if it captured something.
            Then it is no node of the program any more, and what called for it is lit.
        moved: from an edge to the bytes that had crossed it, for each step.
    """

    def __init__(self, tape: Tape) -> None:
        self.events = tape.events
        calls = [e for e in self.events if e.what.startswith(("create_", "compute"))]
        if calls and not tape.keep_values:
            raise TypeMismatchError(
                "this tape kept no values: none can be shown, counted or replayed",
                expected="the tape of `with fl.record() as tape:`, which keeps them",
                found="events without values",
                do="for a stack of your own, make the tape so: Tape(keep_values=True)",
            )
        self._at: dict[int | None, int]
        self._at = {event.number: i for i, event in enumerate(self.events)}
        self.lanes = lanes_of(self.events)
        self.bars = bars_of(self.events, self.lanes)
        self.ends = ends_of(self.events)
        self.programs = self._programs()
        self.operators = self._operators()
        self.moved = self._moved()
        self.lit: list[tuple[int, ...]] = []  # read while it is written
        self.lit.extend(map(self._lit_by, self.events))

    def __len__(self) -> int:
        return len(self.events)

    def caller(self, event: Event) -> int | None:
        """The step during which an event happened."""
        return self._at.get(event.caller)

    def function(self, step: int) -> str:
        """The name of the function that is called in a step."""
        event = self.events[step]
        if event.detail:
            return event.detail
        made = self._first_operand(event)
        if made is None:
            return ""
        name = self.events[made].detail
        return "the program" if event.caller is None else name.partition(",")[0]

    def phases(self) -> list[tuple[int, str]]:
        """The steps that call an operator, outermost, and its name."""
        steps = (step for step, outer in enumerate(self.operators) if outer == step)
        return [(s, self.function(s).removeprefix("federated_")) for s in steps]

    def sentence(self, step: int) -> str:
        """A step in words."""
        if not self.events:
            return NOTHING
        event = self.events[step]
        operator = self.operators[step]
        inside = ""
        if operator is not None and operator != step:
            inside = f", in {self.function(operator)}"
        return (
            f"step {step + 1:,} of {len(self):,}{inside}: {who(event)} "
            f"{does(event, self.function(step))}; {self._moved_until(step)}"
        )

    def summary(self) -> str:
        """The whole tape in words."""
        if not self.events:
            return NOTHING
        count = sum(len(lane.participants) for lane in self.lanes if lane.is_clients)
        of_whom = f" for {counted(count, 'client')} and the server" * bool(count)
        if any(map(is_batched, self.events)):
            of_whom = " for clients that run together and the server"
        failed = "" if self.failure() is None else ", and a call failed"
        return (
            f"A tape of {counted(len(self), 'call')}{of_whom}; "
            f"{self._moved_until(-1)}{failed}"
        )

    def matching(self, layer: str, who: str) -> np.ndarray[Any, Any]:
        """The steps of a layer and of a lane; an empty name means all of them.

        A batched call is a step of the lane of each client.
        """
        lanes = [
            i
            for i, lane in enumerate(self.lanes)
            if who in ("", lane.label) or (who == ALL_CLIENTS and lane.is_clients)
        ]
        has_clients = any(self.lanes[i].is_clients for i in lanes)

        def is_meant(event: Event, lane: int) -> bool:
            is_theirs = lane in lanes or (has_clients and is_batched(event))
            return is_theirs and layer in ("", event.layer)

        return np.flatnonzero([*map(is_meant, self.events, self.bars.lane)])

    def failure(self) -> int | None:
        """The first step that failed by itself: in which no other step failed."""
        # A batched call that failed is repeated, one by one.
        failed = [e for e in self.events if e.error and not is_batched(e)]
        callers = {event.caller for event in failed}
        inner = [event.number for event in failed if event.number not in callers]
        return self._at[inner[0]] if inner else None

    def _moved_until(self, step: int) -> str:
        down, up = (size_text(self.moved[e][step]) for e in (TO_CLIENTS, TO_SERVER))
        return f"{down} have gone to clients, {up} have come back"

    def _moved(self) -> dict[str, np.ndarray[Any, Any]]:
        crossed = {edge: np.zeros(len(self.events), np.int64) for edge in EDGES}
        for transfer in transfers(self.events):
            crossed[transfer.edge][self._at[transfer.number]] += transfer.size
        return {edge: np.cumsum(sizes) for edge, sizes in crossed.items()}

    def _operators(self) -> list[int | None]:
        """The outermost call of an operator that each step is inside of."""
        found: list[int | None] = []
        for step, event in enumerate(self.events):
            outer = self.caller(event)
            around = None if outer is None else found[outer]
            is_call = (event.layer, event.what) == ("federating", "create_call")
            found.append(step if is_call and around is None else around)
        return found

    def _programs(self) -> list[Listing | None]:
        """The program of each step; what precedes one belongs to it."""
        found: list[Listing | None] = [None] * len(self.events)
        listings: dict[int, Listing] = {}
        latest, name = None, ""
        for step, event in enumerate(self.events):
            outer, node = self.caller(event), _handed(event)
            if event.what in ("compiled", "reused") and event.type:
                name = event.detail
            if outer is not None:
                found[step] = found[outer]
            elif event.layer == _TOP_LAYER and node is not None:
                if id(node) not in listings:
                    listings[id(node)] = Listing(node, name)
                found[step] = latest = listings[id(node)]
            elif event.operands:
                found[step] = latest
        following = None
        for step in reversed(range(len(found))):
            found[step] = following = found[step] or following
        return found

    def _lit_by(self, event: Event) -> tuple[int, ...]:
        outer = self.caller(event)
        around = () if outer is None else self.lit[outer]
        listing = self.programs[self._at[event.number]]
        if listing is None:
            return ()
        made = self._first_operand(event)
        if event.what == "compute" and made is not None:
            return self.lit[made] or around
        is_call = event.what == "create_call"
        called = self.events[made] if is_call and made is not None else event
        node = _handed(called)
        places = () if node is None else listing.find(node, around)
        return tuple(map(listing.call_of, places) if is_call else places) or around

    def _first_operand(self, event: Event) -> int | None:
        """The step that made the first operand; `None` if it is not on the tape."""
        made = self._at.get(event.operands[0]) if event.operands else None
        return made if made is None or made < self._at[event.number] else None


def _handed(event: Event) -> ir.Node | None:
    """The node that an event was handed, if it was handed one."""
    return as_node(event.given) if event.what == "create_value" else None


def _color(label: str) -> str:
    if label.startswith("client"):
        return CLIENTS_EDGE
    return SERVER if label.startswith("server") else QUIET
