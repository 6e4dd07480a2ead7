# SPDX-License-Identifier: Apache-2.0
"""One call on its way through a stack, and the argument it takes along.

`execution.py` plans runs; here they are executed: embed, call, compute, restore.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

from fedlearn_edu.contexts.event_loop import Terms
from fedlearn_edu.errors import TypeMismatchError, describe
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.recording import Tape
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import is_pure, runtimes
from fedlearn_edu.language.arguments import private
from fedlearn_edu.language.computation import Computation, check_closed
from fedlearn_edu.language.decorator import PolymorphicComputation
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    DatasetSequence,
    FederatedType,
    FunctionType,
    LazySequence,
    StructType,
    Type,
    normalize,
    restore,
)


@final
@dataclass(frozen=True)
class Program:
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
class Trees:
    """A program compiled, and the same with what can be fused as one leaf."""

    by_step: ir.Node
    fused: ir.Node

    @cached_property
    def runtimes(self) -> frozenset[str]:
        """The runtimes it needs."""
        return runtimes(self.by_step)


@final
@dataclass(frozen=True)
class Run:
    """One call, ready to run: a stack, a compiled program and a plain argument."""

    executor: Executor
    trees: Trees
    type_signature: FunctionType
    plain: Any
    clients: int
    terms: Terms
    tape: Tape | None = None

    async def execute(self) -> Any:
        """Runs what is fused; after an error step by step, which tells more.

        But not if it shows that something was done twice.
        """
        trees = self.trees
        try:
            return await self._execute(trees.fused)
        except Exception as error:
            again = trees.fused is not trees.by_step and is_pure(trees.by_step)
            if not (again and _is_pure(self.plain)):
                raise
            if self.tape is not None:
                what = ("context", "all", "again, step by step")
                text, kind = str(self.type_signature), type(error).__name__
                self.tape.record(self.tape.start(), *what, text, kind)
        return await self._execute(trees.by_step)

    async def _execute(self, tree: ir.Node) -> Any:
        """Embeds, calls, computes and restores."""
        type_, arg = self.type_signature, None
        if type_.parameter is not None:
            arg = await self.executor.create_value(self.plain, type_.parameter)
        fn = await self.executor.create_value(tree, tree.type)
        result = await self.executor.create_call(fn, arg)
        plain = private(await result.compute())
        found = result.type_signature
        return restore(whole(plain, found, type_.result, self.clients), type_.result)


def whole(plain: Any, found: Type, type_: Type, clients: int) -> Any:
    """A result with an entry for each participant where one stands for all of them.

    A value that is equal everywhere may have passed through `{T}@CLIENTS`.
    """
    if found == type_:
        return plain
    match found, type_:
        case FederatedType(all_equal=True), FederatedType(all_equal=False) as each:
            return (plain,) * (clients if each.placement is CLIENTS else 1)
        case StructType(), StructType():
            parts = zip(plain, found, type_, strict=True)
            return plain.with_values([whole(*part, clients) for part in parts])
    return plain


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


def _is_pure(plain: Any) -> bool:
    """Whether there is no Python code in an argument, generators included."""
    if isinstance(plain, Struct | tuple):
        return all(map(_is_pure, plain))
    if isinstance(plain, ir.Node):
        return is_pure(plain)
    return not isinstance(plain, LazySequence | DatasetSequence)


def runtimes_of(plain: Any) -> frozenset[str]:
    """The runtimes of the functions in an argument."""
    if isinstance(plain, ir.Node):
        return runtimes(plain)
    if isinstance(plain, Struct):
        return frozenset().union(*map(runtimes_of, plain))
    return frozenset()
