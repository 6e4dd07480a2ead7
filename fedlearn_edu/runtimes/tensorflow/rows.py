# SPDX-License-Identifier: Apache-2.0
"""Columns inside of graphs: as tensors and sequences that a `Machine` takes.

`columns.py` draws how sequences are packed. Here a loop reads them, step by step.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, final

from fedlearn_edu.executors.batched import Declined, Same
from fedlearn_edu.runtimes.tensorflow.columns import Blocks, Column, columns
from fedlearn_edu.runtimes.tensorflow.conversion import leaf_types, tensor_spec
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode, called
from fedlearn_edu.runtimes.tensorflow.library import silence, tf
from fedlearn_edu.runtimes.tensorflow.machine import (
    Batched,
    Elements,
    Flat,
    Machine,
    NotInMemoryError,
    Rows,
    Steps,
)
from fedlearn_edu.signals import is_from_outside
from fedlearn_edu.structure import unflatten
from fedlearn_edu.types import SequenceType, TensorType, Type

_MAX_ATTEMPTS = 3  # to trace what never could be


def value_of(column: Column, type_: TensorType | SequenceType) -> Any:
    """The tensor or the elements of a column."""
    if isinstance(type_, TensorType):
        return _batched(column, [column.held])[0]
    parts = [_even_steps(column)]
    if not column.is_even:
        parts.append(_uneven_steps(column, leaf_types(type_.element)))
    return Elements(Rows(tuple(parts), column.changes))


def _batched(column: Column, tensors: Flat, clients: Any = None) -> Flat:
    """Tensors of the column as what clients have, each its own or all the same."""
    return tensors if column.is_shared else [Batched(t, clients) for t in tensors]


def _even_steps(column: Column) -> Steps:
    even = column.held.even

    def read(i: Any) -> tuple[Flat, Any]:
        return _batched(column, [_row(whole, i) for whole in even]), None

    return Steps(read, tf.shape(even[0])[0])


def _uneven_steps(column: Column, types: Sequence[Any]) -> Steps:
    packed = column.held
    axis = [] if column.is_shared else [None]
    static = [[*axis, *tensor_spec(leaf).shape] for leaf in types]
    leaves = list(zip(packed.uneven, packed.shapes, static, strict=True))

    def read(i: Any) -> tuple[Flat, Any]:
        clients = _block(packed.clients, i) if packed.clients else None
        tensors = [
            tf.ensure_shape(tf.reshape(_block(uneven, i), _row(shapes, i)), known)
            for uneven, shapes, known in leaves
        ]
        return _batched(column, tensors, clients), clients

    return Steps(read, tf.size(packed.uneven[0].ends) - 1)


def _row(tensor: Any, i: Any) -> Any:
    """One row; its number is a vector of length one, which saves operations."""
    # Unlike `tf.gather`, this does not copy a row that lies well in memory.
    return tf.raw_ops.StridedSlice(
        input=tensor, begin=i, end=i + 1, strides=[1], shrink_axis_mask=1
    )


def _block(blocks: Blocks, i: Any) -> Any:
    return blocks.values[_row(blocks.ends, i) : _row(blocks.ends, i + 1)]


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
        empty = tf.nest.map_structure(lambda _: None, [column.held for column in found])
        layouts = [replace(c, held=h) for c, h in zip(found, empty, strict=True)]
        count = len(tf.nest.flatten(empty))

        def on_tensors(*flat: Any) -> list[Any]:
            held = tf.nest.pack_sequence_as(empty, flat[:count])
            triples = zip(layouts, held, leaf_types(type_), strict=True)
            values = [value_of(replace(c, held=h), t) for c, h, t in triples]
            return run(values, *flat[count:])

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
    run, parameter = code.machine_fn, code.parameter
    if run is None or parameter is None or not code.has_sequences or not code.reads_all:
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
