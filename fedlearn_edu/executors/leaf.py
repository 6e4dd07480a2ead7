# SPDX-License-Identifier: Apache-2.0
"""The bottom of a stack: leaf code is applied to data.

A runtime supplies three functions: how data look inside it, how its code is run, and
how data come out again. Names, placements and operators are handled by the layers
above.
"""

from abc import abstractmethod
from typing import Any

from fedlearn_edu.errors import ExecutorError, TypeMismatchError, add_place, contained
from fedlearn_edu.executors.base import (
    Executor,
    ExecutorValue,
    as_node,
    as_struct,
    check_call,
    check_owned,
    position,
    resolve_type,
)
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.executors.underway import underway
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import OPERATION_TABLE
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    FederatedType,
    FunctionType,
    Kept,
    SequenceType,
    StructType,
    TensorType,
    Type,
)
from fedlearn_edu.types.data_types import struct_type


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

    def close(self) -> None:
        """There is nothing to release: no state survives a call."""

    async def create_value(self, value: Any, type_spec: Type | None = None) -> Handle:
        """Embeds plain data or leaf code of this runtime."""
        type_ = resolve_type(value, type_spec)
        match as_node(value):
            case None | ir.Literal() as literal:
                if not isinstance(type_, TensorType):  # as most are
                    _check_held_by_one(self.runtime, type_)
                plain = value if literal is None else literal.value
                return Handle(self, self._embed(plain, type_), type_)
            case ir.Leaf() as leaf if leaf.runtime in (self.runtime, ir.ANY_RUNTIME):
                return Handle(self, leaf.code, type_)
            case node:
                raise ExecutorError(
                    f"the {self.runtime} executor runs its own leaf code only",
                    expected=f"leaf code for {self.runtime}, or plain data",
                    found=_describe(node),
                    do=_layer_for(node),
                )

    def _embed(self, plain: Any, type_: Type) -> Any:
        match plain:
            case Kept() if self.lazy_sequences and isinstance(type_, SequenceType):
                return plain
            case Kept():
                key = (self.runtime, type_)
                return plain.form(key, lambda plain: self.embed(plain, type_))
            case Struct() if isinstance(type_, StructType) and _holds_kept(plain):
                pairs = zip(type_.items(), plain, strict=True)
                return Struct((n, self._embed(v, t)) for (n, t), v in pairs)
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
        types = [handle.type_signature for handle in handles]
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
        return self.extract(handle.representation, handle.type_signature)


def _holds_kept(fields: Struct) -> bool:
    return any(
        isinstance(f, Kept) or (isinstance(f, Struct) and _holds_kept(f))
        for f in fields
    )


def _check_held_by_one(runtime: str, type_: Type) -> None:
    if type_.contains(lambda t: isinstance(t, FederatedType | FunctionType)):
        raise TypeMismatchError(
            f"the {runtime} executor holds what one participant has",
            expected="tensors, structures and sequences",
            found=type_,
            where="create_value",
            do="put a FederatingExecutor on top of this one",
        )


def _layer_for(node: ir.Node) -> str:
    if isinstance(node, ir.Intrinsic) and node.uri.startswith("sequence_"):
        return "put a SequenceExecutor on top of this one"
    return "put the executors that handle it on top of this one"


def _describe(node: ir.Node) -> str:
    if isinstance(node, ir.Intrinsic):
        return f"{node.uri}: {node.type}"
    kind = f"{type(node).__name__} of type {node.type}"
    return f"{kind}, for {node.runtime}" if isinstance(node, ir.Leaf) else kind
