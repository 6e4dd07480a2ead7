# SPDX-License-Identifier: Apache-2.0
"""`sequence_map` and `sequence_reduce`, element by element.

    SequenceExecutor        T*, sequence_map (lazy), sequence_reduce (eager, in order)
      └─ target executor    the element functions, and everything that is no sequence

A mapped sequence is a recipe: nothing runs before it is read, and every reader reads
the source once. It is driven in place, on the reader's own thread (`driving.py`), so
that no reader ever waits for a worker that waits for the reader.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from fedlearn_edu.errors import add_place
from fedlearn_edu.executors.base import Executor, ExecutorValue, check_call, resolve
from fedlearn_edu.executors.driving import drive
from fedlearn_edu.executors.layer import Handle, OverTarget
from fedlearn_edu.ir import nodes as ir
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
class SequenceExecutor(OverTarget["Source | Mapped | ir.Intrinsic"]):
    """Interprets sequences over any target that can run the element functions.

    Source: `tff.framework.SequenceExecutor`, which deadlocked when TensorFlow read a
    mapped sequence.
    """

    async def create_value(self, value: Any, type_spec: Type | None = None) -> Handle:
        """Keeps sequences and sequence operators; embeds the rest in the target."""
        node, type_ = resolve(value, type_spec)
        match node:
            case ir.Intrinsic(uri=uri) as operator if uri in IMPLEMENTED:
                return self.hold(operator, type_)
            case None if isinstance(type_, SequenceType):
                return self.hold(Source(value, type_.element), type_)
            case _:
                return self.wrap(await self._target.create_value(value, type_))

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> Handle:
        """Applies a sequence operator here, any other function in the target."""
        fn = self.own(comp)
        type_ = check_call(fn, arg)
        held = self.held(fn)
        if isinstance(held, ir.Intrinsic):
            return await self._apply(held.uri, self.own(arg), type_)
        below = None if arg is None else await self.lower(self.own(arg), self._target)
        function = await self.lower(fn, self._target)
        return self.wrap(await self._target.create_call(function, below))

    async def materialize(self, handle: Handle) -> Any:
        """Materializes a value; a mapped sequence is read to its end."""
        match self.held(handle):
            case Source(payload=payload):
                return unwrap(payload)
            case Mapped():
                return tuple(self._read(handle))
            case _:
                return await super().materialize(handle)

    async def embed_below(self, handle: Handle, target: Executor) -> ExecutorValue:
        """Hands a sequence down whole: as it is, or as a recipe to be read there."""
        type_ = handle.type_signature
        match self.held(handle):
            case Source(payload=payload):
                return await target.create_value(payload, type_)
            case Mapped():
                element_type, length = _element_type(handle), _length(handle)
                lazy = LazySequence(lambda: self._read(handle), element_type, length)
                return await target.create_value(lazy, type_)
            case _:
                return await target.create_value(handle.node, type_)

    async def _apply(self, uri: str, arg: Handle, type_: FunctionType) -> Handle:
        count = 2 if uri == "sequence_map" else 3
        parts = [await self.create_selection(arg, i) for i in range(count)]
        if uri == "sequence_map":
            fn, source = await self.lower(parts[0], self._target), parts[1]
            return self.hold(Mapped(fn, source), type_.result)
        return self.wrap(await self._reduce(*parts))

    async def _reduce(self, source: Handle, zero: Handle, op: Handle) -> ExecutorValue:
        fn = await self.lower(op, self._target)
        state = await self.lower(zero, self._target)
        for element in self.elements(source):
            pair = await self._target.create_struct([state, element])
            state = await self._target.create_call(fn, pair)
        return state

    def elements(self, sequence: Handle) -> Iterator[ExecutorValue]:
        """The elements of a sequence, embedded in the target, one after the other."""
        match self.held(sequence):
            case Mapped(fn=fn, source=source):
                for index, element in enumerate(self.elements(source)):
                    try:
                        work = partial(self._target.create_call, fn, element)
                        mapped = drive(work)
                    except Exception as error:
                        raise _at_element(error, index) from None
                    yield mapped
                return
            case Source(payload=payload, element_type=type_):
                elements = payload
            case _:
                elements = drive(sequence.compute)
                type_ = _element_type(sequence)
        for plain in elements:
            yield drive(partial(self._target.create_value, plain, type_))

    def _read(self, sequence: Handle) -> Iterator[Any]:
        """Reads a mapped sequence from plain Python, on the reader's thread."""
        for index, element in enumerate(self.elements(sequence)):
            try:
                plain = drive(element.compute)
            except Exception as error:
                raise _at_element(error, index) from None
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


def _at_element(error: Exception, index: int) -> Exception:
    """The same error, which says which element it came from (the innermost one)."""
    if not getattr(error, "has_element", False):
        error.has_element = True  # type: ignore[attr-defined]
        add_place(error, f"in element {index} of a mapped sequence")
    return error
