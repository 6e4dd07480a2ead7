# SPDX-License-Identifier: Apache-2.0
"""Factories: which stack for how many participants, built once and used again.

Execution contexts ask a factory for a stack; `stacks.py` shows what it builds.
"""

import os
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Generic, TypeVar, final

from fedlearn_edu.contexts import messages
from fedlearn_edu.contexts.arguments import Cardinalities
from fedlearn_edu.contexts.stacks import LeafSpec, StackPlan, build_stack
from fedlearn_edu.errors import counted, is_whole_number, short_traceback
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.federating import FederatingStrategy
from fedlearn_edu.executors.recording import Tape
from fedlearn_edu.executors.traffic import SizeInfo, size_info

K = TypeVar("K")
V = TypeVar("V")
_MAX_STACKS = 10
StackKey = tuple[int, frozenset[str], int]


@final
class _Entry(Generic[K, V]):
    """A place for one value: one thread makes it, others wait for it."""

    def __init__(self, key: K) -> None:
        self.key = key
        self.lock = threading.RLock()
        self.made: list[V] = []


@final
class Cache(Generic[K, V]):
    """The `size` values that were used last; any thread may ask for one.

    What is thrown away is forgotten, not closed: a call that is under way keeps it.
    """

    def __init__(self, size: int, made: str, tape: Tape | None) -> None:
        self._size, self._made, self._tape = size, made, tape
        self._entries: OrderedDict[K, _Entry[K, V]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V], type_: object, detail: str) -> V:
        """The value under `key`, made if it is not there; `type_` is for the tape."""
        tape = self._tape
        event = None if tape is None else tape.begin("context", "all", self._made)
        with self._lock:
            entry = self._entries.setdefault(key, _Entry(key))
            self._entries.move_to_end(entry.key)  # itself: to compare may take long
        with entry.lock:
            what = "reused" if entry.made else self._made
            try:
                entry.made = entry.made or [make()]
            except Exception:
                self.forget(lambda other: other is entry.key)
                raise
        with self._lock:
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
        if tape is not None and event is not None:
            tape.end(event, what=what, type=str(type_), detail=detail)
        return entry.made[0]

    def forget(self, is_meant: Callable[[K], bool]) -> list[V]:
        """Removes and returns the values whose keys satisfy the predicate."""
        with self._lock:
            keys = [key for key in self._entries if is_meant(key)]
            return [value for key in keys for value in self._entries.pop(key).made]


class ExecutorFactory(ABC):
    """Builds stacks for given numbers of participants.

    Attributes:
        on_callers_thread: whether calls run on the thread that makes them.
        default_num_clients: how many clients there are when no argument says it.
        fuses: whether steps that a runtime can run as a whole become one leaf.
        tape: where contexts record what they compile, build and use again, if anywhere.
    """

    on_callers_thread: bool = False
    default_num_clients: int = 0
    fuses: bool = False
    tape: Tape | None = None

    @abstractmethod
    def create_executor(
        self, cardinalities: Cardinalities, runtimes: frozenset[str] = frozenset()
    ) -> Executor:
        """A stack for these participants, whose leaves run these runtimes."""

    @abstractmethod
    def clean_up_executor(self, cardinalities: Cardinalities) -> None:
        """Closes and forgets the stacks for these participants."""

    def forget_executor(self, cardinalities: Cardinalities) -> None:  # noqa: B027
        """Lets later calls have other stacks: a call given up may keep these."""

    @abstractmethod
    def native(self, cardinalities: Cardinalities) -> frozenset[str]:
        """The intrinsics such a stack implements; the compiler expands the others."""


@final
class LocalExecutorFactory(ExecutorFactory):
    """Builds stacks in this process and keeps the ten used last."""

    def __init__(self, plan: StackPlan) -> None:
        self.plan = plan
        self.on_callers_thread = not plan.use_threads
        self.default_num_clients = plan.default_num_clients
        self.fuses = plan.fuse
        self.tape = plan.tape
        self._stacks: Cache[StackKey, Executor]
        self._stacks = Cache(_MAX_STACKS, "built", plan.tape)

    def create_executor(
        self, cardinalities: Cardinalities, runtimes: frozenset[str] = frozenset()
    ) -> Executor:
        """A new stack, or the one built earlier for the same participants."""
        count = self.plan.num_clients(cardinalities)
        # A forked process has its parent's stacks, but none of their threads.
        key = (count, runtimes, os.getpid())
        clients = f"{counted(count, 'client')}"
        return self._stacks.get(
            key, lambda: build_stack(self.plan, count, runtimes), "", clients
        )

    def clean_up_executor(self, cardinalities: Cardinalities) -> None:
        """Closes and forgets the stacks for these participants."""
        for stack in self._forgotten(cardinalities):
            stack.close()

    def forget_executor(self, cardinalities: Cardinalities) -> None:
        """Forgets the stacks for these participants; calls under way keep them."""
        self._forgotten(cardinalities)

    def _forgotten(self, cardinalities: Cardinalities) -> list[Executor]:
        count = self.plan.num_clients(cardinalities)
        return self._stacks.forget(lambda key: key[0] == count)

    def close(self) -> None:
        """Closes and forgets all stacks; the next call builds new ones."""
        for stack in self._stacks.forget(lambda _: True):
            stack.close()

    def native(self, cardinalities: Cardinalities) -> frozenset[str]:
        """The intrinsics the stack for these participants implements."""
        return self.plan.native(cardinalities)

    def get_size_info(self) -> SizeInfo:
        """The bytes that crossed to and from clients since the last reset."""
        return size_info(self._sizes())

    def reset_size_info(self) -> None:
        """Starts counting bytes from zero."""
        self._sizes().clear()

    def _sizes(self) -> Tape:
        if self.plan.sizes is None:
            raise messages.counts_no_bytes()
        return self.plan.sizes


@final
class CustomExecutorFactory(ExecutorFactory):
    """A factory around a function of yours that builds a stack by hand.

    Args:
        build: makes the stack for given numbers of participants.
        native: the intrinsics the stack implements; others are expanded beforehand.
    """

    def __init__(
        self, build: Callable[[Cardinalities], Executor], native: Iterable[str]
    ) -> None:
        self._build = build
        self._native = frozenset(native)

    def create_executor(
        self, cardinalities: Cardinalities, runtimes: frozenset[str] = frozenset()
    ) -> Executor:
        """A new stack, for every call."""
        return self._build(cardinalities)

    def clean_up_executor(self, cardinalities: Cardinalities) -> None:
        """There is nothing to forget."""

    def native(self, cardinalities: Cardinalities) -> frozenset[str]:
        """The intrinsics the stack implements."""
        return self._native


@short_traceback
def local_executor_factory(  # noqa: PLR0913 (the ancestor's arguments, and ours)
    default_num_clients: int = 0,
    max_fanout: int = 100,
    clients_per_thread: int = 1,
    *,
    support_sequence_ops: bool = False,
    strategy: type[FederatingStrategy] | None = None,
    leaf: LeafSpec = None,
    use_threads: bool = True,
    tape: Tape | None = None,
    fuse: bool = True,
) -> LocalExecutorFactory:
    """A factory of stacks that run in this process.

    Args:
        default_num_clients: how many clients there are when no argument says it.
        max_fanout: from this many clients on, they are put into groups of groups.
        clients_per_thread: how many clients share a thread, at least; there are never
            more threads than processor cores.
        support_sequence_ops: adds the layer that runs `sequence_map` and `_reduce`.
        strategy: a class of federating strategy in place of the flat one; it needs a
            `factory(target_executors)`.
        leaf: `"numpy"`, `"tensorflow"`, or a function that makes a leaf executor; by
            default what the computation needs.
        use_threads: whether clients run side by side.
        tape: records every contract call of every layer; values only if it keeps them.
        fuse: whether what one participant does in TensorFlow becomes one graph; without
            it, the stack takes every step by itself.

    Raises:
        CardinalityError: if a number is out of range.

    Source: `tff.framework.local_executor_factory`.
    """
    clients = "it is the number of clients when no argument says it"
    check_count("default_num_clients", default_num_clients, 0, clients)
    check_count("max_fanout", max_fanout, 2, "a group of one is no group")
    check_count("clients_per_thread", clients_per_thread, 1, "take 1 or more")
    return LocalExecutorFactory(
        StackPlan(
            default_num_clients=default_num_clients,
            max_fanout=max_fanout,
            clients_per_thread=clients_per_thread,
            support_sequence_ops=support_sequence_ops,
            strategy=strategy,
            leaf=leaf,
            use_threads=use_threads,
            tape=tape,
            fuse=fuse,
        )
    )


@short_traceback
def sizing_executor_factory(
    default_num_clients: int = 0,
    max_fanout: int = 100,
    clients_per_thread: int = 1,
    *,
    support_sequence_ops: bool = False,
    leaf: LeafSpec = None,
) -> LocalExecutorFactory:
    """Like `local_executor_factory`, and counts the bytes to and from clients.

    Read them with `get_size_info()`. Source: `tff.framework.sizing_executor_factory`.
    """
    plan = local_executor_factory(
        default_num_clients,
        max_fanout,
        clients_per_thread,
        support_sequence_ops=support_sequence_ops,
        leaf=leaf,
    ).plan
    return LocalExecutorFactory(replace(plan, sizes=Tape(keep_events=False)))


@short_traceback
def thread_debugging_executor_factory(
    default_num_clients: int = 0,
    *,
    support_sequence_ops: bool = False,
    leaf: LeafSpec = None,
) -> LocalExecutorFactory:
    """Like `local_executor_factory`, but everything runs on the caller's own thread.

    A debugger steps from your call down to the leaf, and errors keep all their frames.
    Source: `tff.framework.thread_debugging_executor_factory`.
    """
    return local_executor_factory(
        default_num_clients,
        support_sequence_ops=support_sequence_ops,
        leaf=leaf,
        use_threads=False,
        fuse=False,
    )


def check_count(name: str, value: Any, least: int, do: str) -> None:
    """Refuses a number of something that is no int, or too small."""
    if not is_whole_number(value, least):
        raise messages.not_a_count(name, value, least, do)
