# SPDX-License-Identifier: Apache-2.0
"""Names, functions and blocks: the interpreter of everything compositional.

    ReferenceResolvingExecutor      x, (x -> …), let … in …, f(x), <a,b>, s.a
      └─ target executor            leaf code, intrinsics, plain data

Trees come in from the context or from an executor above; the target never sees a name.
A function that must go down to the target whole is closed first: the plain values it
uses of the bodies around it travel along as constants (decision 3 in `docs/decisions`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never, final

from fedlearn_edu.errors import ExecutorError, TypeMismatchError
from fedlearn_edu.executors.base import (
    Executor,
    ExecutorValue,
    as_node,
    as_struct,
    check_call,
    check_owned,
    position,
    resolve_type,
    struct_type_of,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import free_references, substitute
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FederatedType, FunctionType, StructType, Type


@final
@dataclass(frozen=True)
class Scope:
    """An immutable chain of bindings."""

    bindings: Mapping[str, "ReferenceResolvingValue"] = field(default_factory=dict)
    parent: "Scope | None" = None

    def lookup(self, name: str) -> "ReferenceResolvingValue":
        """The innermost binding of `name`."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bindings:
                return scope.bindings[name]
            scope = scope.parent
        raise ExecutorError(
            f"the name {name!r} is not bound here",
            do="run only closed computations; pass captured values as parameters",
        )


@final
@dataclass(frozen=True)
class Closure:
    """A function of the language together with the scope it was written in."""

    function: ir.Lambda
    scope: Scope


@final
class ReferenceResolvingValue(ExecutorValue):
    """A target's value, a function, or a structure of these.

    A function is a closure, or leaf code or an intrinsic that is embedded when called.
    """

    __slots__ = ("_type", "owner", "representation")

    def __init__(
        self,
        owner: "ReferenceResolvingExecutor",
        representation: ExecutorValue | Closure | ir.Leaf | ir.Intrinsic | Struct,
        type_: Type,
    ) -> None:
        self.owner = owner
        self.representation = representation
        self._type = type_

    @property
    def type_signature(self) -> Type:
        """The type of the value."""
        return self._type

    async def compute(self) -> Any:
        """Materializes the value; functions cannot be."""
        match self.representation:
            case Struct() as fields:
                return Struct([(n, await v.compute()) for n, v in fields.items()])
            case Closure() | ir.Leaf() | ir.Intrinsic():
                raise TypeMismatchError(
                    "a function cannot be materialized",
                    expected="data",
                    found=str(self._type),
                    do="call it",
                )
            case target:
                return await target.compute()


@final
class ReferenceResolvingExecutor(Executor):
    """Interprets names, functions, blocks, calls and structures.

    Source: `tff.framework.ReferenceResolvingExecutor`.
    """

    def __init__(self, target_executor: Executor) -> None:
        self._target = target_executor

    def close(self) -> None:
        """Closes the target."""
        self._target.close()

    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> ReferenceResolvingValue:
        """Evaluates a tree, or embeds plain data in the target."""
        type_ = resolve_type(value, type_spec)
        node = as_node(value)
        if node is not None:
            return await self._evaluate(node, Scope())
        if isinstance(type_, StructType) and isinstance(value, Struct):
            pairs = [
                (name, await self.create_value(element, element_type))
                for element, (name, element_type) in zip(
                    value, type_.items(), strict=True
                )
            ]
            return ReferenceResolvingValue(self, Struct(pairs), type_)
        return self._wrap(await self._target.create_value(value, type_))

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> ReferenceResolvingValue:
        """Calls a closure here, a target's function there."""
        fn = check_owned(comp, ReferenceResolvingValue, self)
        if arg is not None:
            arg = check_owned(arg, ReferenceResolvingValue, self)
        check_call(fn, arg)
        return await self._call(fn, arg)

    async def create_struct(self, elements: Any) -> ReferenceResolvingValue:
        """Keeps the elements side by side."""
        fields = as_struct(elements)
        for element in fields:
            check_owned(element, ReferenceResolvingValue, self)
        return ReferenceResolvingValue(self, fields, struct_type_of(fields))

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> ReferenceResolvingValue:
        """Picks an element, here or in the target."""
        value = check_owned(source, ReferenceResolvingValue, self)
        return await self._select(value, position(value.type_signature, index, name))

    async def _evaluate(self, node: ir.Node, scope: Scope) -> ReferenceResolvingValue:
        match node:
            case ir.Reference(name=name):
                return scope.lookup(name)
            case ir.Selection(source=source, index=index):
                return await self._select(await self._evaluate(source, scope), index)
            case ir.Struct(elements=elements):
                pairs = [(n, await self._evaluate(e, scope)) for n, e in elements]
                return ReferenceResolvingValue(self, Struct(pairs), node.type)
            case ir.Lambda():
                return ReferenceResolvingValue(self, Closure(node, scope), node.type)
            case ir.Block(locals=bound, result=result):
                for name, value in bound:
                    scope = Scope({name: await self._evaluate(value, scope)}, scope)
                return await self._evaluate(result, scope)
            case ir.Call(function=function, argument=argument):
                fn = await self._evaluate(function, scope)
                arg = await self._evaluate(argument, scope) if argument else None
                return await self._call(fn, arg)
            case ir.Literal(value=literal, type=type_):
                return await self.create_value(literal, type_)
            case ir.Intrinsic() | ir.Leaf():
                return ReferenceResolvingValue(self, node, node.type)
            case ir.PlacementLiteral():
                return self._wrap(await self._target.create_value(node, node.type))
            case _:
                assert_never(node)

    async def _call(
        self, fn: ReferenceResolvingValue, arg: ReferenceResolvingValue | None
    ) -> ReferenceResolvingValue:
        match fn.representation:
            case Closure(function=function, scope=scope):
                if function.parameter is not None and arg is not None:
                    scope = Scope({function.parameter: arg}, scope)
                return await self._evaluate(function.body, scope)
            case Struct():
                raise AssertionError("a structure has no function type")
            case _:
                target = await self._lower(fn)
                below = None if arg is None else await self._lower(arg)
                return self._wrap(await self._target.create_call(target, below))

    async def _select(
        self, source: ReferenceResolvingValue, index: int
    ) -> ReferenceResolvingValue:
        match source.representation:
            case Struct() as fields:
                selected: ReferenceResolvingValue = fields[index]
                return selected
            case Closure() | ir.Leaf() | ir.Intrinsic():
                raise AssertionError("a function has no structure type")
            case target:
                return self._wrap(await self._target.create_selection(target, index))

    async def _lower(self, value: ReferenceResolvingValue) -> ExecutorValue:
        """The same value in the target executor."""
        match value.representation:
            case Struct() as fields:
                pairs = [(n, await self._lower(v)) for n, v in fields.items()]
                return await self._target.create_struct(Struct(pairs))
            case Closure() as closure:
                node = await self._close_over(closure)
                return await self._target.create_value(node, node.type)
            case ir.Leaf() | ir.Intrinsic() as node:
                return await self._target.create_value(node, node.type)
            case target:
                return target

    async def _close_over(self, closure: Closure) -> ir.Node:
        """The function with the values it captured written into it as constants."""
        bindings: dict[str, ir.Node] = {}
        for name in free_references(closure.function):
            captured = closure.scope.lookup(name)
            match captured.representation:
                case Closure() as inner:
                    bindings[name] = await self._close_over(inner)
                case ir.Leaf() | ir.Intrinsic() as function:
                    bindings[name] = function
                case _:
                    _check_may_travel(name, captured.type_signature, closure)
                    plain = await captured.compute()
                    bindings[name] = ir.Literal(plain, captured.type_signature)
        return substitute(closure.function, bindings)

    def _wrap(self, value: ExecutorValue) -> ReferenceResolvingValue:
        return ReferenceResolvingValue(self, value, value.type_signature)


def _check_may_travel(name: str, type_: Type, closure: Closure) -> None:
    if type_.contains(lambda t: isinstance(t, FederatedType | FunctionType)):
        raise TypeMismatchError(
            f"a function given to an intrinsic captures {name!r}, which cannot travel",
            expected="captured values without a placement",
            found=f"{name}: {type_}",
            where=to_text(closure.function)[:80],
            do=f"make {name!r} part of the value that is mapped",
        )
