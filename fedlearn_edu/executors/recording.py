# SPDX-License-Identifier: Apache-2.0
"""Watching a stack: every contract call becomes a frozen event on a tape.

Wrap any executor; what it does is unchanged. Contexts note on the same tape what they
compiled, built or reused. Lessons and pictures read it; nothing here draws.
"""

import itertools
import threading
import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any, final

from fedlearn_edu.executors.base import Executor, ExecutorValue, as_node
from fedlearn_edu.executors.concurrency import run_inline
from fedlearn_edu.executors.wrapping import (
    EventKind,
    Work,
    WrappedValue,
    WrappingExecutor,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import captured_constants
from fedlearn_edu.types import CLIENTS, SERVER, Placement, Type

_MAX_DETAIL_CHARS = 60


@final
@dataclass(frozen=True)
class Participant:
    """The server, or one of the clients.

    Attributes:
        placement: `SERVER` or `CLIENTS`.
        index: which client; `None` for the server, and for clients that share a stack.
    """

    placement: Placement
    index: int | None = None

    @staticmethod
    @cache
    def named(label: str) -> "Participant | None":
        """The participant of a recorder's label; `None` for "all" and "unplaced".

        >>> Participant.named("clients[3]").index
        3
        """
        name, _, index = label.rstrip("]").partition("[")
        placement = {"server": SERVER, "clients": CLIENTS}.get(name)
        if placement is None:
            return None
        return Participant(placement, int(index) if index.isdecimal() else None)


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
            given a function to run for a whole group of clients in one call. The
            context's own: `"compiled"` a program, `"built"` a stack, or `"reused"` one;
            `"again, step by step"`.
        type: the type of the result, in the notation, or of the function that ran in a
            `"batched_call"`; empty if the call failed.
        start_s: seconds on the clock of `time.perf_counter`.
        end_s: the same clock, when the call returned.
        error: the class of the error it raised; empty if it raised none.
        detail: the function called, the field selected, or a small value computed; the
            computation compiled, or how many clients a stack is for; what ran in a
            batched call, and for how many clients.
        caller: the number of the event during which it happened, if there is one.
        operands: the numbers of the events that made the handles it was given, `None`
            for one that no event made.
        given: what was embedded or called, the elements, the position, what computed;
            the batched function, and how many clients it ran for.
        made: the handle that was made, what was computed, or the error that was raised.
            As they are, to look at later; both `None` on a tape that keeps no values.
    """

    number: int
    layer: str
    participant: str
    what: EventKind
    type: str
    start_s: float
    end_s: float
    error: str = ""
    detail: str = ""
    caller: int | None = None
    operands: tuple[int | None, ...] = ()
    given: Any = field(default=None, repr=False, compare=False)
    made: Any = field(default=None, repr=False, compare=False)

    @property
    def who(self) -> Participant | None:
        """The server or client it works for; `None` if it is for all, or for neither.

        >>> Event(0, "leaf", "clients[3]", EventKind.COMPUTE, "int32", 0, 1).who.index
        3
        """
        return Participant.named(self.participant)


@final
class Tape:
    """Events in the order of their starts; with `keep_values`, also their values."""

    def __init__(self, *, keep_values: bool = False) -> None:
        self.keep_values = keep_values
        self._events: list[Event] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def start(self) -> tuple[int, float]:
        """What an event begins with: its unique number, and the time."""
        with self._lock:
            return next(self._numbers), time.perf_counter()

    def record(
        self,
        start: tuple[int, float],
        layer: str,
        participant: str,
        what: str,
        type_: str,
        detail: str = "",
        **more: Any,
    ) -> None:
        """Adds the event that began at `start` and ends now; `more` are its fields."""
        if not self.keep_values:
            more |= {"given": None, "made": None}
        about = (layer, participant, EventKind(what), type_)
        times = (start[1], time.perf_counter())
        event = Event(start[0], *about, *times, detail=detail, **more)
        with self._lock:
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
            self._events.clear()
            self._numbers = itertools.count()


# The recorder that watches, and the number of the event it is in the middle of.
_within: ContextVar["tuple[RecordingExecutor, int] | None"] = ContextVar(
    "within", default=None
)
_unseen: ContextVar[bool] = ContextVar("unseen", default=False)


def note(what: str, type_: Type, detail: str = "", **more: Any) -> int | None:
    """Records something an executor did on its own, if a recorder watches it.

    Returns the number of the event, if there is one.
    """
    if (watched := _within.get()) is None:
        return None
    start = watched[0].tape.start()
    watched[0].record(what, str(type_), start=start, detail=detail, **more)
    return start[0]


def look(handle: ExecutorValue) -> Any:
    """What a handle stands for, in plain form, fetched without leaving a trace."""
    token = _unseen.set(True)
    try:
        return run_inline(handle.compute)
    finally:
        _unseen.reset(token)


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
        start = self.tape.start()
        self.target.close()
        self.record(EventKind.CLOSE, start=start)

    async def around(self, what: EventKind, work: Work, subject: Any) -> Any:
        """Runs `work()` and records it, also if it fails."""
        return await self.passed_on(what, work, subject, ())

    async def passed_on(
        self, what: EventKind, work: Work, subject: Any, operands: Iterable[Any]
    ) -> Any:
        """Runs `work()` and records it together with where its operands came from."""
        if _unseen.get():
            return await work()
        start = self.tape.start()
        more: dict[str, Any] = {
            "caller": self._caller(),
            "operands": tuple(operand.made_by for operand in operands),
            "given": subject,
        }
        outer = _within.set((self, start[0]))
        try:
            result = await work()
        except Exception as error:
            more |= {"error": type(error).__name__, "made": error}
            self.record(what, start=start, detail=_describe(what, subject), **more)
            raise
        finally:
            _within.reset(outer)
        if isinstance(result, WrappedValue):
            result.made_by = start[0]
        computed = what is EventKind.COMPUTE
        type_ = str((subject if computed else result).type_signature)
        detail = _describe(what, subject, result)
        self.record(what, type_, start=start, detail=detail, made=result, **more)
        return result

    def record(
        self, what: str, type_: str = "", start: Any = None, **more: Any
    ) -> None:
        """Records what the target did, since `start`, or on its own just now."""
        began, more = start or self.tape.start(), {"caller": self._caller(), **more}
        self.tape.record(began, self.layer, self.participant, what, type_, **more)

    def _caller(self) -> int | None:
        recorder, number = _within.get() or (self, None)
        return number if recorder.tape is self.tape else None


def _describe(what: EventKind, subject: Any, result: Any = "") -> str:
    """What a call is about: the function called, the value computed, the field."""
    if what is EventKind.COMPUTE:
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
