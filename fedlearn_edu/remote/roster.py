# SPDX-License-Identifier: Apache-2.0
"""Who the workers are: which are alive, and which of them serves a group of clients.

A worker that joins takes the place of one that was lost, or a new one. Groups go around
the places, and client 17 is in group 17 // max_fanout. So its data stay where they are
for as long as its worker lives; if it is lost, one of the others serves them.
"""

import asyncio
import itertools
import time
from contextlib import suppress
from typing import Any, final

from distributed import Client

from fedlearn_edu.remote.addresses import is_open
from fedlearn_edu.remote.errors import ClusterError
from fedlearn_edu.remote.records import WorkerInfo
from fedlearn_edu.remote.worker import versions

# So many batches at once for one worker, of the 512 connections that Dask has.
_AT_ONCE = 8
# A worker that says nothing for so long, in seconds, is lost.
PATIENCE = 10.0
PING_EVERY = 5.0
# So long those who ask wait for new ones to say that they are there.
_KNOCK = 1.0
_PAUSE = 0.1
_REFRESH = 2.0
# Dask goes on trying to reach a worker that is gone; the scheduler knows better.
LOOK_EVERY = 1.0

BROKE_OFF = "its connection broke off"


def why(error: BaseException) -> str:
    """Why a worker is lost."""
    return "it does not answer" if isinstance(error, TimeoutError) else BROKE_OFF


def scheduler_gone(address: str) -> ClusterError:
    """The error for a scheduler that is not reached any more."""
    return ClusterError(
        "the scheduler of the cluster is gone",
        expected=f"a connection to {address}",
        found="one that broke off",
        do="start it, connect once more (fl.remote.connect), and run the cell again",
    )


def now() -> str:
    """The time, as in the log."""
    return time.strftime("%H:%M:%S")


@final
class Member:
    """A worker, as the coordinator sees it.

    Attributes:
        heard: when it last said that it is there.
        parts: what it was sent, or is being sent, by name.
        waiting: messages for it that have not left.
        turns: of batches of messages.
        unused: names of what it holds, and nothing refers to any more.
        lost: when it was lost, and why, if it was.
    """

    def __init__(self, name: str, address: str, found: dict[str, Any]) -> None:
        self.name, self.address = name, address
        self.found = found
        self.parts: dict[str, asyncio.Task[None]] = {}
        self.unused: list[str] = []
        self.waiting: list[Any] = []
        self.turns = asyncio.Semaphore(_AT_ONCE)
        self.heard = time.monotonic()
        self.lost: str | None = None


@final
class Roster:
    """The workers of a cluster; all of it runs on the loop of the Dask client.

    Attributes:
        members: all that ever joined.
        lines: what happened to them.
    """

    def __init__(self, client: Client, timeout: float, sender: str) -> None:
        self._client = client
        self._timeout = timeout
        self._sender = sender
        self._places: list[Member] = []
        self._refused: set[str] = set()
        self._numbers = itertools.count()
        self._knocking: dict[str, asyncio.Task[None]] = {}
        self._refreshing: asyncio.Task[None] | None = None
        self._refreshed = 0.0
        self.members: list[Member] = []
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        """Adds a line to the log."""
        self.lines.append(f"{now()}  {line}")

    async def member_for(self, clients: range, size: int) -> Member:
        """The worker for a group of `size` clients at most.

        Raises:
            ClusterError: if there is none, for as long as one may be waited for.
        """
        self._check_scheduler()
        if time.monotonic() - self._refreshed > _REFRESH:
            self._refreshed = time.monotonic()
            self._refreshing = asyncio.ensure_future(self.refresh())
        number = clients.start // size
        alive = self._alive() or await self._awaited()
        place = self._places[number % len(self._places)]
        return place if place.lost is None else alive[number % len(alive)]

    def _alive(self) -> list[Member]:
        return [member for member in self._places if member.lost is None]

    async def _awaited(self) -> list[Member]:
        """The workers that are alive, as soon as there are any."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timeout):
                while not self._alive():
                    self._check_scheduler()
                    await self.refresh()
                    await asyncio.sleep(_PAUSE)
        if alive := self._alive():
            return alive
        lost = [f"{member.name} ({member.lost})" for member in self.members]
        raise ClusterError(
            "no worker is left",
            expected=f"a worker that answers within {self._timeout:g} s",
            found=f"{len(lost)} that joined and were lost: {', '.join(lost)}"
            if lost
            else "none that ever joined",
            do="start workers, and run the cell again: data are loaded anew",
        )

    def lose(self, member: Member, why: str) -> None:
        """Notes that a worker is gone."""
        if member.lost is None:
            member.lost = f"{now()}, {why}"
            member.parts.clear()
            self.note(f"{member.name} was lost: {why}; others do its work")
            self._refreshed = 0.0

    async def refresh(self, seconds: float = _KNOCK) -> None:
        """Lets those join that the scheduler knows, and those back in that answer."""
        there = await self._addresses()
        known = {member.address for member in self._alive()}
        for address in sorted(there - known - self._refused - set(self._knocking)):
            if is_open(address):
                self._refused.add(address)
                self.note(f"{address} was refused: it has no encryption")
                continue
            self._knocking[address] = asyncio.ensure_future(self._knock(address))
        if self._knocking:
            await asyncio.wait(self._knocking.values(), timeout=seconds)

    async def _addresses(self) -> set[str]:
        """The workers that the scheduler knows; those that it does not are lost."""
        self._refreshed = time.monotonic()
        try:
            asked = self._client.scheduler.identity(n_workers=-1)
            found = await asyncio.wait_for(asked, PATIENCE)
        except OSError:
            return set()
        for member in self._alive():
            if member.address not in found["workers"]:
                self.lose(member, BROKE_OFF)
        return set(found["workers"])

    async def check(self, member: Member) -> None:
        """Looks whether a worker is there.

        Raises:
            OSError: if it is not.
        """
        if time.monotonic() - self._refreshed > LOOK_EVERY:
            await self._addresses()
        if member.lost is not None:
            raise ConnectionResetError
        if time.monotonic() - member.heard > PING_EVERY:
            await self.ping(member.address)
            member.heard = time.monotonic()

    async def _knock(self, address: str) -> None:
        try:
            self._admit(address, await self.ping(address))
        except Exception:  # it is starting, or gone, or does not know us yet
            return
        finally:
            del self._knocking[address]

    def _admit(self, address: str, found: dict[str, Any]) -> None:
        theirs, ours = found["versions"], versions()
        if theirs != ours:
            self._refused.add(address)
            self.note(f"{address} was refused: it has other versions")
            return
        member = next((m for m in self.members if m.address == address), None)
        if member is None:
            name = f"worker {next(self._numbers)}"
            member = Member(name, address, found)
            self.members.append(member)
            self.note(f"{name} joined: process {found['pid']} at {address}")
        else:
            self.note(f"{member.name} is back")
        member.lost, member.found = None, found
        if member not in self._places:
            self._take_place(member)

    def _take_place(self, member: Member) -> None:
        for number, other in enumerate(self._places):
            if other.lost is not None:
                self._places[number] = member
                return
        self._places.append(member)

    async def ping(self, address: str) -> dict[str, Any]:
        """What a worker says of itself.

        Raises:
            OSError: if it says nothing in time.
        """
        asked = self._client.rpc(address).fl_ping(sender=self._sender)
        found: dict[str, Any] = await asyncio.wait_for(asked, PATIENCE)
        return found

    async def infos(self) -> tuple[WorkerInfo, ...]:
        """The workers as they are now."""
        await self.refresh()
        alive = [member for member in self.members if member.lost is None]
        await asyncio.gather(*map(self._look_at, alive))
        return self.last_infos()

    async def _look_at(self, member: Member) -> None:
        try:
            member.found = await self.ping(member.address)
        except (OSError, ValueError) as error:
            self.lose(member, why(error))

    def last_infos(self) -> tuple[WorkerInfo, ...]:
        """The workers as they were when they were last asked."""
        return tuple(_info(member) for member in self.members)

    def close(self) -> None:
        """Marks all workers as lost."""
        for member in self.members:
            member.lost = member.lost or "the cluster was closed"

    def _check_scheduler(self) -> None:
        if self._client.status != "running":
            raise scheduler_gone(str(self._client.scheduler.address))


def _info(member: Member) -> WorkerInfo:
    is_alive, found = member.lost is None, member.found
    held = (found["clients"], found["nbytes"]) if is_alive else (0, 0)
    return WorkerInfo(member.name, member.address, found["pid"], is_alive, *held)
