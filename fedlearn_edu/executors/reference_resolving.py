# SPDX-License-Identifier: Apache-2.0
"""Names, functions and blocks: the interpreter of everything compositional.

    ReferenceResolvingExecutor      x, (x -> …), let … in …, f(x), <a,b>, s.a
      └─ target executor            leaf code, intrinsics, plain data

Trees come in from the context or from an executor above; the target never sees a name.
A function that must go down to the target whole is closed first: the plain values it
uses of the bodies around it travel along as constants (decision 3 in `docs/decisions`).
"""

from collections import ChainMap
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never, final

from fedlearn_edu.errors import ExecutorError, TypeMismatchError
from fedlearn_edu.executors.base import ExecutorValue
from fedlearn_edu.executors.layer import Handle, Layer
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import free_references, substitute, with_name
from fedlearn_edu.structure import Struct, leaves
from fedlearn_edu.types import FederatedType, FunctionType, StructType, Type

Scope: TypeAlias = ChainMap[str, "Handle"]


@final
@dataclass(frozen=True)
class Closure:
    """A function of the language together with the scope it was written in."""

    function: ir.Lambda
    scope: Scope


@final
class ReferenceResolvingExecutor(Layer["Closure | ir.Leaf | ir.Intrinsic"]):
    """Interprets names, functions, blocks, calls and structures.

    Source: `tff.framework.ReferenceResolvingExecutor`.
    """

    async def accept(self, node: ir.Node | None, value: Any, type_: Type) -> Any:
        """Evaluates a tree, or embeds plain data in the target."""
        if node is not None:
            return await self.evaluate(node, ChainMap())
        if isinstance(value, Struct) and isinstance(type_, StructType):
            pairs = zip(value, type_, strict=True)
            return type_._with_values([await self.create_value(*p) for p in pairs])
        return await self._target.create_value(value, type_)

    async def apply(self, fn: Handle, arg: Handle | None, type_: FunctionType) -> Any:
        """Calls a closure here, a target's function there."""
        match self.held(fn):
            case Closure(function=function, scope=scope):
                if function.parameter is not None and arg is not None:
                    scope = scope.new_child({function.parameter: arg})
                return await self.evaluate(function.body, scope)
            case _:
                return await self.call_below(fn, arg)

    async def evaluate(self, node: ir.Node, scope: Scope) -> Handle:
        """What a tree means where these names are bound."""
        match node:
            case ir.Reference(name=name):
                return _lookup(name, scope)
            case ir.Selection(source=source, index=index):
                return await self.select(await self.evaluate(source, scope), index)
            case ir.Struct(elements=elements):
                pairs = [(n, await self.evaluate(e, scope)) for n, e in elements]
                return await self.create_struct(Struct(pairs))
            case ir.Block(locals=bound, result=result):
                scope = scope.new_child()
                for name, value in bound:
                    handle = await self.evaluate(value, scope)
                    scope = with_name(name, handle, scope)
                return await self.evaluate(result, scope)
            case ir.Call(function=function, argument=argument):
                fn = await self.evaluate(function, scope)
                arg = await self.evaluate(argument, scope) if argument else None
                called: Any = fn.type_signature
                return self.hold(await self.apply(fn, arg, called), called.result)
            case ir.Lambda():
                return Handle(self, Closure(node, scope), node.type)
            case ir.Intrinsic() | ir.Leaf():
                return Handle(self, node, node.type)
            case ir.Literal(value=literal, type=type_):
                return await self.create_value(literal, type_)
            case ir.PlacementLiteral():
                below = await self._target.create_value(node, node.type)
                return self.hold(below, node.type)
            case _:
                assert_never(node)

    async def embed_below(self, handle: Handle) -> ExecutorValue:
        """Embeds a function whole, after closing it over what it captured."""
        fn = self.held(handle)
        node = await self._close_over(fn) if isinstance(fn, Closure) else handle.node
        return await self._target.create_value(node, node.type)

    async def _close_over(self, closure: Closure) -> ir.Node:
        """The function with the values it captured written into it as constants."""
        bindings: dict[str, ir.Node] = {}
        for name in free_references(closure.function):
            captured = _lookup(name, closure.scope)
            type_ = captured.type_signature
            if any(isinstance(leaf, FederatedType) for leaf in leaves(type_)):
                raise TypeMismatchError(
                    f"a function given to an intrinsic captures {name!r}, "
                    "which cannot travel",
                    expected="captured values without a placement",
                    found=f"{name}: {type_}",
                    where=to_text(closure.function)[:80],
                    do=f"make {name!r} part of the value that is mapped",
                )
            bindings[name] = await self._as_constant(captured, name)
        return substitute(closure.function, bindings)

    async def _as_constant(self, captured: Handle, name: str) -> ir.Node:
        match self.held(captured):
            case Closure() as inner:
                return await self._close_over(inner)
            case ir.Leaf() | ir.Intrinsic() as function:
                return function
            case Struct() as fields:
                constants = [await self._as_constant(v, name) for v in fields]
                return ir.Struct(fields.with_values(constants).items())
            case ExecutorValue():
                plain = await captured.compute()
                return ir.Literal(plain, captured.type_signature, name)
            case impossible:
                assert_never(impossible)


def _lookup(name: str, scope: Scope) -> Handle:
    """The innermost binding of `name`."""
    try:
        return scope[name]
    except KeyError:
        raise ExecutorError(
            f"the name {name!r} is not bound here",
            do="run only closed computations; pass captured values as parameters",
        ) from None
