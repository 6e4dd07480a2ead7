# SPDX-License-Identifier: Apache-2.0
"""Execution contexts: a call becomes a run of a stack of executors.

One run: normalize the argument, count the participants, compile the tree for their
stack, build the stack (or take it again), embed, call, compute, restore.
`SyncExecutionContext` waits for the result; `AsyncExecutionContext` returns a
coroutine.
"""

import inspect
import threading
from collections.abc import Iterator, Set
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any, final

from fedlearn_edu.compiler.fuse import fuse
from fedlearn_edu.compiler.pipeline import compile_tree
from fedlearn_edu.contexts import event_loop
from fedlearn_edu.contexts.caching import Cache
from fedlearn_edu.contexts.cardinalities import (
    cardinalities_at_once,
    count_members,
    for_everybody,
)
from fedlearn_edu.contexts.event_loop import Terms
from fedlearn_edu.contexts.factories import ExecutorFactory
from fedlearn_edu.contexts.running import Program, Run, Trees, prepare, runtimes_of
from fedlearn_edu.errors import (
    ArgumentsError,
    ContextError,
    TypeMismatchError,
    depth_limit,
    describe,
    short_traceback,
    short_tracebacks,
)
from fedlearn_edu.executors.run_inline import step
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.language.computation import Computation, check_closed
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.language.intrinsic import number_of_definitions
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import CLIENTS

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
        raise ArgumentsError(
            "a time limit is a number of seconds",
            expected="a positive number, or timeout=None for no limit",
            found=describe(seconds),
            do="write 10 for ten seconds",
        )
    return float(seconds)


@final
class ExecutionEngine:
    """Runs computations on the stacks of one factory."""

    def __init__(self, factory: ExecutorFactory, seconds: float | None) -> None:
        if not isinstance(factory, ExecutorFactory):
            raise TypeMismatchError(
                "an execution context needs an executor factory",
                expected="for example framework.local_executor_factory()",
                found=describe(factory),
                do=_cure_of_factory(factory),
            )
        self._factory = factory
        self.on_callers_thread = factory.on_callers_thread
        self._seconds = None if seconds is None else _checked(seconds)
        self.seconds()
        self._compiled: Cache[Program, Trees]
        self._compiled = Cache(_MAX_COMPILED, "compiled", factory.tape)

    def seconds(self) -> float | None:
        """How long a call may take."""
        found = self._seconds if _timeout.get() is None else _timeout.get()
        if found is not None and self.on_callers_thread:
            raise ContextError(
                "a call on your own thread cannot be given up",
                expected="a stack with threads of its own",
                found=f"a time limit of {found:g} s",
                do="leave the limit out, or take local_executor_factory()",
            )
        return found

    def plan(
        self,
        computation: Computation,
        argument: Any,
        seconds: float | None,
        *,
        at_once: bool,
    ) -> Run:
        """All that can be done before anything runs: on the caller's own thread.

        Args:
            computation: what will run.
            argument: its packed argument.
            seconds: how long it may take.
            at_once: whether it is an intrinsic that was used outside of any body.
        """
        type_, name = computation.type_signature, computation.__name__
        check_closed(computation)
        plain = None
        if type_.parameter is not None:
            plain = prepare(argument, type_.parameter, name)
        counts = count_members(plain, type_.parameter, name)
        default = self._factory.default_num_clients
        plain = for_everybody(plain, counts, default)
        if at_once:
            counts = cardinalities_at_once(counts, type_, default, name)
        native = self._factory.native(counts)
        trees = self._compile(computation.tree, native, name)
        plain = self._compile_functions(plain, native, name)
        needed = trees.runtimes | runtimes_of(plain)
        executor = self._factory.create_executor(counts, needed)
        terms = Terms(name, seconds, lambda: self._factory.forget_executor(counts))
        clients = counts.get(CLIENTS, default)
        return Run(executor, trees, type_, plain, clients, terms, self._factory.tape)

    def _compile(self, tree: ir.Node, native: Set[str], name: str) -> Trees:
        def make() -> Trees:
            by_step = compile_tree(tree, native, name)
            fused = fuse(by_step, native) if self._factory.fuses else by_step
            return Trees(by_step, fused)

        key = Program(frozenset(native), number_of_definitions(), to_text(tree), tree)
        return self._compiled.get(key, make, tree.type, name)

    def _compile_functions(self, plain: Any, native: frozenset[str], name: str) -> Any:
        """The argument, with the functions in it compiled like the computation."""
        if isinstance(plain, Struct):
            return plain.map(lambda v: self._compile_functions(v, native, name))
        if isinstance(plain, ir.Node):
            return self._compile(plain, native, f"{name}'s argument").fused
        return plain


def _cure_of_factory(found: object) -> str:
    if isinstance(found, Context):
        return "it is a context already: use it as it is"
    if callable(found):
        return "call it: the parentheses are missing"
    return "pass the factory, not an executor"


def _is_called_by_leaf_code() -> bool:
    """Whether a thread of leaf code asks: it may be the one we would wait for."""
    return isinstance(threading.current_thread(), threading._DummyThread)


@final
class SyncExecutionContext(Context):
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
        self._engine = ExecutionEngine(executor_fn, timeout)

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Runs `computation` and returns what Python gets."""
        return self._run(computation, argument, at_once=False)

    def run_intrinsic(self, computation: Computation, argument: Any) -> Any:
        """Runs an intrinsic that was used outside of any body."""
        return self._run(computation, argument, at_once=True)

    def _run(self, computation: Computation, argument: Any, *, at_once: bool) -> Any:
        engine = self._engine
        run = engine.plan(computation, argument, engine.seconds(), at_once=at_once)
        if engine.on_callers_thread or _is_called_by_leaf_code():
            return step(run.execute)
        return event_loop.run(run.execute(), run.terms)


@final
class AsyncExecutionContext(Context):
    """Like `SyncExecutionContext`, but a call returns a coroutine to be awaited.

    Arguments may be coroutines of earlier calls: `await f(g(1))`. Calls run on threads
    of their own: your event loop goes on meanwhile, several calls overlap, and who
    cancels one is free at once. Python cannot stop a thread, though: leaf code that is
    under way then goes on until it returns, and its result is thrown away.

    Args:
        executor_fn: an executor factory such as `local_executor_factory()`.
        timeout: how many seconds a call may take; see `fl.timeout`.

    Source: `tff.framework.AsyncExecutionContext`.
    """

    @short_traceback
    def __init__(
        self, executor_fn: ExecutorFactory, *, timeout: float | None = None
    ) -> None:
        self._engine = ExecutionEngine(executor_fn, timeout)

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Returns a coroutine that runs `computation`."""
        return self._run(computation, argument, self._engine.seconds(), at_once=False)

    def run_intrinsic(self, computation: Computation, argument: Any) -> Any:
        """Returns a coroutine that runs an intrinsic used outside of any body."""
        return self._run(computation, argument, self._engine.seconds(), at_once=True)

    async def _run(
        self,
        computation: Computation,
        argument: Any,
        seconds: float | None,
        *,
        at_once: bool,
    ) -> Any:
        engine = self._engine
        with short_tracebacks(), depth_limit():
            awaited = await _awaited(argument)
            run = engine.plan(computation, awaited, seconds, at_once=at_once)
            if engine.on_callers_thread:
                return await run.execute()
            return await event_loop.run_async(run.execute(), run.terms)


async def _awaited(argument: Any) -> Any:
    if inspect.isawaitable(argument):
        return await argument
    if isinstance(argument, Struct):
        return Struct([(name, await _awaited(v)) for name, v in argument.items()])
    if isinstance(argument, list):
        return [await _awaited(element) for element in argument]
    return argument
