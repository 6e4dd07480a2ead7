# SPDX-License-Identifier: Apache-2.0
"""Several runtimes at one participant: each leaf goes to the executor of its runtime.

Used at the bottom of a stack when a program mixes, say, NumPy and TensorFlow leaves.
Data stay plain until a leaf needs them, and are converted when they change runtimes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.errors import ExecutorError
from fedlearn_edu.executors.base import (
    Executor,
    ExecutorValue,
    as_node,
    check_call,
    resolve_type,
)
from fedlearn_edu.executors.layer import Handle, Layer
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import Type, unwrap


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
class RoutingExecutor(Layer):
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

    async def create_value(self, value: Any, type_spec: Type | None = None) -> Handle:
        """Keeps data and leaf code until they are used."""
        type_ = resolve_type(value, type_spec)
        match as_node(value):
            case None:
                return Handle(self, Plain(value), type_)
            case ir.Literal(value=literal):
                return Handle(self, Plain(literal), type_)
            case ir.Leaf() as leaf:
                return Handle(self, leaf, type_)
            case node:
                raise ExecutorError(
                    "leaf executors run leaf code only", found=type(node).__name__
                )

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> Handle:
        """Runs leaf code where it belongs."""
        fn = self.own(comp)
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
        below = None if arg is None else await self._bring(self.own(arg), runtime)
        code = await target.create_value(fn.representation, type_)
        result = await target.create_call(code, below)
        return Handle(self, Embedded(runtime, result), type_.result)

    async def fetch(self, handle: Handle) -> Any:
        """Materializes data, wherever they are."""
        match handle.representation:
            case Plain(value=value):
                return unwrap(value)
            case Embedded(value=embedded):
                return await embedded.compute()
            case other:
                raise AssertionError(f"not data: {other}")

    async def select_below(self, handle: Handle, at: int) -> Handle:
        """Selects where the structure is."""
        type_ = handle.type_signature[at]  # type: ignore[index]
        match handle.representation:
            case Embedded(runtime=runtime, value=embedded):
                below = await self._targets[runtime].create_selection(embedded, at)
                return Handle(self, Embedded(runtime, below), type_)
            case plain:
                return Handle(self, Plain(plain.value[at]), type_)

    async def embed_below(self, handle: Handle, target: Executor) -> ExecutorValue:
        """Brings data to a runtime that does not have them yet."""
        here = handle.representation
        data = here.value if isinstance(here, Plain) else await handle.compute()
        return await target.create_value(data, handle.type_signature)

    async def _bring(self, value: Handle, runtime: str) -> ExecutorValue:
        """The same value in the executor of `runtime`."""
        target = self._targets[runtime]
        match value.representation:
            case Embedded(runtime=here, value=embedded) if here == runtime:
                return embedded
            case Struct() as fields:
                below = [await self._bring(field, runtime) for field in fields]
                return await target.create_struct(fields.with_values(below))
            case _:
                return await self.embed_below(value, target)
