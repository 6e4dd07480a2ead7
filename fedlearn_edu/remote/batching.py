# SPDX-License-Identifier: Apache-2.0
"""Carries messages to workers, and their answers back.

What waits for the same worker travels together, in one *batch*: Dask, TLS and the
threads at both ends have a price for each batch, whatever is in it. A batch takes as
many messages as are expected to be answered within a quarter of a second, so that
little is done again if the worker dies, and no answer waits long for the others. A
message of which nothing is known travels alone.
"""

import asyncio
import itertools
import time
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, final

from distributed import Client

from fedlearn_edu.remote.roster import LOOK_EVERY, Member, Roster

T = TypeVar("T")
BATCH_SECONDS = 0.25


class Reply(NamedTuple):
    """The answer to a message.

    Attributes:
        data: its bytes.
        sent: when the batch left.
        received: when the batch of answers was there.
        stayed: seconds that the batch was at the worker.
    """

    data: bytes
    sent: float
    received: float
    stayed: float


@final
@dataclass(eq=False)
class Waiting:
    """A message that waits for its answer.

    Attributes:
        call: its name at the worker.
        data: its bytes.
        parts: bytes that it needs, and that the worker is not to keep.
        seconds: how long the answer is expected to take.
        reply: what becomes of it.
        batch: what it travels in, once it has left.
    """

    call: str
    data: bytes
    parts: Mapping[str, bytes]
    seconds: float
    reply: asyncio.Future[Reply] = field(default_factory=asyncio.Future)
    batch: "_Batch | None" = None


@final
@dataclass(frozen=True, eq=False)
class _Batch:
    messages: list[Waiting]
    task: "asyncio.Task[None]"


@final
class Carrier:
    """Sends messages; all of it runs on the loop of the Dask client."""

    def __init__(self, client: Client, roster: Roster, prefix: str) -> None:
        self._client, self._roster, self._prefix = client, roster, prefix
        self._numbers = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(
        self, member: Member, data: bytes, parts: Mapping[str, bytes], seconds: float
    ) -> Reply:
        """What a worker answers to a message.

        Raises:
            OSError: if the worker is lost.
        """
        call = f"{self._prefix}-{next(self._numbers)}"
        message = Waiting(call, data, parts, seconds)
        # What brings parts, which take memory, waits for nothing else.
        member.waiting.insert(0 if parts else len(member.waiting), message)
        if len(member.waiting) == 1:  # others come in the same turn of the loop
            here = asyncio.get_running_loop()
            here.call_soon(lambda: self._begin(self._carry(member)))
        try:
            return await message.reply
        except asyncio.CancelledError:
            self._give_up(message, member)
            raise

    def _give_up(self, message: Waiting, member: Member) -> None:
        if message.batch is None:
            member.waiting.remove(message)
            return
        if all(other.reply.cancelled() for other in message.batch.messages):
            message.batch.task.cancel()
        self._begin(self._cancel(member, message.call))

    async def _cancel(self, member: Member, call: str) -> None:
        with suppress(OSError):
            await self._client.rpc(member.address).fl_cancel(call=call)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, member: Member) -> None:
        """Sends what waits when the worker's turn has come, and hands out replies."""
        async with member.turns:
            messages = _first_of(member.waiting)
            if member.waiting:
                self._begin(self._carry(member))
            if not messages:  # they were given up
                return
            task = asyncio.current_task()
            assert task is not None
            batch = _Batch(messages, task)
            for message in messages:
                message.batch = batch
            try:
                replies = await self._replies(member, messages)
            except asyncio.CancelledError:  # it was given up, or all is closed
                for message in messages:
                    message.reply.cancel()
                raise
            except Exception as error:
                replies = [error] * len(messages)
        for message, reply in zip(messages, replies, strict=True):
            if message.reply.done():  # it was given up
                continue
            if isinstance(reply, Reply):
                message.reply.set_result(reply)
            else:
                message.reply.set_exception(reply)

    async def _replies(
        self, member: Member, messages: list[Waiting]
    ) -> list[Reply | Exception]:
        unused = member.unused.copy()
        del member.unused[: len(unused)]
        packed = [(each.call, each.data, each.parts) for each in messages]
        sent = time.perf_counter()
        work = self._client.rpc(member.address).fl_run(messages=packed, unused=unused)
        answers, stayed = await self.watched(member, work)
        times = sent, time.perf_counter(), stayed
        # A worker that hears nothing from here for long gives all up.
        lost = ConnectionResetError()
        return [lost if data is None else Reply(data, *times) for data in answers]

    async def watched(self, member: Member, work: Coroutine[Any, Any, T]) -> T:
        """What a worker says, as long as it is alive."""
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait([task], timeout=LOOK_EVERY))[0]:
                await self._roster.check(member)
            return task.result()
        except ValueError as error:  # Tornado's, about a socket that is gone
            raise ConnectionError(str(error)) from error
        finally:
            task.cancel()


def _first_of(waiting: list[Waiting]) -> list[Waiting]:
    """Takes the first one, and as many others as there is time for."""
    seconds = itertools.accumulate(message.seconds for message in waiting)
    count = sum(total <= BATCH_SECONDS for total in seconds)
    taken = waiting[: max(count, 1)]
    del waiting[: len(taken)]
    return taken
