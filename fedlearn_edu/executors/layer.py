# SPDX-License-Identifier: Apache-2.0
"""The common parts of executors: handles, layers over a target, and leaf executors.

A `Layer` interprets some constructs over a target: it says how a value goes down to the
target, how it is fetched, and how a field is selected below. Structures are kept here,
side by side. `base.py` has the contract itself.
"""

from abc import abstractmethod
from typing import Any, Generic, TypeVar, final

from fedlearn_edu.errors import add_place
from fedlearn_edu.executors import messages
from fedlearn_edu.executors.base import (
    Executor,
    ExecutorValue,
    as_node,
    as_struct,
    check_call,
    check_owned,
    position,
    resolve,
)
from fedlearn_edu.executors.underway import underway
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import OPERATION_TABLE
from fedlearn_edu.language.leaf_errors import contained
from fedlearn_edu.structure import Struct, leaves
from fedlearn_edu.types import (
    FederatedType,
    FunctionType,
    SequenceType,
    StructType,
    TensorType,
    Type,
    normalize,
)
from fedlearn_edu.types.definitions import struct_type
from fedlearn_edu.types.sequences import Cached, unwrap

Own = TypeVar("Own")


@final
class Handle(ExecutorValue):
    """A value of the executor `owner`, represented in a way only the owner looks into.

    What that may be, `Layer.held` says; in a leaf executor, data in its own form, or
    leaf code; in a strategy, what the strategy returned.
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
            raise messages.no_tree(self.type_signature)
        return node

    async def compute(self) -> Any:
        """Materializes the value; a function cannot be."""
        return await self.owner.materialize(self)


class Layer(Executor, Generic[Own]):
    """An executor over a target, with structures kept side by side.

    `Own` is what it interprets itself.
    """

    def held(self, handle: Handle) -> Struct | ExecutorValue | Own:
        """What a handle holds: handles of fields, a target's value, or `Own`."""
        held: Struct | ExecutorValue | Own = handle.representation
        return held

    def hold(self, held: Struct | ExecutorValue | Own, type_: Type) -> Handle:
        """A handle of that."""
        return Handle(self, held, type_)

    @abstractmethod
    async def select_below(self, handle: Handle, at: int) -> Handle:
        """Selects a field of a value that is no structure of handles."""

    @abstractmethod
    async def embed_below(self, handle: Handle, target: Executor) -> ExecutorValue:
        """Embeds in `target` what is neither a structure nor a target's value yet."""

    async def create_struct(self, elements: Any) -> Handle:
        """Keeps the elements side by side."""
        fields = as_struct(elements)
        types = tuple([self.own(field).type_signature for field in fields])
        return self.hold(fields, struct_type(fields.names(), types))

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
        held = self.held(handle)
        if isinstance(held, Struct):
            field: Handle = held[at]
            return field
        return await self.select_below(handle, at)

    async def materialize(self, handle: Handle) -> Any:
        """The plain form of a value, structures field by field; override for `Own`."""
        match handle.representation:
            case Struct() as fields:
                return fields.with_values([await field.compute() for field in fields])
            case Handle() | ExecutorValue() as value:  # known sooner to be a handle
                return await value.compute()
            case _:
                raise messages.not_data(handle.type_signature)

    async def lower(self, handle: Handle, target: Executor) -> ExecutorValue:
        """The same value in the target executor."""
        match handle.representation:
            case Struct() as fields:
                below = [await self.lower(field, target) for field in fields]
                return await target.create_struct(fields.with_values(below))
            case Handle() | ExecutorValue() as value:
                return value
            case _:
                return await self.embed_below(handle, target)

    def own(self, value: Any) -> Handle:
        """The handle itself, after checking that this executor made it."""
        return check_owned(value, Handle, self)

    def wrap(self, value: ExecutorValue) -> Handle:
        """A handle for a target's value."""
        return Handle(self, value, value.type_signature)


class OverTarget(Layer[Own]):
    """A layer over one target, which has what is not kept in the layer itself."""

    def __init__(self, target_executor: Executor) -> None:
        self._target = target_executor

    def close(self) -> None:
        """Closes the target."""
        self._target.close()

    async def select_below(self, handle: Handle, at: int) -> Handle:
        """Selects in the target."""
        below = self.held(handle)
        assert isinstance(below, ExecutorValue)
        return self.wrap(await self._target.create_selection(below, at))


class LeafExecutor(Executor):
    """Runs leaf code of one runtime; data are kept in the runtime's own form.

    Attributes:
        runtime: its name, as leaf code says it.
        lazy_sequences: whether a sequence stays as it is until code reads it.
    """

    runtime: str
    lazy_sequences: bool = False

    @abstractmethod
    def embed(self, plain: Any, type_: Type) -> Any:
        """Data in the runtime's form; structures are `Struct`s of it."""

    @abstractmethod
    def run(self, code: Any, argument: Any, type_: FunctionType) -> Any:
        """Applies leaf code, or an operation all runtimes know, to embedded data."""

    @abstractmethod
    def extract(self, data: Any, type_: Type) -> Any:
        """Data in plain form."""

    def runs(self, runtime: str) -> bool:
        """Whether leaf code of that runtime can be run here."""
        return runtime == self.runtime or ir.ANY_RUNTIME in (runtime, self.runtime)

    def close(self) -> None:
        """There is nothing to release: no state survives a call."""

    async def create_value(self, value: Any, type_spec: Type | None = None) -> Handle:
        """Embeds plain data or leaf code of this runtime."""
        node, type_ = resolve(value, type_spec)
        match node:
            case None | ir.Literal() as literal:
                # Most are tensors.
                if not (isinstance(type_, TensorType) or is_data_of_one(type_)):
                    raise messages.not_of_one_participant(self.runtime, type_)
                plain = value if literal is None else literal.value
                return Handle(self, self._embed(plain, type_), type_)
            case ir.Leaf() as leaf if self.runs(leaf.runtime):
                return Handle(self, leaf.code, type_)
            case node:
                raise messages.foreign_leaf(self.runtime, node)

    def _embed(self, plain: Any, type_: Type) -> Any:
        match plain:
            case Cached() if self.lazy_sequences and isinstance(type_, SequenceType):
                return plain
            case Cached():
                key = (self.runtime, type_)
                return plain.form(key, lambda plain: self.embed(plain, type_))
            case Struct() if isinstance(type_, StructType) and any(
                isinstance(leaf, Cached) for leaf in leaves(plain)
            ):
                return type_._with_values(map(self._embed, plain, type_))
            case _:
                return self.embed(plain, type_)

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> Handle:
        """Runs leaf code; an error it raises comes with a note that names the code."""
        fn = check_owned(comp, Handle, self)
        type_ = check_call(fn, arg)
        argument = None if arg is None else check_owned(arg, Handle, self)
        data = None if argument is None else argument.representation
        name = fn.representation.name
        with underway(name), contained(name):
            try:
                result = self.run(fn.representation, data, type_)
            except Exception as error:
                if name not in OPERATION_TABLE:
                    add_place(error, f"in the computation {name}")
                raise
        return Handle(self, result, type_.result)

    async def create_struct(self, elements: Any) -> Handle:
        """Puts data side by side."""
        fields = as_struct(elements)
        handles = [check_owned(field, Handle, self) for field in fields]
        data = fields.with_values([handle.representation for handle in handles])
        types = tuple([handle.type_signature for handle in handles])
        return Handle(self, data, struct_type(fields.names(), types))

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> Handle:
        """Picks a field."""
        value = check_owned(source, Handle, self)
        at = position(value.type_signature, index, name)
        assert isinstance(value.type_signature, StructType)
        return Handle(self, value.representation[at], value.type_signature[at])

    async def materialize(self, handle: Handle) -> Any:
        """The plain form of a handle's data."""
        if isinstance(handle.type_signature, FunctionType):
            raise messages.not_data(handle.type_signature)
        return self.extract(handle.representation, handle.type_signature)


@final
class AnyRuntimeExecutor(LeafExecutor):
    """Runs leaf code of every runtime, which takes data in plain form itself.

    At the bottom of a stack whose program mixes, say, NumPy and TensorFlow.
    """

    runtime = ir.ANY_RUNTIME

    def embed(self, plain: Any, type_: Type) -> Any:
        """Plain data, checked."""
        return normalize(plain, type_)

    def run(self, code: Any, argument: Any, type_: FunctionType) -> Any:
        """Calls the code."""
        return code(argument)

    def extract(self, data: Any, type_: Type) -> Any:
        """The data as they are."""
        return unwrap(data)


def is_data_of_one(type_: Type) -> bool:
    """Whether one participant may hold it: no functions, and no placement inside."""
    return not type_.contains(lambda t: isinstance(t, FederatedType | FunctionType))
