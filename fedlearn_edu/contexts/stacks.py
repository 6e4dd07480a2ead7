# SPDX-License-Identifier: Apache-2.0
"""Executors wrapped in each other: what runs a computation, from top to bottom.

    ReferenceResolving                        names and functions
    └─ Federating ── strategy ─┬─ SERVER   : participant stack
                               ├─ CLIENTS  : participant stack × n
                               └─ unplaced : participant stack

    participant stack = [Thread] → ReferenceResolving
                        → [Sequence → ReferenceResolving] → leaf

`support_sequence_ops=True` adds the second pair of brackets. The second
ReferenceResolving is needed because the function mapped over a sequence may itself be a
lambda. The thread is on top, so that a whole participant's work costs one hop.
"""

import math
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, final

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.compiler.fuse import Fuser
from fedlearn_edu.contexts import messages
from fedlearn_edu.contexts.arguments import Cardinalities
from fedlearn_edu.executors import sequence
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.batched import BatchedRuntime
from fedlearn_edu.executors.federating import FederatingExecutor, FederatingStrategy
from fedlearn_edu.executors.layer import AnyRuntimeExecutor
from fedlearn_edu.executors.recording import RecordingExecutor, Tape
from fedlearn_edu.executors.reference_resolving import ReferenceResolvingExecutor
from fedlearn_edu.executors.sequence import SequenceExecutor
from fedlearn_edu.executors.strategies.composing import FederatedComposingStrategy
from fedlearn_edu.executors.strategies.grouping import FederatedGroupingStrategy
from fedlearn_edu.executors.strategies.resolving import FederatedResolvingStrategy
from fedlearn_edu.executors.strategies.shared import TargetExecutors
from fedlearn_edu.executors.threads import ThreadDelegatingExecutor
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.context_stack import Context, tracers
from fedlearn_edu.runtimes.numpy.executor import NumPyExecutor
from fedlearn_edu.types import CLIENTS, SERVER

# Runtimes whose code keeps Python's interpreter lock: threads would only cost hops.
GIL_BOUND = frozenset({"numpy"})
LeafSpec = str | Callable[[], Executor] | None


def _tensorflow() -> Executor:
    from fedlearn_edu.runtimes.tensorflow.executor import EagerTFExecutor

    return EagerTFExecutor()


@cache
def _tensorflow_batched() -> BatchedRuntime:
    from fedlearn_edu.runtimes.tensorflow.groups import TensorFlowBatchedRuntime

    return TensorFlowBatchedRuntime()


def _fuse_in_tensorflow(function: ir.Lambda, name: str) -> ir.Leaf | None:
    from fedlearn_edu.runtimes.tensorflow.computation import fuse

    return fuse(function, name)


# Runtimes that can make one leaf of a whole function of the language.
FUSERS: dict[str, Fuser] = {"tensorflow": _fuse_in_tensorflow}

_makers: dict[str, Callable[[], Executor]] = {
    "numpy": NumPyExecutor,
    "tensorflow": _tensorflow,
}

# Runtimes that can run a function for many participants in one call.
_batched: dict[str, Callable[[], BatchedRuntime]] = {"tensorflow": _tensorflow_batched}


def _tensorflow_is_tracing() -> Context | None:
    """In a `tf.function` outside of all computations, a call is part of its graph."""
    # Not imported, or not to its end, it traces nothing.
    is_eager = getattr(sys.modules.get("tensorflow"), "executing_eagerly", None)
    if is_eager is None or is_eager():
        return None
    from fedlearn_edu.runtimes.tensorflow.computation import TensorFlowTracingContext

    return TensorFlowTracingContext()


tracers.append(_tensorflow_is_tracing)


def register_runtime(name: str, make_executor: Callable[[], Executor]) -> None:
    """Makes a runtime known: leaf code of that name goes to such an executor."""
    _makers[name] = make_executor


def batched_runtime(leaf: LeafSpec, runtimes: frozenset[str]) -> BatchedRuntime | None:
    """How leaf code of `runtimes` runs for many participants at once, if it can."""
    able = [name for name in _batched if name in runtimes and leaf in (None, name)]
    return _batched[able[0]]() if able else None


def leaf_executor(leaf: LeafSpec, runtimes: frozenset[str]) -> Executor:
    """The executor for leaf code of `runtimes`, unless `leaf` asks for another one."""
    if callable(leaf):
        return leaf()
    names = [leaf] if leaf is not None else sorted(runtimes) or ["numpy"]
    for name in names:
        if name not in _makers:
            raise messages.no_such_runtime(name, _makers)
    return _makers[names[0]]() if len(names) == 1 else AnyRuntimeExecutor()


@final
@dataclass(frozen=True)
class StackPlan:
    """What `local_executor_factory` was asked for; see there."""

    default_num_clients: int = 0
    max_fanout: int = 100
    clients_per_thread: int = 1
    support_sequence_ops: bool = False
    strategy: type[FederatingStrategy] | None = None
    leaf: LeafSpec = None
    use_threads: bool = True
    tape: Tape | None = None
    sizes: Tape | None = None
    fuse: bool = True

    @property
    def fuses_groups(self) -> bool:
        """Whether clients may run together; a byte count of each needs them apart."""
        return self.fuse and self.sizes is None

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


def build_stack(
    plan: StackPlan, num_clients: int, runtimes: frozenset[str]
) -> Executor:
    """The stack described at the top of this file."""
    builder = StackBuilder(plan, runtimes)
    if plan.is_hierarchy(num_clients):
        federating = builder.hierarchy(num_clients)
    else:
        federating = builder.flat(range(num_clients))
    top: Executor = ReferenceResolvingExecutor(federating)
    if plan.sizes is not None:
        top = RecordingExecutor(top, plan.sizes)
    return builder.watched(top, "reference_resolving", "all")


@final
class StackBuilder:
    """Builds the parts of one stack."""

    def __init__(self, plan: StackPlan, runtimes: frozenset[str]) -> None:
        self._plan = plan
        self._runtimes = runtimes
        self._threads = plan.use_threads and not is_browser()
        self._pool = ThreadPoolExecutor(os.cpu_count()) if self._threads else None

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
        targets: TargetExecutors = {
            SERVER: self.participant("server"),
            CLIENTS: self._clients(clients),
        }
        strategy: Any = self._plan.strategy
        if strategy is None:
            make = self._one_or_all(targets, clients)
        else:
            make = strategy.factory(targets)
        unplaced = self.participant("unplaced")
        federating = FederatingExecutor(make, unplaced)
        return self.watched(federating, "federating", "all")

    def _one_or_all(self, targets: TargetExecutors, clients: Sequence[int]) -> Any:
        """The flat strategy, with the one that runs clients together on top of it."""
        first = clients[0] if clients else 0
        make = FederatedResolvingStrategy.factory(targets, first)
        found = (
            batched_runtime(self._plan.leaf, self._runtimes)
            if self._plan.fuses_groups
            else None
        )
        if found is None:
            return make
        return FederatedGroupingStrategy.factory(make, found, len(clients), self._pool)

    def hierarchy(
        self, num_clients: int, executor_of: Callable[[range], Executor] | None = None
    ) -> Executor:
        """Groups of at most `max_fanout` clients, and groups of groups above them.

        `executor_of` makes the executor of one group; it is flat, and here, without.
        """
        fanout, make = self._plan.max_fanout, executor_of or self.flat
        starts = range(0, num_clients, fanout)
        groups = [range(s, min(s + fanout, num_clients)) for s in starts]
        level = [(make(group), len(group)) for group in groups or [range(0)]]
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
            return [self.participant(f"clients[{i}]") for i in clients]
        wanted = math.ceil(len(clients) / plan.clients_per_thread)
        num_threads = min(wanted, os.cpu_count() or 1)
        frees_gil = bool(self._runtimes - GIL_BOUND)
        threaded = self._threads and num_threads > 1 and frees_gil
        stacks = [
            self.participant("clients", threaded=threaded)
            for _ in range(num_threads if threaded else min(wanted, 1))
        ]
        return [stacks[i % len(stacks)] for i in range(len(clients))]
