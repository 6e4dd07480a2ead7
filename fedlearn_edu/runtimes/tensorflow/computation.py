# SPDX-License-Identifier: Apache-2.0
"""`tf_computation`: a TensorFlow function, traced once into one opaque leaf.

The body runs once, at definition, on symbolic tensors and datasets (twice, if it does
with a dataset what cannot be lowered to loops). Other TensorFlow computations called in
it become part of its graph. The executor beside this file runs
it. `fuse` makes the same kind of leaf of a whole function of the language, which
`compiler/fuse.py` hands in: what the stack of executors would do step by step,
TensorFlow then does in one call.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

from fedlearn_edu.compiler.expansion import check_obstacle, obstacle
from fedlearn_edu.errors import TracingError, TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import intrinsics, leaves, walk
from fedlearn_edu.language.computation import Computation, check_closed
from fedlearn_edu.language.context_stack import TracingContext
from fedlearn_edu.language.decorator import (
    Decorator,
    call_leaf,
    check_leaf_parameter,
    returned_none,
)
from fedlearn_edu.runtimes.tensorflow import RUNTIME, internals
from fedlearn_edu.runtimes.tensorflow.conversion import (
    Body,
    flatten,
    from_body,
    leaf_types,
    map_sequences,
    tensor_spec,
    to_body,
)
from fedlearn_edu.runtimes.tensorflow.evaluation import (
    ABILITIES,
    over_datasets,
    to_machine_fn,
)
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.runtimes.tensorflow.graphdef import has_tables
from fedlearn_edu.runtimes.tensorflow.library import silence, tf
from fedlearn_edu.runtimes.tensorflow.lowering import Lowered, lower
from fedlearn_edu.runtimes.tensorflow.machine import MachineFn
from fedlearn_edu.runtimes.tensorflow.refusals import refusal
from fedlearn_edu.runtimes.tensorflow.sequences import to_variant
from fedlearn_edu.runtimes.tensorflow.variables import living_for_one_call
from fedlearn_edu.signals import is_from_outside
from fedlearn_edu.structure import unflatten
from fedlearn_edu.types import FunctionType, SequenceType, Type


def trace_tensorflow(
    fn: Callable[..., Any], names: tuple[str, ...], type_: Type | None, fn_name: str
) -> Computation:
    """Traces `fn` and returns the computation that runs its graph."""
    check_leaf_parameter(fn_name, type_)

    def body(nested: Any) -> tuple[Type, list[Any]]:
        try:
            result = call_leaf(fn, names, type_, nested, to_body)
        except Exception as error:
            raise (refusal(error, fn_name) or error) from None
        if result is None:
            raise returned_none(fn, fn_name)
        return from_body(result, fn_name)

    code = trace(body, type_, fn_name)
    code.origin = _traced_again, (code, fn, names, type_, fn_name)
    leaf = ir.Leaf(RUNTIME, code, FunctionType(type_, code.result))
    return Computation(leaf, fn_name, fn.__doc__)


def _traced_again(
    code: GraphCode, fn: Callable[..., Any], *signature: Any
) -> GraphCode:
    """The function traced here, if it still means the same as `code`; else `code`."""
    try:
        with silence():  # AutoGraph wants sources, which stay at home
            traced: Any = trace_tensorflow(fn, *signature).tree
    except Exception as error:  # what it needed then may be missing now, or here
        if is_from_outside(error):
            raise
        return code
    again: GraphCode = traced.code
    return again if again.digest == code.digest else code


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
        check_obstacle(computation, "a tf_computation", "TensorFlow", *ABILITIES)
        nested = None
        if type_.parameter is not None:
            flat = _symbolic(argument, type_.parameter, computation.__name__)
            nested = unflatten(type_.parameter, flat)
        _, results = over_datasets(to_machine_fn(tree), type_)(nested)
        return to_body(unflatten(type_.result, results), type_.result)


def _symbolic(argument: Any, type_: Type, callee: str) -> list[Any]:
    """Checks the argument of an inner call and flattens it to tensors."""
    found, leaves = from_body(argument, callee)
    try:
        type_.check_assignable_from(found, where=f"the argument of {callee}")
    except TypeMismatchError as error:
        if type_.contains(_is_sequence) and not found.contains(_is_sequence):
            error.do = "make a dataset: tf.data.Dataset.from_tensor_slices(…)"
        raise
    return flatten(unflatten(type_, leaves), type_)


def _is_sequence(type_: Type) -> bool:
    """Whether a dataset is needed for this type."""
    return isinstance(type_, SequenceType)


def trace(body: Body, type_: Type | None, name: str) -> GraphCode:
    """The graph of a body; its loops, if it can be lowered to loops."""
    lowered = _lowered(body, type_)
    if lowered is None:
        concrete, result = _traced(body, type_, name)
        return GraphCode(name, lambda: concrete, type_, result)
    _check_captures(lowered.graph, name)
    return _code(lowered.run, lowered.type, name, [lowered])


def _code(
    run: MachineFn, type_: FunctionType, name: str, parts: Sequence[Any]
) -> GraphCode:
    """It as leaf code; the graph that reads a pipeline is traced when needed."""
    body, parameter = over_datasets(run, type_), type_.parameter

    def concrete() -> Any:
        return _traced(body, parameter, name)[0]

    return GraphCode(name, concrete, parameter, type_.result, run, parts)


def fuse(function: ir.Lambda, name: str) -> ir.Leaf | None:
    """The function as one leaf; `None` if TensorFlow cannot run it as a whole."""
    if obstacle(function, *ABILITIES) is not None:
        return None
    types = {id(node.type): node.type for node in walk(function)}  # few, named often
    if any(type_.contains(_is_sequence_of_nothing) for type_ in types.values()):
        return None
    if any(map(_folds_sequences, intrinsics(function))):
        return None
    codes = [leaf.code for leaf in leaves(function)]
    code = _code(to_machine_fn(function), function.type, name, codes)
    code.origin = _fused_again, (function, name)
    return ir.Leaf(RUNTIME, code, function.type)


def _fused_again(function: ir.Lambda, name: str) -> GraphCode:
    leaf: Any = fuse(function, name)
    code: GraphCode = leaf.code
    return code


def _folds_sequences(intrinsic: ir.Intrinsic) -> bool:
    """TensorFlow has no loop whose running state is a sequence."""
    return intrinsic.uri == "sequence_reduce" and intrinsic.type.result.contains(
        lambda type_: isinstance(type_, SequenceType)
    )


def _is_sequence_of_nothing(type_: Type) -> bool:
    """No dataset has elements without a tensor."""
    return isinstance(type_, SequenceType) and not leaf_types(type_.element)


def _lowered(body: Body, type_: Type | None) -> Lowered | None:
    if type_ is None or not type_.contains(_is_sequence) or not internals.can_lower():
        return None
    with TensorFlowTracingContext():
        return lower(body, type_)


def _traced(body: Body, type_: Type | None, name: str) -> tuple[Any, Type]:
    results: list[Type] = []

    def run(*flat: Any) -> list[Any]:
        with TensorFlowTracingContext(), living_for_one_call():
            nested = None if type_ is None else unflatten(type_, flat)
            result_type, leaves = body(nested)
            results[:] = [result_type]
            return map_sequences(to_variant, leaves, result_type)

    specs = [tensor_spec(leaf) for leaf in leaf_types(type_)]
    concrete = tf.function(run, autograph=False).get_concrete_function(*specs)
    _check_captures(concrete.graph, name)
    return concrete, results[0]


def _check_captures(graph: Any, name: str) -> None:
    if has_tables(graph):
        raise _uses_a_table(name)
    for external, _ in graph.captures:
        if external.dtype == tf.variant:
            raise _made_outside(name, "dataset", "")
        if external.dtype == tf.resource and not internals.has_handle_data(external):
            raise _uses_a_table(name)
        if external.dtype == tf.resource:
            raise _made_outside(name, "variable", " (a Keras optimizer, too)")


def _made_outside(name: str, kind: str, cure: str) -> TracingError:
    return TracingError(
        f"{name} uses a {kind} that was made outside of it",
        expected=f"{kind}s made inside, everything else passed in",
        found=f"a {kind}",
        where=f"the body of {name}",
        do=f"make it in the body{cure}, or make its value a parameter",
    )


def _uses_a_table(name: str) -> TracingError:
    return TracingError(
        f"{name} uses a lookup table, wherever it is made",
        expected="tensors, datasets, and variables made in the body",
        found="a lookup table, or another resource of TensorFlow",
        where=f"the body of {name}",
        do="look among all keys: tf.argmax(tf.cast(keys == x, tf.int32))",
    )


tf_computation = Decorator(
    "tf_computation",
    trace_tensorflow,
    """Makes a computation of a TensorFlow function.

    The body runs once, now, on symbolic tensors; calling the computation runs the
    graph. Sequences are `tf.data.Dataset`s, structures the containers they were
    declared with. Variables made in the body, also by Keras layers and optimizers, live
    for one call. `tf.function` may be used inside.

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
