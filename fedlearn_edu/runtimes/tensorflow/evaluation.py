# SPDX-License-Identifier: Apache-2.0
"""A tree without placements as part of a TensorFlow graph that is being traced.

A machine runs leaf code and loops over sequences, for one participant or for a group
(`machine.py`). So a training loop of the language becomes one graph; and `sequence_sum`
works on a `tf.data.Dataset` inside a `tf_computation`, also in a `tf.function` there.
Values are nested Structs of tensors and `Elements`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fedlearn_edu.compiler.evaluation import Fn, Semantics, evaluate
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.runtimes.tensorflow import RUNTIME
from fedlearn_edu.runtimes.tensorflow.conversion import (
    Body,
    flatten,
    leaf_types,
    map_sequences,
    tensor_spec,
    tf_dtype,
)
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.machine import (
    Flat,
    FlatFn,
    Machine,
    MachineFn,
    from_dataset,
    to_dataset,
)
from fedlearn_edu.structure import Struct, tree_map, unflatten
from fedlearn_edu.types import FunctionType, SequenceType, TensorType, Type


def _at_most(value: Any, limit: Any) -> Any:
    """The value; a check that fails leads to one that says what is wrong."""
    whole, most = tf.cast(value, tf.int64), tf.cast(limit, tf.int64)
    fits = tf.reduce_all(tf.logical_and(whole >= 0, whole <= most))
    with tf.control_dependencies([tf.debugging.Assert(fits, ["out of range"])]):
        return tf.identity(value)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": tf.add,
    "subtract": tf.subtract,
    "multiply": tf.multiply,
    "minimum": tf.minimum,
    "maximum": tf.maximum,
}
OPERATIONS_IN_GRAPHS = {
    **OPERATIONS,
    "modulo": tf.math.floormod,
    "divide": tf.math.divide,
    "cast": tf.identity,  # all results are cast
    "at_most": _at_most,
}
PRIMITIVES = frozenset({"sequence_map", "sequence_reduce"})
# What of the language can be run here, as `compiler.expansion.obstacle` asks.
ABILITIES = RUNTIME, PRIMITIVES, OPERATIONS_IN_GRAPHS


def to_machine_fn(tree: ir.Node) -> MachineFn:
    """A function of the language as one of flat values, for any machine."""
    type_ = ir.function_type_of(tree)

    def run(flat: Sequence[Any], machine: Machine) -> Flat:
        primitives: dict[str, Callable[[ir.Intrinsic], Fn]] = {
            "sequence_map": _map,
            "sequence_reduce": lambda intrinsic: _reduce(intrinsic, machine),
        }
        semantics = Semantics(lambda leaf: _leaf(leaf, machine), _literal, primitives)
        function, parameter = evaluate(tree, semantics), type_.parameter
        nested = () if parameter is None else (unflatten(parameter, flat),)
        return flatten(function(*nested), type_.result)

    return run


def _leaf(leaf: ir.Leaf, machine: Machine) -> Fn:
    type_, code = leaf.type, leaf.code

    def call(argument: Any = None) -> Any:
        if isinstance(code, GraphCode):
            found = machine.run(code, flatten(argument, type_.parameter))
        else:
            operands = argument if isinstance(argument, Struct) else (argument,)
            found = machine.call(_operation(leaf), list(operands))
        return unflatten(type_.result, found)

    return call


def _operation(leaf: ir.Leaf) -> FlatFn:
    assert isinstance(leaf.type.result, TensorType)
    dtype = tf_dtype(leaf.type.result.dtype)

    def call(*operands: Any) -> Flat:
        if leaf.code.name == "divide":  # of integers: not in TensorFlow's float32
            operands = tuple(tf.cast(operand, dtype) for operand in operands)
        return [tf.cast(OPERATIONS_IN_GRAPHS[leaf.code.name](*operands), dtype)]

    return call


def _literal(literal: ir.Literal) -> Any:
    def constant(type_: Any, plain: Any) -> Any:
        if isinstance(type_, SequenceType):
            return from_dataset(plain, type_)
        return tf.constant(plain, tf_dtype(type_.dtype))

    return tree_map(constant, literal.type, literal.value)


def _map(intrinsic: ir.Intrinsic) -> Fn:
    parameter: Any = intrinsic.type.parameter
    result: Any = intrinsic.type.result
    source_type, result_type = parameter[1].element, result.element

    def call(argument: Any) -> Any:
        fn, sequence = argument
        return sequence.map(
            lambda *flat: flatten(fn(unflatten(source_type, flat)), result_type)
        )

    return call


def _reduce(intrinsic: ir.Intrinsic, machine: Machine) -> Fn:
    parameter: Any = intrinsic.type.parameter
    element_type, state_type = parameter[0].element, intrinsic.type.result
    specs = list(map(tensor_spec, leaf_types(state_type)))

    def call(argument: Any) -> Any:
        sequence, zero, fn = argument
        start = flatten(zero, state_type)

        def reducer(*flat: Any) -> Flat:
            state = unflatten(state_type, flat[: len(start)])
            element = unflatten(element_type, flat[len(start) :])
            return flatten(fn(Struct.unnamed(state, element)), state_type)

        return unflatten(state_type, machine.reduce(sequence, start, reducer, specs))

    return call


def over_datasets(run: MachineFn, type_: FunctionType) -> Body:
    """A function for any machine as a body that takes and returns datasets."""

    def body(nested: Any) -> tuple[Type, Flat]:
        datasets, parameter = flatten(nested, type_.parameter), type_.parameter
        found = run(map_sequences(from_dataset, datasets, parameter), Machine())
        return type_.result, map_sequences(to_dataset, found, type_.result)

    return body
