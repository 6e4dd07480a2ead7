# SPDX-License-Identifier: Apache-2.0
"""A function of the language for many clients at once, as JAX's `vmap` would have it.

A value that differs between clients is a `Batched` tensor, with one axis more in front.
Leaf code is mapped over those (`tf.vectorized_map`), and does not know that there are
several clients. A loop over clients' sequences is one loop, that takes the same step
for all of them: this is what makes a thousand clients cost what one costs.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.executors.batched import Declined
from fedlearn_edu.runtimes.tensorflow.evaluation import Elements, Flat, FlatFn
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.types import FunctionType, SequenceType

_CLIENT = -1  # where an argument would stand: a client's position in the group


@final
class NotInMemoryError(Declined):
    """A pipeline has to read this sequence, or clients have to go one by one."""


@final
@dataclass(frozen=True)
class Batched:
    """One tensor of each client.

    Attributes:
        tensor: theirs, one after the other.
        clients: whose: positions in the group; `None` for all.
    """

    tensor: Any
    clients: Any = None


@final
@dataclass(frozen=True)
class Rows:
    """Some steps of sequences that lie in memory.

    Attributes:
        read: what comes at one step: `read([i])` is a flat element, and whose.
        count: how many steps there are.
    """

    read: Callable[[Any], tuple[Flat, Any]]
    count: Any


@final
class Vectorized:
    """Runs leaf code and loops in a graph: for all clients at once, or for one.

    Args:
        count: how many clients there are; `None` for one, without an axis more.
    """

    def __init__(self, count: Any) -> None:
        self._count = count
        self._clients: Any = None

    def call(
        self, function: Callable[..., Any], flat: Sequence[Any], *, draws: bool = False
    ) -> Flat:
        """Calls a function of tensors for all clients whose turn it is."""
        batched = {i: v for i, v in enumerate(flat) if isinstance(v, Batched)}
        own = {i: v.tensor for i, v in batched.items() if v.clients is self._clients}
        of_all = {i: v.tensor for i, v in batched.items() if i not in own}
        is_drawn_by_each = draws and self._count is not None and not batched
        if of_all or is_drawn_by_each:
            own[_CLIENT] = self._turn()
        if not own:
            return list(function(*flat))

        def one(slices: Any) -> Any:
            mine = dict(zip(own, slices, strict=True))
            for i, tensor in of_all.items():
                mine[i] = tf.gather(tensor, mine[_CLIENT])
            return list(function(*[mine.get(i, v) for i, v in enumerate(flat)]))

        batch = tuple(own.values())
        found = tf.vectorized_map(one, batch, fallback_to_while_loop=False)
        return [Batched(tensor, self._clients) for tensor in found]

    def reduce(
        self, sequence: Elements, start: Flat, step: FlatFn, specs: Sequence[Any]
    ) -> Flat:
        """Folds everybody's elements, side by side."""
        if self._clients is not None:
            raise NotInMemoryError  # not everybody is in the loop around this one
        axes = [] if self._count is None else [tf.get_static_value(self._count)]
        shapes = [tf.TensorShape([*axes, *spec.shape]) for spec in specs]
        state = self.stacked(start)
        for rows in sequence.source:
            state = self._loop(rows, sequence, state, step, shapes)
        return self._held(state)

    def _loop(
        self,
        rows: Rows,
        sequence: Elements,
        start: Sequence[Any],
        step: FlatFn,
        shapes: Sequence[Any],
    ) -> Flat:
        """Takes some steps."""

        def body(i: Any, *state: Any) -> Any:
            element, clients = rows.read(i)
            with self._turn_of(clients):
                element = sequence.element(element)
                found = self.stacked(step(*self._held(state), *element))
            if clients is not None:
                where, pairs = clients[:, tf.newaxis], zip(state, found, strict=True)
                found = [tf.tensor_scatter_nd_update(s, where, n) for s, n in pairs]
            return i + 1, *found

        _, *state = tf.while_loop(
            lambda i, *_: i[0] < rows.count,
            body,
            [tf.constant([0]), *start],
            shape_invariants=[tf.TensorShape([1]), *shapes],
        )
        return list(state)

    def run(self, code: GraphCode, flat: Flat, type_: FunctionType) -> Flat:
        """Runs leaf code, as loops if it has sequences."""
        if code.loops is not None:
            return code.loops(flat, self)
        if code.has_sequences:
            raise NotInMemoryError
        return self.call(code.pure_function, flat, draws=code.has_state)

    def constant(self, plain: Any, type_: SequenceType) -> Elements:
        """Is read by a pipeline only."""
        raise NotInMemoryError

    def stacked(self, flat: Flat) -> Flat:
        """What those whose turn it is have, one after the other."""
        if self._count is None:
            return flat
        return [
            self._of_now(v) if isinstance(v, Batched) else self._repeated(v)
            for v in flat
        ]

    def _turn(self) -> Any:
        """Whose turn it is."""
        return tf.range(self._count) if self._clients is None else self._clients

    def _held(self, state: Sequence[Any]) -> Flat:
        return list(state) if self._count is None else [Batched(t) for t in state]

    @contextmanager
    def _turn_of(self, clients: Any) -> Iterator[None]:
        before, self._clients = self._clients, clients
        try:
            yield
        finally:
            self._clients = before

    def _of_now(self, value: Batched) -> Any:
        """The tensors of those whose turn it is."""
        if value.clients is self._clients:
            return value.tensor
        return tf.gather(value.tensor, self._clients)

    def _repeated(self, value: Any) -> Any:
        value = tf.convert_to_tensor(value)
        count = self._count if self._clients is None else tf.size(self._clients)
        whole = tf.broadcast_to(value, tf.concat([[count], tf.shape(value)], 0))
        return tf.ensure_shape(whole, [tf.get_static_value(count), *value.shape])
