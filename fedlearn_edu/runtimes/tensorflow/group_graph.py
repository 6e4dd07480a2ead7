# SPDX-License-Identifier: Apache-2.0
"""The graph of one piece of work for all clients of a group.

`groups.py` decides which of the two forms is traced; the data come as columns
(`columns.py`). Each client's part of them is again what its function takes: tensors,
and datasets over rows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.runtimes.tensorflow.columns import Column, Layout
from fedlearn_edu.runtimes.tensorflow.computation import TensorFlowTracingContext
from fedlearn_edu.runtimes.tensorflow.conversion import (
    element_spec,
    flatten,
    leaf_types,
    packed,
    tensor_spec,
)
from fedlearn_edu.runtimes.tensorflow.evaluation import evaluate_in_graph
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.stacked import StackedDataset
from fedlearn_edu.runtimes.tensorflow.variables import living_for_one_call
from fedlearn_edu.structure import Struct, unflatten
from fedlearn_edu.types import SequenceType, TensorType, Type

Tensors = list[Any]
# What `tf.while_loop` lets run at the same time by default.
_SIDE_BY_SIDE = 10
# The axes in front of an element, for rows and for tails.
_AXES: dict[Layout, tuple[list[int | None], list[int | None]]] = {
    Layout.REPLICATED: ([None], [1]),
    Layout.UNIFORM: ([None, None], [None, 1]),
    Layout.RAGGED: ([None], []),
}


@final
@dataclass(frozen=True)
class Work:
    """What is done for each client, and how what comes out is folded, if it is.

    Attributes:
        function: the function of one client.
        parameter: what it takes.
        accumulate: the function that folds results, in client order.
        state: the type of the fold.
    """

    function: ir.Node
    parameter: Type
    accumulate: ir.Node | None = None
    state: Type | None = None

    @property
    def result(self) -> Type:
        """What the function of one client returns."""
        return ir.function_type_of(self.function).result


@final
class GroupGraph:
    """Traces one piece of work, for columns of one layout."""

    def __init__(self, work: Work, layout: Sequence[Column]) -> None:
        self._work = work
        self._layout = layout
        self._types = leaf_types(work.parameter)
        self._state_specs = [tensor_spec(leaf) for leaf in leaf_types(work.state)]

    def trace(self, form: Callable[..., Iterable[Any]]) -> Any:
        """The graph of `loop` or `vectorized`, from a count, columns and a start."""
        pairs = list(zip(self._layout, self._types, strict=True))
        specs = [spec for column, type_ in pairs for spec in _specs(column, type_)]

        def run(count: Any, *flat: Any) -> Tensors:
            with TensorFlowTracingContext():
                return list(form(count, flat[: len(specs)], flat[len(specs) :]))

        count = tf.TensorSpec([], tf.int32)
        traced = tf.function(run, autograph=False)
        return traced.get_concrete_function(count, *specs, *self._state_specs)

    def loop(self, count: Any, flat: Tensors, start: Tensors) -> Iterable[Any]:
        """One client after the other, some of them side by side."""
        if self._work.accumulate is None:
            return tf.map_fn(  # type: ignore[no-any-return]
                lambda i: self._client(self._parts(flat, i)),
                tf.range(count),
                fn_output_signature=list(
                    map(tensor_spec, leaf_types(self._work.result))
                ),
                parallel_iterations=_SIDE_BY_SIDE,
            )
        return self._folded(count, start, lambda i: self._client(self._parts(flat, i)))

    def vectorized(self, count: Any, flat: Tensors, start: Tensors) -> Iterable[Any]:
        """Each operation for all clients at once.

        Raises:
            ValueError: if there is an operation that cannot be done for all at once.
        """
        owned = [
            i for i, layout in enumerate(self._layouts()) if layout != Layout.REPLICATED
        ]

        def one(mine: Any) -> Tensors:
            _, *slices = mine
            own = dict(zip(owned, slices, strict=True))
            return self._client(
                iter([own.get(i, whole) for i, whole in enumerate(flat)])
            )

        every = tf.vectorized_map(
            one,
            (tf.range(count), *(flat[i] for i in owned)),
            fallback_to_while_loop=False,
        )
        if self._work.accumulate is None:
            return every  # type: ignore[no-any-return]
        return self._folded(count, start, lambda i: [column[i] for column in every])

    def _folded(
        self, count: Any, start: Tensors, result_of: Callable[[Any], Tensors]
    ) -> Tensors:
        """The results of all clients, folded in their order."""
        accumulate, state_type = self._work.accumulate, self._work.state
        assert accumulate is not None
        assert state_type is not None

        def step(i: Any, *state: Any) -> tuple[Any, ...]:
            so_far = unflatten(state_type, state)
            result = unflatten(self._work.result, result_of(i))
            pair = Struct.unnamed(so_far, result)
            folded = evaluate_in_graph(accumulate, pair)
            return i + 1, *flatten(folded, state_type)

        shapes = [spec.shape for spec in self._state_specs]
        _, *state = tf.while_loop(
            lambda i, *_: i < count,
            step,
            [tf.constant(0), *start],
            shape_invariants=[tf.TensorShape([]), *shapes],
            parallel_iterations=_SIDE_BY_SIDE,
        )
        return list(state)

    def _client(self, parts: Iterable[Any]) -> Tensors:
        """What one client makes of its parts of the columns."""
        flat = iter(parts)
        values = [
            _value(flat, column, type_)
            for column, type_ in zip(self._layout, self._types, strict=True)
        ]
        # Here, so that a variable is this client's, not the whole graph's.
        with living_for_one_call():
            nested = unflatten(self._work.parameter, values)
            result = evaluate_in_graph(self._work.function, nested)
        return flatten(result, self._work.result)

    def _layouts(self) -> list[Layout]:
        return [column.layout for column in self._layout for _ in column.tensors]

    def _parts(self, flat: Tensors, i: Any) -> Iterable[Any]:
        """Client `i`'s part of all columns."""
        tensors = iter(flat)
        for column in self._layout:
            whole = [next(tensors) for _ in column.tensors]
            match column.layout:
                case Layout.REPLICATED:
                    yield from whole
                case Layout.RAGGED:
                    yield from _rows_of(i, column, whole)
                case _:
                    yield from [tensor[i] for tensor in whole]


def _rows_of(i: Any, column: Column, whole: Tensors) -> Iterable[Any]:
    """Client `i`'s rows and tails, of tensors in which all clients' lie in a row."""
    parts = 1 + column.has_tails
    tensors, ends = whole[:-parts], whole[-parts:]
    count = len(tensors) // parts
    first, last = ends[0][i], ends[0][i + 1]
    yield from [tensor[first:last] for tensor in tensors[:count]]
    if column.has_tails:
        first, last = ends[1][i], ends[1][i + 1]
        has_tail = tf.minimum(last - first, 1)
        for tensor in tensors[count:]:
            tail = tensor[first:last]
            yield tf.reshape(tail, tf.concat([[has_tail], tf.shape(tail)], 0))


def _value(parts: Any, column: Column, type_: TensorType | SequenceType) -> Any:
    """One tensor or one dataset, of a client's parts."""
    if isinstance(type_, TensorType):
        return next(parts)
    count, spec = len(leaf_types(type_.element)), element_spec(type_.element)
    blocks = [
        packed([next(parts) for _ in range(count)], type_.element)
        for _ in range(1 + column.has_tails)
    ]
    return StackedDataset(blocks, spec, spec)


def _specs(column: Column, type_: TensorType | SequenceType) -> list[Any]:
    """What the tensors of a column look like, whatever data it holds."""
    if isinstance(type_, TensorType):
        each = tensor_spec(type_)
        axes = [] if column.layout == Layout.REPLICATED else [None]
        return [tf.TensorSpec([*axes, *each.shape], each.dtype)]
    elements = [tensor_spec(leaf) for leaf in leaf_types(type_.element)]
    of_rows, of_tails = _AXES[column.layout]
    specs = [tf.TensorSpec([*of_rows, *e.shape], e.dtype) for e in elements]
    if column.has_tails:
        specs += [tf.TensorSpec([*of_tails, *e.shape], e.dtype) for e in elements]
    if column.layout == Layout.RAGGED:
        specs += [tf.TensorSpec([None], tf.int32)] * (1 + column.has_tails)
    return specs
