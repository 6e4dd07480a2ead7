# SPDX-License-Identifier: Apache-2.0
"""What many clients hold, as few tensors: the same for all, stacked, or packed.

Sequences are packed step by step, as in PyTorch's `PackedSequence`. Take three clients
with elements of shape [2], and one, a smaller last batch for example, of shape [1]:

                 step 0     step 1     step 2     step 3
    client 0      1  2       3  4       5  6
    client 1      7  8       9 10                 11         waits for a step of its own
    client 2     12 13      14 15      16 17

At one step, all elements have one shape and lie in one piece of memory. *Even* are the
first steps, if all clients take them with elements of one shape: here 0 and 1.

    even     [[[1 2] [7 8] [12 13]]           one tensor, indexed by step, client, …
              [[3 4] [9 10] [14 15]]]
    uneven   5 6 16 17 | 11      ends 0 4 5   step 2 is values[0:4], step 3 values[4:5]
    shapes   [2 2] [1 1]                      of these two blocks; clients come first
    clients  0 2 | 1             ends 0 2 3   which read them: one row of a block each

An element of several tensors has `even`, `uneven` and `shapes` for each of them. What
all clients share has neither `clients` nor their axis. `rows.py` reads this in a graph.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, takewhile
from typing import Any, NamedTuple, cast, final
from weakref import ref

import numpy as np

from fedlearn_edu.executors.batched import Entries, Held, Parts, Same
from fedlearn_edu.executors.recording import note
from fedlearn_edu.runtimes.tensorflow import RUNTIME
from fedlearn_edu.runtimes.tensorflow.conversion import (
    end_to_end,
    flatten,
    leaf_types,
    stacked,
    tf_dtype,
)
from fedlearn_edu.runtimes.tensorflow.graphdef import calls_python, may_change
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.machine import NotInMemoryError
from fedlearn_edu.structure import leaves, unflatten
from fedlearn_edu.types import SequenceType, StructType, TensorType, Type
from fedlearn_edu.types.dtypes import smallest
from fedlearn_edu.types.sequences import Cached, DatasetSequence, unwrap

Sequences = list[list[Any]]  # for each element its tensors
# Beyond this size the calls do not matter, and one call per client uses memory better.
LARGE_STEP_BYTES = 2**21
_MAX_READ_FIRST = 1_000  # elements, such as batches


@final
class Blocks(NamedTuple):
    """Vectors end to end: vector `i` is `values[ends[i] : ends[i + 1]]`."""

    values: Any
    ends: Any


@final
class Packed(NamedTuple):
    """The sequences of all clients, as drawn above."""

    even: tuple[Any, ...]
    uneven: tuple[Blocks, ...] = ()
    shapes: tuple[Any, ...] = ()
    clients: Blocks | tuple[()] = ()


@final
@dataclass(frozen=True)
class Column:
    """One tensor or sequence of a type, for all clients.

    Attributes:
        held: a tensor, or `Packed` tensors.
        is_shared: whether it is the same for all clients.
        steps: how many elements the longest sequence has, about.
        changes: whether they come from a dataset that gives others each time.
    """

    held: Any
    is_shared: bool
    steps: int = 1
    changes: bool = False

    @cached_property
    def tensors(self) -> list[Any]:
        """What goes into a graph."""
        return list(tf.nest.flatten(self.held))

    @property
    def is_even(self) -> bool:
        """Whether all clients take every step, with elements of one shape."""
        return not (isinstance(self.held, Packed) and self.held.uneven)

    def step_bytes(self, count: int) -> float:
        """How many bytes each of `count` clients reads at one step, about."""
        sizes = [t.dtype.size * int(np.prod(t.shape)) for t in self.tensors]
        clients = 1 if self.is_shared else count
        return float(sum(sizes)) / max(1, self.steps * clients)


@final
class Results(Sequence[Any]):
    """One plain result per client, kept as tensors."""

    def __init__(self, tensors: Sequence[Any], type_: Type) -> None:
        self.tensors = tuple(tensors)
        self._type = type_

    @cached_property
    def _arrays(self) -> list[Any]:
        return [tensor.numpy() for tensor in self.tensors]

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        return unflatten(self._type, (array[index] for array in self._arrays))


def columns(held: Held, type_: Type) -> list[Column]:
    """What participants hold, one column for each tensor and sequence of its type.

    Raises:
        NotInMemoryError: if it has no such form.
    """
    leaves = leaf_types(type_)
    match held:
        case Parts(fields=fields):
            assert isinstance(type_, StructType)
            pairs = zip(fields, type_, strict=True)
            return [column for part, t in pairs for column in columns(part, t)]
        case Same(value=value):
            flat = zip(flatten(value, type_), leaves, strict=True)
            return [_same(leaf, t) for leaf, t in flat]
        case Entries(values=Results() as results):
            return [Column(tensor, is_shared=False) for tensor in results.tensors]
        case Entries(values=values):
            rows = [flatten(value, type_) for value in values]
            by_leaf = zip(*rows, strict=True)
            return [_of_entries(e, t) for e, t in zip(by_leaf, leaves, strict=True)]


def _same(value: Any, type_: TensorType | SequenceType) -> Column:
    # A single client has its tensors in this form already.
    if isinstance(type_, TensorType) and tf.is_tensor(value):
        return Column(value, is_shared=True)

    def make(plain: Any) -> Column:
        if isinstance(type_, SequenceType):
            column = _packed([_elements(plain, type_)], type_, is_shared=True)
        else:
            column = Column(tf.constant(plain, tf_dtype(type_.dtype)), is_shared=True)
        note("convert", type_)
        return column

    if isinstance(value, Cached):
        return cast(Column, value.form((RUNTIME, "same", type_), make))
    return make(value)


def _of_entries(entries: Sequence[Any], type_: TensorType | SequenceType) -> Column:
    if not all(isinstance(entry, Cached) for entry in entries):
        return _made_of(entries, type_)
    # Kept with the first of them, for as long as it is among the same ones: by weak
    # references, else it would keep itself, and all data of a round, from being freed.
    key = (RUNTIME, "column", type_, len(entries))
    weak, column = entries[0].form(
        key, lambda _: (tuple(map(ref, entries)), _made_of(entries, type_))
    )
    is_same = all(a() is b for a, b in zip(weak, entries, strict=True))
    return column if is_same else _made_of(entries, type_)


def _made_of(entries: Sequence[Any], type_: TensorType | SequenceType) -> Column:
    plain = [unwrap(entry) for entry in entries]
    if isinstance(type_, SequenceType):
        elements = [_elements(_read_first(entry), type_) for entry in plain]
        column = replace(_packed(elements, type_), changes=any(map(may_change, plain)))
    elif any(np.shape(value) != np.shape(plain[0]) for value in plain):
        raise NotInMemoryError("clients hold tensors of several shapes")
    else:
        column = Column(stacked(plain, type_), is_shared=False)
    note("convert", type_)
    return column


def _read_first(sequence: Any) -> Any:
    """A short pipeline as what it reads: then all clients take their steps together.

    Not one that calls Python, which would run again should the group be declined.
    """
    is_pipeline = isinstance(sequence, DatasetSequence)
    count = int(sequence.dataset.cardinality()) if is_pipeline else -1
    if not 0 <= count <= _MAX_READ_FIRST or calls_python(sequence.dataset):
        return sequence
    elements = iter(sequence)
    first = tuple(islice(elements, 1))
    size = sum(np.asarray(leaf).nbytes for one in first for leaf in leaves(one))
    return sequence if size > LARGE_STEP_BYTES else (*first, *elements)


def _elements(sequence: Any, type_: SequenceType) -> Sequences:
    if not isinstance(sequence, tuple) or not leaf_types(type_.element):
        raise NotInMemoryError("a pipeline reads a sequence")
    return [flatten(element, type_.element) for element in sequence]


@final
class _Step(NamedTuple):
    """What is read at one step, a column of the drawing, and by which clients."""

    clients: list[int]
    elements: Sequences
    shapes: tuple[Any, ...]


def _packed(
    clients: Sequence[Sequences], type_: SequenceType, *, is_shared: bool = False
) -> Column:
    types: list[Any] = leaf_types(type_.element)
    steps = list(_steps(clients))
    shapes = steps[0].shapes if steps else [smallest(leaf.shape) for leaf in types]
    are_even = (len(s.clients) == len(clients) and s.shapes == shapes for s in steps)
    count = sum(takewhile(bool, are_even))
    axes = [count] if is_shared else [count, len(clients)]
    even = tuple(
        tf.reshape(_numbers(steps[:count], i, leaf), [*axes, *shapes[i]])
        for i, leaf in enumerate(types)
    )
    uneven = _uneven(steps[count:], types, is_shared=is_shared)
    return Column(Packed(even, *uneven), is_shared, len(steps))


def _uneven(steps: Sequence[_Step], types: Sequence[Any], *, is_shared: bool) -> Any:
    if not steps:
        return ()
    values, shapes, counts = [], [], [len(step.clients) for step in steps]
    axes = [[] if is_shared else [count] for count in counts]
    for i, leaf in enumerate(types):
        pairs = zip(axes, steps, strict=True)
        blocks = [[*axis, *step.shapes[i]] for axis, step in pairs]
        sizes = [int(np.prod(block)) for block in blocks]
        values.append(_blocks(_numbers(steps, i, leaf), sizes))
        shapes.append(tf.constant(np.array(blocks, np.int32)))
    if is_shared:
        return tuple(values), tuple(shapes)
    clients = tf.constant([c for step in steps for c in step.clients], tf.int32)
    return tuple(values), tuple(shapes), _blocks(clients, counts)


def _numbers(steps: Sequence[_Step], i: int, leaf: Any) -> Any:
    """The numbers of the elements' tensors at place `i`, end to end."""
    return end_to_end([row[i] for step in steps for row in step.elements], leaf)


def _blocks(values: Any, sizes: Sequence[int]) -> Blocks:
    return Blocks(values, tf.constant(np.cumsum([0, *sizes]), tf.int64))


def _steps(clients: Sequence[Sequences]) -> Iterator[_Step]:
    """All steps; each is taken by clients with elements of the commonest shape.

    Clients keep the order of their elements, and there are as few steps as that allows,
    nearly.
    """
    shapes = [[tuple(map(np.shape, row)) for row in rows] for rows in clients]
    done = [0] * len(shapes)
    while waiting := [c for c, own in enumerate(shapes) if done[c] < len(own)]:
        heads = Counter(shapes[c][done[c]] for c in waiting)
        [(commonest, _)] = heads.most_common(1)
        active = [c for c in waiting if shapes[c][done[c]] == commonest]
        yield _Step(active, [clients[c][done[c]] for c in active], commonest)
        for client in active:
            done[client] += 1
