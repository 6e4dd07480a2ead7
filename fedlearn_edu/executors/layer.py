# SPDX-License-Identifier: Apache-2.0
"""What most executors have in common: their handles, and structures kept side by side.

An executor that interprets some constructs over a target is a `Layer`: it says how a
value goes down to the target, how it is fetched, and how a field is selected below; the
rest of the contract for structures is here. `base.py` has the contract itself.
"""

from abc import abstractmethod
from typing import Any, final

from fedlearn_edu.errors import ExecutorError, TypeMismatchError
from fedlearn_edu.executors.base import (
    Executor,
    ExecutorValue,
    as_node,
    as_struct,
    check_owned,
    position,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FunctionType, Type
from fedlearn_edu.types.definitions import struct_type


@final
class Handle(ExecutorValue):
    """A value of the executor `owner`, represented in a way only the owner looks into.

    In a `Layer`, a `Struct` of handles represents a structure.
    """

    __slots__ = ("owner", "representation", "type_signature")
    type_signature: Type

    def __init__(self, owner: Any, representation: Any, type_: Type) -> None:
        self.owner = owner
        self.representation = representation
        self.type_signature = type_

    def __repr__(self) -> str:
        kind = type(self.representation).__name__
        return f"<{type(self.owner).__name__} holds a {kind}: {self.type_signature}>"

    @property
    def node(self) -> ir.Node:
        """The tree of a function that is kept until it is embedded where it runs."""
        node = as_node(self.representation)
        if node is None:
            raise ExecutorError(
                "a function was expected here",
                expected="a lambda, leaf code or an intrinsic",
                found=str(self.type_signature),
            )
        return node

    async def compute(self) -> Any:
        """Materializes the value; a function cannot be."""
        if isinstance(self.type_signature, FunctionType):
            raise TypeMismatchError(
                "the result is a function, not data",
                expected="data, such as float32",
                found=str(self.type_signature),
                do="did you forget to call it? put parentheses behind its name",
            )
        return await self.owner.materialize(self)


class Layer(Executor):
    """An executor over a target, with structures kept side by side."""

    @abstractmethod
    async def fetch(self, handle: Handle) -> Any:
        """Materializes a value that is no structure of handles."""

    @abstractmethod
    async def select_below(self, handle: Handle, at: int) -> Handle:
        """Selects a field of a value that is no structure of handles."""

    @abstractmethod
    async def embed_below(self, handle: Handle, target: Executor) -> ExecutorValue:
        """Embeds in `target` what is neither a structure nor a target's value yet."""

    async def create_struct(self, elements: Any) -> Handle:
        """Keeps the elements side by side."""
        fields = as_struct(elements)
        types = [self.own(field).type_signature for field in fields]
        return Handle(self, fields, struct_type(fields.names(), types))

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> Handle:
        """Picks an element, here or below.

        Raises:
            TypeMismatchError: if `source` is not embedded here or not a structure.
            ValueError: if both or neither of `index` and `name` are given.
        """
        handle = self.own(source)
        return await self.select(handle, position(handle.type_signature, index, name))

    async def select(self, handle: Handle, at: int) -> Handle:
        """Picks an element that is known to be there."""
        if isinstance(handle.representation, Struct):
            field: Handle = handle.representation[at]
            return field
        return await self.select_below(handle, at)

    async def materialize(self, handle: Handle) -> Any:
        """The plain form of a value, structures field by field."""
        if isinstance(handle.representation, Struct):
            fields = handle.representation
            return fields.with_values([await field.compute() for field in fields])
        return await self.fetch(handle)

    async def lower(self, handle: Handle, target: Executor) -> ExecutorValue:
        """The same value in the target executor."""
        match handle.representation:
            case Struct() as fields:
                below = [await self.lower(field, target) for field in fields]
                return await target.create_struct(fields.with_values(below))
            case Handle() | ExecutorValue() as value:  # known sooner to be a handle
                return value
            case _:
                return await self.embed_below(handle, target)

    def own(self, value: Any) -> Handle:
        """The handle itself, after checking that this executor made it."""
        return check_owned(value, Handle, self)

    def wrap(self, value: ExecutorValue) -> Handle:
        """A handle for a target's value."""
        return Handle(self, value, value.type_signature)


class OverTarget(Layer):
    """A layer over one target, which has what is not kept in the layer itself."""

    def __init__(self, target_executor: Executor) -> None:
        self._target = target_executor

    def close(self) -> None:
        """Closes the target."""
        self._target.close()

    async def select_below(self, handle: Handle, at: int) -> Handle:
        """Selects in the target."""
        return self.wrap(await self._target.create_selection(handle.representation, at))
