# SPDX-License-Identifier: Apache-2.0
"""Execution contexts: a call becomes a run of a stack of executors.

    prepare   the argument in plain form, and how many participants    `arguments.py`
    compile   the program for their stack, or find it again            `compiler`
    stack     build it for that many, or take it again                 `factories.py`
    run       embed, call, compute; what Python gets of the result

All but the last is done on the caller's thread; where that is, `calls.py` says.
`SyncExecutionContext` waits for the result; `AsyncExecutionContext` returns a
coroutine; `record` keeps what happened.
"""

import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any, NamedTuple, final

from fedlearn_edu.compiler.pipeline import compile_tree, fuse, join_steps
from fedlearn_edu.contexts.arguments import prepare, to_python
from fedlearn_edu.contexts.cache import Cache
from fedlearn_edu.contexts.calls import run, run_async
from fedlearn_edu.contexts.factories import ExecutorFactory, local_executor_factory
from fedlearn_edu.errors import (
    ArgumentsError,
    ContextError,
    TypeMismatchError,
    depth_limit,
    describe,
    short_traceback,
    short_tracebacks,
)
from fedlearn_edu.executors.recording import Tape
from fedlearn_edu.executors.underway import Call
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import is_pure, runtimes
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.language.intrinsic import number_of_definitions
from fedlearn_edu.runtimes.registry import fusers, keep_gil
from fedlearn_edu.signals import is_from_outside
from fedlearn_edu.structure import Struct, tree_map
from fedlearn_edu.types import CLIENTS
from fedlearn_edu.types.packing import GROUP
from fedlearn_edu.types.sequences import DatasetSequence, LazySequence

_MAX_COMPILED = 256
Work = Callable[[], Coroutine[Any, Any, Any]]
_timeout: ContextVar[float | None] = ContextVar("timeout", default=None)


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


class _Compiled(NamedTuple):
    """A program for a stack: step by step, and with what can be fused as one leaf."""

    by_step: ir.Node
    fused: ir.Node
    runtimes: frozenset[str]


class _StackContext(Context):
    """Runs computations on the stacks of one factory.

    Attributes:
        factory: builds the stacks.
    """

    def __init__(self, executor_fn: ExecutorFactory, timeout: float | None) -> None:
        if not isinstance(executor_fn, ExecutorFactory):
            raise _not_a_factory(executor_fn)
        self.factory = executor_fn
        self._timeout = None if timeout is None else _checked(timeout)
        self._seconds()
        self._compiled: Cache[_Program, _Compiled] = Cache(_MAX_COMPILED)

    def _seconds(self) -> float | None:
        """How long a call may take."""
        found = _timeout.get() or self._timeout
        if found is not None and self.factory.on_callers_thread:
            raise ContextError(
                "a call on your own thread cannot be given up",
                expected="a stack with threads of its own",
                found=f"a time limit of {found:g} s",
                do="leave the limit out, or take local_executor_factory()",
            )
        return found

    def _prepare(
        self, computation: Computation, argument: Any, seconds: float | None
    ) -> tuple[Work, Call, bool]:
        """All that can be done before anything runs: on the caller's own thread.

        What is to be driven, the call it is for, and whether it may stay on the thread.
        """
        type_, name = computation.type_signature, computation.__name__
        factory, default = self.factory, self.factory.default_num_clients
        plain, counts = prepare(computation, argument, default)
        native = factory.native(counts)
        program = self._compile(computation.tree, native, name)
        needed = set(program.runtimes)

        def compiled(part: Any) -> Any:
            """A function in the argument, compiled like the computation."""
            if not isinstance(part, ir.Node):
                return part
            function = self._compile(part, native, f"{name}'s argument")
            needed.update(function.runtimes)
            return function.fused

        plain = tree_map(compiled, plain)
        executor = factory.create_executor(counts, frozenset(needed))

        async def execute(tree: ir.Node) -> Any:
            arg = None
            if type_.parameter is not None:
                arg = await executor.create_value(plain, type_.parameter)
            fn = await executor.create_value(tree, tree.type)
            result = await executor.create_call(fn, arg)
            value, found = await result.compute(), result.type_signature
            return to_python(value, found, type_.result, counts.get(CLIENTS, default))

        work = partial(self._run_fused_first, execute, program, plain)
        call = Call(name, seconds, partial(factory.forget_executor, counts))
        return work, call, factory.on_callers_thread or keep_gil(frozenset(needed))

    def _compile(self, tree: ir.Node, native: frozenset[str], name: str) -> _Compiled:
        def make() -> _Compiled:
            by_step = compile_tree(tree, native, name)
            fused = by_step
            if self.factory.fuses:
                fused = fuse(join_steps(by_step, fusers(), native), fusers())
            return _Compiled(by_step, fused, runtimes(by_step))

        key = _Program(native, number_of_definitions(), to_text(tree), tree)
        tape = self.factory.tape
        return self._compiled.get(key, make, tape, "compiled", tree.type, name)

    async def _run_fused_first(
        self,
        execute: Callable[[ir.Node], Awaitable[Any]],
        program: _Compiled,
        plain: Any,
    ) -> Any:
        """Runs what is fused; after an error step by step, which tells more.

        But not if it shows that something was done twice.
        """
        by_step, fused, tape = program.by_step, program.fused, self.factory.tape
        try:
            return await execute(fused)
        except Exception as error:
            is_pure_run = is_pure(by_step) and _is_pure(plain)
            if fused is by_step or not is_pure_run or is_from_outside(error):
                raise
            if tape is not None:
                event = tape.begin("context", "all", "again, step by step")
                tape.end(event, type=str(by_step.type), detail=type(error).__name__)
        return await execute(by_step)


def _is_pure(plain: Any) -> bool:
    """Whether there is no Python code in an argument, generators included."""
    if isinstance(plain, Struct | tuple):
        return all(map(_is_pure, plain))
    if isinstance(plain, ir.Node):
        return is_pure(plain)
    return not isinstance(plain, LazySequence | DatasetSequence)


def _not_a_factory(found: object) -> TypeMismatchError:
    if isinstance(found, Context):
        do = "it is a context already: use it as it is"
    elif callable(found):
        do = "call it: the parentheses are missing"
    else:
        do = "pass the factory, not an executor"
    return TypeMismatchError(
        "an execution context needs an executor factory",
        expected="for example framework.local_executor_factory()",
        found=describe(found),
        do=do,
    )


@final
class SyncExecutionContext(_StackContext):
    """Runs computations on a stack and waits for the result.

    Works in scripts, threads, notebooks and inside running event loops, because it
    needs none. Use it as the default context, or in a `with` block.

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

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Runs `computation` and returns what Python gets."""
        work, call, stays = self._prepare(computation, argument, self._seconds())
        return run(work, call, stays=stays)


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

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """A coroutine that runs `computation`; the time limit is that of the call."""
        return self._run(computation, argument, self._seconds())

    async def _run(self, *call: Any) -> Any:
        with short_tracebacks(), depth_limit():
            work, made, _ = self._prepare(*call)
            if self.factory.on_callers_thread:
                return run(work, made, stays=True)
            return await run_async(work, made)


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


@contextmanager
def record(
    *, fuse: bool = False, default_num_clients: int = 0, max_fanout: int = GROUP
) -> Iterator[Tape]:
    """Records every contract call of the computations called within.

    They run on a stack of their own, with sequence operators, whatever the default
    context is. The tape keeps the values that came up, to be looked at later.

    Args:
        fuse: whether steps may be taken together, as they are by default elsewhere;
            then clients that run in one call are one event.
        default_num_clients: how many clients there are when no argument says it.
        max_fanout: from this many clients on, they are put into groups of groups.

    Raises:
        CardinalityError: if a number is out of range.

    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> with fl.record() as tape:
    ...     fl.federated_sum(fl.place([1, 2, 3], fl.CLIENTS)).value
    np.int32(6)
    >>> tape.events[-1].what, tape.events[-1].participant
    ('compute', 'server')
    """
    tape = Tape(keep_values=True)
    factory = local_executor_factory(
        default_num_clients, max_fanout, support_sequence_ops=True, tape=tape, fuse=fuse
    )
    with SyncExecutionContext(factory):
        yield tape
