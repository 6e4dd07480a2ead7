# SPDX-License-Identifier: Apache-2.0
"""What executors are made of: a layer over a target, and a leaf at the bottom.

A `Layer` keeps the contract once for all, and asks its subclass four questions:

    accept       what do I hold of a value that comes in?
    apply        what do I hold of the result of a call?
    materialize  what is the plain form of what I hold?
    embed_below  how does what I hold go down to the target?

What a handle holds is a `Struct` of handles side by side, a value of the target, or
something of the layer's own (`Own`): a closure, a mapped sequence, placed members.
"""

from abc import abstractmethod
from typing import Any, Generic, TypeVar, final

from fedlearn_edu.errors import ExecutorError, TypeMismatchError
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
from fedlearn_edu.ir.operations import Operation
from fedlearn_edu.signals import add_place, contained
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
from fedlearn_edu.types.data_types import struct_type
from fedlearn_edu.types.sequences import Cached, unwrap

Own = TypeVar("Own")


@final
class Handle(ExecutorValue):
    """A value of the executor `owner`.

    Attributes:
        representation: what the owner holds of it; only the owner looks into it.
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
            raise ExecutorError(f"a function was expected, not {self.type_signature}")
        return node

    async def compute(self) -> Any:
        """Materializes the value; a function cannot be."""
        return await self.owner.materialize(self)


class _Owner(Executor):
    """The contract, over what handles hold."""

    @abstractmethod
    async def accept(self, node: ir.Node | None, value: Any, type_: Type) -> Any:
        """What is held of a value; `node` is its tree, if it has one."""

    @abstractmethod
    async def apply(self, fn: Handle, arg: Handle | None, type_: FunctionType) -> Any:
        """What is held of the result of a function of that type."""

    @abstractmethod
    def beside(self, fields: Struct) -> Any:
        """What is held of a structure of these handles."""

    @abstractmethod
    async def select(self, source: Handle, at: int) -> Handle:
        """A field that is known to be there."""

    @abstractmethod
    async def materialize(self, handle: Handle) -> Any:
        """The plain form of a value."""

    def own(self, value: Any) -> Handle:
        """The handle itself, after checking that this executor made it."""
        return check_owned(value, Handle, self)

    def hold(self, held: Any, type_: Type) -> Handle:
        """A handle of that."""
        return Handle(self, held, type_)

    async def create_value(self, value: Any, type_spec: Type | None = None) -> Handle:
        """Embeds a plain value or a computation.

        Raises:
            TypeMismatchError: if value and type do not match.
            ExecutorError: if this kind of value is none of this executor's.
        """
        node, type_ = resolve(value, type_spec)
        return self.hold(await self.accept(node, value, type_), type_)

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> Handle:
        """Calls a function.

        Raises:
            TypeMismatchError: if `comp` is no function or does not take `arg`.
        """
        fn = self.own(comp)
        argument = None if arg is None else self.own(arg)
        type_ = check_call(fn, argument)
        return self.hold(await self.apply(fn, argument, type_), type_.result)

    async def create_struct(self, elements: Any) -> Handle:
        """Puts values side by side."""
        fields = as_struct(elements)
        types = tuple([self.own(field).type_signature for field in fields])
        type_ = struct_type(fields.names(), types)
        return Handle(self, self.beside(fields), type_)

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> Handle:
        """Picks a field.

        Raises:
            TypeMismatchError: if `source` is not embedded here or not a structure.
            ValueError: if both or neither of `index` and `name` are given.
        """
        handle = self.own(source)
        return await self.select(handle, position(handle.type_signature, index, name))


class Layer(_Owner, Generic[Own]):
    """An executor over a target; see the top of this file."""

    def __init__(self, target_executor: Executor) -> None:
        self._target = target_executor

    def hold(self, held: Any, type_: Type) -> Handle:
        """A handle of that; what is a value already says its own type."""
        if isinstance(held, Handle):
            if held.owner is self:
                return held
            type_ = held.type_signature
        elif isinstance(held, ExecutorValue):
            type_ = held.type_signature
        return Handle(self, held, type_)

    def held(self, handle: Handle) -> Struct | ExecutorValue | Own:
        """What a handle holds."""
        held: Struct | ExecutorValue | Own = handle.representation
        return held

    @abstractmethod
    async def embed_below(self, handle: Handle) -> ExecutorValue:
        """Embeds in the target what is of the layer's own."""

    def close(self) -> None:
        """Closes the target."""
        self._target.close()

    def beside(self, fields: Struct) -> Struct:
        """The fields as they are."""
        return fields

    async def select(self, source: Handle, at: int) -> Handle:
        """A field, here or below."""
        held = self.held(source)
        if isinstance(held, Struct):
            field: Handle = held[at]
            return field
        assert isinstance(held, ExecutorValue)
        below = await self._target.create_selection(held, at)
        return self.hold(below, below.type_signature)

    async def materialize(self, handle: Handle) -> Any:
        """The plain form, structures field by field; override it for `Own`."""
        match handle.representation:
            case Struct() as fields:
                return fields.with_values([await field.compute() for field in fields])
            case Handle() | ExecutorValue() as value:  # known sooner to be a handle
                return await value.compute()
            case _:
                raise not_data(handle.type_signature)

    async def lower(self, handle: Handle) -> ExecutorValue:
        """The same value in the target."""
        match handle.representation:
            case Struct() as fields:
                below = [await self.lower(field) for field in fields]
                return await self._target.create_struct(fields.with_values(below))
            case Handle() | ExecutorValue() as value:
                return value
            case _:
                return await self.embed_below(handle)

    async def call_below(self, fn: Handle, arg: Handle | None) -> ExecutorValue:
        """Calls a function in the target."""
        function = await self.lower(fn)
        argument = None if arg is None else await self.lower(arg)
        return await self._target.create_call(function, argument)


class LeafExecutor(_Owner):
    """Runs leaf code of one runtime; data are held in the runtime's own form.

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

    async def accept(self, node: ir.Node | None, value: Any, type_: Type) -> Any:
        """Data in the runtime's form, or leaf code of this runtime."""
        match node:
            case None:
                return self._form(value, type_)
            case ir.Literal(value=literal):
                return self._form(literal, type_)
            case ir.Leaf() as leaf if self.runs(leaf.runtime):
                return leaf.code
            case node:
                raise self._foreign(node)

    def _form(self, plain: Any, type_: Type) -> Any:
        # Most are tensors.
        if not (isinstance(type_, TensorType) or is_data_of_one(type_)):
            raise TypeMismatchError(
                f"the {self.runtime} executor holds what one participant has",
                expected="tensors, structures and sequences",
                found=type_,
                do="put a FederatingExecutor on top of this one",
            )
        return self._embedded(plain, type_)

    def _embedded(self, plain: Any, type_: Type) -> Any:
        match plain:
            case Cached() if self.lazy_sequences and isinstance(type_, SequenceType):
                return plain
            case Cached():
                key = (self.runtime, type_)
                return plain.form(key, lambda plain: self.embed(plain, type_))
            case Struct() if isinstance(type_, StructType) and any(
                isinstance(leaf, Cached) for leaf in leaves(plain)
            ):
                return type_._with_values(map(self._embedded, plain, type_))
            case _:
                return self.embed(plain, type_)

    async def apply(self, fn: Handle, arg: Handle | None, type_: FunctionType) -> Any:
        """Runs leaf code; an error it raises comes with a note that names the code."""
        code, data = fn.representation, None if arg is None else arg.representation
        with underway(code.name), contained(code.name):
            try:
                return self.run(code, data, type_)
            except Exception as error:
                if not isinstance(code, Operation):
                    add_place(error, f"in the computation {code.name}")
                raise

    def beside(self, fields: Struct) -> Struct:
        """Data side by side."""
        return fields.with_values([field.representation for field in fields])

    async def select(self, source: Handle, at: int) -> Handle:
        """Picks a field of the data."""
        assert isinstance(source.type_signature, StructType)
        return Handle(self, source.representation[at], source.type_signature[at])

    async def materialize(self, handle: Handle) -> Any:
        """The plain form of a handle's data."""
        if isinstance(handle.type_signature, FunctionType):
            raise not_data(handle.type_signature)
        return self.extract(handle.representation, handle.type_signature)

    def _foreign(self, node: ir.Node) -> ExecutorError:
        layer, found = "the executors that handle it", type(node).__name__
        found = f"{found} of type {node.type}"
        match node:
            case ir.Leaf(runtime=runtime):
                found += f", for {runtime}"
            case ir.Intrinsic(uri=uri):
                found = f"{uri}: {node.type}"
                if uri.startswith("sequence_"):
                    layer = "a SequenceExecutor"
        return ExecutorError(
            f"the {self.runtime} executor runs its own leaf code only",
            expected=f"leaf code for {self.runtime}, or plain data",
            found=found,
            do=f"put {layer} on top of this one",
        )


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


def not_data(type_: Type) -> TypeMismatchError:
    """The error of computing a function."""
    return TypeMismatchError(
        "the result is a function, not data",
        expected="data, such as float32",
        found=str(type_),
        do="did you forget to call it? put parentheses behind its name",
    )
