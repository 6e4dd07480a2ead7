# SPDX-License-Identifier: Apache-2.0
"""Executors wrapped in each other: what runs a computation, from top to bottom.

    ReferenceResolving                        names, lambdas, blocks
    └─ Federating ── strategy ─┬─ SERVER   : participant stack
                               ├─ CLIENTS  : participant stack × n
                               └─ unplaced : participant stack

    participant stack = [Thread] → ReferenceResolving → [Sequence → ReferenceResolving]
    → leaf

`support_sequence_ops=True` adds the second pair of brackets. The second
ReferenceResolving is needed because the function mapped over a sequence may itself be a
lambda. The thread is on top, so that a whole participant's work costs one hop.
"""

import math
import os
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.contexts.cardinalities import Cardinalities
from fedlearn_edu.contexts.leaves import Leaf, leaf_executor
from fedlearn_edu.errors import CardinalityError, TypeMismatchError
from fedlearn_edu.executors import sequence
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.federating import FederatingExecutor, FederatingStrategy
from fedlearn_edu.executors.recording import RecordingExecutor, Tape
from fedlearn_edu.executors.reference_resolving import ReferenceResolvingExecutor
from fedlearn_edu.executors.sequence import SequenceExecutor
from fedlearn_edu.executors.sizing import Meter, SizeInfo, SizingExecutor
from fedlearn_edu.executors.strategies.composing import FederatedComposingStrategy
from fedlearn_edu.executors.strategies.resolving import FederatedResolvingStrategy
from fedlearn_edu.executors.threads import ThreadDelegatingExecutor
from fedlearn_edu.types import CLIENTS, SERVER

_MAX_STACKS = 10


class ExecutorFactory(ABC):
    """Builds stacks for given numbers of participants."""

    @abstractmethod
    def create_executor(
        self, cardinalities: Cardinalities, runtimes: frozenset[str] = frozenset()
    ) -> Executor:
        """A stack for these participants, whose leaves run these runtimes."""

    @abstractmethod
    def clean_up_executor(self, cardinalities: Cardinalities) -> None:
        """Closes and forgets the stacks for these participants."""

    @abstractmethod
    def native(self, cardinalities: Cardinalities) -> frozenset[str]:
        """The intrinsics such a stack implements; the compiler expands the others."""


@final
@dataclass(frozen=True)
class StackPlan:
    """What `local_executor_factory` was asked for; see there."""

    default_num_clients: int = 0
    max_fanout: int = 100
    clients_per_thread: int = 1
    support_sequence_ops: bool = False
    strategy: type[FederatingStrategy] | None = None
    leaf: Leaf = None
    use_threads: bool = True
    tape: Tape | None = None
    meter: Meter | None = None

    def num_clients(self, cardinalities: Cardinalities) -> int:
        """The number of clients a stack is built for."""
        return cardinalities.get(CLIENTS, self.default_num_clients)

    def is_hierarchy(self, num_clients: int) -> bool:
        """Whether that many clients are put into groups."""
        return self.strategy is None and num_clients >= self.max_fanout

    def native(self, cardinalities: Cardinalities) -> frozenset[str]:
        """The intrinsics that all layers together implement."""
        strategy = self.strategy or FederatedResolvingStrategy
        implemented = set(strategy.implemented)
        if self.is_hierarchy(self.num_clients(cardinalities)):
            implemented &= set(FederatedComposingStrategy.implemented)
        if self.support_sequence_ops:
            implemented |= sequence.IMPLEMENTED
        return frozenset(implemented)


@final
class LocalExecutorFactory(ExecutorFactory):
    """Builds stacks in this process and keeps the latest ten."""

    def __init__(self, plan: StackPlan) -> None:
        self.plan = plan
        self._stacks: OrderedDict[Any, Executor] = OrderedDict()

    def create_executor(
        self, cardinalities: Cardinalities, runtimes: frozenset[str] = frozenset()
    ) -> Executor:
        """A new stack, or the one built earlier for the same participants."""
        num_clients = self.plan.num_clients(cardinalities)
        key = (num_clients, runtimes)
        if key not in self._stacks:
            self._stacks[key] = build_stack(self.plan, num_clients, runtimes)
            if len(self._stacks) > _MAX_STACKS:
                self._stacks.popitem(last=False)
        self._stacks.move_to_end(key)
        return self._stacks[key]

    def clean_up_executor(self, cardinalities: Cardinalities) -> None:
        """Closes and forgets the stacks for these participants."""
        num_clients = self.plan.num_clients(cardinalities)
        for key in [key for key in self._stacks if key[0] == num_clients]:
            self._stacks.pop(key).close()

    def native(self, cardinalities: Cardinalities) -> frozenset[str]:
        """The intrinsics the stack for these participants implements."""
        return self.plan.native(cardinalities)

    def get_size_info(self) -> SizeInfo:
        """The bytes that crossed to and from clients since the last reset."""
        return self._meter().read()

    def reset_size_info(self) -> None:
        """Starts counting bytes from zero."""
        self._meter().reset()

    def _meter(self) -> Meter:
        if self.plan.meter is None:
            raise TypeMismatchError(
                "this factory does not count bytes",
                expected="a factory made by sizing_executor_factory",
            )
        return self.plan.meter


def build_stack(
    plan: StackPlan, num_clients: int, runtimes: frozenset[str]
) -> Executor:
    """The stack described at the top of this file."""
    builder = StackBuilder(plan, runtimes)
    if plan.is_hierarchy(num_clients):
        federating = builder.hierarchy(num_clients)
    else:
        federating = builder.flat(range(num_clients))
    return builder.watched(
        ReferenceResolvingExecutor(federating), "reference_resolving", "all"
    )


@final
class StackBuilder:
    """Builds the parts of one stack."""

    def __init__(self, plan: StackPlan, runtimes: frozenset[str]) -> None:
        self._plan = plan
        self._runtimes = runtimes

    def participant(self, label: str, *, threaded: bool = False) -> Executor:
        """The stack of one participant."""
        plan = self._plan
        leaf = leaf_executor(plan.leaf, self._runtimes)
        stack = self.watched(leaf, "leaf", label)
        stack = ReferenceResolvingExecutor(stack)
        if plan.support_sequence_ops:
            stack = self.watched(SequenceExecutor(stack), "sequence", label)
            stack = ReferenceResolvingExecutor(stack)
        stack = self.watched(stack, "participant", label)
        return ThreadDelegatingExecutor(stack) if threaded else stack

    def flat(self, clients: Sequence[int]) -> Executor:
        """One group of clients around a server."""
        strategy: Any = self._plan.strategy or FederatedResolvingStrategy
        targets = {SERVER: self.participant("server"), CLIENTS: self._clients(clients)}
        unplaced = self.participant("unplaced")
        federating = FederatingExecutor(strategy.factory(targets), unplaced)
        return self.watched(federating, "federating", "all")

    def hierarchy(self, num_clients: int) -> Executor:
        """Groups of at most `max_fanout` clients, and groups of groups above them."""
        fanout = self._plan.max_fanout
        starts = range(0, num_clients, fanout)
        groups = [range(s, min(s + fanout, num_clients)) for s in starts]
        level = [(self.flat(group), len(group)) for group in groups]
        while True:
            starts = range(0, len(level), fanout)
            level = [self._compose(level[s : s + fanout]) for s in starts]
            if len(level) == 1:
                return level[0][0]

    def watched(self, executor: Executor, layer: str, participant: str) -> Executor:
        """The executor, recorded if the plan has a tape."""
        if self._plan.tape is None:
            return executor
        return RecordingExecutor(
            executor, self._plan.tape, layer=layer, participant=participant
        )

    def _compose(
        self, children: Sequence[tuple[Executor, int]]
    ) -> tuple[Executor, int]:
        executors = [executor for executor, _ in children]
        counts = [count for _, count in children]
        strategy = FederatedComposingStrategy.factory(
            self.participant("server"), executors, counts
        )
        federating = FederatingExecutor(strategy, self.participant("unplaced"))
        return self.watched(federating, "federating", "all"), sum(counts)

    def _clients(self, clients: Sequence[int]) -> list[Executor]:
        """One executor per client; clients that share a thread share a stack."""
        plan = self._plan
        if plan.tape is not None:
            return [self._sized(self.participant(f"clients[{i}]")) for i in clients]
        wanted = math.ceil(len(clients) / plan.clients_per_thread)
        num_threads = min(wanted, os.cpu_count() or 1)
        threaded = plan.use_threads and num_threads > 1 and bool(self._runtimes)
        stacks = [
            self.participant("clients", threaded=threaded)
            for _ in range(num_threads if threaded else min(wanted, 1))
        ]
        return [self._sized(stacks[i % len(stacks)]) for i in range(len(clients))]

    def _sized(self, executor: Executor) -> Executor:
        meter = self._plan.meter
        return executor if meter is None else SizingExecutor(executor, meter)


def local_executor_factory(
    default_num_clients: int = 0,
    max_fanout: int = 100,
    clients_per_thread: int = 1,
    *,
    support_sequence_ops: bool = False,
    strategy: type[FederatingStrategy] | None = None,
    leaf: Leaf = None,
    use_threads: bool = True,
    tape: Tape | None = None,
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
        tape: records every contract call of every layer.

    Raises:
        CardinalityError: if a number is out of range.

    Source: `tff.framework.local_executor_factory`.
    """
    _check_count("default_num_clients", default_num_clients, 0)
    _check_count("max_fanout", max_fanout, 2)
    _check_count("clients_per_thread", clients_per_thread, 1)
    return LocalExecutorFactory(
        StackPlan(
            default_num_clients,
            max_fanout,
            clients_per_thread,
            support_sequence_ops,
            strategy,
            leaf,
            use_threads,
            tape,
        )
    )


def sizing_executor_factory(
    default_num_clients: int = 0,
    max_fanout: int = 100,
    clients_per_thread: int = 1,
    *,
    support_sequence_ops: bool = False,
    leaf: Leaf = None,
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
    values = {**plan.__dict__, "meter": Meter()}
    return LocalExecutorFactory(StackPlan(**values))


def thread_debugging_executor_factory(
    default_num_clients: int = 0,
    *,
    support_sequence_ops: bool = False,
    leaf: Leaf = None,
) -> LocalExecutorFactory:
    """Like `local_executor_factory`, without threads: a debugger can step through.

    Source: `tff.framework.thread_debugging_executor_factory`.
    """
    return local_executor_factory(
        default_num_clients,
        support_sequence_ops=support_sequence_ops,
        leaf=leaf,
        use_threads=False,
    )


def _check_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeMismatchError(
            f"{name} is a number",
            expected=f"an int of at least {least}",
            found=f"{value!r} ({type(value).__name__})",
        )
    if value < least:
        raise CardinalityError(
            f"{name} is too small", expected=f"at least {least}", found=value
        )
