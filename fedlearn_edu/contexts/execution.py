# SPDX-License-Identifier: Apache-2.0
"""Execution contexts: a call becomes a run of a stack of executors.

One run: normalize the argument, compile the tree for the stack, count the participants,
build the stack (or take it again), embed, call, compute, restore.
`SyncExecutionContext` waits for the result; `AsyncExecutionContext` returns a
coroutine.
"""

import inspect
from collections import OrderedDict
from typing import Any, final

from fedlearn_edu.compiler.pipeline import compile_tree
from fedlearn_edu.computations.computation import Computation, check_closed
from fedlearn_edu.computations.context_stack import Context
from fedlearn_edu.computations.decorator import PolymorphicComputation
from fedlearn_edu.contexts import event_loop
from fedlearn_edu.contexts.cardinalities import infer_cardinalities
from fedlearn_edu.contexts.factories import ExecutorFactory
from fedlearn_edu.errors import (
    TypeMismatchError,
    describe,
    short_traceback,
    short_tracebacks,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import runtimes
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FunctionType, StructType, Type, normalize, restore

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
                do="call it: the parentheses are missing"
                if callable(factory)
                else "pass the factory, not an executor",
            )
        self._factory = factory
        self._compiled: OrderedDict[Any, tuple[ir.Node, ir.Node]] = OrderedDict()

    async def run(self, computation: Computation, argument: Any) -> Any:
        """One run of a computation on a packed argument."""
        type_ = computation.type_signature
        check_closed(computation)
        plain = None
        if type_.parameter is not None:
            plain = prepare(argument, type_.parameter, computation.__name__)
        counts = infer_cardinalities(plain, type_.parameter, computation.__name__)
        tree = self._compile(computation, self._factory.native(counts))
        needed = runtimes(tree) | _runtimes_of(plain)
        executor = self._factory.create_executor(counts, needed)
        arg = None
        if type_.parameter is not None:
            arg = await executor.create_value(plain, type_.parameter)
        fn = await executor.create_value(tree, tree.type)
        result = await executor.create_call(fn, arg)
        return restore(await result.compute(), type_.result)

    def _compile(self, computation: Computation, native: frozenset[str]) -> ir.Node:
        key = (id(computation.tree), native)
        if key not in self._compiled:
            compiled = compile_tree(computation.tree, native, computation.__name__)
            self._compiled[key] = (computation.tree, compiled)
            if len(self._compiled) > _MAX_COMPILED:
                self._compiled.popitem(last=False)
        return self._compiled[key][1]


def prepare(argument: Any, type_: Type, callee: str) -> Any:
    """The argument in plain form, with functions as trees."""
    plain = normalize(argument, type_, f"{callee}'s argument")
    return _with_trees(plain, type_, callee)


def _with_trees(plain: Any, type_: Type, callee: str) -> Any:
    match type_:
        case FunctionType():
            return _tree_of(plain, type_, callee)
        case StructType() if type_.contains(lambda t: isinstance(t, FunctionType)):
            pairs = zip(type_.items(), plain, strict=True)
            return Struct([(n, _with_trees(v, t, callee)) for (n, t), v in pairs])
        case _:
            return plain


def _tree_of(function: Any, type_: FunctionType, callee: str) -> ir.Node:
    if isinstance(function, PolymorphicComputation) and type_.parameter is not None:
        function = function.concretize(type_.parameter)
    if not isinstance(function, Computation):
        raise TypeMismatchError(
            f"{callee} takes a computation here",
            expected=str(type_),
            found=describe(function),
            where=f"{callee}'s argument",
            do="decorate the function: np_computation(function, type), …",
        )
    check_closed(function)
    where = f"{callee}'s argument"
    type_.check_assignable_from(function.type_signature, where=where)
    return function.tree


def _runtimes_of(plain: Any) -> frozenset[str]:
    if isinstance(plain, ir.Node):
        return runtimes(plain)
    if isinstance(plain, Struct):
        return frozenset().union(*map(_runtimes_of, plain))
    return frozenset()


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
        return event_loop.run(self._engine.run(computation, argument))


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

    async def _run(self, computation: Computation, argument: Any) -> Any:
        with short_tracebacks():
            return await self._engine.run(computation, await _awaited(argument))


async def _awaited(argument: Any) -> Any:
    if inspect.isawaitable(argument):
        return await argument
    if isinstance(argument, Struct):
        return Struct([(name, await _awaited(v)) for name, v in argument.items()])
    return argument
