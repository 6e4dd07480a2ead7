# SPDX-License-Identifier: Apache-2.0
"""Execution contexts: a call becomes a run of a stack of executors.

One run: normalize the argument, count the participants, compile the tree for their
stack, build the stack (or take it again), embed, call, compute, restore.
`SyncExecutionContext` waits for the result; `AsyncExecutionContext` returns a
coroutine.
"""

import inspect
from collections.abc import Set
from typing import Any, final

from fedlearn_edu.compiler.fuse import fuse
from fedlearn_edu.compiler.pipeline import compile_tree
from fedlearn_edu.computations.computation import Computation, check_closed
from fedlearn_edu.computations.context_stack import Context
from fedlearn_edu.contexts import event_loop
from fedlearn_edu.contexts.caching import Cache
from fedlearn_edu.contexts.cardinalities import (
    cardinalities_at_once,
    for_everybody,
    infer_cardinalities,
)
from fedlearn_edu.contexts.factories import ExecutorFactory
from fedlearn_edu.contexts.running import Program, Run, Trees, prepare, runtimes_of
from fedlearn_edu.errors import (
    TypeMismatchError,
    describe,
    short_traceback,
    short_tracebacks,
)
from fedlearn_edu.executors.stepping import step
from fedlearn_edu.intrinsics.definition import number_of_definitions
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.structure import Struct

_MAX_COMPILED = 256


@final
class ExecutionEngine:
    """Runs computations on the stacks of one factory."""

    def __init__(self, factory: ExecutorFactory) -> None:
        if not isinstance(factory, ExecutorFactory):
            raise TypeMismatchError(
                "an execution context needs an executor factory",
                expected="for example framework.local_executor_factory()",
                found=describe(factory),
                do=_cure_of_factory(factory),
            )
        self._factory = factory
        self.on_callers_thread = factory.on_callers_thread
        self._compiled: Cache[Program, Trees]
        self._compiled = Cache(_MAX_COMPILED, "compiled", factory.tape)

    def plan(
        self, computation: Computation, argument: Any, *, at_once: bool = False
    ) -> Run:
        """All that can be done before anything runs: on the caller's own thread.

        Args:
            computation: what will run.
            argument: its packed argument.
            at_once: whether it is an intrinsic that was used outside of any body.
        """
        type_, name = computation.type_signature, computation.__name__
        check_closed(computation)
        plain = None
        if type_.parameter is not None:
            plain = prepare(argument, type_.parameter, name)
        counts = infer_cardinalities(plain, type_.parameter, name)
        default = self._factory.default_num_clients
        plain = for_everybody(plain, counts, default)
        if at_once:
            counts = cardinalities_at_once(counts, type_, default, name)
        native = self._factory.native(counts)
        trees = self._compile(computation.tree, native, name)
        plain = self._compile_functions(plain, native, name)
        needed = trees.runtimes | runtimes_of(plain)
        executor = self._factory.create_executor(counts, needed)
        return Run(executor, trees, type_, plain, self._factory.tape)

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


@final
class SyncExecutionContext(Context):
    """Runs computations on a stack and waits for the result.

    Works in scripts, threads, notebooks and inside running event loops, because the
    work happens on a loop of its own. Use it as the default context, or in a `with`
    block.

    Args:
        executor_fn: an executor factory such as `local_executor_factory()`.

    Source: `tff.framework.SyncExecutionContext`.
    """

    @short_traceback
    def __init__(self, executor_fn: ExecutorFactory) -> None:
        self._engine = ExecutionEngine(executor_fn)

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Runs `computation` and returns what Python gets."""
        return self._finish(self._engine.plan(computation, argument))

    def run_intrinsic(self, computation: Computation, argument: Any) -> Any:
        """Runs an intrinsic that was used outside of any body."""
        return self._finish(self._engine.plan(computation, argument, at_once=True))

    def _finish(self, run: Run) -> Any:
        if self._engine.on_callers_thread:
            return step(run.execute)
        return event_loop.run(run.execute())


@final
class AsyncExecutionContext(Context):
    """Like `SyncExecutionContext`, but a call returns a coroutine to be awaited.

    Arguments may be coroutines of earlier calls: `await f(g(1))`.

    Source: `tff.framework.AsyncExecutionContext`.
    """

    @short_traceback
    def __init__(self, executor_fn: ExecutorFactory) -> None:
        self._engine = ExecutionEngine(executor_fn)

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Returns a coroutine that runs `computation` on the caller's event loop."""
        return self._run(computation, argument)

    def run_intrinsic(self, computation: Computation, argument: Any) -> Any:
        """Returns a coroutine that runs an intrinsic used outside of any body."""
        return self._run(computation, argument, at_once=True)

    async def _run(
        self, computation: Computation, argument: Any, *, at_once: bool = False
    ) -> Any:
        with short_tracebacks():
            awaited = await _awaited(argument)
            run = self._engine.plan(computation, awaited, at_once=at_once)
            return await run.execute()


async def _awaited(argument: Any) -> Any:
    if inspect.isawaitable(argument):
        return await argument
    if isinstance(argument, Struct):
        return Struct([(name, await _awaited(v)) for name, v in argument.items()])
    if isinstance(argument, list):
        return [await _awaited(element) for element in argument]
    return argument
