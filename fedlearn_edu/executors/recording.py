# SPDX-License-Identifier: Apache-2.0
"""Watching a stack: every contract call becomes a frozen event on a tape.

Wrap any executor; what it does is unchanged. An event also has the data that moved
during it, as strategies say it (`traffic.py`). Contexts note on the same tape what they
compiled, built or reused. Lessons and pictures read it; nothing here draws.
"""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, final

from fedlearn_edu.executors.base import Executor, ExecutorValue, as_node
from fedlearn_edu.executors.driving import drive
from fedlearn_edu.executors.wrapping import Work, WrappedValue, WrappingExecutor
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import captured_constants
from fedlearn_edu.types import Type

_MAX_DETAIL_CHARS = 60


@final
@dataclass(frozen=True)
class Transfer:
    """Data that crossed an edge.

    Attributes:
        number: the event in which they did.
        edge: one of `EDGES` in `traffic.py`.
        participant: on the clients' side of the edge, or the server.
        size: in bytes.
        type: of the data, in the notation.
    """

    number: int
    edge: str
    participant: str
    size: int
    type: str


@final
@dataclass(frozen=True)
class Event:
    """One contract call, or one step of the context that makes them.

    Attributes:
        number: position in the total order of starts, from 0.
        layer: which executor was asked, e.g. `"reference_resolving"`; or `"context"`.
        participant: who it works for, e.g. `"clients[3]"`, `"server"`, `"unplaced"`.
        what: the contract method: `"create_value"`, …, `"compute"`; or `"convert"`, if
            a leaf brought data into its own form; or `"batched_call"`, if a runtime was
            given a function to run for a whole group of clients in one call, or
            `"declined"`. The context's own: `"compiled"` a program, `"built"` a stack,
            or `"reused"` one; `"again, step by step"`.
        type: the type of the result, in the notation, or of the function that ran in a
            `"batched_call"`; empty if the call failed.
        start_s: seconds on the clock of `time.perf_counter`.
        end_s: the same clock, when the call returned.
        error: the class of the error it raised; empty if it raised none.
        detail: the function called, the field selected, or a small value computed; the
            computation compiled, or how many clients a stack is for; what ran in a
            batched call, and for how many clients, or why it did not.
        caller: the number of the event during which it happened, if there is one.
        operands: the numbers of the events that made the handles it was given, `None`
            for one that no event made.
        moved: the data that a strategy moved meanwhile.
        given: what was embedded or called, the elements, the position, what computed;
            the batched function, and how many clients it ran for.
        made: the handle that was made, what was computed, or the error that was raised.
            As they are, to look at later; both `None` on a tape that keeps no values.
    """

    number: int
    layer: str
    participant: str
    what: str
    type: str
    start_s: float
    end_s: float
    error: str = ""
    detail: str = ""
    caller: int | None = None
    operands: tuple[int | None, ...] = ()
    moved: list[Transfer] = field(default_factory=list, repr=False, compare=False)
    given: Any = field(default=None, repr=False, compare=False)
    made: Any = field(default=None, repr=False, compare=False)

    @property
    def client(self) -> int | None:
        """The number of the client it works for, if it is for a single one.

        >>> Event(0, "leaf", "clients[3]", "compute", "int32", 0, 1).client
        3
        """
        name, _, index = self.participant.rstrip("]").partition("[")
        return int(index) if name == "clients" and index else None


@final
class Tape:
    """Events in the order of their starts; with `keep_values`, also their values.

    Without `keep_events`, only the sizes of what moved are kept.

    Attributes:
        keep_values: whether events have what was given and made.
        sizes: the bytes that moved, by edge and type in the notation.
    """

    def __init__(self, *, keep_values: bool = False, keep_events: bool = True) -> None:
        self.keep_values = keep_values
        self._keep_events = keep_events
        self._lock = threading.Lock()
        self.clear()

    def begin(self, layer: str, participant: str, what: str, **more: Any) -> Event:
        """An event that begins now; `more` are its fields."""
        watch = watching.get()
        caller = watch.event.number if watch and watch.tape is self else None
        with self._lock:
            number, now = next(self._numbers), time.perf_counter()
        about = (number, layer, participant, what, "", now, now)
        return Event(*about, caller=caller, **more)

    def end(self, event: Event, **more: Any) -> None:
        """Adds an event, which ends now; `more` are fields that are known by then."""
        if not self.keep_values:
            more |= {"given": None, "made": None}
        event = replace(event, end_s=time.perf_counter(), **more)
        with self._lock:
            for transfer in event.moved:
                self.sizes[transfer.edge, transfer.type] += transfer.size
            if self._keep_events:
                self._events.append(event)

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far, in the order of their starts."""
        with self._lock:
            return tuple(sorted(self._events, key=lambda event: event.number))

    def __len__(self) -> int:
        return len(self._events)

    def __repr__(self) -> str:
        return f"<tape of {len(self)} events>"

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def clear(self) -> None:
        """Forgets all events."""
        with self._lock:
            self._events: list[Event] = []
            self._numbers = itertools.count()
            self.sizes: Counter[tuple[str, str]] = Counter()


@final
@dataclass(frozen=True)
class Watch:
    """A call that is under way, and is being recorded.

    Attributes:
        tape: where; `None` if nothing is to leave a trace.
        event: of the call.
        edge: what data cross that are embedded or fetched meanwhile, if it is not the
            edge to the outside; empty if they do not move.
    """

    tape: Tape | None
    event: Event
    edge: str | None


watching: ContextVar[Watch | None] = ContextVar("watching", default=None)


def note(what: str, type_: Type, detail: str = "", **more: Any) -> int | None:
    """Records something an executor did on its own, if a recorder watches it.

    Returns the number of the event, if there is one.
    """
    watch = watching.get()
    if watch is None or watch.tape is None:
        return None
    event = watch.tape.begin(watch.event.layer, watch.event.participant, what)
    watch.tape.end(event, type=str(type_), detail=detail, **more)
    return event.number


def look(handle: ExecutorValue) -> Any:
    """What a handle stands for, in plain form, fetched without leaving a trace."""
    token = watching.set(Watch(None, Event(0, "", "", "", "", 0, 0), None))
    try:
        return drive(handle.compute)
    finally:
        watching.reset(token)


@final
class RecordingExecutor(WrappingExecutor):
    """Records the calls of its target, for one participant and layer."""

    def __init__(
        self,
        target_executor: Executor,
        tape: Tape,
        *,
        layer: str = "",
        participant: str = "",
    ) -> None:
        super().__init__(target_executor)
        self.tape = tape
        self.layer = layer or type(target_executor).__name__
        self.participant = participant

    def close(self) -> None:
        """Closes the target, and records that; the tape stays."""
        event = self.tape.begin(self.layer, self.participant, "close")
        self.target.close()
        self.tape.end(event)

    async def around(self, what: str, work: Work, subject: Any) -> Any:
        """Runs `work()` and records it, also if it fails."""
        return await self.passed_on(what, work, subject, ())

    async def passed_on(
        self, what: str, work: Work, subject: Any, operands: Iterable[WrappedValue]
    ) -> Any:
        """Runs `work()` and records it together with where its operands came from."""
        outer = watching.get()
        if outer is not None and outer.tape is None:
            return await work()
        more = {"operands": tuple(o.made_by for o in operands), "given": subject}
        event = self.tape.begin(self.layer, self.participant, what, **more)
        edge = None if outer is None else outer.edge
        token = watching.set(Watch(self.tape, event, edge))
        try:
            result = await work()
        except Exception as error:
            more = {"error": type(error).__name__, "made": error}
            self.tape.end(event, detail=_describe(what, subject), **more)
            raise
        finally:
            watching.reset(token)
        if what == "compute":
            type_ = subject.type_signature
            [handle] = operands
        else:
            type_ = result.type_signature
            handle, result.made_by = result, event.number
        handle.last = event.number
        detail = _describe(what, subject, result)
        self.tape.end(event, type=str(type_), detail=detail, made=result)
        return result


def _describe(what: str, subject: Any, result: Any = "") -> str:
    """What a call is about: the function called, the value computed, the field."""
    if what == "compute":
        text = str(result)
        return text if len(text) <= _MAX_DETAIL_CHARS and "\n" not in text else ""
    while isinstance(subject, WrappedValue):
        subject = subject.value
    match as_node(getattr(subject, "representation", subject)):
        case ir.Intrinsic(uri=uri):
            return uri
        case ir.Leaf(code=code):
            return code.name
        case None:
            name = getattr(getattr(subject, "representation", None), "name", "")
            return str(subject) if isinstance(subject, int | str) else str(name)
        case node:
            captured = captured_constants(node)
            names = ", ".join(f"{c.captured_as}: {c.type}" for c in captured)
            kind = type(node).__name__
            return f"{kind}, captured {names}" if names else kind
