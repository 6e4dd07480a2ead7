# SPDX-License-Identifier: Apache-2.0
"""Variables that live for one call.

A `tf.Variable` made inside a `tf_computation` becomes an operation of its graph: every
invocation makes a fresh, anonymous one, also when clients run in parallel threads, and
drops it at the end. Nothing is shared and nothing survives.
"""

from collections.abc import Callable
from typing import Any

from tensorflow.python.ops import handle_data_util, resource_variable_ops

from fedlearn_edu.runtimes.tensorflow.library import tf

# The name by which TensorFlow itself asks for a resource that nobody else can find.
_ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"


def creator_in(graph: Any) -> Callable[..., Any]:
    """A creator for `tf.variable_creator_scope`, for the body traced into `graph`.

    A variable that an inner `tf.function` makes once and keeps is the body's, too.
    """

    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        initial = kwargs["initial_value"]
        of_inner_graph = tf.is_tensor(initial) and getattr(initial, "graph", graph)
        if of_inner_graph and of_inner_graph is not graph:
            return _one_call_variable(**kwargs)
        with graph.as_default():
            return _one_call_variable(**kwargs)

    return create


def _one_call_variable(**kwargs: Any) -> Any:
    initial = kwargs["initial_value"]
    value = tf.convert_to_tensor(
        initial() if callable(initial) else initial, dtype=kwargs.get("dtype")
    )
    shape = value.shape if kwargs.get("shape") is None else kwargs["shape"]
    handle = tf.raw_ops.VarHandleOp(
        dtype=value.dtype,
        shape=shape,
        shared_name=_ANONYMOUS,
        container="",
        name=kwargs.get("name") or "variable",
    )
    data = handle_data_util.create_handle_data(tf.TensorShape(shape), value.dtype)
    handle_data_util.set_handle_data(handle, data)
    tf.raw_ops.AssignVariableOp(resource=handle, value=value)
    # A `ResourceVariable`, no mere relative of it: a `tf.function` that takes variables
    # as arguments forgets those of an earlier trace, so a cell may be run again.
    return resource_variable_ops.ResourceVariable(
        trainable=kwargs.get("trainable") is not False,
        shape=tf.TensorShape(shape),
        dtype=value.dtype,
        handle=handle,
    )
