# SPDX-License-Identifier: Apache-2.0
"""What many clients hold, as few tensors with one axis more.

    same      one tensor, or one sequence, that all clients share
    each      one tensor per client                    [clients, …]
    even      sequences of the same length and shapes  [clients, rows, …]
    uneven    sequences of any length                  [rows of all clients, …]

A sequence is its *rows*, elements of one shape, and its *tail*, a last element with a
smaller first axis. `groups.py` makes graphs that read them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any, cast, final
from weakref import ref

import numpy as np

from fedlearn_edu.executors.batched import Entries, Group, Held, Parts, Same
from fedlearn_edu.executors.recording import note
from fedlearn_edu.runtimes.tensorflow import RUNTIME
from fedlearn_edu.runtimes.tensorflow.conversion import (
    flatten,
    leaf_types,
    stacked,
    tf_dtype,
)
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.structure import unflatten
from fedlearn_edu.types import UNRANKED, SequenceType, StructType, TensorType, Type
from fedlearn_edu.types.sequences import Cached, unwrap


@final
class Layout(Enum):
    """Where clients' tensors lie in the tensors of a column."""

    REPLICATED = "one value, which all clients hold"
    STACKED = "one tensor for each client, stacked"
    UNIFORM = "as many rows for each client, stacked"
    RAGGED = "rows of all clients end to end, with offsets"


@final
@dataclass(frozen=True)
class Column:
    """One tensor or sequence of a type, for all clients.

    Attributes:
        layout: how it is laid out.
        tensors: of a sequence: for each tensor of an element its rows; then the same
            for tails, if there are any; then, if ragged, where each client's rows begin
            and where they end, and the same for tails.
        has_tails: whether there are tails.
    """

    layout: Layout
    tensors: tuple[Any, ...]
    has_tails: bool = False


class NoColumnsError(Exception):
    """These data cannot be laid out as columns."""


@final
class Results(Sequence[Any]):
    """One plain result per client, kept as columns."""

    def __init__(self, tensors: Sequence[Any], type_: Type) -> None:
        self.tensors = tuple(tensors)
        self._arrays = [tensor.numpy() for tensor in tensors]
        self._type = type_

    def __len__(self) -> int:
        return len(self._arrays[0])

    def __getitem__(self, index: Any) -> Any:
        return unflatten(self._type, (array[index] for array in self._arrays))


def columns(group: Group) -> list[Column] | None:
    """The data of a group, one column for each tensor and sequence of its type."""
    try:
        return _columns(group.held, group.type)
    except NoColumnsError:
        return None


def _columns(held: Held, type_: Type) -> list[Column]:
    leaves = leaf_types(type_)
    if type_.contains(lambda t: isinstance(t, TensorType) and t.shape is UNRANKED):
        raise NoColumnsError
    match held:
        case Parts(fields=fields):
            assert isinstance(type_, StructType)
            pairs = zip(fields, type_, strict=True)
            return [column for part, t in pairs for column in _columns(part, t)]
        case Same(value=value):
            flat = zip(flatten(value, type_), leaves, strict=True)
            return [_same(leaf, t) for leaf, t in flat]
        case Entries(values=Results() as results):
            return [Column(Layout.STACKED, (tensor,)) for tensor in results.tensors]
        case Entries(values=values):
            rows = [flatten(value, type_) for value in values]
            by_leaf = zip(*rows, strict=True)
            return [_of_entries(e, t) for e, t in zip(by_leaf, leaves, strict=True)]


def _same(value: Any, type_: TensorType | SequenceType) -> Column:
    def make(plain: Any) -> Column:
        if isinstance(type_, TensorType):
            note("convert", type_)
            return Column(
                Layout.REPLICATED, (tf.constant(plain, tf_dtype(type_.dtype)),)
            )
        one = _made_of([plain], type_)
        return Column(
            Layout.REPLICATED, tuple(t[0] for t in one.tensors), one.has_tails
        )

    if isinstance(value, Cached):
        return cast(Column, value.form((RUNTIME, Layout.REPLICATED, type_), make))
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
        elements = [_elements(entry, type_) for entry in plain]
        column = _even_or_uneven(elements, type_)
    elif any(np.shape(value) != np.shape(plain[0]) for value in plain):
        raise NoColumnsError
    else:
        column = Column(Layout.STACKED, (stacked(plain, type_),))
    note("convert", type_)
    return column


Rows = list[list[Any]]  # for each element its tensors


def _elements(sequence: Any, type_: SequenceType) -> Rows:
    if not isinstance(sequence, tuple):
        raise NoColumnsError
    return [flatten(element, type_.element) for element in sequence]


def _even_or_uneven(clients: Sequence[Rows], type_: SequenceType) -> Column:
    shape = _shape_of_rows(clients)
    rows, tails = [], []
    for elements in clients:
        shapes = [_shapes(element) for element in elements]
        full = len(shapes) - bool(shapes and shapes[-1] != shape)
        if any(found != shape for found in shapes[:full]):
            raise NoColumnsError
        rows.append(elements[:full])
        tails.append(elements[full:])
    lengths = {len(r) for r in rows}
    ends = {tuple(_shapes(tail[0])) if tail else () for tail in tails}
    dtypes = [
        leaf for leaf in leaf_types(type_.element) if isinstance(leaf, TensorType)
    ]
    if len(lengths) == len(ends) == 1:
        has_tails = ends != {()}
        parts = [rows, tails] if has_tails else [rows]
        return Column(Layout.UNIFORM, _even(parts, dtypes), has_tails)
    return _uneven(rows, tails, shape, dtypes)


def _even(
    parts: Sequence[Sequence[Rows]], dtypes: Sequence[TensorType]
) -> tuple[Any, ...]:
    """For each tensor of an element: `[clients, rows, …]`."""
    tensors = []
    for clients in parts:
        for number, leaf in enumerate(dtypes):
            flat = [row[number] for rows in clients for row in rows]
            axes = [len(clients), len(clients[0]), *np.shape(flat[0])]
            tensors.append(tf.reshape(stacked(flat, leaf), axes))
    return tuple(tensors)


def _uneven(
    rows: Sequence[Rows],
    tails: Sequence[Rows],
    shape: list[Any],
    dtypes: Sequence[TensorType],
) -> Column:
    """For each tensor of an element `[rows of all, …]`, and where whose rows are."""
    whole, last = list(chain.from_iterable(rows)), list(chain.from_iterable(tails))
    tensors = [
        stacked([row[i] for row in whole], leaf) for i, leaf in enumerate(dtypes)
    ]
    ends = [_ends(map(len, rows))]
    if last:
        if not all(_is_shorter(_shapes(tail), shape) for tail in last):
            raise NoColumnsError
        for i, leaf in enumerate(dtypes):
            joined = np.concatenate([tail[i] for tail in last])
            tensors.append(tf.constant(joined, tf_dtype(leaf.dtype)))
        ends.append(_ends(len(client[0][0]) if client else 0 for client in tails))
    return Column(Layout.RAGGED, (*tensors, *ends), bool(last))


def _is_shorter(tail: list[Any], row: list[Any]) -> bool:
    """Whether a tail differs from a row by its number of examples only."""
    if any(len(shape) == 0 for shape in tail):
        return False
    examples = {shape[0] for shape in tail}
    same_rest = [shape[1:] for shape in tail] == [shape[1:] for shape in row]
    return same_rest and len(examples) == 1 and 0 not in examples


def _shape_of_rows(clients: Sequence[Rows]) -> list[Any]:
    """The shapes of an element that is not the last: the largest first one."""
    firsts = [_shapes(elements[0]) for elements in clients if elements]
    if not firsts:
        raise NoColumnsError
    return max(firsts)


def _shapes(element: Sequence[Any]) -> list[Any]:
    return list(map(np.shape, element))


def _ends(lengths: Any) -> Any:
    """Where the rows of each client begin, and after them where the last ones end."""
    return tf.constant(np.cumsum([0, *lengths]), tf.int32)
