# SPDX-License-Identifier: Apache-2.0
"""The private names of TensorFlow that we use, each with what happens without it.

A release may move any of them. Then the name here is `None`, or a public one takes its
place; programs mean the same, and some are slower. (Two more are methods of a subclass
of `tf.data.Dataset`, in `lowering.py`.) `python3.11 -m tools.lowest` runs the tests
with the oldest TensorFlow that works, `make test` with the newest.
"""

import copyreg
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import count
from typing import Any

from fedlearn_edu.runtimes.tensorflow.library import tf


def _private(module: str, name: str) -> Any:
    try:
        return getattr(import_module(f"tensorflow.python.{module}"), name)
    except (ImportError, AttributeError):
        return None


# What a function of a dataset returns, as tensors, and what those look like.
normalize_element = _private("data.util.structure", "normalize_element")
spec_from_value = _private("data.util.structure", "type_spec_from_value")
_autograph: Any = getattr(getattr(tf, "__internal__", None), "autograph", None)


def can_lower() -> bool:
    """Whether a body may become loops; if not, it reads a pipeline."""
    return None not in (normalize_element, spec_from_value, _autograph)


# What a handle to a variable knows of it. Without it, Keras layers do without shapes.
_handle_data = _private("ops.resource_variable_ops", "get_eager_safe_handle_data")
_create_handle_data = _private("ops.handle_data_util", "create_handle_data")
_set_handle_data = _private("ops.handle_data_util", "set_handle_data")

# A variable over a handle that is there. Without it, variables are refused.
resource_variable = _private("ops.resource_variable_ops", "ResourceVariable")


def function_of(graph: Any, name: str) -> Any:
    """The function that a graph calls by that name; `None` if it cannot be copied."""
    find = getattr(graph, "_get_function", None)
    return find(name) if find and hasattr(graph, "_add_function_recursive") else None


def in_autograph(function: Callable[..., Any]) -> Any:
    """The function as AutoGraph converts it where the caller stands."""
    return _autograph.tf_convert(function, _autograph.control_status_ctx())


def has_handle_data(tensor: Any) -> bool:
    """Whether a handle knows what it is a handle of; true if that is unknown."""
    return _handle_data is None or _handle_data(tensor) is not None


_numbers = count()


def describe_handle(handle: Any, shape: Any, dtype: Any) -> None:
    """Lets a handle know its variable: shape, dtype, and what tells it from others.

    Without a number of its own, Keras 2 never changes a variable, and Keras 3 takes all
    for one.
    """
    handle._unique_id = f"one_call_{next(_numbers)}"
    if _create_handle_data is not None and _set_handle_data is not None:
        _set_handle_data(handle, _create_handle_data(tf.TensorShape(shape), dtype))


def note_beginning(variable: Any, start: Any, value: Any) -> None:
    """What older programs wait for, and read."""
    variable._initializer_op, variable._initial_value = start, value


def call_flat(function: Any, flat: Sequence[Any]) -> list[Any]:
    """Calls a traced function of flat tensors; else TensorFlow first sorts them."""
    call = getattr(function, "_call_flat", None)
    if call is None or not all(map(tf.is_tensor, flat)):
        return list(function(*flat))
    return list(call(list(flat), function.captured_inputs))


def _untraced(function: Any) -> Any:
    return function._clone(None).__reduce_ex__(2)


# A `tf.function` travels, but its traces cannot. Where it has no copy, code that calls
# one travels as a graph.
copyreg.pickle(type(tf.function(lambda: None)), _untraced)


_wrapped = _private("ops.parallel_for.pfor", "wrap")
_in_a_loop = _private("ops.parallel_for.pfor", "_fallback_converter")
_converters: Any = _private("ops.parallel_for.pfor", "_pfor_converter_registry")


def _bitcast_of_all(given: Any) -> Any:
    kind = given.get_attr("type")
    return _wrapped(tf.bitcast(given.stacked_input(0), kind), True)


def _one_by_one(given: Any) -> Any:
    return _in_a_loop(given, warn=False)


# What `tf.vectorized_map` does not know: a part of Keras's accuracies, and of dropout,
# which draws for one client after the other. Without these, clients go one by one.
if None not in (_wrapped, _in_a_loop) and isinstance(_converters, dict):
    _converters.setdefault("Bitcast", _bitcast_of_all)
    for name in filter(
        re.compile("Stateless(Random|Shuffle|Trunc)").match, dir(tf.raw_ops)
    ):
        _converters.setdefault(name, _one_by_one)
