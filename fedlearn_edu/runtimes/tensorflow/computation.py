# SPDX-License-Identifier: Apache-2.0
"""`tf_computation`: a TensorFlow function, traced once into one opaque leaf.

The body runs once, at definition, on symbolic tensors and datasets. Other TensorFlow
computations called in it become part of its graph. The executor beside this file runs
it.
"""

from collections.abc import Callable
from typing import Any, final

from fedlearn_edu.compiler.evaluation import obstacle
from fedlearn_edu.computations.arguments import call_leaf, check_leaf_parameter
from fedlearn_edu.computations.computation import Computation, check_closed
from fedlearn_edu.computations.context_stack import TracingContext
from fedlearn_edu.computations.decorator import Decorator, returned_none
from fedlearn_edu.errors import ContextError, TracingError, TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.runtimes.tensorflow import RUNTIME
from fedlearn_edu.runtimes.tensorflow.conversion import (
    flatten,
    from_body,
    leaf_types,
    nest,
    tensor_spec,
    to_body,
)
from fedlearn_edu.runtimes.tensorflow.evaluation import (
    PRIMITIVES,
    evaluate_in_graph,
    with_datasets,
)
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.variables import creator_in
from fedlearn_edu.types import FunctionType, SequenceType, Type


@final
class TensorFlowTracingContext(TracingContext):
    """Makes what a body calls a part of its graph.

    That is other TensorFlow computations, and sequence intrinsics.
    """

    has_placements = False

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Calls a computation on symbolic tensors."""
        tree, type_ = computation.tree, computation.type_signature
        check_closed(computation)
        found = obstacle(tree, RUNTIME, PRIMITIVES)
        if found is not None:
            raise ContextError(
                f"{computation.__name__} cannot be called inside a tf_computation",
                expected="a computation of TensorFlow code and sequence intrinsics",
                found=found,
                where=str(computation),
                do="call both from a federated_computation",
            )
        nested = None
        if type_.parameter is not None:
            flat = _symbolic(argument, type_.parameter, computation.__name__)
            nested = with_datasets(nest(iter(flat), type_.parameter), type_.parameter)
        return to_body(evaluate_in_graph(tree, nested), type_.result)


def trace_tensorflow(
    fn: Callable[..., Any], names: tuple[str, ...], type_: Type | None, fn_name: str
) -> Computation:
    """Traces `fn` and returns the computation that runs its graph."""
    check_leaf_parameter(fn_name, type_)
    results: list[Type] = []

    def body(*flat: Any) -> list[Any]:
        creator = creator_in(tf.compat.v1.get_default_graph())
        with TensorFlowTracingContext(), tf.variable_creator_scope(creator):
            nested = None if type_ is None else nest(iter(flat), type_)
            result = call_leaf(fn, names, type_, nested, to_body)
            if result is None:
                raise returned_none(fn, fn_name)
            result_type, leaves = from_body(result, fn_name)
        results[:] = [result_type]
        return leaves

    specs = [tensor_spec(leaf) for leaf in leaf_types(type_)]
    concrete = tf.function(body, autograph=False).get_concrete_function(*specs)
    _check_captures(concrete.graph, fn_name)
    code = GraphCode(fn_name, concrete, type_, results[0])
    leaf = ir.Leaf(RUNTIME, code, FunctionType(type_, results[0]))
    return Computation(leaf, fn_name, fn.__doc__)


def _check_captures(graph: Any, fn_name: str) -> None:
    for external, _ in graph.captures:
        if external.dtype in (tf.resource, tf.variant):
            kind = "variable" if external.dtype == tf.resource else "dataset"
            raise TracingError(
                f"{fn_name} uses a {kind} that was made outside of it",
                expected="variables made inside, everything else passed in",
                found=f"a {kind}",
                where=f"the body of {fn_name}",
                do="make it in the body (a Keras optimizer, too), or make its value a "
                "parameter",
            )


def _symbolic(argument: Any, type_: Type, callee: str) -> list[Any]:
    """Checks the argument of an inner call and flattens it to tensors."""
    found, leaves = from_body(argument, callee)
    try:
        type_.check_assignable_from(found, where=f"the argument of {callee}")
    except TypeMismatchError as error:
        if type_.contains(_is_sequence) and not found.contains(_is_sequence):
            error.do = "make a dataset: tf.data.Dataset.from_tensor_slices(…)"
        raise
    return flatten(nest(iter(leaves), type_), type_)


def _is_sequence(type_: Type) -> bool:
    """Whether a dataset is needed for this type."""
    return isinstance(type_, SequenceType)


tf_computation = Decorator(
    "tf_computation",
    trace_tensorflow,
    """Makes a computation of a TensorFlow function.

    The body runs once, now, on symbolic tensors; calling the computation runs the
    graph. Sequences are `tf.data.Dataset`s, structures the containers they were
    declared with. Variables made in the body live for one call. `tf.function` may be
    used inside.

    >>> import numpy as np
    >>> from fedlearn_edu import tf_computation
    >>> add = tf_computation(lambda a, b: a + b, np.int32, np.int32)
    >>> print(add.type_signature)
    (<a=int32,b=int32> -> int32)
    >>> int(add(1, 2))
    3

    Source: `tff.tf_computation`.
    """,
)
