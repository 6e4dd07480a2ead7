# SPDX-License-Identifier: Apache-2.0
"""A tree without placements as part of a TensorFlow graph that is being traced.

A *machine* says what a piece of leaf code and a loop over a sequence become:

    Pipeline      a call of its graph, and `Dataset.reduce`
    Vectorized    one operation for all clients, and one loop (`batching.py`)

So `sequence_sum` works on a `tf.data.Dataset` inside a `tf_computation`, also in a
`tf.function` in there. Values are nested Structs of tensors and `Elements`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

from fedlearn_edu.compiler.evaluation import Fn, Semantics, evaluate
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.runtimes.tensorflow.conversion import (
    Body,
    flatten,
    leaf_types,
    packed,
    tensor_spec,
    tf_dtype,
)
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.sequences import as_dataset
from fedlearn_edu.structure import Struct, tree_map, unflatten
from fedlearn_edu.types import FunctionType, SequenceType, StructType, TensorType, Type
from fedlearn_edu.types.sequences import arranged, no_end


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
# Keeps AutoGraph from converting dataset callbacks.
_as_it_is = tf.autograph.experimental.do_not_convert

Flat = list[Any]
FlatFn = Callable[..., Flat]


@final
@dataclass(frozen=True)
class Elements:
    """A sequence, and the functions that are mapped over its elements.

    Attributes:
        source: what a machine reads elements from, as flat lists of values.
        steps: functions from element to element, one after the other.
    """

    source: Any
    steps: tuple[FlatFn, ...] = ()

    def map(self, function: FlatFn) -> "Elements":
        """The same, and one function more."""
        return Elements(self.source, (*self.steps, function))

    def element(self, flat: Flat) -> Flat:
        """What the functions make of an element of the source."""
        for step in self.steps:
            flat = step(*flat)
        return flat


class Machine(Protocol):
    """Runs leaf code and loops."""

    def call(
        self, function: Callable[..., Any], flat: Sequence[Any], *, draws: bool = False
    ) -> Flat:
        """Calls a function of tensors; `draws` if it differs from call to call."""

    def run(self, code: GraphCode, flat: Flat, type_: FunctionType) -> Flat:
        """Runs leaf code, which may take and return sequences."""

    def reduce(
        self, sequence: Elements, start: Flat, step: FlatFn, specs: Sequence[Any]
    ) -> Flat:
        """Folds the elements; `specs` are what all states look like."""

    def constant(self, plain: Any, type_: SequenceType) -> Elements:
        """A sequence that is a constant of the program."""


# From flat values, in which a sequence is `Elements`, to flat values.
Loops = Callable[[Sequence[Any], Machine], Flat]


def loops_of(tree: ir.Node) -> Loops:
    """A function of the language as one of flat values, for any machine."""
    type_ = ir.function_type_of(tree)

    def loops(flat: Sequence[Any], machine: Machine) -> Flat:
        nested = None if type_.parameter is None else unflatten(type_.parameter, flat)
        return flatten(evaluate_on(machine, tree, nested), type_.result)

    return loops


def evaluate_on(machine: Machine, tree: ir.Node, argument: Any) -> Any:
    """Calls a function of the language on nested tensors and `Elements`."""
    primitives: dict[str, Callable[[ir.Intrinsic], Fn]] = {
        "sequence_map": _map,
        "sequence_reduce": lambda intrinsic: _reduce(intrinsic, machine),
    }
    semantics = Semantics(
        lambda leaf: _leaf(leaf, machine),
        lambda literal: _literal(literal, machine),
        primitives,
    )
    function = evaluate(tree, semantics)
    return function() if argument is None else function(argument)


def _leaf(leaf: ir.Leaf, machine: Machine) -> Fn:
    type_, code = leaf.type, leaf.code

    def call(argument: Any = None) -> Any:
        if isinstance(code, GraphCode):
            found = machine.run(code, flatten(argument, type_.parameter), type_)
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


def _literal(literal: ir.Literal, machine: Machine) -> Any:
    def constant(type_: Any, plain: Any) -> Any:
        if isinstance(type_, SequenceType):
            return machine.constant(plain, type_)
        return tf.constant(plain, tf_dtype(type_.dtype))

    return tree_map(constant, literal.type, literal.value)


def _map(intrinsic: ir.Intrinsic) -> Fn:
    parameter, result = intrinsic.type.parameter, intrinsic.type.result
    assert isinstance(parameter, StructType)
    assert isinstance(parameter[1], SequenceType)
    assert isinstance(result, SequenceType)
    source_type, result_type = parameter[1].element, result.element

    def call(argument: Any) -> Any:
        fn, sequence = argument
        return sequence.map(
            lambda *flat: flatten(fn(unflatten(source_type, flat)), result_type)
        )

    return call


def _reduce(intrinsic: ir.Intrinsic, machine: Machine) -> Fn:
    parameter, state_type = intrinsic.type.parameter, intrinsic.type.result
    assert isinstance(parameter, StructType)
    assert isinstance(parameter[0], SequenceType)
    element_type = parameter[0].element
    specs = list(map(tensor_spec, leaf_types(state_type)))

    def call(argument: Any) -> Any:
        sequence, zero, fn = argument
        start = flatten(zero, state_type)

        def step(*flat: Any) -> Flat:
            state = unflatten(state_type, flat[: len(start)])
            element = unflatten(element_type, flat[len(start) :])
            return flatten(fn(Struct.unnamed(state, element)), state_type)

        return unflatten(state_type, machine.reduce(sequence, start, step, specs))

    return call


# ------------------------------------------------------------------- over a pipeline


@final
class Pipeline:
    """Reads datasets; a source is one, with the type of its elements."""

    def call(
        self, function: Callable[..., Any], flat: Sequence[Any], *, draws: bool = False
    ) -> Flat:
        """Calls a function of tensors."""
        return list(function(*flat))

    def run(self, code: GraphCode, flat: Flat, type_: FunctionType) -> Flat:
        """Runs the graph of leaf code."""
        given = [_given(v, t) for v, t in _pairs(flat, type_.parameter)]
        nested = None if type_.parameter is None else unflatten(type_.parameter, given)
        with _if_they_end(flat if code.reads_all else ()):
            found = code.run_nested(nested)
        return _taken(flatten(found, type_.result), type_.result)

    def reduce(
        self, sequence: Elements, start: Flat, step: FlatFn, specs: Sequence[Any]
    ) -> Flat:
        """Folds the elements; TensorFlow finds out what the states look like."""
        dataset, type_ = sequence.source

        def on_element(state: Any, element: Any) -> Any:
            flat = sequence.element(flatten(arranged(element, type_), type_))
            return tuple(step(*state, *flat))

        with _if_they_end([sequence]):
            return list(dataset.reduce(tuple(start), _as_it_is(on_element)))

    def constant(self, plain: Any, type_: SequenceType) -> Elements:
        """A sequence that is a constant of the program."""
        return Elements((as_dataset(plain, type_), type_.element))


def _if_they_end(flat: Sequence[Any]) -> Any:
    """A block that fails in place of reading a dataset that has no end.

    What is a parameter was looked at before; so only what is made on the way is here.
    """
    sources = [value.source for value in flat if isinstance(value, Elements)]
    return tf.control_dependencies(
        [
            _has_end(dataset, no_end(SequenceType(type_)))
            for dataset, type_ in sources
            if tf.data.experimental.to_variant(dataset).op.type != "Placeholder"
        ]
    )


def _has_end(dataset: Any, error: Any) -> Any:
    parts = [f"{name}: {getattr(error, name)}" for name in ("expected", "found", "do")]
    ends = dataset.cardinality() != tf.data.INFINITE_CARDINALITY
    return tf.debugging.Assert(ends, [error.summary, *parts])


def over_datasets(loops: Loops, type_: FunctionType) -> Body:
    """What runs on any machine as a body that takes and returns datasets."""

    def body(nested: Any) -> tuple[Type, Flat]:
        flat = _taken(flatten(nested, type_.parameter), type_.parameter)
        found = loops(flat, Pipeline())
        return type_.result, [_given(v, t) for v, t in _pairs(found, type_.result)]

    return body


def _pairs(flat: Sequence[Any], type_: Type | None) -> Any:
    return zip(flat, leaf_types(type_), strict=True)


def _taken(flat: Sequence[Any], type_: Type | None) -> Flat:
    return [
        Elements((as_dataset(value, leaf), leaf.element))
        if isinstance(leaf, SequenceType)
        else value
        for value, leaf in _pairs(flat, type_)
    ]


def _given(value: Any, type_: Type) -> Any:
    """A tensor, or `Elements` as a dataset."""
    if not isinstance(type_, SequenceType):
        return value
    dataset, source_type = value.source
    if not value.steps:
        return dataset
    is_spread = isinstance(dataset.element_spec, tuple)

    def on_element(*parts: Any) -> Any:
        element = arranged(parts if is_spread else parts[0], source_type)
        flat = value.element(flatten(element, source_type))
        return packed(flat, type_.element)

    return dataset.map(_as_it_is(on_element))
