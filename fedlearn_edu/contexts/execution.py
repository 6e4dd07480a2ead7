# SPDX-License-Identifier: Apache-2.0
"""Execution contexts: a call becomes a run of a stack of executors.

Planned on the caller's thread: normalize the argument, count the participants, compile
the tree for their stack, build the stack (or take it again). Run on an event loop:
embed, call, compute, restore. `SyncExecutionContext` waits for the result;
`AsyncExecutionContext` returns a coroutine.
"""

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any, final

from fedlearn_edu.compiler.fuse import fuse
from fedlearn_edu.compiler.pipeline import compile_tree
from fedlearn_edu.contexts import event_loop, messages
from fedlearn_edu.contexts.arguments import prepare, to_python
from fedlearn_edu.contexts.event_loop import Terms
from fedlearn_edu.contexts.factories import Cache, ExecutorFactory
from fedlearn_edu.contexts.stacks import FUSERS
from fedlearn_edu.errors import depth_limit, short_traceback, short_tracebacks
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.concurrency import run_inline
from fedlearn_edu.executors.recording import Tape
from fedlearn_edu.executors.underway import graph_is_waiting
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import is_pure, runtimes
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.language.intrinsic import number_of_definitions
from fedlearn_edu.signals import is_from_outside
from fedlearn_edu.structure import Struct, leaves, tree_map
from fedlearn_edu.types import CLIENTS, FunctionType
from fedlearn_edu.types.sequences import DatasetSequence, LazySequence

_MAX_COMPILED = 256
_timeout: ContextVar[float | None] = ContextVar("timeout", default=None)


@contextmanager
def timeout(seconds: float) -> Iterator[None]:
    """Gives every call in its block that many seconds; the error names who hangs.

    >>> import threading
    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> is_over = threading.Event()
    >>> def stay(x):
    ...     return x if x == 1 or is_over.wait() else None
    >>> with fl.timeout(0.1):
    ...     fl.np_computation(stay, np.float32)(2)
    Traceback (most recent call last):
    ...
    fedlearn_edu.errors.ComputationTimeoutError: stay did not end in time
      expected: a result within 0.1 s
    ...
    >>> is_over.set()

    No thread can be stopped from outside: the code that is named goes on, and takes its
    processor, until it returns. Nothing else of its call starts any more, and the next
    call runs on other threads; TensorFlow's own are as many as processors, and code
    that hangs inside of it keeps one. Clients that TensorFlow runs in one graph are
    named together; `fuse=False` keeps them apart. A context may have its own limit:
    `SyncExecutionContext(factory, timeout=10)`.

    Args:
        seconds: how long each call may run, once its arguments are converted.

    Raises:
        ArgumentsError: if it is no positive number.
    """
    token = _timeout.set(_checked(seconds))
    try:
        yield
    finally:
        _timeout.reset(token)


def _checked(seconds: Any) -> float:
    is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if not is_number or not 0 < seconds <= threading.TIMEOUT_MAX:
        raise messages.no_time_limit(seconds)
    return float(seconds)


@final
@dataclass(frozen=True)
class _Program:
    """What is compiled, and for which stack: equal if it means the same.

    Compared in this order, and hashed without the tree: the digest of leaf code is made
    only if there is another program that reads the same.
    """

    native: frozenset[str]
    number_of_definitions: int
    text: str
    tree: ir.Node = field(hash=False)


@final
@dataclass(frozen=True)
class _Compiled:
    """A program for a stack: step by step, and with what can be fused as one leaf."""

    by_step: ir.Node
    fused: ir.Node
    runtimes: frozenset[str]


@final
@dataclass(frozen=True)
class _Run:
    """One call, ready to run: a stack, a compiled program and a plain argument."""

    executor: Executor
    program: _Compiled
    type_signature: FunctionType
    plain: Any
    clients: int
    terms: Terms
    tape: Tape | None

    async def execute(self) -> Any:
        """Runs what is fused; after an error step by step, which tells more.

        But not if it shows that something was done twice.
        """
        by_step, fused = self.program.by_step, self.program.fused
        try:
            return await self._execute(fused)
        except Exception as error:
            is_pure_run = is_pure(by_step) and _is_pure(self.plain)
            if fused is by_step or not is_pure_run or is_from_outside(error):
                raise
            if self.tape is not None:
                event = self.tape.begin("context", "all", "again, step by step")
                text, kind = str(self.type_signature), type(error).__name__
                self.tape.end(event, type=text, detail=kind)
        return await self._execute(by_step)

    async def _execute(self, tree: ir.Node) -> Any:
        """Embeds, calls, computes and restores."""
        type_, arg = self.type_signature, None
        if type_.parameter is not None:
            arg = await self.executor.create_value(self.plain, type_.parameter)
        fn = await self.executor.create_value(tree, tree.type)
        result = await self.executor.create_call(fn, arg)
        plain, found = await result.compute(), result.type_signature
        return to_python(plain, found, type_.result, self.clients)


def _is_pure(plain: Any) -> bool:
    """Whether there is no Python code in an argument, generators included."""
    if isinstance(plain, Struct | tuple):
        return all(map(_is_pure, plain))
    if isinstance(plain, ir.Node):
        return is_pure(plain)
    return not isinstance(plain, LazySequence | DatasetSequence)


def _runtimes_of(plain: Any) -> frozenset[str]:
    """The runtimes of the functions in an argument."""
    functions = (part for part in leaves(plain) if isinstance(part, ir.Node))
    return frozenset().union(*map(runtimes, functions))


class _StackContext(Context):
    """Runs computations on the stacks of one factory.

    Attributes:
        factory: builds the stacks.
    """

    def __init__(self, executor_fn: ExecutorFactory, timeout: float | None) -> None:
        if not isinstance(executor_fn, ExecutorFactory):
            raise messages.not_a_factory(executor_fn)
        self.factory = executor_fn
        self._timeout = None if timeout is None else _checked(timeout)
        self._seconds()
        self._compiled: Cache[_Program, _Compiled]
        self._compiled = Cache(_MAX_COMPILED, "compiled", executor_fn.tape)

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Runs `computation` and returns what Python gets, or a coroutine of it."""
        plan = partial(self._plan, computation, self._seconds(), at_once=False)
        return self._run(plan, argument)

    def run_intrinsic(self, computation: Computation, argument: Any) -> Any:
        """The same for an intrinsic that was used outside of any body."""
        plan = partial(self._plan, computation, self._seconds(), at_once=True)
        return self._run(plan, argument)

    @abstractmethod
    def _run(self, plan: Callable[[Any], _Run], argument: Any) -> Any:
        """Plans a call with this argument, and runs it."""

    def _seconds(self) -> float | None:
        """How long a call may take."""
        found = self._timeout if _timeout.get() is None else _timeout.get()
        if found is not None and self.factory.on_callers_thread:
            raise messages.cannot_be_given_up(found)
        return found

    def _plan(
        self,
        computation: Computation,
        seconds: float | None,
        argument: Any,
        *,
        at_once: bool,
    ) -> _Run:
        """All that can be done before anything runs: on the caller's own thread."""
        type_, name = computation.type_signature, computation.__name__
        factory, default = self.factory, self.factory.default_num_clients
        plain, counts = prepare(computation, argument, default, at_once=at_once)
        native = factory.native(counts)
        program = self._compile(computation.tree, native, name)
        plain = self._compile_functions(plain, native, name)
        needed = program.runtimes | _runtimes_of(plain)
        executor = factory.create_executor(counts, needed)
        terms = Terms(name, seconds, lambda: factory.forget_executor(counts))
        clients = counts.get(CLIENTS, default)
        return _Run(executor, program, type_, plain, clients, terms, factory.tape)

    def _compile(self, tree: ir.Node, native: frozenset[str], name: str) -> _Compiled:
        def make() -> _Compiled:
            by_step = compile_tree(tree, native, name)
            fused = fuse(by_step, FUSERS, native) if self.factory.fuses else by_step
            return _Compiled(by_step, fused, runtimes(by_step))

        key = _Program(native, number_of_definitions(), to_text(tree), tree)
        return self._compiled.get(key, make, tree.type, name)

    def _compile_functions(self, plain: Any, native: frozenset[str], name: str) -> Any:
        """The argument, with the functions in it compiled like the computation."""

        def compiled(part: Any) -> Any:
            if not isinstance(part, ir.Node):
                return part
            return self._compile(part, native, f"{name}'s argument").fused

        return tree_map(compiled, plain)


def _is_called_by_leaf_code() -> bool:
    """Whether a thread of leaf code asks: it may be the one we would wait for."""
    is_foreign = isinstance(threading.current_thread(), threading._DummyThread)
    return is_foreign and not graph_is_waiting.get()


@final
class SyncExecutionContext(_StackContext):
    """Runs computations on a stack and waits for the result.

    Works in scripts, threads, notebooks and inside running event loops, because the
    work happens on a loop of its own. Use it as the default context, or in a `with`
    block.

    Args:
        executor_fn: an executor factory such as `local_executor_factory()`.
        timeout: how many seconds a call may take; see `fl.timeout`.

    Source: `tff.framework.SyncExecutionContext`.
    """

    @short_traceback
    def __init__(
        self, executor_fn: ExecutorFactory, *, timeout: float | None = None
    ) -> None:
        super().__init__(executor_fn, timeout)

    def _run(self, plan: Callable[[Any], _Run], argument: Any) -> Any:
        run = plan(argument)
        if self.factory.on_callers_thread or _is_called_by_leaf_code():
            return run_inline(run.execute)
        return event_loop.run(run.execute(), run.terms)


@final
class AsyncExecutionContext(_StackContext):
    """Like `SyncExecutionContext`, but a call returns a coroutine to be awaited.

    Calls run on threads of their own: your event loop goes on meanwhile, several calls
    overlap, and cancelling one returns at once. Python cannot stop a thread: leaf code
    that is under way then goes on until it returns, and its result is thrown away.

    Args:
        executor_fn: an executor factory such as `local_executor_factory()`.
        timeout: how many seconds a call may take; see `fl.timeout`.

    Source: `tff.framework.AsyncExecutionContext`.
    """

    @short_traceback
    def __init__(
        self, executor_fn: ExecutorFactory, *, timeout: float | None = None
    ) -> None:
        super().__init__(executor_fn, timeout)

    async def _run(self, plan: Callable[[Any], _Run], argument: Any) -> Any:
        with short_tracebacks(), depth_limit():
            run = plan(argument)
            if self.factory.on_callers_thread:
                return await run.execute()
            return await event_loop.run_async(run.execute(), run.terms)
