# SPDX-License-Identifier: Apache-2.0
"""Several runtimes at one participant: each leaf goes to the executor of its runtime.

Used at the bottom of a stack when a program mixes, say, NumPy and TensorFlow leaves.
Data stay plain until a leaf needs them, and are converted when they change runtimes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

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
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import Type


@final
@dataclass(frozen=True)
class Plain:
    """Data that no runtime has needed yet."""

    value: Any


@final
@dataclass(frozen=True)
class Embedded:
    """A value inside one runtime's executor."""

    runtime: str
    value: ExecutorValue


@final
class RoutedValue(ExecutorValue):
    """Plain data, a runtime's value, leaf code, or a structure of these."""

    __slots__ = ("_type", "owner", "representation")

    def __init__(
        self,
        owner: "RoutingExecutor",
        representation: Plain | Embedded | ir.Leaf | Struct,
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
        """Materializes the value; code cannot be."""
        match self.representation:
            case Plain(value=value):
                return value
            case Embedded(value=embedded):
                return await embedded.compute()
            case Struct() as fields:
                return Struct([(n, await v.compute()) for n, v in fields.items()])
            case ir.Leaf():
                raise TypeMismatchError("a function cannot be materialized; call it")


@final
class RoutingExecutor(Executor):
    """Sends each leaf to the executor of its runtime.

    Args:
        targets: from the name of a runtime to its executor; the first one also runs the
            operations that every runtime knows.
    """

    def __init__(self, targets: Mapping[str, Executor]) -> None:
        self._targets = dict(targets)

    def close(self) -> None:
        """Closes all targets."""
        for target in self._targets.values():
            target.close()

    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> RoutedValue:
        """Keeps data and leaf code until they are used."""
        type_ = resolve_type(value, type_spec)
        match as_node(value):
            case None:
                return RoutedValue(self, Plain(value), type_)
            case ir.Literal(value=literal):
                return RoutedValue(self, Plain(literal), type_)
            case ir.Leaf() as leaf:
                return RoutedValue(self, leaf, type_)
            case node:
                raise ExecutorError(
                    "leaf executors run leaf code only", found=type(node).__name__
                )

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> RoutedValue:
        """Runs leaf code where it belongs."""
        fn = check_owned(comp, RoutedValue, self)
        type_ = check_call(fn, arg)
        assert isinstance(fn.representation, ir.Leaf)
        runtime = fn.representation.runtime
        if runtime == ir.ANY_RUNTIME:
            runtime = next(iter(self._targets))
        if runtime not in self._targets:
            raise ExecutorError(
                "no executor for this runtime",
                expected=", ".join(self._targets),
                found=runtime,
            )
        target = self._targets[runtime]
        below = None
        if arg is not None:
            below = await self._bring(check_owned(arg, RoutedValue, self), runtime)
        code = await target.create_value(fn.representation, type_)
        result = await target.create_call(code, below)
        return RoutedValue(self, Embedded(runtime, result), type_.result)

    async def create_struct(self, elements: Any) -> RoutedValue:
        """Keeps the elements side by side."""
        fields = as_struct(elements)
        for element in fields:
            check_owned(element, RoutedValue, self)
        return RoutedValue(self, fields, struct_type_of(fields))

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> RoutedValue:
        """Picks a field."""
        value = check_owned(source, RoutedValue, self)
        at = position(value.type_signature, index, name)
        type_ = value.type_signature[at]  # type: ignore[index]
        match value.representation:
            case Struct() as fields:
                selected: RoutedValue = fields[at]
                return selected
            case Plain(value=plain):
                return RoutedValue(self, Plain(plain[at]), type_)
            case Embedded(runtime=runtime, value=embedded):
                below = await self._targets[runtime].create_selection(embedded, at)
                return RoutedValue(self, Embedded(runtime, below), type_)
            case ir.Leaf():
                raise AssertionError("a function has no structure type")

    async def _bring(self, value: RoutedValue, runtime: str) -> ExecutorValue:
        """The same value in the executor of `runtime`."""
        target = self._targets[runtime]
        match value.representation:
            case Embedded(runtime=here, value=embedded) if here == runtime:
                return embedded
            case Struct() as fields:
                pairs = [(n, await self._bring(v, runtime)) for n, v in fields.items()]
                return await target.create_struct(Struct(pairs))
            case _:
                plain = await value.compute()
                return await target.create_value(plain, value.type_signature)
