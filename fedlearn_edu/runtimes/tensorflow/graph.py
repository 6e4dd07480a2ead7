# SPDX-License-Identifier: Apache-2.0
"""A TensorFlow graph as leaf code: made by tracing, callable, and picklable.

In the process that traced it, the traced function itself runs; in another one, the
function is rebuilt from the serialized graph. No Python source travels.
"""

import hashlib
import re
import threading
import uuid
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, final

import numpy as np

from fedlearn_edu.ir.nodes import memoized_property
from fedlearn_edu.runtimes.tensorflow import internals
from fedlearn_edu.runtimes.tensorflow.conversion import (
    explained,
    flatten,
    leaf_types,
    to_plain,
)
from fedlearn_edu.runtimes.tensorflow.library import THREADS, tf
from fedlearn_edu.runtimes.tensorflow.sequences import keeping, to_variant
from fedlearn_edu.runtimes.tensorflow.variables import has_effects, without_variables
from fedlearn_edu.structure import unflatten
from fedlearn_edu.types import SequenceType, Type
from fedlearn_edu.types.sequences import DatasetSequence

# Operations whose effects are seen outside of a graph.
_OUTSIDE = re.compile("PyFunc|^Print|^WriteFile|^Save|Summary|Enqueue")
_PYTHON_CODE = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}
_CHANGING = re.compile("Shuffle|Random|Sampl|Multinomial|Normal|Rng|Variable|Time")
_IGNORE = 1  # that a dataset has a state: it is only looked at
# Python code in a graph (`tf.py_function`) blocks one of TensorFlow's threads, and may
# call another graph, which needs one, too: half of them stay free.
_python_code = threading.Semaphore(THREADS // 2)


@final
@dataclass(frozen=True)
class SerializedGraph:
    """A graph as bytes, with the names of what goes in and comes out.

    Attributes:
        definition: the serialized `GraphDef`.
        inputs: names of the tensors to be fed.
        outputs: names of the tensors to be fetched.
        effects: names of the operations that run without being fetched.
        captures: what eager tensors from outside the body hold, by the name of their
            placeholder.
    """

    definition: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    effects: tuple[str, ...]
    captures: tuple[tuple[str, Any], ...]


@final
class GraphCode:
    """One graph with the types of its parameter and result.

    Its graph is traced when it is first needed.

    Attributes:
        parts: what it is made of and may be impure, if it is not one traced body.
        on_machine: the same for a machine that reads rows, from flat values to flat
            values; `None` if only a pipeline can read its sequences. A pickle, which
            has the graph, does not have them.
        origin: a function, and arguments of it, that make this code once more, for
            machines, too; for processes that may be handed Python functions.
    """

    origin: tuple[Callable[..., "GraphCode"], tuple[Any, ...]] | None = None

    def __init__(
        self,
        name: str,
        trace: Callable[[], Any],
        parameter: Type | None,
        result: Type,
        on_machine: Callable[[Sequence[Any], Any], list[Any]] | None = None,
        parts: Sequence[Any] = (),
    ) -> None:
        self.name = name
        self.parameter = parameter
        self.result = result
        self._trace = trace
        self._graphs: dict[Hashable, Any] = {}
        self._lock = threading.Lock()
        self.parts = tuple(parts)
        self.on_machine = on_machine

    def __reduce__(self) -> tuple[Any, ...]:
        return _with_graph, (self.serialized, self.name, self.parameter, self.result)

    @memoized_property
    def is_pure(self) -> bool:
        """Whether it runs no Python, prints nothing and writes no file."""
        if self.parts:
            return all(getattr(part, "is_pure", False) for part in self.parts)
        definition = self.serialized.definition
        return stays_inside(tf.compat.v1.GraphDef.FromString(definition))

    @memoized_property
    def serialized(self) -> "SerializedGraph":
        """The graph without the process it was traced in."""
        concrete = self._function()
        captures = [(inner.name, outer) for outer, inner in concrete.graph.captures]
        inputs = concrete.inputs[: len(concrete.inputs) - len(captures)]
        # Once a gradient is taken, TensorFlow puts what it needs for it behind them.
        outputs = concrete.outputs[: len(list(leaf_types(self.result)))]
        return SerializedGraph(
            concrete.graph.as_graph_def().SerializeToString(deterministic=True),
            tuple(tensor.name for tensor in inputs),
            tuple(tensor.name for tensor in outputs),
            tuple(sorted(effect.name for effect in concrete.graph.control_outputs)),
            tuple((name, outer.numpy()) for name, outer in captures),
        )

    @memoized_property
    def digest(self) -> str:
        """A hash of what the graph does, whatever TensorFlow called the parts of it."""
        graph = self.serialized
        inputs = [*graph.inputs, *(name for name, _ in graph.captures)]
        steps = _digest_of(graph.definition, inputs, graph.outputs, graph.effects)
        captures = b"".join(_bytes_of(array) for _, array in graph.captures)
        return hashlib.sha256(steps.encode() + captures).hexdigest()

    def run(self, flat: Sequence[Any]) -> list[Any]:
        """Runs the graph on a flat list of tensors, also inside another trace."""
        return called(self._function(), *flat)

    def _function(self) -> Any:
        """The graph as a function."""
        return self.graph_for(None, self._trace)

    @memoized_property
    def has_state(self) -> bool:
        """Whether it may differ from call to call: if it draws random numbers, say."""
        graph = getattr(self.pure_function, "graph", None)
        return graph is None or has_effects(graph)

    @memoized_property
    def pure_function(self) -> Any:
        """The graph as a function whose variables are plain values, if they can be."""
        function = self._function()
        is_traced_here = hasattr(function, "structured_outputs")
        return without_variables(function) if is_traced_here else function

    def graph_for(self, layout: Hashable, trace: Callable[[], Any]) -> Any:
        """The graph that reads rows in memory, as `trace` makes it once."""
        with self._lock, tf.init_scope():
            if layout not in self._graphs:
                self._graphs[layout] = trace()
            return self._graphs[layout]

    def run_nested(self, argument: Any) -> Any:
        """Runs the graph on nested tensors and sequences; returns nested tensors."""
        leaves = flatten(argument, self.parameter)
        pairs = list(zip(leaves, self._leaves, strict=True))
        for leaf, type_ in pairs if self.reads_all else ():
            if isinstance(type_, SequenceType):
                sequence = to_plain(leaf, type_)  # a tensor, if a leaf has made it
                if isinstance(sequence, DatasetSequence):
                    sequence.check_end()
        flat = [_as_tensor(leaf, type_) for leaf, type_ in pairs]
        results = self.run(flat)
        for result, type_ in zip(results, leaf_types(self.result), strict=True):
            if isinstance(type_, SequenceType):
                keeping(result, *flat)
        return unflatten(self.result, results)

    @memoized_property
    def reads_all(self) -> bool:
        """Whether each sequence it takes is read in a loop, to the end."""
        results = leaf_types(self.result)
        return bool(self.on_machine) and not any(
            isinstance(type_, SequenceType) for type_ in results
        )

    @memoized_property
    def has_sequences(self) -> bool:
        """Whether it takes or returns any."""
        leaves = [*self._leaves, *leaf_types(self.result)]
        return any(isinstance(type_, SequenceType) for type_ in leaves)

    def __call__(self, argument: Any) -> Any:
        """Runs the graph on a plain argument."""
        try:
            return to_plain(self.run_nested(argument), self.result)
        except tf.errors.OpError as error:
            raise explained(error, f"in {self.name}") from None

    @memoized_property
    def _leaves(self) -> list[Any]:
        return list(leaf_types(self.parameter))


def called(function: Any, *flat: Any) -> list[Any]:
    """The results of a graph, whichever thread asks for them."""
    inside = isinstance(threading.current_thread(), threading._DummyThread)
    if inside or not _runs_python_code(getattr(function, "graph", None)):
        return internals.call_flat(function, flat)
    with _python_code:
        return internals.call_flat(function, flat)


def _with_graph(graph: SerializedGraph, name: str, *types: Any) -> GraphCode:
    code = GraphCode(name, lambda: _rebuild(graph), *types)
    vars(code)["serialized"] = graph
    return code


def _as_tensor(leaf: Any, type_: Type) -> Any:
    if isinstance(type_, SequenceType):
        return to_variant(leaf, type_)
    return tf.convert_to_tensor(leaf)


def _rebuild(serialized: SerializedGraph) -> Any:
    definition = tf.compat.v1.GraphDef.FromString(serialized.definition)

    def build() -> None:
        constants = {name: tf.constant(array) for name, array in serialized.captures}
        tf.graph_util.import_graph_def(definition, name="", input_map=constants)

    wrapped = tf.compat.v1.wrap_function(build, [])
    graph = wrapped.graph
    feeds = [graph.get_tensor_by_name(name) for name in serialized.inputs]
    fetches = [graph.get_tensor_by_name(name) for name in serialized.outputs]
    effects = [graph.get_operation_by_name(name) for name in serialized.effects]
    pruned = wrapped.prune(feeds, fetches + effects)
    return lambda *flat: pruned(*flat)[: len(fetches)]


# ------------------------------------------------- what a graph does, by its operations


def stays_inside(graph: Any) -> bool:
    """Whether a `GraphDef` runs no Python, prints nothing and writes no file."""
    return not any(_OUTSIDE.search(node.op) for node in _nodes(graph))


def has_tables(graph: Any) -> bool:
    """Whether a graph makes a lookup table, which would outlive the call."""
    return any("HashTable" in node.op for node in _nodes(graph.as_graph_def()))


def source_of(tensor: Any) -> Any:
    """The tensor that this one hands on."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def _nodes(graph: Any) -> Iterator[Any]:
    """What a `GraphDef` computes, in its functions, too."""
    return chain(graph.node, *(inner.node_def for inner in graph.library.function))


def _runs_python_code(graph: Any) -> bool:
    """Whether a graph calls Python; found out once."""
    if graph is not None and not hasattr(graph, "runs_python_code"):
        nodes = _nodes(graph.as_graph_def())
        graph.runs_python_code = any(node.op in _PYTHON_CODE for node in nodes)
    return graph is not None and graph.runs_python_code


def calls_python(dataset: Any) -> bool:
    """Whether reading a dataset runs Python code."""
    return any("PyFunc" in name for name in _operations(dataset))


def changes(sequence: Any) -> bool:
    """Whether it is a dataset that may give other elements each time it is read."""
    is_dataset = isinstance(sequence, DatasetSequence)
    return is_dataset and any(map(_CHANGING.search, _operations(sequence.dataset)))


def _operations(dataset: Any) -> list[str]:
    """The names of the operations that a dataset is made of."""
    variant = tf.data.experimental.to_variant(dataset)
    graph = tf.raw_ops.DatasetToGraphV2(
        input_dataset=variant, external_state_policy=_IGNORE
    )
    definition = tf.compat.v1.GraphDef.FromString(graph.numpy())
    return [node.op for node in _nodes(definition)]


# ------------------------------------------------------ what tells a graph from others


def _bytes_of(array: Any) -> bytes:
    """The same bytes for equal arrays; of a pickle, equal strings may have others."""
    array = np.asarray(array)
    is_text = array.dtype.kind == "O"
    data = repr(array.tolist()).encode() if is_text else array.tobytes()
    return repr((array.dtype.name, array.shape)).encode() + data


# The lines of a graph's text with names of its parts and of functions; constants, say,
# stand in others.
_NAMING = re.compile(r'^( *(name|op|input): "\^?)([^":]+)', re.MULTILINE)
# A numbered name, too; and leaf code is never asked for its gradient.
_GRADIENT = "_gradient_op_type"
_SEEDS = ("seed", "seed2")


def _digest_of(definition: bytes, *ends: Sequence[str]) -> str:
    """Hexadecimal text for a serialized `GraphDef`, and for what is fed and fetched.

    TensorFlow never gives two graphs the same names. So what is hashed is the graph's
    text, with a number for each of its own names, and a digest for a function's.
    """
    graph = tf.compat.v1.GraphDef.FromString(definition)
    functions = {
        function.signature.name: function for function in graph.library.function
    }
    for node in _nodes(graph):
        node.attr.pop(_GRADIENT, None)
        if any(key in node.attr and node.attr[key].i for key in _SEEDS):
            # A seeded op keeps state: graphs with one are never interchangeable.
            return uuid.uuid4().hex
        if node.op == "Const":  # as text, a large one would take seconds
            tensor = node.attr["value"].tensor
            tensor.tensor_content = hashlib.sha256(tensor.tensor_content).digest()

    def digest(parts: Sequence[Any], *ends: Sequence[str]) -> str:
        numbers = {part.name: f"#{number}" for number, part in enumerate(parts)}

        def renamed(found: re.Match[str]) -> str:
            line, kind, name = found.groups()
            if name in functions:
                return line + of_function(name)
            return line + (name if kind == "op" else numbers.get(name, name))

        names = [f'input: "{name}"' for end in ends for name in ("/", *end)]
        text = "\n".join([*map(str, parts), *names])
        return hashlib.sha256(_NAMING.sub(renamed, text).encode()).hexdigest()

    @cache
    def of_function(name: str) -> str:
        function = functions[name]
        arguments, results = function.signature.input_arg, function.signature.output_arg
        returned = [function.ret[result.name] for result in results]
        effects = sorted(function.control_ret.values())
        return digest([*arguments, *function.node_def], returned, effects)

    return digest(graph.node, *ends)
