# SPDX-License-Identifier: Apache-2.0
"""A TensorFlow graph as leaf code: made by tracing, callable, and picklable.

In the process that traced it, the traced function itself runs; in another one, the
function is rebuilt from the serialized graph. No Python source travels.
"""

import hashlib
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, final

import numpy as np

from fedlearn_edu.ir.nodes import LeafCode
from fedlearn_edu.runtimes.tensorflow.conversion import (
    explained,
    flatten,
    leaf_types,
    to_plain,
)
from fedlearn_edu.runtimes.tensorflow.library import called, tf
from fedlearn_edu.runtimes.tensorflow.sequences import keeping, stacks, to_variant
from fedlearn_edu.runtimes.tensorflow.variables import own_table
from fedlearn_edu.structure import unflatten
from fedlearn_edu.types import SequenceType, Type

# Operations whose effects are seen outside of a graph.
_OUTSIDE = re.compile("PyFunc|^Print|^WriteFile|^Save|Summary|Enqueue")
# From nested tensors and datasets to the type and the leaves of the result.
Body = Callable[[Any], tuple[Type, list[Any]]]


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
            placeholder: one array, or a lookup table's keys and values.
    """

    definition: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    effects: tuple[str, ...]
    captures: tuple[tuple[str, tuple[Any, ...]], ...]


@final
class GraphCode:
    """One graph with the types of its parameter and result.

    Made without a concrete function, it is traced when it is first needed.

    Attributes:
        parts: the leaf code that was fused into it, if any.
    """

    def __init__(
        self, name: str, concrete: Any, parameter: Type | None, result: Type
    ) -> None:
        self.name = name
        self.parameter = parameter
        self.result = result
        self._concrete = concrete
        self._lock = threading.Lock()
        self.parts: tuple[LeafCode, ...] = ()
        self.body: Body | None = None
        self._trace: Callable[..., Any] | None = None
        self._stacks_are_fine = True

    def remember(self, body: Body, trace: Callable[..., Any]) -> None:
        """Keeps what it is traced from; it does not travel to other processes."""
        self.body = body
        self._trace = trace

    @property
    def is_traced(self) -> bool:
        """Whether there is a graph already."""
        return self._concrete is not None

    def __getstate__(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "parameter": self.parameter,
            "result": self.result,
            "serialized": self.serialized,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.name = state["name"]
        self.parameter = state["parameter"]
        self.result = state["result"]
        self.__dict__["serialized"] = state["serialized"]
        self._concrete = None
        self._lock = threading.Lock()
        self.body = self._trace = None
        self.parts = ()
        self._stacks_are_fine = False

    @cached_property
    def means_the_same_again(self) -> bool:
        """Whether its body, traced once more, would make the same graph.

        A body may read a Python variable that has another value by now.
        """
        if self.body is None or self._trace is None:
            return False
        if not self.is_traced:
            return True
        try:
            with tf.init_scope():
                again = self._trace(stacked=False)
        except Exception:  # a name that it read may be gone
            return False
        copy = GraphCode(self.name, again, self.parameter, self.result)
        return copy.digest == self.digest

    @cached_property
    def is_pure(self) -> bool:
        """Whether it runs no Python, prints nothing and writes no file."""
        if self.parts:
            return all(getattr(part, "is_pure", False) for part in self.parts)
        graph = tf.compat.v1.GraphDef.FromString(self.serialized.definition)
        nodes = [graph.node, *(inner.node_def for inner in graph.library.function)]
        return not any(_OUTSIDE.search(node.op) for node in chain(*nodes))

    @cached_property
    def serialized(self) -> "SerializedGraph":
        """The graph without the process it was traced in."""
        concrete = self._function()
        captures = [(inner.name, outer) for outer, inner in concrete.graph.captures]
        inputs = concrete.inputs[: len(concrete.inputs) - len(captures)]
        return SerializedGraph(
            concrete.graph.as_graph_def().SerializeToString(deterministic=True),
            tuple(tensor.name for tensor in inputs),
            tuple(tensor.name for tensor in concrete.outputs),
            tuple(sorted(effect.name for effect in concrete.graph.control_outputs)),
            tuple((name, _content(outer)) for name, outer in captures),
        )

    @cached_property
    def digest(self) -> str:
        """A hash of what the graph does, whatever TensorFlow called the parts of it."""
        graph = self.serialized
        inputs = [*graph.inputs, *(name for name, _ in graph.captures)]
        steps = digest_of(graph.definition, inputs, graph.outputs, graph.effects)
        arrays = (array for _, content in graph.captures for array in content)
        captures = b"".join(map(_bytes_of, arrays))
        return hashlib.sha256(steps.encode() + captures).hexdigest()

    def run(self, flat: Sequence[Any]) -> list[Any]:
        """Runs the graph on a flat list of tensors, also inside another trace."""
        return called(self._function(), *flat)

    def _function(self) -> Any:
        """The graph as a function."""
        with self._lock:
            if self._concrete is None and self._trace is not None:
                self._concrete = self._trace(stacked=False)
            elif self._concrete is None:
                self._concrete = _rebuild(self.serialized)
            return self._concrete

    def run_nested(self, argument: Any) -> Any:
        """Runs the graph on nested tensors and sequences; returns nested tensors."""
        pairs = list(zip(flatten(argument, self.parameter), self._leaves, strict=True))
        flat = self._stacked(pairs)
        if flat is not None and (over_stacks := self._over_stacks) is not None:
            results = called(over_stacks, *flat)
        else:
            flat = [
                to_variant(leaf, type_)
                if isinstance(type_, SequenceType)
                else tf.convert_to_tensor(leaf)
                for leaf, type_ in pairs
            ]
            results = self.run(flat)
        for result, type_ in zip(results, leaf_types(self.result), strict=True):
            if isinstance(type_, SequenceType):
                keeping(result, *flat)
        return unflatten(self.result, results)

    def _stacked(self, pairs: Sequence[tuple[Any, Any]]) -> list[Any] | None:
        """The leaves of an argument with all sequences stacked, where that can be."""
        if not self._has_sequences or not self._stacks_are_fine:
            return None
        if not self.means_the_same_again:
            return None
        flat: list[Any] = []
        for leaf, type_ in pairs:
            is_sequence = isinstance(type_, SequenceType)
            part = stacks(leaf, type_) if is_sequence else [tf.convert_to_tensor(leaf)]
            if part is None:
                return None
            flat += part
        return flat

    @property
    def _over_stacks(self) -> Any:
        """The same function over stacked tensors; `None` if it cannot be traced."""
        with self._lock:
            return self._traced_over_stacks

    @cached_property
    def _traced_over_stacks(self) -> Any:
        assert self._trace is not None
        try:
            return self._trace(stacked=True)
        except Exception:  # what worked on a dataset works on a dataset still
            self._stacks_are_fine = False
            return None

    @cached_property
    def _has_sequences(self) -> bool:
        return any(isinstance(type_, SequenceType) for type_ in self._leaves)

    def __call__(self, argument: Any) -> Any:
        """Runs the graph on a plain argument."""
        try:
            return to_plain(self.run_nested(argument), self.result)
        except tf.errors.OpError as error:
            raise explained(error, f"in {self.name}") from None

    @cached_property
    def _leaves(self) -> list[Any]:
        return list(leaf_types(self.parameter))


def _bytes_of(array: Any) -> bytes:
    # No pickle: it tells equal strings from identical ones.
    array = np.asarray(array)
    is_text = array.dtype.kind == "O"
    data = repr(array.tolist()).encode() if is_text else array.tobytes()
    return repr((array.dtype.name, array.shape)).encode() + data


def _content(captured: Any) -> tuple[Any, ...]:
    table = own_table(captured)
    if table is None:
        return (captured.numpy(),)
    keys, values = (tensor.numpy() for tensor in table.export())
    order = np.argsort(keys)
    return keys[order], values[order]


def _with_content(*content: Any) -> Any:
    """The tensor, or the handle of the table, that was captured."""
    if len(content) == 1:
        return tf.constant(*content)
    with tf.init_scope():
        initializer = tf.lookup.KeyValueTensorInitializer(*content)
        default = tf.zeros([], initializer.value_dtype)
        table = tf.lookup.StaticHashTable(initializer, default)
    return tf.identity(table.resource_handle)


def _rebuild(serialized: SerializedGraph) -> Any:
    definition = tf.compat.v1.GraphDef.FromString(serialized.definition)

    def build() -> None:
        constants = {name: _with_content(*parts) for name, parts in serialized.captures}
        tf.graph_util.import_graph_def(definition, name="", input_map=constants)

    wrapped = tf.compat.v1.wrap_function(build, [])
    graph = wrapped.graph
    feeds = [graph.get_tensor_by_name(name) for name in serialized.inputs]
    fetches = [graph.get_tensor_by_name(name) for name in serialized.outputs]
    effects = [graph.get_operation_by_name(name) for name in serialized.effects]
    pruned = wrapped.prune(feeds, fetches + effects)
    return lambda *flat: pruned(*flat)[: len(fetches)]


# A numbered name, too; and leaf code is never asked for its gradient.
_GRADIENT = "_gradient_op_type"
_SEEDS = frozenset({"seed", "seed2"})


def digest_of(
    definition: bytes, fed: Sequence[str], fetched: Sequence[str], run: Sequence[str]
) -> str:
    """Hexadecimal text for a serialized `GraphDef`, and for what is fed and fetched."""
    graph = tf.compat.v1.GraphDef.FromString(definition)
    functions = {
        function.signature.name: function for function in graph.library.function
    }
    return _Digests(functions).of_steps(graph.node, (), fed, fetched, run)


@final
class _Digests:
    """Digests of graphs that call some functions, by name."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self._functions = functions
        self._known: dict[str, str] = {}

    def of_steps(
        self, nodes: Sequence[Any], arguments: Sequence[str], *ends: Sequence[str]
    ) -> str:
        names = [*arguments, *(node.name for node in nodes)]
        places = {name: place for place, name in enumerate(names)}

        def placed(name: str) -> tuple[Any, ...]:  # of "^node", "node:1", "node:out:0"
            node, *output = name.lstrip("^").split(":")
            # The first output is meant where none is named.
            return (name[0] == "^", places[node], [o for o in output if o != "0"])

        digest = hashlib.sha256(repr(len(arguments)).encode())
        for node in nodes:
            inputs, attributes = map(placed, node.input), self._attributes(node.attr)
            step = (self._function(node.op), node.device, [*inputs], [*attributes])
            digest.update(repr(step).encode())
        *in_order, effects = ([*map(placed, group)] for group in ends)
        digest.update(repr((in_order, sorted(effects))).encode())
        return digest.hexdigest()

    def _function(self, name: str) -> str:
        if name not in self._functions:
            return name
        if name not in self._known:
            function = self._functions[name]
            arguments = [argument.name for argument in function.signature.input_arg]
            results = [function.ret[r.name] for r in function.signature.output_arg]
            effects = [*function.control_ret.values()]
            types = repr([argument.type for argument in function.signature.input_arg])
            steps = self.of_steps(function.node_def, arguments, results, effects)
            self._known[name] = types + steps
        return self._known[name]

    def _attributes(self, attributes: Mapping[str, Any]) -> Iterator[Any]:
        for key in sorted(attributes.keys() - {_GRADIENT}):
            value = attributes[key]
            if key in _SEEDS and value.i:
                # A seeded op keeps state: graphs with one are never interchangeable.
                yield uuid.uuid4().hex
            called = [*value.list.func, *([value.func] if value.func.name else [])]
            for function in called:
                inner = [*self._attributes(function.attr)]
                yield key, self._function(function.name), inner
            if not called:
                data = value.SerializeToString(deterministic=True)
                yield key, hashlib.sha256(data).hexdigest()
