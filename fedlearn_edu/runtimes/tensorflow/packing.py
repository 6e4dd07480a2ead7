# SPDX-License-Identifier: Apache-2.0
"""What many clients hold, as few tensors: the same for all, stacked, or packed.

Sequences are packed step by step, as in PyTorch's `PackedSequence`: first what every
client reads at its first step, then at its second, …; at one step, the elements of all
who take it have one shape, and lie in one piece of memory. Clients whose turn has
another shape, a smaller last batch for example, wait for a step of their own. So one
layout serves equal clients, unequal ones, and a single one.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, takewhile
from typing import Any, cast, final
from weakref import ref

import numpy as np

from fedlearn_edu.executors.batched import Declined, Entries, Held, Parts, Same
from fedlearn_edu.executors.recording import note
from fedlearn_edu.runtimes.tensorflow import RUNTIME
from fedlearn_edu.runtimes.tensorflow.conversion import (
    end_to_end,
    flatten,
    leaf_types,
    stacked,
    tensor_spec,
    tf_dtype,
)
from fedlearn_edu.runtimes.tensorflow.graph import (
    GraphCode,
    called,
    calls_python,
    changes,
)
from fedlearn_edu.runtimes.tensorflow.library import silence, tf
from fedlearn_edu.runtimes.tensorflow.machine import (
    Batched,
    Elements,
    Machine,
    NotInMemoryError,
    Rows,
    Steps,
)
from fedlearn_edu.signals import is_from_outside
from fedlearn_edu.structure import leaves, unflatten
from fedlearn_edu.types import SequenceType, StructType, TensorType, Type
from fedlearn_edu.types.dtypes import smallest
from fedlearn_edu.types.sequences import Cached, DatasetSequence, unwrap

Sequences = list[list[Any]]  # for each element its tensors
# Beyond this size the calls do not matter, and one call per client uses memory better.
LARGE_STEP_BYTES = 2**21
_MAX_READ_FIRST = 1_000  # elements, such as batches
_MAX_ATTEMPTS = 3  # to trace what never could be


@final
@dataclass(frozen=True)
class Column:
    """One tensor or sequence of a type, for all clients.

    Attributes:
        tensors: what goes into a graph.
        is_shared: whether it is the same for all clients.
        is_even: whether all take every step, with elements of one shape.
        steps: how many elements the longest sequence has, about.
        changes: whether they come from a dataset that gives others each time.
    """

    tensors: tuple[Any, ...]
    is_shared: bool
    is_even: bool = True
    steps: int = 1
    changes: bool = False

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
            return [Column((tensor,), is_shared=False) for tensor in results.tensors]
        case Entries(values=values):
            rows = [flatten(value, type_) for value in values]
            by_leaf = zip(*rows, strict=True)
            return [_of_entries(e, t) for e, t in zip(by_leaf, leaves, strict=True)]


def _same(value: Any, type_: TensorType | SequenceType) -> Column:
    # A single client has its tensors in this form already.
    if isinstance(type_, TensorType) and tf.is_tensor(value):
        return Column((value,), is_shared=True)

    def make(plain: Any) -> Column:
        if isinstance(type_, SequenceType):
            column = _packed([_elements(plain, type_)], type_, is_shared=True)
        else:
            tensor = tf.constant(plain, tf_dtype(type_.dtype))
            column = Column((tensor,), is_shared=True)
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
        column = replace(_packed(elements, type_), changes=any(map(changes, plain)))
    elif any(np.shape(value) != np.shape(plain[0]) for value in plain):
        raise NotInMemoryError("clients hold tensors of several shapes")
    else:
        column = Column((stacked(plain, type_),), is_shared=False)
    note("convert", type_)
    return column


def _read_first(sequence: Any) -> Any:
    """A short pipeline as what it reads: then all clients take their steps together.

    Not one that calls Python, which would run again should the group be declined.
    """
    is_pipeline = isinstance(sequence, DatasetSequence)
    size = int(sequence.dataset.cardinality()) if is_pipeline else -1
    if not 0 <= size <= _MAX_READ_FIRST or calls_python(sequence.dataset):
        return sequence
    elements = iter(sequence)
    first = tuple(islice(elements, 1))
    size = sum(np.asarray(leaf).nbytes for one in first for leaf in leaves(one))
    return sequence if size > LARGE_STEP_BYTES else (*first, *elements)


def _elements(sequence: Any, type_: SequenceType) -> Sequences:
    if not isinstance(sequence, tuple) or not leaf_types(type_.element):
        raise NotInMemoryError("a pipeline reads a sequence")
    return [flatten(element, type_.element) for element in sequence]


def _packed(
    clients: Sequence[Sequences], type_: SequenceType, *, is_shared: bool = False
) -> Column:
    """The elements, step by step.

    For each tensor of an element: the first steps, as long as all clients take them
    with elements of one shape. If that is not all: for each tensor the other numbers
    end to end, the shapes of the steps, and their ends; then the clients of these
    steps, and their ends.
    """
    types: list[Any] = leaf_types(type_.element)
    turns = list(_steps(clients))
    firsts = [tuple(map(np.shape, clients[c][n])) for (c, n), *_ in turns]
    count = _leading(turns, firsts, len(clients))
    in_order = [clients[client][number] for turn in turns for client, number in turn]
    cut = count * len(clients)
    own = [] if is_shared else [len(clients)]
    tensors = []
    for i, leaf in enumerate(types):
        shape = firsts[0][i] if firsts else smallest(leaf.shape)
        whole = end_to_end([row[i] for row in in_order[:cut]], leaf)
        tensors.append(tf.reshape(whole, [count, *own, *shape]))
    if count == len(turns):
        return Column(tuple(tensors), is_shared, True, count)
    axes = [[] if is_shared else [len(turn)] for turn in turns[count:]]
    for i, leaf in enumerate(types):
        pairs = zip(axes, firsts[count:], strict=True)
        blocks = [[*axis, *first[i]] for axis, first in pairs]
        tensors.append(end_to_end([row[i] for row in in_order[cut:]], leaf))
        tensors += _cuts(blocks, leaf, is_shared=is_shared)
    if not is_shared:
        whose = [client for turn in turns[count:] for client, _ in turn]
        ends = np.cumsum([0, *map(len, turns[count:])])
        tensors += [tf.constant(whose, tf.int32), tf.constant(ends, tf.int64)]
    return Column(tuple(tensors), is_shared, False, len(turns))


def _leading(turns: Sequence[Any], shapes: Sequence[Any], clients: int) -> int:
    """How many of the first steps all clients take, with elements of one shape."""
    are_even = (
        len(turn) == clients and shape == shapes[0]
        for turn, shape in zip(turns, shapes, strict=True)
    )
    return sum(takewhile(bool, are_even))


def _cuts(blocks: Sequence[Any], leaf: Any, *, is_shared: bool) -> tuple[Any, Any]:
    """The shape of each step's block, and where in the vector it begins and ends."""
    rank = len(leaf.shape) + (not is_shared)
    shapes = np.array(blocks, np.int32).reshape(len(blocks), rank)
    ends = np.cumsum([0, *(np.prod(block, dtype=np.int64) for block in blocks)])
    return tf.constant(shapes), tf.constant(ends, tf.int64)


def _steps(clients: Sequence[Sequences]) -> Iterator[list[tuple[int, int]]]:
    """Which clients take their next element at each step: those of the commonest shape.

    Clients keep the order of their elements, and there are as few steps as that allows,
    nearly.
    """
    shapes = [[tuple(map(np.shape, row)) for row in rows] for rows in clients]
    done = [0] * len(shapes)
    while waiting := [c for c, own in enumerate(shapes) if done[c] < len(own)]:
        heads = Counter(shapes[c][done[c]] for c in waiting)
        [(shape, _)] = heads.most_common(1)
        turn = [(c, done[c]) for c in waiting if shapes[c][done[c]] == shape]
        for client, _ in turn:
            done[client] += 1
        yield turn


# ------------------------------------------------------------------ inside of a graph


def value_of(column: Column, type_: TensorType | SequenceType, tensors: Any) -> Any:
    """The tensor or the elements of a column, as `machine.py` takes them."""

    def owned(tensor: Any, clients: Any = None) -> Any:
        return tensor if column.is_shared else Batched(tensor, clients)

    if isinstance(type_, TensorType):
        return owned(next(tensors))
    specs = list(map(tensor_spec, leaf_types(type_.element)))
    wholes = [next(tensors) for _ in specs]

    def of_all(i: Any) -> tuple[list[Any], Any]:
        return [owned(_row(whole, i)) for whole in wholes], None

    even = Steps(of_all, tf.shape(wholes[0])[0])
    if column.is_even:
        return Elements(Rows((even,), column.changes))
    leaves = [(spec, next(tensors), next(tensors), next(tensors)) for spec in specs]
    turns = None if column.is_shared else (next(tensors), next(tensors))
    axes = [] if column.is_shared else [None]

    def of_some(i: Any) -> tuple[list[Any], Any]:
        clients = turns and _cut(*turns, i)
        flat = []
        for spec, values, shapes, ends in leaves:
            block = tf.reshape(_cut(values, ends, i), _row(shapes, i))
            flat.append(owned(tf.ensure_shape(block, [*axes, *spec.shape]), clients))
        return flat, clients

    some = Steps(of_some, tf.size(leaves[0][3]) - 1)
    return Elements(Rows((even, some), column.changes))


def _row(tensor: Any, i: Any) -> Any:
    """One row; its number is a vector of length one, which saves operations."""
    # Unlike `tf.gather`, this does not copy a row that lies well in memory.
    return tf.raw_ops.StridedSlice(
        input=tensor, begin=i, end=i + 1, strides=[1], shrink_axis_mask=1
    )


def _cut(values: Any, ends: Any, i: Any) -> Any:
    return values[_row(ends, i) : _row(ends, i + 1)]


@final
class RowsGraph:
    """A function of rows, as graphs of the tensors of columns.

    The first graph is for the shapes that come first: it need not find them out at each
    step. Where others follow, TensorFlow traces a more general one.

    Args:
        run: makes results of the values of `type_`, and of what else is passed.
        found: columns laid out as those that will be passed.
    """

    def __init__(
        self, run: Callable[..., list[Any]], found: Sequence[Column], type_: Type
    ) -> None:
        # Without the data: they need not live as long as the graph.
        layouts = [replace(column, tensors=()) for column in found]
        pairs = list(zip(layouts, leaf_types(type_), strict=True))

        def on_tensors(*flat: Any) -> list[Any]:
            tensors = iter(flat)
            values = [value_of(column, t, tensors) for column, t in pairs]
            return run(values, *tensors)

        self._traced = tf.function(on_tensors, autograph=False, reduce_retracing=True)
        self._reasons: dict[tuple[Any, ...], str] = {}
        self._last: tuple[Any, Any] = None, None

    def __call__(self, found: Sequence[Column], *more: Any) -> list[Any]:
        """The results for these columns.

        Raises:
            Declined: it cannot be traced for these shapes, which is remembered; or it
                never could.
        """
        flat = [*(tensor for column in found for tensor in column.tensors), *more]
        return called(self._graph(flat), *flat)

    def _graph(self, flat: Sequence[Any]) -> Any:
        (last, graph), shapes = self._last, tuple([tensor.shape for tensor in flat])
        if shapes == last:
            return graph  # TensorFlow itself needs 0.2 ms to find it
        is_hopeless = graph is None and len(self._reasons) >= _MAX_ATTEMPTS
        if is_hopeless or shapes in self._reasons:
            raise Declined(self._reasons.get(shapes, "it never could be traced"))
        try:
            with silence():  # it logs what cannot be done for all clients at once
                graph = self._traced.get_concrete_function(*flat)
        except Exception as error:
            if is_from_outside(error):
                raise
            lines = [*filter(None, map(str.strip, str(error).splitlines())), "an error"]
            reason = lines[-2] if lines[0].startswith("in user code") else lines[0]
            self._reasons[shapes] = f"TensorFlow makes no graph of it: {reason}"
            raise Declined(self._reasons[shapes]) from error
        self._last = shapes, graph
        return graph


def run_in_memory(code: GraphCode, argument: Any) -> Any:
    """What leaf code returns; `None` if a pipeline has to read its sequences."""
    run, parameter = code.on_machine, code.parameter
    returns = leaf_types(code.result)
    if run is None or any(isinstance(t, SequenceType) for t in returns):
        return None
    if not code.has_sequences or parameter is None:
        return None
    # A single client is a group in which everything is the same for all.
    try:
        found = columns(Same(argument, 1), parameter)
    except NotInMemoryError:
        return None

    graph = code.graph_for(
        tuple(column.is_even for column in found),
        lambda: RowsGraph(lambda flat: run(flat, Machine()), found, parameter),
    )
    try:
        return unflatten(code.result, graph(found))
    except Declined:  # where there is an error, it is met again
        return None
