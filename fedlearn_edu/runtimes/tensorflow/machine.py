# SPDX-License-Identifier: Apache-2.0
"""The machine that leaf code and loops run on: for one participant, or for a group.

For a group it is what JAX calls `vmap`. A value that differs between clients is a
`Batched` tensor, with one axis more in front. Leaf code is mapped over those
(`tf.vectorized_map`), and does not know that there are several clients.

Loops over clients' sequences are one loop. At each *step* of it, clients read their
next element: all of them, or the *active* ones. So a group, of up to `max_fanout`
clients, costs little more than one client. What a loop repeats is a *reducer*, from a
state and an element to the next state.

A sequence is `Elements`, from one of two sources: `Rows` in memory, of one client or of
all; or `Pipeline`, a `tf.data.Dataset`, which only one client can read.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from fedlearn_edu.executors.batched import Declined
from fedlearn_edu.runtimes.tensorflow.conversion import (
    as_element,
    from_element,
    map_sequences,
)
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.sequences import as_dataset
from fedlearn_edu.types import SequenceType, Type
from fedlearn_edu.types.sequences import no_end

Flat = list[Any]
FlatFn = Callable[..., Flat]
# Leaf code, or a function of the language, for any machine: from flat values, in which
# a sequence is `Elements`, to flat values.
MachineFn = Callable[[Sequence[Any], "Machine"], Flat]

_CLIENT = -1  # where an argument would stand: a client's position in the group
# Keeps AutoGraph from converting dataset callbacks.
_as_it_is = tf.autograph.experimental.do_not_convert


@final
class NotInMemoryError(Declined):
    """A pipeline has to read this sequence, or clients have to go one by one."""


@final
@dataclass(frozen=True)
class Batched:
    """One tensor of each client.

    Attributes:
        tensor: all of them, along its first axis.
        clients: positions of the clients in the group; `None` for all of it.
    """

    tensor: Any
    clients: Any = None


@final
@dataclass(frozen=True)
class Steps:
    """Successive steps of a loop over sequences in memory.

    Attributes:
        read: `read([i])` is what clients read at step `i`, a flat element (its tensors
            are `Batched` unless all share them), and the positions of these clients,
            `None` for all.
        count: how many steps there are.
    """

    read: Callable[[Any], tuple[Flat, Any]]
    count: Any

    def include(self, i: Any, *_: Any) -> Any:
        """Whether step `i` is one of them."""
        return i[0] < self.count


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """Sequences that lie in memory.

    Attributes:
        parts: all steps of a loop over them, in order.
        changes: whether they were read from a dataset that gives others each time.
    """

    parts: tuple[Steps, ...]
    changes: bool = False


@final
@dataclass(frozen=True, eq=False)
class Pipeline:
    """A `tf.data.Dataset`, with the type of its elements."""

    dataset: Any
    type: Type


@final
@dataclass(frozen=True)
class Elements:
    """A sequence, and the functions that are mapped over its elements.

    Attributes:
        source: where flat elements are read from.
        functions: from element to element, one after the other.
    """

    source: Rows | Pipeline
    functions: tuple[FlatFn, ...] = ()

    def map(self, function: FlatFn) -> "Elements":
        """The same, and one function more."""
        return Elements(self.source, (*self.functions, function))

    def element(self, flat: Flat) -> Flat:
        """What the functions make of an element of the source."""
        for function in self.functions:
            flat = function(*flat)
        return flat


@final
class Machine:
    """Runs leaf code and loops in a graph: for all clients at once, or for one.

    Args:
        clients: their positions in the group; `None` for one, without an axis more.
    """

    def __init__(self, clients: Any = None) -> None:
        self._all = clients
        self._active: Any = None  # positions of those that take a step; `None`: all
        self._is_in_loop = False
        self._were_read: list[Rows] = []

    def call(
        self, function: Callable[..., Any], flat: Sequence[Any], *, draws: bool = False
    ) -> Flat:
        """Calls a function of tensors for all active clients.

        `draws` says that it may differ from call to call.
        """
        batched = {i: v for i, v in enumerate(flat) if isinstance(v, Batched)}
        own = {i: v.tensor for i, v in batched.items() if v.clients is self._active}
        of_all = {i: v.tensor for i, v in batched.items() if i not in own}
        is_drawn_by_each = draws and self._all is not None and not batched
        if of_all or is_drawn_by_each:
            own[_CLIENT] = self._positions()
        if not own:
            return list(function(*flat))

        def one(slices: Any) -> Any:
            mine = dict(zip(own, slices, strict=True))
            for i, tensor in of_all.items():
                mine[i] = tf.gather(tensor, mine[_CLIENT])
            return list(function(*[mine.get(i, v) for i, v in enumerate(flat)]))

        batch = tuple(own.values())
        found = tf.vectorized_map(one, batch, fallback_to_while_loop=False)
        return [Batched(tensor, self._active) for tensor in found]

    def run(self, code: GraphCode, flat: Flat) -> Flat:
        """Runs leaf code, which may take and return sequences."""
        if code.machine_fn is not None:
            return code.machine_fn(flat, self)
        if not code.has_sequences:
            return self.call(code.mappable_function, flat, draws=code.has_state)
        found = code.run(map_sequences(to_dataset, flat, code.parameter))
        return map_sequences(from_dataset, found, code.result)

    def reduce(
        self, sequence: Elements, start: Flat, reducer: FlatFn, specs: Sequence[Any]
    ) -> Flat:
        """Folds each client's elements, side by side; states look like `specs`."""
        match sequence.source:
            case Pipeline() as pipeline:
                if self._all is not None:
                    raise NotInMemoryError("a pipeline reads a sequence")
                return _reduced(pipeline, sequence, start, reducer)
            case Rows(parts=parts) as rows:
                self._check_read(rows)
        axes = [] if self._all is None else self._all.shape
        shapes = [tf.TensorShape([*axes, *spec.shape]) for spec in specs]
        invariants, state = [tf.TensorShape([1]), *shapes], self.stacked(start)
        for steps in parts:
            body = partial(self._step, steps, sequence, reducer)
            loop = [tf.constant([0]), *state]
            _, *state = tf.while_loop(steps.include, body, loop, invariants)
        return self._held(state)

    def _check_read(self, rows: Rows) -> None:
        if self._active is not None:
            raise NotInMemoryError("a loop is inside of one that not all clients take")
        if rows.changes and (self._is_in_loop or rows in self._were_read):
            raise NotInMemoryError("a dataset that changes is read more than once")
        self._were_read.append(rows)

    def _step(
        self, steps: Steps, sequence: Elements, reducer: FlatFn, i: Any, *state: Any
    ) -> Flat:
        """What the active clients find at step `i` becomes a part of the state."""
        element, active = steps.read(i)
        with self._only(active):
            element = sequence.element(element)
            found = self.stacked(reducer(*self._held(state), *element))
        if active is not None:
            where, pairs = active[:, tf.newaxis], zip(state, found, strict=True)
            found = [tf.tensor_scatter_nd_update(s, where, n) for s, n in pairs]
        return [i + 1, *found]

    def stacked(self, flat: Flat) -> Flat:
        """What the active clients have, as tensors with one axis more in front."""
        if self._all is None:
            return flat
        return list(map(self._stacked, flat))

    def _positions(self) -> Any:
        """The positions of the active clients."""
        return self._all if self._active is None else self._active

    def _held(self, state: Sequence[Any]) -> Flat:
        return list(state) if self._all is None else [Batched(t) for t in state]

    @contextmanager
    def _only(self, active: Any) -> Iterator[None]:
        before = self._active, self._is_in_loop
        self._active, self._is_in_loop = active, True
        try:
            yield
        finally:
            self._active, self._is_in_loop = before

    def _stacked(self, value: Any) -> Any:
        if isinstance(value, Batched):
            is_theirs = value.clients is self._active
            return value.tensor if is_theirs else tf.gather(value.tensor, self._active)
        value, axis = tf.convert_to_tensor(value), self._positions()
        whole = tf.broadcast_to(value, tf.concat([tf.shape(axis), tf.shape(value)], 0))
        return tf.ensure_shape(whole, [*axis.shape, *value.shape])


# ---------------------------------------------------------------- sequences as datasets


def _reduced(
    pipeline: Pipeline, sequence: Elements, start: Flat, reducer: FlatFn
) -> Flat:
    """The fold of a pipeline; TensorFlow finds out what the states look like."""

    def on_element(state: Any, element: Any) -> Any:
        flat = sequence.element(from_element(element, pipeline.type))
        return tuple(reducer(*state, *flat))

    with _if_it_ends(pipeline):
        return list(pipeline.dataset.reduce(tuple(start), _as_it_is(on_element)))


def _if_it_ends(pipeline: Pipeline) -> Any:
    """A block that fails in place of reading a dataset that has no end."""
    dataset = pipeline.dataset
    # A stand-in is asked when the real one comes, and a parameter was asked before.
    is_asked = getattr(dataset, "is_stand_in", False)
    if is_asked or tf.data.experimental.to_variant(dataset).op.type == "Placeholder":
        return tf.control_dependencies([])
    error = no_end(SequenceType(pipeline.type))
    parts = [f"{name}: {getattr(error, name)}" for name in ("expected", "found", "do")]
    ends = dataset.cardinality() != tf.data.INFINITE_CARDINALITY
    check = tf.debugging.Assert(ends, [error.summary, *parts])
    return tf.control_dependencies([check])


def from_dataset(sequence: Any, type_: SequenceType) -> Elements:
    """A dataset, or what one is made of, as `Elements`."""
    return Elements(Pipeline(as_dataset(sequence, type_), type_.element))


def to_dataset(elements: Elements, type_: SequenceType) -> Any:
    """The same as a dataset.

    Raises:
        NotInMemoryError: for rows, of which there is no dataset.
    """
    source = elements.source
    if isinstance(source, Rows):
        raise NotInMemoryError("a pipeline reads a sequence")
    if not elements.functions:
        return source.dataset
    is_spread = isinstance(source.dataset.element_spec, tuple)

    def on_element(*parts: Any) -> Any:
        flat = from_element(parts if is_spread else parts[0], source.type)
        return as_element(elements.element(flat), type_.element)

    return source.dataset.map(_as_it_is(on_element))
