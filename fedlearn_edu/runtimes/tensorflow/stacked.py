# SPDX-License-Identifier: Apache-2.0
"""A dataset whose elements are rows of tensors: read by a loop inside the graph.

TensorFlow's own pipeline costs about two milliseconds for each element that it hands to
a graph. Where the elements of a sequence have equal shapes, the last one perhaps
excepted, they are stacked outside (see `sequences.py`), and a body is handed one of
these instead. What is written down here becomes operations on the rows, and `reduce` a
`tf.while_loop` over them. The rest is done by the real pipeline, over the same rows.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from typing import Any, final

from fedlearn_edu.runtimes.tensorflow import internals, rows
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.steps import (
    loop_by_reducing,
    spec_of,
    spread,
    static,
    traced,
    traced_fold,
)

_ALL = tf.int32.max
# Each costs four bytes for each row; the pipeline needs no list of what comes when.
_MOST_REPEATS = 1000
_INDEX, _NUMBER = tf.TensorSpec([1], tf.int32), tf.TensorSpec([], tf.int64)
_as_it_is = tf.autograph.experimental.do_not_convert


def _or_pipeline(method: Callable[..., Any]) -> Callable[..., Any]:
    """What a method makes; if that is `None`, what TensorFlow makes of the same."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = method(self, *args, **kwargs)
        real = getattr(tf.data.Dataset, method.__name__)
        return real(self, *args, **kwargs) if found is None else found

    return call


@final
class StackedDataset(tf.data.Dataset):  # type: ignore[misc]  # TensorFlow has no types
    """Rows, in one or several blocks, and the functions mapped over them so far.

    Args:
        blocks: elements in their containers; each tensor has one axis more in front.
        spec: what an element looks like after all functions.
        row_spec: what a row looks like.
        steps: traced functions that make an element of a row, one after the other.
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        spec: Any,
        row_spec: Any,
        steps: tuple[Any, ...] = (),
    ) -> None:
        some = [b for b in blocks if not isinstance(n := rows.count(b), int) or n]
        self._blocks = tuple(some or blocks[:1])
        self._spec = spec
        self._row_spec = row_spec
        self._steps = steps
        super().__init__(None)

    @property
    def element_spec(self) -> Any:
        """What one element looks like."""
        return self._spec

    def _inputs(self) -> list[Any]:
        return []

    # Every transformation that is not ours asks for this, some in an inner graph.
    @cached_property
    def _variant_tensor(self) -> Any:
        with self._graph.as_default():
            pipeline, *others = map(tf.data.Dataset.from_tensor_slices, self._blocks)
            for other in others:
                pipeline = pipeline.concatenate(other)
            for step in self._steps:
                pipeline = pipeline.map(step)
            return tf.data.experimental.to_variant(pipeline)

    @property
    def _type_spec(self) -> Any:
        if self._steps:  # they may use tensors of this graph, and must not leave it
            return super()._type_spec
        blocks = tf.nest.map_structure(tf.TensorSpec.from_tensor, self._blocks)
        return _StackedSpec(blocks, self._row_spec)

    def _element(self, row: Any) -> Any:
        for step in self._steps:
            row = step(*spread(row))
        return row

    def _over(self, blocks: Sequence[Any]) -> "StackedDataset":
        return StackedDataset(blocks, self._spec, self._row_spec, self._steps)

    def _by_number(
        self, change: Callable[..., Any], spec: Any, times: int = 1
    ) -> "StackedDataset":
        """The numbers of the rows, and a step that changes a number and its element."""
        numbers = tf.range(rows.count(*self._blocks))[:, tf.newaxis]

        def read(number: Any) -> Any:
            return change(number[0], self._element(rows.row_of(self._blocks, number)))

        steps = (traced(_as_it_is(read), _INDEX),)
        return StackedDataset([tf.tile(numbers, [times, 1])], spec, _INDEX, steps)

    @property
    def _is_pure(self) -> bool:
        """Whether it is unobservable which elements were computed, and how often."""
        graphs = [step.graph for step in self._steps]
        operations = [op for graph in graphs for op in graph.get_operations()]
        return not any(operation.op_def.is_stateful for operation in operations)

    @_or_pipeline
    def map(self, map_func: Callable[..., Any], *_: Any, **__: Any) -> Any:
        """Elements that are computed when they are read, in order."""
        step = traced(map_func, *spread(self._spec))
        spec, steps = spec_of(step.structured_outputs), (*self._steps, step)
        if spec is None:
            return None
        return StackedDataset(self._blocks, spec, self._row_spec, steps)

    def prefetch(self, *_: Any, **__: Any) -> Any:
        """The rows are here already."""
        return self

    def cardinality(self) -> Any:
        """The number of rows."""
        return tf.cast(rows.count(*self._blocks), tf.int64)

    @_or_pipeline
    def take(self, count: Any, *_: Any, **__: Any) -> Any:
        """The first rows."""
        n = static(count, tf.int64)
        if n is None or n < 0:
            return None if n is None else self
        return self._over(rows.window(self._blocks, 0, min(int(n), _ALL)))

    @_or_pipeline
    def skip(self, count: Any, *_: Any, **__: Any) -> Any:
        """All but the first rows, which are not computed, either."""
        n = static(count, tf.int64)
        if n is None or not self._is_pure:
            return None
        first = _ALL if n < 0 else min(int(n), _ALL)
        return self._over(rows.window(self._blocks, first, _ALL))

    @_or_pipeline
    def repeat(self, count: Any = None, *_: Any, **__: Any) -> Any:
        """The rows so many times, without copying them."""
        n = None if count is None else static(count, tf.int64)
        if n is None or not 0 <= n <= _MOST_REPEATS:
            return None
        return self._by_number(lambda _, element: element, self._spec, n)

    def enumerate(self, start: Any = 0, *_: Any, **__: Any) -> Any:
        """Pairs of a number and an element."""

        def pair(number: Any, element: Any) -> Any:
            return tf.cast(number, tf.int64) + start, element

        return self._by_number(pair, (_NUMBER, self._spec))

    @_or_pipeline
    def concatenate(self, dataset: Any, *_: Any, **__: Any) -> Any:
        """First these rows, then those."""
        if not isinstance(dataset, StackedDataset) or (
            (self._row_spec, self._steps) != (dataset._row_spec, dataset._steps)
        ):
            return None
        return self._over([*self._blocks, *dataset._blocks])

    @_or_pipeline
    def batch(
        self, batch_size: Any, drop_remainder: Any = False, *_: Any, **__: Any
    ) -> Any:
        """Elements of one shape, computed at once and cut into batches."""
        size, drop = static(batch_size, tf.int64), static(drop_remainder, tf.bool)
        leaves = tf.nest.flatten(self._spec)
        are_alike = all(leaf.shape.is_fully_defined() for leaf in leaves)
        is_known = size is not None and size > 0 and drop is not None
        if not (is_known and are_alike and self._is_pure):
            return None
        front = int(size) if drop else None
        spec = tf.nest.map_structure(
            lambda s: tf.TensorSpec([front, *s.shape], s.dtype), self._spec
        )
        blocks = [self._computed(block) for block in self._blocks]
        batches = rows.batched(blocks, int(size), drop_remainder=bool(drop))
        return StackedDataset(batches, spec, spec)

    def _computed(self, block: Any) -> Any:
        if not self._steps:
            return block
        element = _as_it_is(self._element)
        return tf.map_fn(element, block, fn_output_signature=self._spec)

    @_or_pipeline
    def reduce(self, initial_state: Any, reduce_func: Any, *_: Any, **__: Any) -> Any:
        """Folds the elements in a loop of the graph."""

        def read(state: Any, row: Any) -> tuple[Any, Any]:
            return state, self._element(row)

        state = internals.normalize_element(initial_state)
        spec = spec_of(state)
        found = spec and traced_fold(reduce_func, spec, self._row_spec, read)
        if not found:
            return None
        step, spec = found
        shapes = tf.nest.map_structure(lambda s: s.shape, spec)
        for block in self._blocks:
            state = rows.fold(block, state, step, shapes)
        return state


@final
class _StackedSpec(tf.TypeSpec):  # type: ignore[misc]
    """Rows as an argument of a `tf.function`: they stay rows in there."""

    def __init__(self, blocks: tuple[Any, ...], row_spec: Any) -> None:
        self._blocks = blocks
        self._row_spec = row_spec

    value_type = property(lambda _: StackedDataset)
    _component_specs = property(lambda self: self._blocks)

    def _serialize(self) -> tuple[Any, ...]:
        return self._blocks, self._row_spec

    def _to_components(self, value: Any) -> Any:
        return value._blocks

    def _from_components(self, components: Any) -> StackedDataset:
        return StackedDataset(components, self._row_spec, self._row_spec)


loop_by_reducing(StackedDataset)
