# SPDX-License-Identifier: Apache-2.0
"""`sequence_map` and `sequence_reduce`, element by element.

    SequenceExecutor        T*, sequence_map (lazy), sequence_reduce (eager, in order)
      └─ target executor    the element functions, and everything that is no sequence

A mapped sequence is a recipe: nothing runs before somebody reads it, and every reader
reads the source once. Read whole by leaf code, it is stepped on the reader's own thread
(see `stepping.py`), so that no reader ever waits for a worker that waits for the
reader.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.errors import FedLearnError, TypeMismatchError
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
from fedlearn_edu.executors.stepping import step
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import FunctionType, LazySequence, SequenceType, Type

IMPLEMENTED = frozenset({"sequence_map", "sequence_reduce"})


@final
@dataclass(frozen=True)
class Source:
    """A sequence as it was embedded: plain elements, read in order."""

    payload: Any
    element_type: Type


@final
@dataclass(frozen=True)
class Mapped:
    """A function of the target, to be applied to the elements of a sequence."""

    fn: ExecutorValue
    source: "SequenceValue"


@final
class SequenceValue(ExecutorValue):
    """A sequence, an operator on sequences, a target's value, or a structure of these."""

    __slots__ = ("_type", "owner", "representation")

    def __init__(
        self,
        owner: "SequenceExecutor",
        representation: Source | Mapped | ir.Intrinsic | ExecutorValue | Struct,
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
        """Materializes the value; a mapped sequence is read to its end."""
        match self.representation:
            case Struct() as fields:
                return Struct([(n, await v.compute()) for n, v in fields.items()])
            case Source(payload=payload):
                return payload
            case Mapped():
                elements = self.owner.elements(self)
                return tuple([await element.compute() async for element in elements])
            case ir.Intrinsic(uri=uri):
                raise TypeMismatchError(f"{uri} is a function; call it")
            case target:
                return await target.compute()


@final
class SequenceExecutor(Executor):
    """Interprets sequences over any target that can run the element functions.

    Source: `tff.framework.SequenceExecutor`, which deadlocked when TensorFlow read a
    mapped sequence.
    """

    def __init__(self, target_executor: Executor) -> None:
        self._target = target_executor

    def close(self) -> None:
        """Closes the target."""
        self._target.close()

    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> SequenceValue:
        """Keeps sequences and sequence operators; embeds the rest in the target."""
        type_ = resolve_type(value, type_spec)
        match as_node(value):
            case ir.Intrinsic(uri=uri) as operator if uri in IMPLEMENTED:
                return SequenceValue(self, operator, type_)
            case None if isinstance(type_, SequenceType):
                return SequenceValue(self, Source(value, type_.element), type_)
            case _:
                return self._wrap(await self._target.create_value(value, type_))

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> SequenceValue:
        """Applies a sequence operator here, any other function in the target."""
        fn = check_owned(comp, SequenceValue, self)
        type_ = check_call(fn, arg)
        if isinstance(fn.representation, ir.Intrinsic):
            argument = check_owned(arg, SequenceValue, self)
            return await self._apply(fn.representation.uri, argument, type_)
        below = None
        if arg is not None:
            below = await self._lower(check_owned(arg, SequenceValue, self))
        target_fn = await self._lower(fn)
        return self._wrap(await self._target.create_call(target_fn, below))

    async def create_struct(self, elements: Any) -> SequenceValue:
        """Keeps the elements side by side."""
        fields = as_struct(elements)
        for element in fields:
            check_owned(element, SequenceValue, self)
        return SequenceValue(self, fields, struct_type_of(fields))

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> SequenceValue:
        """Picks an element, here or in the target."""
        value = check_owned(source, SequenceValue, self)
        at = position(value.type_signature, index, name)
        match value.representation:
            case Struct() as fields:
                selected: SequenceValue = fields[at]
                return selected
            case _:
                below = await self._lower(value)
                return self._wrap(await self._target.create_selection(below, at))

    async def _apply(
        self, uri: str, arg: SequenceValue, type_: FunctionType
    ) -> SequenceValue:
        parts = [await self.create_selection(arg, i) for i in range(self._arity(arg))]
        if uri == "sequence_map":
            fn, source = parts
            return SequenceValue(
                self, Mapped(await self._lower(fn), source), type_.result
            )
        source, zero, op = parts
        return self._wrap(await self._reduce(source, zero, op))

    def _arity(self, arg: SequenceValue) -> int:
        return len(arg.representation) if isinstance(arg.representation, Struct) else 0

    async def _reduce(
        self, source: SequenceValue, zero: SequenceValue, op: SequenceValue
    ) -> ExecutorValue:
        fn = await self._lower(op)
        state = await self._lower(zero)
        async for element in self.elements(source):
            pair = await self._target.create_struct([state, element])
            state = await self._target.create_call(fn, pair)
        return state

    async def elements(self, sequence: SequenceValue) -> AsyncIterator[ExecutorValue]:
        """The elements of a sequence, embedded in the target, one after the other."""
        match sequence.representation:
            case Mapped(fn=fn, source=source):
                index = 0
                async for element in self.elements(source):
                    try:
                        mapped = await self._target.create_call(fn, element)
                    except Exception as error:
                        raise _at_element(error, index) from None
                    yield mapped
                    index += 1
            case representation:
                type_ = sequence.type_signature
                assert isinstance(type_, SequenceType)
                payload = await sequence.compute()
                del representation
                for plain in payload:
                    yield await self._target.create_value(plain, type_.element)

    async def _lower(self, value: SequenceValue) -> ExecutorValue:
        """The same value in the target executor."""
        match value.representation:
            case Struct() as fields:
                pairs = [(n, await self._lower(v)) for n, v in fields.items()]
                return await self._target.create_struct(Struct(pairs))
            case Source(payload=payload):
                return await self._target.create_value(payload, value.type_signature)
            case Mapped():
                type_ = value.type_signature
                assert isinstance(type_, SequenceType)
                lazy = LazySequence(lambda: self._read(value), type_.element)
                return await self._target.create_value(lazy, type_)
            case ir.Intrinsic() as operator:
                return await self._target.create_value(operator, operator.type)
            case target:
                return target

    def _read(self, sequence: SequenceValue) -> Iterator[Any]:
        """Reads a mapped sequence from plain Python, on the reader's thread."""
        match sequence.representation:
            case Mapped(fn=fn, source=source):
                element_type = source.type_signature
                assert isinstance(element_type, SequenceType)
                for index, plain in enumerate(self._read(source)):
                    yield step(
                        lambda plain=plain, index=index: self._map_one(  # type: ignore[misc]
                            fn, plain, element_type.element, index
                        )
                    )
            case _:
                yield from step(sequence.compute)

    async def _map_one(
        self, fn: ExecutorValue, plain: Any, type_: Type, index: int
    ) -> Any:
        try:
            element = await self._target.create_value(plain, type_)
            return await (await self._target.create_call(fn, element)).compute()
        except Exception as error:
            raise _at_element(error, index) from None

    def _wrap(self, value: ExecutorValue) -> SequenceValue:
        return SequenceValue(self, value, value.type_signature)


def _at_element(error: Exception, index: int) -> Exception:
    """The same error, with a note that says which element it came from."""
    notes = getattr(error, "__notes__", [])
    if not any("element" in note for note in notes):
        error.add_note(f"  in element {index} of a mapped sequence")
    if isinstance(error, FedLearnError) and error.where is None:
        error.where = f"element {index} of a mapped sequence"
    return error
