# SPDX-License-Identifier: Apache-2.0
"""Functions that a `StackedDataset` maps and folds with: traced once, for all rows.

What goes in and out is converted as `tf.data` does it. Where it is anything else than
tensors in tuples and dicts, the answer is `None`, and `tf.data` itself has to do it.
"""

from collections.abc import Callable
from typing import Any

from fedlearn_edu.runtimes.tensorflow import internals
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.variables import without_variables

# How often the shape of a state may become less definite before TensorFlow takes over.
_MAX_TRACES = 4
_as_it_is = tf.autograph.experimental.do_not_convert


def traced(function: Callable[..., Any], *specs: Any, before: Any = None) -> Any:
    """A function of what `before` makes of its arguments, as one TensorFlow graph."""
    converted = internals.in_autograph(function)

    def call(*arguments: Any) -> Any:
        result = converted(*(before(*arguments) if before else arguments))
        packed = tuple(result) if isinstance(result, list) else result
        return internals.normalize_element(packed)

    made = tf.function(call, autograph=False).get_concrete_function(*specs)
    return without_variables(made)


def traced_fold(
    function: Callable[..., Any], state: Any, row: Any, before: Callable[..., Any]
) -> tuple[Any, Any] | None:
    """A function from state and row to state, and what all states look like."""
    for _ in range(_MAX_TRACES):
        step = traced(function, state, row, before=before)
        result = spec_of(step.structured_outputs)
        try:
            wider = tf.nest.map_structure(
                lambda a, b: a.most_specific_common_supertype([b]), state, result
            )
        except (TypeError, ValueError):
            return None
        if wider == state or None in tf.nest.flatten(wider):
            return (step, state) if wider == state else None
        state = wider
    return None


def spec_of(value: Any) -> Any:
    """What a structure of tensors looks like."""
    spec = internals.spec_from_value(value)
    are_tensors = all(type(leaf) is tf.TensorSpec for leaf in tf.nest.flatten(spec))
    return spec if are_tensors else None


def static(value: Any, dtype: Any) -> Any:
    """The value of what may be a tensor; `None` if only a run can tell."""
    return tf.get_static_value(tf.convert_to_tensor(value, dtype))


def spread(element: Any) -> tuple[Any, ...]:
    """An element as the arguments of a function: a tuple is several."""
    is_plain = isinstance(element, tuple) and not hasattr(element, "_fields")
    return element if is_plain else (element,)


def loop_by_reducing(kind: type) -> None:
    """Makes AutoGraph fold such datasets, where it would scan their pipeline."""
    internals.run_for_loops(kind, _for_each)


def _for_each(dataset: Any, test: Any, body: Any, get: Any, put: Any, *_: Any) -> None:
    """AutoGraph's `for`; `test` says whether there has been no `break` yet."""
    outside = internals.autograph_scope()

    def step(state: Any, element: Any) -> Any:
        goes_on, *variables = state
        put(variables)

        def run() -> Any:
            put(variables)
            with outside:  # for what the body calls
                body(element)
            return get()

        if test is None:
            return goes_on, *run()
        goes_on = tf.logical_and(goes_on, test())
        return goes_on, *tf.cond(goes_on, run, lambda: tuple(variables))

    put(dataset.reduce((True, *get()), _as_it_is(step))[1:])
