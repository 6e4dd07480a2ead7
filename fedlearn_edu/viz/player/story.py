# SPDX-License-Identifier: Apache-2.0
"""A tape as the player needs it: for each step who, what, where in the program, bytes.

Made once when a tape is opened; to look at a step is then to look it up. A step is an
event, counted from 0 here and from 1 for people.
"""

from typing import Any, final

import numpy as np

from fedlearn_edu.executors.base import as_node
from fedlearn_edu.executors.recording import Event, Tape
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.simulation.log.traffic import EDGES, TO_CLIENTS, TO_SERVER, transfers
from fedlearn_edu.viz.player.lanes import bars_of, ends_of, lanes_of
from fedlearn_edu.viz.player.listing import Listing
from fedlearn_edu.viz.player.words import does, human_bytes, value_of, who

ALL_CLIENTS = "all clients"
NOTHING = "The tape is empty: nothing was called while it ran."
_TOP_LAYER = "reference_resolving"


@final
class Story:
    """All that is shown of a tape.

    Attributes:
        events: in the order of their starts.
        lanes: who has one.
        bars: where each event lies.
        ends: how many events had begun when each one ended.
        listings: the programs that ran, by the number of the event that embedded them.
        names: what they are called, by the same number.
        program: for each step the key of its listing, `None` if there is none.
        moved: from an edge to the bytes that had crossed it, for each step.
    """

    def __init__(self, tape: Tape) -> None:
        self.events = tape.events
        self._at: dict[int | None, int]
        self._at = {event.number: i for i, event in enumerate(self.events)}
        self.lanes = lanes_of(self.events)
        self.bars = bars_of(self.events, self.lanes)
        self.ends = ends_of(self.events)
        self.listings: dict[int, Listing] = {}
        self.names: dict[int, str] = {}
        self.program = self._programs()
        self.moved = self._moved()
        self._lit: list[tuple[int, ...]] = []
        for event in self.events:
            self._lit.append(self._lit_by(event))

    def __len__(self) -> int:
        return len(self.events)

    def caller(self, event: Event) -> int | None:
        """The step during which an event happened."""
        return self._at.get(event.caller)

    def lit(self, step: int) -> tuple[int, ...]:
        """The places in the listing that a step is about; the nearest that are known.

        A function is rewritten before it travels, if it captured something. Then it is
        no node of the program any more, and what called for it is lit.
        """
        return self._lit[step]

    def function(self, step: int) -> str:
        """The name of the function that is called in a step."""
        event = self.events[step]
        if event.detail and not isinstance(event.made, Exception):
            return event.detail
        made = self._first_operand(event)
        if made is None:
            return ""
        name = self.events[made].detail
        return "the program" if event.caller is None else name.partition(",")[0]

    def phases(self) -> list[tuple[int, str]]:
        """The steps that call a federated operator, outermost, and its name."""
        found: list[tuple[int, str]] = []
        inside: list[bool] = []
        for step, event in enumerate(self.events):
            outer = self.caller(event)
            is_inside = outer is not None and inside[outer]
            is_call = (event.layer, event.what) == ("federating", "create_call")
            if is_call and not is_inside:
                found.append((step, self.function(step).removeprefix("federated_")))
            inside.append(is_call or is_inside)
        return found

    def sentence(self, step: int) -> str:
        """A step in words."""
        if not self.events:
            return NOTHING
        event = self.events[step]
        down, up = (self.moved[edge][step] for edge in (TO_CLIENTS, TO_SERVER))
        return (
            f"step {step + 1:,} of {len(self):,}: {who(event)} "
            f"{does(event, self.function(step))}; {human_bytes(down)} have gone to "
            f"clients, {human_bytes(up)} have come back"
        )

    def summary(self) -> str:
        """The whole tape in words."""
        if not self.events:
            return NOTHING
        count = sum(len(lane.participants) for lane in self.lanes if lane.is_clients)
        whose = f" for {count:,} client{'s' * (count != 1)} and the server"
        if any(event.what == "together" for event in self.events):
            whose = " for clients that run together and the server"
        elif not count:
            whose = ""
        down, up = (human_bytes(self.moved[e][-1]) for e in (TO_CLIENTS, TO_SERVER))
        failed = "" if self.failure() is None else ", and a call failed"
        failed = ", and ended in an error" if self._ended_in_an_error() else failed
        return (
            f"A tape of {len(self):,} calls{whose}; "
            f"{down} have gone to clients, {up} have come back{failed}"
        )

    def value(self, step: int) -> str:
        """What a step made, in a few words."""
        return value_of(self.events[step])

    def matching(self, layer: str, lane: str) -> np.ndarray[Any, Any]:
        """The steps of a layer and of a lane; an empty name means all of them.

        What clients did together is a step of each of their lanes.
        """
        has_clients = any(one.is_clients for one in self.lanes if one.label == lane)
        has_clients |= lane == ALL_CLIENTS
        wanted = {
            name
            for one in self.lanes
            if one.label == lane or (lane == ALL_CLIENTS and one.is_clients)
            for name in one.participants
        }
        return np.array(
            [
                step
                for step, event in enumerate(self.events)
                if layer in ("", event.layer)
                and (
                    not lane
                    or event.participant in wanted
                    or (event.what == "together" and has_clients)
                )
            ],
            int,
        )

    def failure(self) -> int | None:
        """The first step that failed by itself: in which no other step failed."""
        failed = [e for e in self.events if isinstance(e.made, Exception)]
        callers = {event.caller for event in failed}
        inner = [event.number for event in failed if event.number not in callers]
        return self._at[inner[0]] if inner else None

    def _ended_in_an_error(self) -> bool:
        """Whether the last call failed; one that did not ends with its result."""
        ends = [
            isinstance(event.made, Exception)
            for event in self.events
            if event.caller is None
            and (isinstance(event.made, Exception) or event.what == "compute")
        ]
        return bool(ends) and ends[-1]

    def _moved(self) -> dict[str, np.ndarray[Any, Any]]:
        crossed = {edge: np.zeros(len(self.events), np.int64) for edge in EDGES}
        for transfer in transfers(self.events):
            crossed[transfer.edge][self._at[transfer.number]] += transfer.size
        return {edge: np.cumsum(sizes) for edge, sizes in crossed.items()}

    def _programs(self) -> list[int | None]:
        """To which program each step belongs; what precedes one belongs to it."""
        found: list[int | None] = [None] * len(self.events)
        listings: dict[int, Listing] = {}
        latest: int | None = None
        name = ""
        for step, event in enumerate(self.events):
            outer = self.caller(event)
            if event.what in ("compiled", "reused") and event.type:
                name = event.detail
            node = as_node(event.given) if event.what == "create_value" else None
            if outer is not None:
                found[step] = found[outer]
            elif event.layer == _TOP_LAYER and node is not None:
                latest = event.number
                if id(node) not in listings:
                    listings[id(node)] = Listing(node)
                self.listings[latest] = listings[id(node)]
                self.names[latest], found[step] = name, latest
            elif event.operands:
                found[step] = latest
        following: int | None = None
        for step in reversed(range(len(found))):
            if found[step] is None:
                found[step] = following
            following = found[step]
        return found

    def _lit_by(self, event: Event) -> tuple[int, ...]:
        outer = self.caller(event)
        around = () if outer is None else self._lit[outer]
        key = self.program[self._at[event.number]]
        if key is None:
            return ()
        listing = self.listings[key]
        made = self._first_operand(event)
        if event.what == "compute" and made is not None:
            return self._lit[made] or around
        node = self._node(event)
        places = () if node is None else listing.find(node, around)
        if event.what == "create_call":
            places = tuple(map(listing.call_of, places))
        return places or around

    def _node(self, event: Event) -> ir.Node | None:
        """The node an event is about, if it was handed one, or calls one."""
        if event.what == "create_value":
            return as_node(event.given)
        made = self._first_operand(event)
        if event.what == "create_call" and made is not None:
            function = self.events[made]
            return as_node(function.given) if function.what == "create_value" else None
        return None

    def _first_operand(self, event: Event) -> int | None:
        """The step that made it; `None` if it is not on the tape (any more)."""
        made = self._at.get(event.operands[0]) if event.operands else None
        return made if made is None or made < self._at[event.number] else None
