# SPDX-License-Identifier: Apache-2.0
"""A dataset whose elements are rows of tensors: read by a loop inside the graph.

TensorFlow's own pipeline costs about two milliseconds for each element that it hands to
a graph. Where the elements of a sequence have equal shapes, the last one perhaps
excepted, they are stacked outside (see `sequences.py`), and a body is handed one of
these instead. `map` and `reduce` become a `tf.while_loop` over the rows. Whatever else
a body does with it is done by the real pipeline, over the same rows.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, final

from fedlearn_edu.runtimes.tensorflow.library import tf

# How often the shape of a state may become less definite before TensorFlow takes over.
_MAX_TRACES = 4


@final
class StackedDataset(tf.data.Dataset):  # type: ignore[misc]  # TensorFlow has no types
    """Rows, in one or several blocks, and the functions mapped over them so far.

    Args:
        blocks: elements in their containers; each tensor has one axis more in front.
        spec: what an element looks like after all functions.
        row_spec: what a row looks like.
        steps: functions that make an element of a row, one after the other.
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        spec: Any,
        row_spec: Any,
        steps: tuple[Callable[..., Any], ...] = (),
    ) -> None:
        self._blocks = blocks
        self._spec = spec
        self._row_spec = row_spec
        self._steps = steps
        rows, *others = map(tf.data.Dataset.from_tensor_slices, blocks)
        for other in others:
            rows = rows.concatenate(other)
        self._rows = rows
        super().__init__(tf.data.experimental.to_variant(rows))

    @property
    def element_spec(self) -> Any:
        """What one element looks like."""
        return self._spec

    def _inputs(self) -> list[Any]:
        return []

    # Every transformation that is not ours asks for this.
    @cached_property
    def _variant_tensor(self) -> Any:
        pipeline = self._rows
        for step in self._steps:
            pipeline = pipeline.map(step)
        return tf.data.experimental.to_variant(pipeline)

    def map(self, map_func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Elements that are computed when they are read, in order."""
        step = tf.function(map_func)
        found = _result_spec(step, _spread(self._spec))
        if found is None:
            return super().map(map_func, *args, **kwargs)
        steps = (*self._steps, step)
        return StackedDataset(self._blocks, found, self._row_spec, steps)

    def prefetch(self, *_args: Any, **_kwargs: Any) -> Any:
        """The rows are here already."""
        return self

    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., Any], name: Any = None
    ) -> Any:
        """Folds the elements in a loop of the graph."""
        step = tf.function(reduce_func)
        start = tf.nest.map_structure(tf.convert_to_tensor, initial_state)
        spec = _state_spec(step, start, self._spec)
        if spec is None:
            return super().reduce(initial_state, reduce_func, name)
        state = start
        for block in self._blocks:
            state = self._fold(block, state, step, spec)
        return state

    def _fold(self, block: Any, state: Any, step: Callable[..., Any], spec: Any) -> Any:
        count = tf.shape(tf.nest.flatten(block)[0])[0]

        def on_row(i: Any, state: Any) -> Any:
            row = tf.nest.map_structure(lambda column: column[i], block)
            return i + 1, step(state, self._element(row))

        shapes = tf.nest.map_structure(lambda s: s.shape, spec)
        _, folded = tf.while_loop(
            lambda i, _: i < count,
            on_row,
            [tf.constant(0), state],
            shape_invariants=[tf.TensorShape([]), shapes],
        )
        return folded

    def _element(self, row: Any) -> Any:
        pairs = zip(tf.nest.flatten(row), tf.nest.flatten(self._row_spec), strict=True)
        for column, spec in pairs:
            column.set_shape(spec.shape)
        for step in self._steps:
            row = step(*_spread(row))
        return row


def _spread(element: Any) -> tuple[Any, ...]:
    """An element as the arguments of a function: a tuple is several."""
    is_plain = isinstance(element, tuple) and not hasattr(element, "_fields")
    return element if is_plain else (element,)


def _result_spec(step: Any, arguments: tuple[Any, ...]) -> Any:
    """What a function makes of such arguments, if it is tensors in tuples and dicts."""
    return _spec_of(step.get_concrete_function(*arguments).structured_outputs)


def _state_spec(step: Any, start: Any, element: Any) -> Any:
    """What the state looks like in all rounds, if that can be told."""
    spec = _spec_of(start)
    for _ in range(_MAX_TRACES):
        if spec is None:
            return None
        result = _spec_of(step.get_concrete_function(spec, element).structured_outputs)
        if result is None or not _same_structure(spec, result):
            return None
        wider = tf.nest.map_structure(_wider, spec, result)
        if wider == spec:
            return spec
        spec = wider
    return None


def _wider(first: Any, second: Any) -> Any:
    shape = first.shape.most_specific_compatible_shape(second.shape)
    return tf.TensorSpec(shape, first.dtype)


def _same_structure(first: Any, second: Any) -> bool:
    try:
        tf.nest.assert_same_structure(first, second)
    except (TypeError, ValueError):
        return False
    pairs = zip(tf.nest.flatten(first), tf.nest.flatten(second), strict=True)
    return all(a.dtype == b.dtype for a, b in pairs)


def _spec_of(result: Any) -> Any:
    """The specs of tensors in tuples and dicts; `None` if there is anything else."""
    is_simple = _holds_tensors(result)
    return tf.nest.map_structure(_spec_of_tensor, result) if is_simple else None


def _spec_of_tensor(tensor: Any) -> Any:
    return tf.TensorSpec(tensor.shape, tensor.dtype)


def _holds_tensors(result: Any) -> bool:
    if isinstance(result, dict):
        return all(map(_holds_tensors, result.values()))
    if isinstance(result, tuple):
        return all(map(_holds_tensors, result))
    return isinstance(result, tf.Tensor)
