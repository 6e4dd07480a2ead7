# SPDX-License-Identifier: Apache-2.0
"""Sends messages to workers, again to another one if a worker is lost, and counts them.

    who drives a call    run        pickles a message, waits for its answer
    the loop of Dask     _deliver   picks a worker, until one has answered
                         _ask       sends what the worker lacks, and then the message

A message is a pure function of what it holds: who evaluates it, and how often, makes no
difference. While an answer is awaited, the worker is pinged.
"""

import asyncio
import itertools
import threading
import time
import weakref
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any, TypeVar, final
from weakref import WeakKeyDictionary

import tblib
from distributed import Client

from fedlearn_edu.errors import counted
from fedlearn_edu.executors import underway
from fedlearn_edu.executors.driving import Pending
from fedlearn_edu.remote import pickling
from fedlearn_edu.remote.batching import Carrier, Reply
from fedlearn_edu.remote.errors import ClusterError
from fedlearn_edu.remote.executor import Group
from fedlearn_edu.remote.expressions import Expression, Given, oldest
from fedlearn_edu.remote.records import Message, Round, Traffic, WorkerInfo
from fedlearn_edu.remote.roster import Member, Roster, scheduler_gone, why
from fedlearn_edu.remote.worker import Answer, Request
from fedlearn_edu.types import Type
from fedlearn_edu.types.references import ValueReference, wanted
from fedlearn_edu.types.sequences import in_generator

T = TypeVar("T")
# So many workers may be lost with the same message: then it is the message's fault.
_MAX_LOST = 3
_MAX_ROUNDS = 1000
_MANY_PARTS = 10_000
_MAX_FINGERPRINTS = 100_000
# From this size on, the log says what was shipped.
_WORTH_A_WORD = 1_000_000
# A line of one gigabit: how long bytes are expected to take.
_BYTES_A_SECOND = 100_000_000


@final
@dataclass(eq=False)
class _Call:
    """One call of a computation, and its messages so far."""

    call: object
    number: int
    name: str
    begin: float
    messages: list[Message] = field(default_factory=list)
    failure: ClusterError | None = None

    @contextmanager
    def fails_at_once(self) -> Iterator[None]:
        """If the cluster fails, so does each message that follows, at once.

        It is no use to run the same step by step.
        """
        if self.failure is not None:
            raise self.failure
        try:
            yield
        except ClusterError as error:
            self.failure = error
            raise

    def note(
        self,
        member: Member,
        group: Group,
        sent: float,
        spans: tuple[float, float, float],
        down: int,
        up: int,
        *,
        is_lost: bool = False,
    ) -> None:
        """Adds a message; `spans` says when it began, ended and was answered."""
        clients = (group.clients.start, len(group.clients))
        message = Message(member.name, *clients, sent, *spans, down, up, is_lost)
        self.messages.append(message)


@final
class Dispatcher:
    """Evaluates expressions at the workers of a cluster."""

    def __init__(self, client: Client, timeout: float) -> None:
        self._client = client
        self._library = pickling.Library()
        self._calls: list[_Call] = []
        self._numbers = itertools.count(1)
        self._fingerprints: dict[str, str] = {}
        self._under_way: set[Future[Any]] = set()
        self._coming: list[tuple[Coroutine[Any, Any, Any], Future[Any]]] = []
        self._seconds = WeakKeyDictionary[Any, float]()
        self._lock = threading.Lock()
        self.is_closed = False
        self.roster = Roster(client, timeout, self._library.prefix)
        self._carrier = Carrier(client, self.roster, self._library.prefix)

    async def run(self, group: Group, expression: Expression) -> Any:
        """The plain value of an expression, on a stack of `group`.

        Raises:
            ClusterError: if no worker is left, or if the data of clients have changed.
        """
        call = self._call()
        refers = wanted.get() and not in_generator.get()
        sender, least = self._library.prefix, Given(oldest())
        request = Request(group, expression, sender, least, refers)
        packed = self._library.message(request)
        with underway.underway(f"the work of {group.who}"), call.fails_at_once():
            member, answer = await self.there(self._deliver(group, packed, call))
            self._check_data(answer.fingerprints)
        if answer.kind == "value":
            return answer.content
        if answer.kind == "references":
            type_, names = answer.content
            return [self._reference(name, type_, member) for name in names]
        error, trace = answer.content
        raise error.with_traceback(tblib.Traceback.from_dict(trace).as_traceback())

    async def there(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the loop of the Dask client.

        Those of several groups begin together, when the first of them is waited for.
        """
        try:
            return await Pending(self._begin(work), self._hand_over)
        except asyncio.CancelledError:
            if self.is_closed:
                raise _closed() from None
            raise

    def workers(self) -> tuple[WorkerInfo, ...]:
        """The workers, those that were lost included."""
        if self.is_closed:
            return self.roster.last_infos()
        return self.ask(self.roster.infos())

    def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine there, and waits for it."""
        future = self._begin(work)
        self._hand_over()
        return future.result()

    def _begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Notes a coroutine for the loop of the Dask client, until it is handed over.

        Raises:
            ClusterError: if the cluster was closed.
        """
        with self._lock:
            if self.is_closed:
                work.close()
                raise _closed()
            if self._client.status in ("closing", "closed"):
                work.close()
                raise scheduler_gone("the scheduler")
            future = Future[T]()
            self._under_way.add(future)
            self._coming.append((work, future))
        future.add_done_callback(self._under_way.discard)
        return future

    def _hand_over(self) -> None:
        if self._coming:
            self._client.loop.asyncio_loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        with self._lock:
            coming, self._coming = self._coming, []
        for work, future in coming:
            if future.cancelled():
                work.close()
            else:
                task = asyncio.ensure_future(work)
                task.add_done_callback(partial(_settle, future))
                future.add_done_callback(partial(_end, task))

    def close(self) -> bool:
        """Ends all that is under way; says whether it was open."""
        with self._lock:
            was_open, self.is_closed = not self.is_closed, True
            self.roster.close()
        for future in self._under_way.copy():
            future.cancel()
        return was_open

    def traffic(self) -> Traffic:
        """The messages so far."""
        return Traffic(
            tuple(
                Round(call.number, call.name, tuple(sorted(call.messages, key=_sent)))
                for call in self._calls
                if call.messages
            )
        )

    def _call(self) -> _Call:
        call = underway.call.get()
        if call is not underway.NO_CALL:
            for known in reversed(self._calls):
                if known.call is call:
                    return known
        new = _Call(call, next(self._numbers), call.name, time.perf_counter())
        self._calls.append(new)
        del self._calls[:-_MAX_ROUNDS]
        return new

    async def _deliver(
        self, group: Group, packed: pickling.Packed, call: _Call
    ) -> tuple[Member, Answer]:
        for _ in range(_MAX_LOST):
            member = await self.roster.member_for(group.clients, group.max_fanout)
            sent = time.perf_counter() - call.begin
            try:
                answer, reply, down, up = await self._ask(member, packed)
            except ClusterError:
                raise
            except OSError as error:
                spans = (sent, sent, time.perf_counter() - call.begin)
                call.note(member, group, sent, spans, len(packed.data), 0, is_lost=True)
                self.roster.lose(member, why(error))
                continue
            self._seconds[packed.form] = answer.seconds + (down + up) / _BYTES_A_SECOND
            sent, received = reply.sent - call.begin, reply.received - call.begin
            # Half of what the batch was not at the worker is the way down.
            way = max(received - sent - reply.stayed, 0.0) / 2
            began = sent + way + answer.waited
            spans = (began, began + answer.seconds, received)
            call.note(member, group, sent, spans, down, up)
            return member, answer
        workers = counted(_MAX_LOST, "worker")
        raise ClusterError(
            f"the work of {group.who} was lost with {workers}",
            expected="a worker that survives it",
            found=f"{workers} that ended in the middle of it",
            do="it may need more memory than they have: try smaller groups "
            "(max_fanout=…)",
        )

    async def _ask(
        self, member: Member, packed: pickling.Packed
    ) -> tuple[Answer, Reply, int, int]:
        """The answer, and how many bytes went there and came back."""
        async with member.turns:  # parts take memory
            sent, moved = await self._provide(member, packed.parts)
        down, seconds = len(packed.data) + sent, self._seconds.get(packed.form, inf)
        reply = await self._carrier.ask(member, packed.data, {}, seconds)
        answer: Answer = pickling.loads(reply.data, lambda _: None)
        if answer.kind == "missing":
            # It has let go of some: all at once, and for the next message once more.
            parts = await self._bytes_of(packed.parts)
            for name in parts:
                member.parts.pop(name, None)
            down += len(packed.data) + sum(map(len, parts.values()))
            reply = await self._carrier.ask(member, packed.data, parts, inf)
            answer = pickling.loads(reply.data, lambda _: None)
        return answer, reply, down, moved + len(reply.data)

    async def _provide(
        self, member: Member, parts: Mapping[str, Any]
    ) -> tuple[int, int]:
        """Sends a worker the parts it was never sent.

        Says how many bytes they have, and how many of these other workers sent here.
        """
        parts = {n: p for n, p in parts.items() if not _is_at(p, member)}
        data = await self._bytes_of(
            {n: p for n, p in parts.items() if n not in member.parts}
        )
        new = {name: data[name] for name in data if name not in member.parts}
        size = sum(map(len, new.values()))
        if new:
            keep = self._client.rpc(member.address).fl_keep(parts=new)
            sending = asyncio.ensure_future(self._carrier.watched(member, keep))
            member.parts.update(dict.fromkeys(new, sending))
            if len(member.parts) > _MANY_PARTS:
                names = self._library.names()
                member.parts = {n: t for n, t in member.parts.items() if n in names}
            if size > _WORTH_A_WORD:
                self.roster.note(f"{member.name} was sent {size / 1e6:.1f} MB to keep")
        # Other messages wait for the same: cancelling one of them must not end it.
        for task in {member.parts[name] for name in parts if name in member.parts}:
            await asyncio.shield(task)
        moved = [new[n] for n in new if isinstance(parts[n], ValueReference)]
        return size, sum(map(len, moved))

    async def _bytes_of(self, parts: Mapping[str, Any]) -> dict[str, bytes]:
        """The bytes of parts; what is at other workers comes by way of here."""
        away = [p for p in parts.values() if isinstance(p, ValueReference)]
        found = await self._brought(away) if away else {}
        here = {n: p for n, p in parts.items() if n not in found}
        return found | {n: self._library.part(p).data for n, p in here.items()}

    def _reference(self, name: str, type_: Type, home: Member) -> ValueReference:
        made = ValueReference(name, type_, home, self.bring)
        weakref.finalize(made, home.unused.append, name).atexit = False
        return made

    def bring(self, references: Sequence[ValueReference]) -> list[Any]:
        """What references stand for, in plain form.

        Raises:
            ClusterError: if a worker that has some of it was lost.
        """
        found = self.ask(self._brought(references))
        return [pickling.loads_part(found[r.name], str) for r in references]

    async def _brought(self, references: Sequence[ValueReference]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for home in dict.fromkeys(reference.home for reference in references):
            names = [r.name for r in references if r.home is home]
            get = self._client.rpc(home.address).fl_get(names=names)
            try:
                found |= await self._carrier.watched(home, get)
            except OSError as error:
                self.roster.lose(home, why(error))
            if not found.keys() >= set(names):
                raise ClusterError(
                    "what clients held was lost with their worker",
                    expected=f"what {counted(len(names), 'client')} held at "
                    f"{home.name}, for which there are references",
                    found=f"{home.name} was lost "
                    f"({home.lost or 'and is back without it'})",
                    do="run the cell again: a run with Options(checkpoints=…) goes on "
                    "from its last checkpoint, others begin anew",
                )
            size = sum(len(found[name]) for name in names)
            if size > _WORTH_A_WORD:
                self.roster.note(f"{home.name} gave {size / 1e6:.1f} MB of its clients")
        return found

    def _check_data(self, fingerprints: dict[str, str]) -> None:
        for clients, found in fingerprints.items():
            if self._fingerprints.setdefault(clients, found) != found:
                raise ClusterError(
                    "client data changed: they were loaded once more, and differ",
                    expected="a function that loads the same data each time",
                    found="other data for the same clients",
                    do="let it depend on the client's id alone: no clock, and a seed "
                    "for chance",
                )
        while len(self._fingerprints) > _MAX_FINGERPRINTS:
            del self._fingerprints[next(iter(self._fingerprints))]


def _closed() -> ClusterError:
    return ClusterError(
        "this cluster was closed",
        expected="a call inside of its with block, or before cluster.close()",
        found="a call, or a question, after that",
        do="start another one (fl.remote.local), or connect once more",
    )


def _settle(future: Future[Any], task: asyncio.Task[Any]) -> None:
    """Tells another thread what became of a task."""
    if task.cancelled():
        future.cancel()
        return
    error = task.exception()
    if not future.set_running_or_notify_cancel():
        return
    if error is None:
        future.set_result(task.result())
    else:
        future.set_exception(error)


def _end(task: asyncio.Task[Any], future: Future[Any]) -> None:
    """Cancels a task that nobody waits for any more."""
    if future.cancelled():
        task.get_loop().call_soon_threadsafe(task.cancel)


def _is_at(part: Any, member: Member) -> bool:
    return isinstance(part, ValueReference) and part.home is member


def _sent(message: Message) -> float:
    return message.sent
