# SPDX-License-Identifier: Apache-2.0
"""`sequence_map` and `sequence_reduce`, element by element.

    SequenceExecutor        T*, sequence_map (lazy), sequence_reduce (eager, in order)
      └─ target executor    the element functions, and everything that is no sequence

A mapped sequence is a recipe: nothing runs before it is read, and every reader reads
the source once. It is driven in place, on the reader's own thread (`driving.py`), so
that no reader ever waits for a worker that waits for the reader.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from fedlearn_edu.executors.base import ExecutorValue
from fedlearn_edu.executors.driving import drive
from fedlearn_edu.executors.layer import Handle, Layer
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.signals import add_place
from fedlearn_edu.types import FunctionType, SequenceType, Type
from fedlearn_edu.types.sequences import LazySequence, length_of, unwrap

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
    source: Handle


@final
class SequenceExecutor(Layer["Source | Mapped | ir.Intrinsic"]):
    """Interprets sequences over any target that can run the element functions.

    Source: `tff.framework.SequenceExecutor`, which deadlocked when TensorFlow read a
    mapped sequence.
    """

    async def accept(self, node: ir.Node | None, value: Any, type_: Type) -> Any:
        """Keeps sequences and sequence operators; embeds the rest in the target."""
        match node:
            case ir.Intrinsic(uri=uri) if uri in IMPLEMENTED:
                return node
            case None if isinstance(type_, SequenceType):
                return Source(value, type_.element)
            case _:
                return await self._target.create_value(value, type_)

    async def apply(self, fn: Handle, arg: Handle | None, type_: FunctionType) -> Any:
        """Applies a sequence operator here, any other function in the target."""
        operator = self.held(fn)
        if not isinstance(operator, ir.Intrinsic) or arg is None:
            return await self.call_below(fn, arg)
        if operator.uri == "sequence_map":
            function, source = [await self.select(arg, i) for i in range(2)]
            return Mapped(await self.lower(function), source)
        source, zero, op = [await self.select(arg, i) for i in range(3)]
        step, state = await self.lower(op), await self.lower(zero)
        for element in self._elements(source):
            pair = await self._target.create_struct([state, element])
            state = await self._target.create_call(step, pair)
        return state

    async def materialize(self, handle: Handle) -> Any:
        """Materializes a value; a mapped sequence is read to its end."""
        match self.held(handle):
            case Source(payload=payload):
                return unwrap(payload)
            case Mapped():
                return tuple(self._read(handle))
            case _:
                return await super().materialize(handle)

    async def embed_below(self, handle: Handle) -> ExecutorValue:
        """Hands a sequence down whole: as it is, or as a recipe to be read there."""
        match self.held(handle):
            case Source(payload=payload):
                whole = payload
            case Mapped():
                element_type, length = _element_type(handle), _length(handle)
                whole = LazySequence(lambda: self._read(handle), element_type, length)
            case _:
                whole = handle.node
        return await self._target.create_value(whole, handle.type_signature)

    def _elements(self, sequence: Handle) -> Iterator[ExecutorValue]:
        """The elements of a sequence, embedded in the target, one after the other."""
        match self.held(sequence):
            case Mapped(fn=fn, source=source):
                for index, element in enumerate(self._elements(source)):
                    with _at_element(index):
                        mapped = drive(partial(self._target.create_call, fn, element))
                    yield mapped
                return
            case Source(payload=payload, element_type=type_):
                elements = payload
            case _:
                elements, type_ = drive(sequence.compute), _element_type(sequence)
        for plain in elements:
            yield drive(partial(self._target.create_value, plain, type_))

    def _read(self, sequence: Handle) -> Iterator[Any]:
        """The same in plain form, for a reader that knows no executor."""
        for index, element in enumerate(self._elements(sequence)):
            with _at_element(index):
                plain = drive(element.compute)
            yield plain


def _element_type(sequence: Handle) -> Type:
    assert isinstance(sequence.type_signature, SequenceType)
    return sequence.type_signature.element


def _length(sequence: Handle) -> int | None:
    match sequence.representation:
        case Mapped(source=source):
            return _length(source)
        case Source(payload=payload):
            return length_of(payload)
    return None


@contextmanager
def _at_element(index: int) -> Iterator[None]:
    """Errors in this block say which element they came from (the innermost one)."""
    try:
        yield
    except Exception as error:
        if not getattr(error, "has_element", False):
            error.has_element = True  # type: ignore[attr-defined]
            add_place(error, f"in element {index} of a mapped sequence")
        raise
