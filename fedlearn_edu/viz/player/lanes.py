# SPDX-License-Identifier: Apache-2.0
"""Who has a lane in the picture of a tape, and where each event's bar lies in it.

Inside a lane there is a row for each layer, the top of the stack on top. Many clients
share lanes, so that the picture stays one.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.executors.recording import Event
from fedlearn_edu.viz.colors import CLIENTS, QUIET, SERVER

MAX_LANES = 30
"""With more clients than that, several of them share a lane."""

_SHARED_LANES = 10
# From the top of a stack to its bottom, as `contexts/stacks.py` names them.
_LAYERS = (
    "context",
    "reference_resolving",
    "federating",
    "participant",
    "sequence",
    "leaf",
)
_CLIENT = re.compile(r"clients\[(\d+)\]")


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
        return self.color == CLIENTS


@final
@dataclass(frozen=True)
class Bars:
    """A rectangle for each event, and more for what clients do together.

    Attributes:
        event: the position of the event, from 0.
        lane: the position of its lane, from 0 at the top.
        top: where the bar begins, from 0 at the top of the lane to 1.
        bottom: where it ends.
    """

    event: np.ndarray[Any, Any]
    lane: np.ndarray[Any, Any]
    top: np.ndarray[Any, Any]
    bottom: np.ndarray[Any, Any]


def client_number(participant: str) -> int | None:
    """Which client, if it is one.

    >>> client_number("clients[12]"), client_number("server")
    (12, None)
    """
    found = _CLIENT.fullmatch(participant)
    return int(found[1]) if found else None


def lanes_of(events: Sequence[Event]) -> tuple[Lane, ...]:
    """The lanes of a tape: who is no client first, then the clients in order."""
    layers: dict[str, dict[str, None]] = {}
    for event in events:
        layers.setdefault(event.participant, {})[event.layer] = None
    clients = sorted(
        (n, who) for who in layers if (n := client_number(who)) is not None
    )
    first = [who for who in ("all", "unplaced", "server") if who in layers]
    clients_names = [who for _, who in clients]
    others = [who for who in layers if who not in (*first, *clients_names)]
    lanes = [
        Lane(who or "(unnamed)", frozenset([who]), _rows(layers[who]), _color(who))
        for who in first + others
    ]
    size = 1 if len(clients) <= MAX_LANES else math.ceil(len(clients) / _SHARED_LANES)
    for start in range(0, len(clients), size):
        group = clients[start : start + size]
        rows = _rows({layer: None for _, who in group for layer in layers[who]})
        label = f"client {group[0][0]}"
        if len(group) > 1:
            label = f"clients {group[0][0]}–{group[-1][0]}"
        names = frozenset(who for _, who in group)
        lanes.append(Lane(label, names, rows, CLIENTS))
    if not clients and any(event.what == "together" for event in events):
        lanes.append(Lane("clients", frozenset(), (), CLIENTS))
    return tuple(lanes)


def bars_of(events: Sequence[Event], lanes: Sequence[Lane]) -> Bars:
    """A bar for each event; what clients did together has one in all their lanes."""
    at = {who: i for i, lane in enumerate(lanes) for who in lane.participants}
    rows: list[tuple[int, int, float, float]] = []
    for position, event in enumerate(events):
        lane = at[event.participant]
        layers = lanes[lane].layers
        row = layers.index(event.layer)
        rows.append((position, lane, row / len(layers), (row + 1) / len(layers)))
        if event.what == "together":
            rows += [
                (position, i, 0.0, 1.0)
                for i, other in enumerate(lanes)
                if other.is_clients
            ]
    event_, lane_, top, bottom = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Bars(
        np.array(event_, int), np.array(lane_, int), np.array(top), np.array(bottom)
    )


def ends_of(events: Sequence[Event]) -> np.ndarray[Any, Any]:
    """For each event how many had begun when it ended, itself included."""
    starts = np.array([event.start_s for event in events])
    ends = np.array([event.end_s for event in events])
    found = np.searchsorted(starts, ends, side="left")
    return np.maximum(found, np.arange(1, len(events) + 1))


def _rows(layers: dict[str, None]) -> tuple[str, ...]:
    known = [layer for layer in _LAYERS if layer in layers]
    return (*known, *(layer for layer in layers if layer not in _LAYERS))


def _color(who: str) -> str:
    if who == "server":
        return SERVER
    return CLIENTS if who.startswith("clients") else QUIET
