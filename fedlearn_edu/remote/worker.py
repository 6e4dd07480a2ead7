# SPDX-License-Identifier: Apache-2.0
"""The half of the work that is done at a worker: a Dask plugin with five handlers.

    fl_keep    parts, by name: leaf code, loaders, shipped data
    fl_run     evaluates messages on stacks, and answers with the results
    fl_get     gives what clients hold, for which the coordinator has references
    fl_cancel  gives a message up
    fl_ping    says that the worker is there, who it is and what it holds

Everything here is a cache: parts and clients' data in a store bounded in bytes, stacks
by their group. What clients made is kept for further messages of the same call, and
dropped with the next message of another one. But what references stand for is nowhere
else, and stays for as long as they exist.
"""

import asyncio
import hashlib
import itertools
import multiprocessing
import os
import platform
import signal
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module, metadata
from typing import Any, NamedTuple, final

import psutil
import tblib
from distributed import Worker, WorkerPlugin

from fedlearn_edu.contexts.cache import Cache
from fedlearn_edu.contexts.calls import run_async
from fedlearn_edu.contexts.factories import LocalExecutorFactory
from fedlearn_edu.executors import underway
from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.remote import pickling
from fedlearn_edu.remote.data import Loader, Shipped, arrays, fingerprint, in_memory
from fedlearn_edu.remote.executor import Group
from fedlearn_edu.remote.expressions import Expression, evaluate
from fedlearn_edu.remote.store import Store
from fedlearn_edu.types import FederatedType, Type
from fedlearn_edu.types.sequences import Members

_FACTORY = LocalExecutorFactory(support_sequence_ops=True)
_MAX_SITES = 256
_MAX_LEAVES = 1024
_PAUSE = 0.001
# A sender that waits for an answer, and says nothing for so many seconds, is gone.
SILENCE = 30.0
# So long, in seconds, values stay for a sender that says nothing.
_DAY = 24 * 3600.0
_PACKAGES = ("fedlearn-edu", "tensorflow", "numpy", "distributed", "cloudpickle")
# Data are held as they came, and once more in the form of their runtime.
_FORMS = 2
# What a client costs beside its data: arrays have heads, and entries keys and locks.
_ENTRY = 1000


class Request(NamedTuple):
    """What the coordinator asks for.

    Attributes:
        group: whose clients.
        expression: what of them.
        sender: which coordinator it is.
        oldest: the least number of an expression that it may still mention.
        refers: whether what clients hold is to stay here, and have names.
    """

    group: Group
    expression: Expression
    sender: str
    oldest: Any
    refers: bool


class Answer(NamedTuple):
    """What a worker says.

    Attributes:
        kind: "value", "references", "error" or "missing".
        content: the value; the type and the names of what stays with clients; or the
            error with its traceback.
        fingerprints: of the data that loaders made, to see whether they change.
        waited: seconds between the message and its work.
        seconds: how long that took.
    """

    kind: str
    content: Any
    fingerprints: dict[str, str]
    waited: float
    seconds: float


def versions() -> dict[str, str]:
    """What has to be the same in all processes."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


class MissingPartError(Exception):
    """A part that a message names is not here (any more)."""


@final
class _Site:
    """A stack, and what its clients made for earlier messages of the same call.

    Attributes:
        stack: evaluates one message after the other.
        made: by coordinator and number of the expression.
    """

    def __init__(self, stack: Executor) -> None:
        self.stack = stack
        self.made: dict[str, dict[int, ExecutorValue]] = {}
        self.lock = threading.Lock()

    async def evaluate(
        self, wanted: Request, fetch: Callable[[Any], Any]
    ) -> tuple[Any, Type]:
        """The plain value of what is wanted, and its type; releases the lock."""
        try:
            before = self.made.get(wanted.sender, {})
            kept = {n: value for n, value in before.items() if n >= wanted.oldest}
            self.made[wanted.sender] = kept
            handle = await evaluate(wanted.expression, self.stack, fetch, kept)
            return await handle.compute(), handle.type_signature
        finally:
            self.lock.release()


@final
class Service:
    """What one worker does for its coordinators."""

    def __init__(self, max_bytes: int, at_once: int) -> None:
        self._store = Store(max_bytes)
        self._sites: Cache[Group, _Site] = Cache(_MAX_SITES)
        self._leaves = OrderedDict[str, None]()
        self._lock = threading.Lock()
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._held: dict[str, Any] = {}
        self._name, self._numbers = uuid.uuid4().hex[:8], itertools.count()
        self._heard: dict[str, float] = {}
        self._turns = asyncio.Semaphore(at_once)

    async def keep(self, parts: dict[str, bytes]) -> None:
        """Keeps parts as bytes, until a message names them."""
        for name, data in parts.items():
            self._store.put(name, data, len(data))

    async def get(self, names: list[str]) -> dict[str, bytes]:
        """What clients hold under these names, as parts, as far as it is here."""
        held = {name: self._held[name] for name in names if name in self._held}
        return await asyncio.to_thread(_as_parts, held)

    async def run(
        self, messages: list[tuple[str, bytes, dict[str, bytes]]], unused: list[str]
    ) -> tuple[list[bytes | None], float]:
        """Answers messages, whose `parts` are not kept; lets go of what is unused.

        Says how long it took, too. What was given up has no answer.
        """
        for name in unused:
            self._held.pop(name, None)
        arrived = time.perf_counter()
        work = [asyncio.ensure_future(self._run(*each, arrived)) for each in messages]
        try:
            await asyncio.wait(work)
        finally:
            for task in work:
                task.cancel()
        found = [None if task.cancelled() else task.result() for task in work]
        return found, time.perf_counter() - arrived

    async def _run(
        self, call: str, request: bytes, parts: dict[str, bytes], arrived: float
    ) -> bytes:
        task = asyncio.current_task()
        assert task is not None
        self._tasks[call] = task
        self._heard[_sender(call)] = time.monotonic()
        try:
            async with self._turns:
                work = partial(self._answer, request, parts, arrived)
                message = underway.Call("the message", abandon=self._forget_stacks)
                # Not on the worker's own loop, which has to answer pings meanwhile.
                return await run_async(work, message)
        finally:
            del self._tasks[call]

    def _forget_stacks(self) -> None:
        """Lets later messages have other threads: code under way may keep these."""
        self._sites.forget(lambda _: True)

    async def cancel(self, call: str) -> None:
        """Gives a message up."""
        if call in self._tasks:
            self._tasks[call].cancel()

    async def ping(self, sender: str) -> dict[str, Any]:
        """Who this is, and what it holds; gives up what is for senders that are gone.

        Senders that wait for an answer ping meanwhile.
        """
        self._heard[sender] = now = time.monotonic()
        silent = {one: now - heard for one, heard in self._heard.items()}
        for call, task in self._tasks.items():
            if silent[_sender(call)] > SILENCE:
                task.cancel()
        for name in [n for n in self._held if silent[_sender(n)] > _DAY]:
            del self._held[name]
        clients = [key for key in self._store.list_keys() if isinstance(key, tuple)]
        nbytes = self._store.size + sum(map(_size, self._held.copy().values()))
        held = {"clients": len(clients), "nbytes": nbytes}
        return {"pid": os.getpid(), "versions": versions(), **held}

    async def _answer(
        self, request: bytes, parts: dict[str, bytes], arrived: float
    ) -> bytes:
        begin, fingerprints = time.perf_counter(), dict[str, str]()

        def part(name: str) -> Any:
            if name in parts:
                return pickling.loads_part(parts[name], part)
            if name in self._held:
                return self._held[name]
            return self._kept(name)

        def fetch(value: Any) -> Any:
            return self._fetched(value, fingerprints)

        try:
            wanted: Request = pickling.loads_message(request, part)
            # Looked up again each time: code that hangs may keep the one there was.
            while not (site := self._site(wanted.group)).lock.acquire(blocking=False):
                time.sleep(_PAUSE)
                underway.call.get().go_on()
            value, type_ = await site.evaluate(wanted, fetch)
            kind, content = "value", in_memory(value, type_)
            match type_:
                case FederatedType(member, _, False) if wanted.refers:
                    names = self._hold(content, wanted.sender)
                    kind, content = "references", (member, names)
        except MissingPartError:
            kind, content = "missing", None
        except Exception as error:
            trace = tblib.Traceback(error.__traceback__).to_dict()
            kind, content = "error", (_portable(error), trace)
        spans = begin - arrived, time.perf_counter() - begin
        answer = Answer(kind, content, fingerprints, *spans)
        return pickling.Library().dumps(answer).data

    def _hold(self, members: Sequence[Any], sender: str) -> list[str]:
        name, numbers = f"{sender}-{self._name}", self._numbers
        held = {f"{name}-{next(numbers)}": member for member in members}
        self._held.update(held)
        return list(held)

    def _kept(self, name: str) -> Any:
        def read(data: Any) -> tuple[Any, int]:
            if data is None:
                raise MissingPartError(name)
            return pickling.loads_part(data, self._kept), len(data)

        part = self._store.get(name, read)
        if isinstance(part, Shipped):
            self._store.get(("client", name), lambda _: (None, 0))
        if isinstance(part, ir.Leaf):  # its graph takes more than its bytes
            with self._lock:
                self._leaves[name] = None
                self._leaves.move_to_end(name)
                if len(self._leaves) > _MAX_LEAVES:
                    self._store.forget(self._leaves.popitem(last=False)[0])
        return part

    def _fetched(self, value: Any, fingerprints: dict[str, str]) -> Any:
        match value:
            case Members(Loader() as load, ids):
                found = [self._loaded(load, client) for client in ids]
                digests = [digest for _, digest in found]
                fingerprints[_digest(load.key, ids)] = _digest(*digests)
                return [member for member, _ in found]
            case list():
                return [v.member if isinstance(v, Shipped) else v for v in value]
            case _:
                return value

    def _loaded(self, load: Loader, client: Any) -> tuple[Any, str]:
        def make(_: Any) -> tuple[tuple[Any, str], int]:
            member = load(client)
            digest, size = fingerprint(member)
            return (member, digest), _FORMS * size + _ENTRY

        found: tuple[Any, str] = self._store.get((load.key, type(client), client), make)
        return found

    def _site(self, group: Group) -> _Site:
        def build() -> _Site:
            return _Site(_FACTORY.group(group.runtimes, group.clients))

        return self._sites.get(group, build)


def _as_parts(held: dict[str, Any]) -> dict[str, bytes]:
    return {name: pickling.value_part(value) for name, value in held.items()}


def _size(plain: Any) -> int:
    return sum(array.nbytes for array in arrays(plain))


def _sender(name: str) -> str:
    """Whose message, or value, has this name."""
    return name.partition("-")[0]


def _digest(*things: Any) -> str:
    return hashlib.sha256(repr(things).encode()).hexdigest()[:16]


def _portable(error: Exception) -> Exception:
    """The error itself, or, if that cannot travel, one with its text."""
    try:
        pickling.loads(pickling.Library().dumps(error).data, lambda _: None)
    except Exception:
        found = RuntimeError(f"{type(error).__name__}: {error}")
        for note in getattr(error, "__notes__", []):
            found.add_note(note)
        return found
    return error


@final
class FedLearnPlugin(WorkerPlugin):  # type: ignore[misc]  # it has no types
    """Makes a Dask worker serve remote executors.

    Args:
        max_bytes: how many bytes of clients' data and code it keeps; a quarter of the
            machine's memory without.
        at_once: how many messages it works on side by side.
        warm_up: whether a process of its own imports TensorFlow at once, beside
            everything else.
    """

    name = "fedlearn-edu"
    idempotent = True

    def __init__(self, max_bytes: int | None, at_once: int, *, warm_up: bool) -> None:
        self._max_bytes = max_bytes
        self._at_once = at_once
        self._warm_up = warm_up
        self._made_in = os.getpid()

    def setup(self, worker: Worker) -> None:
        """Adds the handlers."""
        limit = self._max_bytes or psutil.virtual_memory().total // 4
        service = Service(limit, self._at_once)
        worker.handlers["fl_keep"] = service.keep
        worker.handlers["fl_run"] = service.run
        worker.handlers["fl_get"] = service.get
        worker.handlers["fl_cancel"] = service.cancel
        worker.handlers["fl_ping"] = service.ping
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and multiprocessing.parent_process() is not None:
            # A Stop button interrupts a whole group of processes; nannies end workers.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        if self._warm_up and os.getpid() != self._made_in:
            library = "fedlearn_edu.runtimes.tensorflow.computation"
            threading.Thread(target=import_module, args=[library], daemon=True).start()
