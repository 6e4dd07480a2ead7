# SPDX-License-Identifier: Apache-2.0
"""A tree without placements as part of a TensorFlow graph that is being traced.

    sequence_map      Dataset.map
    sequence_reduce   Dataset.reduce
    leaf code         its graph, or TensorFlow's operation of the same name

So `sequence_sum` works on a `tf.data.Dataset` inside a `tf_computation`, also in a
`tf.function` in there. Values are nested Structs of tensors and datasets.
"""

from collections.abc import Callable
from typing import Any

from fedlearn_edu.compiler.evaluation import Fn, Semantics, evaluate
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.runtimes.tensorflow.conversion import flatten, packed, tf_dtype
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.sequences import as_dataset, unpacked
from fedlearn_edu.runtimes.tensorflow.stacked import StackedDataset
from fedlearn_edu.structure import Struct, leaves, tree_map, unflatten
from fedlearn_edu.types import SequenceType, StructType, TensorType, Type

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": tf.add,
    "subtract": tf.subtract,
    "multiply": tf.multiply,
    "minimum": tf.minimum,
    "maximum": tf.maximum,
}
# Keeps AutoGraph from converting dataset callbacks.
_as_it_is = tf.autograph.experimental.do_not_convert
OPERATIONS_IN_GRAPHS = {
    **OPERATIONS,
    "modulo": tf.math.floormod,
    "divide": tf.math.divide,
    "cast": tf.identity,  # all results are cast
}


def evaluate_in_graph(tree: ir.Node, argument: Any) -> Any:
    """Calls a function of the language on nested tensors and datasets."""
    function = evaluate(tree, _SEMANTICS)
    return function() if argument is None else function(argument)


def _leaf(leaf: ir.Leaf) -> Fn:
    type_ = leaf.type

    def call(argument: Any = None) -> Any:
        if isinstance(leaf.code, GraphCode):
            return with_datasets(_inlined(leaf.code, argument), type_.result)
        operands = argument if isinstance(argument, Struct) else (argument,)
        assert isinstance(type_.result, TensorType)
        dtype = tf_dtype(type_.result.dtype)
        if leaf.code.name == "divide":  # of integers: not in TensorFlow's float32
            operands = tuple(tf.cast(operand, dtype) for operand in operands)
        return tf.cast(OPERATIONS_IN_GRAPHS[leaf.code.name](*operands), dtype)

    return call


def _inlined(code: GraphCode, argument: Any) -> Any:
    """The result of a graph, as a part of the graph being traced.

    Its body is traced again for datasets that are only stacked tensors: the graph made
    of it once reads a real pipeline. So it is if there is no graph yet.
    """
    again = _any_stacked(argument) or not code.is_traced
    if not again or code.parameter is None or not code.means_the_same_again:
        return code.run_nested(argument)
    assert code.body is not None
    _, found = code.body(with_datasets(argument, code.parameter))
    return unflatten(code.result, found)


def _any_stacked(value: Any) -> bool:
    return any(isinstance(leaf, StackedDataset) for leaf in leaves(value))


def _literal(literal: ir.Literal) -> Any:
    return tree_map(_constant, literal.type, literal.value)


def _constant(type_: Type, plain: Any) -> Any:
    match type_:
        case SequenceType():
            return as_dataset(plain, type_)
        case TensorType(dtype=dtype):
            return tf.constant(plain, tf_dtype(dtype))
        case _:
            raise AssertionError(f"no constant of leaf code: {type_}")


def with_datasets(nested: Any, type_: Type) -> Any:
    """Nested tensors with a dataset for every sequence."""
    return tree_map(
        lambda t, part: as_dataset(part, t) if isinstance(t, SequenceType) else part,
        type_,
        nested,
    )


def _map(intrinsic: ir.Intrinsic) -> Fn:
    parameter, result = intrinsic.type.parameter, intrinsic.type.result
    assert isinstance(parameter, StructType)
    assert isinstance(parameter[1], SequenceType)
    assert isinstance(result, SequenceType)
    source_type, result_type = parameter[1].element, result.element

    def call(argument: Any) -> Any:
        fn, dataset = argument

        def on_element(*parts: Any) -> Any:
            # A tuple comes spread out over the parameters.
            spread = isinstance(dataset.element_spec, tuple)
            element = unpacked(parts if spread else parts[0], source_type)
            return packed(flatten(fn(element), result_type), result_type)

        return dataset.map(_as_it_is(on_element))

    return call


def _reduce(intrinsic: ir.Intrinsic) -> Fn:
    parameter, state_type = intrinsic.type.parameter, intrinsic.type.result
    assert isinstance(parameter, StructType)
    assert isinstance(parameter[0], SequenceType)
    element_type = parameter[0].element

    def call(argument: Any) -> Any:
        dataset, zero, fn = argument

        def on_element(state: Any, element: Any) -> Any:
            pair = (unpacked(state, state_type), unpacked(element, element_type))
            result = fn(Struct.unnamed(*pair))
            return packed(flatten(result, state_type), state_type)

        start = packed(flatten(zero, state_type), state_type)
        return unpacked(dataset.reduce(start, _as_it_is(on_element)), state_type)

    return call


PRIMITIVES = {"sequence_map": _map, "sequence_reduce": _reduce}
_SEMANTICS = Semantics(_leaf, _literal, PRIMITIVES)
