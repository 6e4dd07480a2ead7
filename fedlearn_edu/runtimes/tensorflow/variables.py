# SPDX-License-Identifier: Apache-2.0
"""Variables that live for one call.

A `tf.Variable` made inside a `tf_computation` becomes an operation of its graph: every
invocation makes a fresh, anonymous one, also when clients run in parallel threads, and
drops it at the end. Nothing is shared and nothing survives.

In a loop such a variable is slow, and neither a vectorized map nor a lowered body can
have any. `without_variables` makes plain values of them, where that can be proven: from
the finished graph, because an inner `tf.function` can hand out what it assigns in no
other way.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

from fedlearn_edu.errors import TracingError
from fedlearn_edu.runtimes.tensorflow import internals
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.optimizers import rates_may_be_tensors

# The name by which TensorFlow itself asks for an anonymous resource.
_ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
# What a graph takes for no name, as the one that Keras gives to a slot of `w:0`.
_NO_NAME = re.compile(r"[^\w.\\/>-]", re.ASCII)
_NO_BEGINNING = re.compile(r"^(?![A-Za-z0-9.])")


@contextmanager
def living_for_one_call() -> Iterator[None]:
    """What a body makes while it is traced into the current graph lives in that graph.

    So does a variable that an inner `tf.function` makes once and keeps.
    """
    graph = tf.compat.v1.get_default_graph()
    with rates_may_be_tensors(), tf.variable_creator_scope(_creator_in(graph)):
        yield


def _creator_in(graph: Any) -> Callable[..., Any]:
    # TensorFlow's own hold on variables is weak, in this graph and in those it calls.
    graph.variables_of_the_body = made = []

    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        made.append(_made_in(graph, kwargs))
        return made[-1]

    return create


def _made_in(graph: Any, kwargs: dict[str, Any]) -> Any:
    initial = kwargs["initial_value"]
    if not tf.is_tensor(initial):
        with graph.as_default():
            return _one_call_variable(**kwargs)
    try:
        with graph.as_default():
            start = _lifted(initial, graph, {})
            return _one_call_variable(**kwargs | {"initial_value": start})
    except _NotPlainError:
        return _one_call_variable(**kwargs)


def _lifted(tensor: Any, graph: Any, known: dict[Any, Any]) -> Any:
    """What a function in a body computes, computed in the body itself.

    Raises:
        _NotPlainError: it takes an argument of that function.
    """
    inner = getattr(tensor, "graph", graph)
    if inner is graph:
        return tensor
    if (inner, tensor.name) not in known:
        for outer, captured in getattr(inner, "captures", ()):
            if captured.name == tensor.name:
                return _lifted(outer, graph, known)
        if tensor.op.type == "Placeholder":
            raise _NotPlainError
        made = _copy(tensor.op, [_lifted(t, graph, known) for t in tensor.op.inputs])
        names = [(inner, output.name) for output in tensor.op.outputs]
        known.update(zip(names, made.outputs, strict=True))
    return known[inner, tensor.name]


def _one_call_variable(**kwargs: Any) -> Any:
    if internals.resource_variable is None:
        raise TracingError(
            "with this TensorFlow, no variables can be made in a tf_computation",
            expected="a release in which variables may live for one call",
            found=f"TensorFlow {tf.__version__}",
            do="install another release, or pass values along instead of variables",
        )
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
        name=_NO_BEGINNING.sub("v", _NO_NAME.sub("_", kwargs.get("name") or "")),
    )
    internals.describe_handle(handle, shape, value.dtype)
    start = tf.raw_ops.AssignVariableOp(resource=handle, value=value)
    # A `ResourceVariable`, no mere relative of it: a `tf.function` that takes variables
    # as arguments forgets those of an earlier trace, so a cell may be run again.
    handle.variable = internals.resource_variable(
        trainable=kwargs.get("trainable") is not False,
        shape=tf.TensorShape(shape),
        dtype=value.dtype,
        handle=handle,
    )
    internals.note_beginning(handle.variable, start, value)
    return handle.variable


# ------------------------------------------------------------------- as plain values

_CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "AssignVariableOp": lambda _, value: value,
    "AssignAddVariableOp": tf.add,
    "AssignSubVariableOp": tf.subtract,
}


@final
class _Variable:
    """Stands for a handle while a graph is replayed."""

    value: Any = None


@final
class _NotPlainError(Exception):
    """A variable is used where its value cannot be tracked: in a loop, say."""


def without_variables(function: Any) -> Any:
    """The same as a concrete function of flat values, or `function` if it needs them.

    The graph is replayed, operation by operation, functions it calls included. Those
    that use one variable stand in the order of the program, as TensorFlow guarantees;
    so what a read finds is known at each point. Effects get their order as in tracing.
    """
    if not makes_variables(function.graph):
        return function
    captured = function.captured_inputs
    inputs = function.inputs[: len(function.inputs) - len(captured)]

    def run(*flat: Any) -> list[Any]:
        return _results(function.graph, [*flat, *captured])

    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in inputs]
    try:
        return tf.function(run, autograph=False).get_concrete_function(*specs)
    except _NotPlainError:
        return function


def has_effects(graph: Any) -> bool:
    """Whether a graph does more than to compute: has a state, draws, checks, prints."""
    return any(op.op_def.is_stateful for op in graph.get_operations())


def makes_variables(graph: Any) -> bool:
    """Whether a graph, or one that it calls, makes a variable for one call."""
    for op in graph.get_operations():
        called = _called(op)
        if op.type == "VarHandleOp" or (called and makes_variables(called)):
            return True
    return False


def _called(op: Any) -> Any:
    """The graph of the function that is called; a copy from a pickle has none."""
    if op.type not in ("PartitionedCall", "StatefulPartitionedCall"):
        return None
    function = internals.function_of(op.graph, op.get_attr("f").name)
    return getattr(function, "graph", None)


def _results(graph: Any, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of a graph, as a part of the one being traced."""
    known = replayed(graph, inputs)
    return [known[tensor.name] for tensor in graph.outputs]


def replayed(graph: Any, inputs: Sequence[Any]) -> dict[str, Any]:
    """The tensors of a graph by name, as a part of the one being traced."""
    known = dict(zip([tensor.name for tensor in graph.inputs], inputs, strict=True))
    for op in graph.get_operations():
        if op.outputs and op.outputs[0].name in known:
            continue
        found = _replayed_op(op, [known[tensor.name] for tensor in op.inputs])
        known.update(zip([tensor.name for tensor in op.outputs], found, strict=True))
    return known


def _replayed_op(op: Any, arguments: list[Any]) -> list[Any]:
    """What an operation gives; none is made that makes, reads or assigns a variable."""
    uses_variables = any(isinstance(argument, _Variable) for argument in arguments)
    called = _called(op)
    if called and (uses_variables or makes_variables(called)):
        return _results(called, arguments)
    if op.type == "VarHandleOp":
        return [_Variable()]
    if not uses_variables:
        return list(_copy(op, arguments).outputs)
    variable, *others = arguments
    if op.type == "ReadVariableOp":
        return [variable.value]
    if op.type not in _CHANGES:
        raise _NotPlainError
    variable.value = _CHANGES[op.type](variable.value, *others)
    return []


def _copy(op: Any, arguments: list[Any]) -> Any:
    here = tf.compat.v1.get_default_graph()
    attributes = dict(op.node_def.attr)
    for value in attributes.values():
        for name in filter(None, [f.name for f in (value.func, *value.list.func)]):
            function = internals.function_of(op.graph, name)
            if function is None:
                raise _NotPlainError
            here._add_function_recursive(function)
    types = [tensor.dtype for tensor in op.outputs]
    return here.create_op(
        op.type, arguments, types, name=op.name, attrs=attributes, op_def=op.op_def
    )
