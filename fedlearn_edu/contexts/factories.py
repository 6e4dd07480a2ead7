# SPDX-License-Identifier: Apache-2.0
"""Factories of stacks: executors wrapped in each other, which run a computation.

    ReferenceResolving                        names and functions
    └─ Federating ── strategy ─┬─ SERVER   : participant stack
                               ├─ CLIENTS  : participant stack × n
                               └─ unplaced : participant stack

    participant stack = [Thread] → ReferenceResolving
                        → [Sequence → ReferenceResolving] → leaf

`support_sequence_ops=True` adds the second pair of brackets. The second
ReferenceResolving is needed because the function mapped over a sequence may itself be a
lambda. The thread is on top, so that a whole participant's work costs one hop. From
`max_fanout` clients on, another strategy has Federating executors as its CLIENTS.
Execution contexts ask for a stack, which is built once and used again.
"""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, final

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.contexts.arguments import Cardinalities
from fedlearn_edu.contexts.cache import Cache
from fedlearn_edu.errors import (
    CardinalityError,
    TypeMismatchError,
    counted,
    describe,
    is_whole_number,
    short_traceback,
)
from fedlearn_edu.executors import sequence
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.composing import FederatedComposingStrategy
from fedlearn_edu.executors.federating import FederatingExecutor, FederatingStrategy
from fedlearn_edu.executors.grouping import FederatedGroupingStrategy
from fedlearn_edu.executors.participants import TargetExecutors
from fedlearn_edu.executors.recording import RecordingExecutor, Tape
from fedlearn_edu.executors.reference_resolving import ReferenceResolvingExecutor
from fedlearn_edu.executors.resolving import FederatedResolvingStrategy
from fedlearn_edu.executors.threads import ThreadDelegatingExecutor, Workers
from fedlearn_edu.executors.traffic import SizeInfo, size_info
from fedlearn_edu.former_names import answers
from fedlearn_edu.runtimes.registry import (
    LeafSpec,
    batched_runtime,
    keep_gil,
    leaf_executor,
)
from fedlearn_edu.types import CLIENTS, SERVER
from fedlearn_edu.types.packing import GROUP

_MAX_STACKS = 10
Runtimes = frozenset[str]


@answers("factory", others=False)
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
        self, cardinalities: Cardinalities, runtimes: Runtimes = frozenset()
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


@dataclass(frozen=True, eq=False, repr=False)
class LocalExecutorFactory(ExecutorFactory):
    """Builds stacks in this process and keeps the ten used last.

    The fields are the options of `local_executor_factory`, which explains them;
    `sizes` is a tape that only counts bytes.
    """

    default_num_clients: int = 0
    max_fanout: int = GROUP
    clients_per_thread: int = 1
    support_sequence_ops: bool = False
    strategy: type[FederatingStrategy] | None = None
    leaf: LeafSpec = None
    on_callers_thread: bool = False
    tape: Tape | None = None
    fuses: bool = True
    sizes: Tape | None = None
    _stacks: Cache[tuple[int, Runtimes, int], Executor] = field(
        default_factory=lambda: Cache(_MAX_STACKS), init=False
    )

    def create_executor(
        self, cardinalities: Cardinalities, runtimes: Runtimes = frozenset()
    ) -> Executor:
        """A new stack, or the one built earlier for the same participants."""
        count = self._num_clients(cardinalities)
        # A forked process has its parent's stacks, but none of their threads.
        key = (count, runtimes, os.getpid())
        build, detail = partial(self._build, count, runtimes), counted(count, "client")
        return self._stacks.get(key, build, self.tape, detail=detail)

    def clean_up_executor(self, cardinalities: Cardinalities) -> None:
        """Closes and forgets the stacks for these participants."""
        self.close(self._num_clients(cardinalities))

    def forget_executor(self, cardinalities: Cardinalities) -> None:
        """Forgets the stacks for these participants; calls under way keep them."""
        count = self._num_clients(cardinalities)
        self._stacks.forget(lambda key: key[0] == count)

    def close(self, num_clients: int | None = None) -> None:
        """Closes and forgets all stacks, or those for so many clients."""
        for stack in self._stacks.forget(lambda key: num_clients in (None, key[0])):
            stack.close()

    def native(self, cardinalities: Cardinalities) -> frozenset[str]:
        """The intrinsics that all layers of such a stack together implement."""
        implemented = set((self.strategy or FederatedResolvingStrategy).implemented)
        if self.has_groups(self._num_clients(cardinalities)):
            implemented &= set(FederatedComposingStrategy.implemented)
        if self.support_sequence_ops:
            implemented |= sequence.IMPLEMENTED
        return frozenset(implemented)

    def has_groups(self, num_clients: int) -> bool:
        """Whether that many clients are put into groups."""
        return self.strategy is None and num_clients >= self.max_fanout

    @property
    def runs_together(self) -> bool:
        """Whether clients may run in one call; a byte count needs them apart."""
        return self.strategy is None and self.fuses and self.sizes is None

    def get_size_info(self) -> SizeInfo:
        """The bytes that crossed to and from clients since the last reset."""
        return size_info(self._counting())

    def reset_size_info(self) -> None:
        """Starts counting bytes from zero."""
        self._counting().clear()

    def _counting(self) -> Tape:
        if self.sizes is None:
            raise TypeMismatchError(
                "this factory does not count bytes",
                expected="a factory made by sizing_executor_factory",
            )
        return self.sizes

    def _num_clients(self, cardinalities: Cardinalities) -> int:
        return cardinalities.get(CLIENTS, self.default_num_clients)

    # ------------------------------------------------ the stack at the top of this file

    def _build(self, num_clients: int, runtimes: Runtimes) -> Executor:
        clients, size = range(num_clients), self.max_fanout
        if self.has_groups(num_clients):
            workers = Workers(os.cpu_count() or 1) if self._has_threads else None
            starts = range(0, num_clients or 1, size)
            groups = [clients[start : start + size] for start in starts]
            children = [(self.group(runtimes, g, workers), len(g)) for g in groups]
            stack, _ = self._above(children, runtimes)
        else:
            stack = self.group(runtimes, clients)
        stack = ReferenceResolvingExecutor(stack)
        if self.sizes is not None:
            stack = RecordingExecutor(stack, self.sizes)
        return self._recorded(stack, "reference_resolving", "all")

    @property
    def _has_threads(self) -> bool:
        return not self.on_callers_thread and not is_browser()

    def group(
        self, runtimes: Runtimes, clients: range, workers: Workers | None = None
    ) -> Executor:
        """Clients around a server; `workers`, which groups share, run them together.

        A single group has none: data that alternate between threads cost more.
        """
        server = self._participant("server", runtimes)
        side_by_side = self._has_threads and not keep_gil(runtimes)
        each = self._clients(clients, runtimes, side_by_side=side_by_side)
        targets: TargetExecutors = {SERVER: server, CLIENTS: each}
        strategy: Any = self.strategy
        if strategy is not None:
            return self._federating(strategy.factory(targets), runtimes)
        flat = FederatedResolvingStrategy.factory(targets, clients.start)
        runtime = batched_runtime(self.leaf, runtimes) if self.runs_together else None
        if runtime is None:
            return self._federating(flat, runtimes)
        together = partial(FederatedGroupingStrategy, runtime, len(clients), workers)
        return self._federating(lambda executor: together(flat(executor)), runtimes)

    def _above(
        self, children: Sequence[tuple[Executor, int]], runtimes: Runtimes
    ) -> tuple[Executor, int]:
        """A server above groups, or above groups of groups where they are too many."""
        size = self.max_fanout
        while len(children) > size:
            some = [children[i : i + size] for i in range(0, len(children), size)]
            children = [self._above(each, runtimes) for each in some]
        executors, counts = zip(*children, strict=True)
        server = self._participant("server", runtimes)
        make = FederatedComposingStrategy.factory(server, executors, counts)
        return self._federating(make, runtimes), sum(counts)

    def _federating(self, make_strategy: Any, runtimes: Runtimes) -> Executor:
        unplaced = self._participant("unplaced", runtimes)
        executor = FederatingExecutor(make_strategy, unplaced)
        return self._recorded(executor, "federating", "all")

    def _clients(
        self, clients: range, runtimes: Runtimes, *, side_by_side: bool
    ) -> list[Executor]:
        """One executor per client; clients that share a thread share a stack."""
        if self.tape is not None:
            stacks = [self._participant(f"clients[{i}]", runtimes) for i in clients]
        else:
            wanted = math.ceil(len(clients) / self.clients_per_thread)
            count = min(wanted, (os.cpu_count() or 1) if side_by_side else 1)
            stacks = [self._participant("clients", runtimes) for _ in range(count)]
            if count > 1:
                stacks = [ThreadDelegatingExecutor(stack) for stack in stacks]
        return [stacks[i % len(stacks)] for i in range(len(clients))]

    def _participant(self, label: str, runtimes: Runtimes) -> Executor:
        leaf = leaf_executor(self.leaf, runtimes)
        stack = ReferenceResolvingExecutor(self._recorded(leaf, "leaf", label))
        if self.support_sequence_ops:
            layer = sequence.SequenceExecutor(stack)
            stack = ReferenceResolvingExecutor(self._recorded(layer, "sequence", label))
        return self._recorded(stack, "participant", label)

    def _recorded(self, executor: Executor, layer: str, participant: str) -> Executor:
        tape = self.tape
        if tape is None:
            return executor
        return RecordingExecutor(executor, tape, layer=layer, participant=participant)


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
        self, cardinalities: Cardinalities, runtimes: Runtimes = frozenset()
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
    max_fanout: int = GROUP,
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
        default_num_clients,
        max_fanout,
        clients_per_thread,
        support_sequence_ops,
        strategy,
        leaf,
        on_callers_thread=not use_threads,
        tape=tape,
        fuses=fuse,
    )


@short_traceback
def sizing_executor_factory(
    default_num_clients: int = 0,
    max_fanout: int = GROUP,
    clients_per_thread: int = 1,
    *,
    support_sequence_ops: bool = False,
    leaf: LeafSpec = None,
) -> LocalExecutorFactory:
    """Like `local_executor_factory`, and counts the bytes to and from clients.

    Read them with `get_size_info()`. Source: `tff.framework.sizing_executor_factory`.
    """
    numbers = (default_num_clients, max_fanout, clients_per_thread)
    factory = local_executor_factory(
        *numbers, support_sequence_ops=support_sequence_ops, leaf=leaf
    )
    return replace(factory, sizes=Tape(keep_events=False))


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
    if is_whole_number(value, least):
        return
    expected = f"an int of at least {least}"
    if is_whole_number(value):
        problem = f"{name} is too small"
        raise CardinalityError(problem, expected=expected, found=value, do=do)
    problem, found = f"{name} is a number", describe(value)
    raise TypeMismatchError(problem, expected=expected, found=found, do=do)
