# SPDX-License-Identifier: Apache-2.0
"""A TensorFlow graph as leaf code: made by tracing, callable, and picklable.

One piece of leaf code may need several graphs:

    the traced function          takes datasets                  `GraphCode.run`
    the same, no variables       can be mapped over clients      `mappable_function`
    its bytes                    travel; no Python source does   `serialized`
    what `_rebuild` makes of it  runs in the other process       `GraphCode.run`
    graphs of its `machine_fn`   take rows in memory             `rows.py`
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.ir.nodes import memoized_property
from fedlearn_edu.runtimes.tensorflow import internals
from fedlearn_edu.runtimes.tensorflow.conversion import (
    explained,
    flatten,
    leaf_types,
    map_sequences,
    to_plain,
)
from fedlearn_edu.runtimes.tensorflow.graphdef import digest_of, is_pure, runs_python
from fedlearn_edu.runtimes.tensorflow.library import THREADS, tf
from fedlearn_edu.runtimes.tensorflow.sequences import keeping, to_variant
from fedlearn_edu.runtimes.tensorflow.variables import has_effects, without_variables
from fedlearn_edu.structure import unflatten
from fedlearn_edu.types import SequenceType, Type
from fedlearn_edu.types.sequences import DatasetSequence

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
    """Leaf code: a graph, traced when it is first needed, and its types.

    Attributes:
        machine_fn: the same as a `MachineFn` (`machine.py`), which can read sequences
            from memory; `None` if only a pipeline can. It is Python: not in a pickle.
        parts: what a `machine_fn` is made of, and may be impure.
        origin: a function, and arguments of it, that make this code once more, with its
            `machine_fn`; for processes that may be handed Python functions.
    """

    origin: tuple[Callable[..., "GraphCode"], tuple[Any, ...]] | None = None

    def __init__(
        self,
        name: str,
        trace: Callable[[], Any],
        parameter: Type | None,
        result: Type,
        machine_fn: Callable[[Sequence[Any], Any], list[Any]] | None = None,
        parts: Sequence[Any] = (),
    ) -> None:
        self.name = name
        self.parameter = parameter
        self.result = result
        self.machine_fn = machine_fn
        self.parts = tuple(parts)
        self._takes, self._returns = leaf_types(parameter), leaf_types(result)
        self._trace = trace
        self._graphs: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return _with_graph, (self.serialized, self.name, self.parameter, self.result)

    @memoized_property
    def is_pure(self) -> bool:
        """Whether it runs no Python, prints nothing and writes no file."""
        if self.parts:
            return all(getattr(part, "is_pure", False) for part in self.parts)
        definition = self.serialized.definition
        return is_pure(tf.compat.v1.GraphDef.FromString(definition))

    @memoized_property
    def serialized(self) -> "SerializedGraph":
        """The graph without the process it was traced in."""
        concrete = self._function()
        captures = [(inner.name, outer) for outer, inner in concrete.graph.captures]
        inputs = concrete.inputs[: len(concrete.inputs) - len(captures)]
        # Once a gradient is taken, TensorFlow puts what it needs for it behind them.
        outputs = concrete.outputs[: len(self._returns)]
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
        captures = [array for _, array in graph.captures]
        ends = inputs, graph.outputs, graph.effects
        return digest_of(graph.definition, captures, *ends)

    def _function(self) -> Any:
        """The graph that was traced or rebuilt: for it, a sequence is a dataset."""
        return self.graph_for("datasets", self._trace)

    @memoized_property
    def has_state(self) -> bool:
        """Whether it may differ from call to call: if it draws random numbers, say."""
        graph = getattr(self.mappable_function, "graph", None)
        return graph is None or has_effects(graph)

    @memoized_property
    def mappable_function(self) -> Any:
        """The graph for `tf.vectorized_map`: variables are values, if they can be."""
        function = self._function()
        is_traced_here = hasattr(function, "structured_outputs")
        return without_variables(function) if is_traced_here else function

    def graph_for(self, layout: Hashable, trace: Callable[[], Any]) -> Any:
        """The graph for arguments of some layout: made by `trace`, once."""
        with self._lock, tf.init_scope():
            if layout not in self._graphs:
                self._graphs[layout] = trace()
            return self._graphs[layout]

    def run_nested(self, argument: Any) -> Any:
        """Runs the graph on nested tensors and sequences; returns nested tensors."""
        return unflatten(self.result, self.run(flatten(argument, self.parameter)))

    def run(self, flat: Sequence[Any]) -> list[Any]:
        """Runs the graph on flat tensors and sequences, also inside another trace."""
        if self.reads_all:
            map_sequences(_check_end, flat, self.parameter)
        variants = map_sequences(to_variant, flat, self.parameter)
        given = list(map(tf.convert_to_tensor, variants))
        found = called(self._function(), *given)
        return map_sequences(lambda made, _: keeping(made, *given), found, self.result)

    @memoized_property
    def reads_all(self) -> bool:
        """Whether each sequence it takes is read in a loop, to the end."""
        returns_any = any(isinstance(t, SequenceType) for t in self._returns)
        return self.machine_fn is not None and not returns_any

    @memoized_property
    def has_sequences(self) -> bool:
        """Whether it takes or returns any."""
        return any(isinstance(t, SequenceType) for t in self._takes + self._returns)

    def __call__(self, argument: Any) -> Any:
        """Runs the graph on a plain argument."""
        try:
            return to_plain(self.run_nested(argument), self.result)
        except tf.errors.OpError as error:
            raise explained(error, f"in {self.name}") from None


def called(function: Any, *flat: Any) -> list[Any]:
    """The results of a graph, whichever thread asks for them."""
    graph = getattr(function, "graph", None)
    # TensorFlow's own thread, which waits in Python code already.
    is_inside = isinstance(threading.current_thread(), threading._DummyThread)
    is_free = is_inside or graph is None or not runs_python(graph)
    with nullcontext() if is_free else _python_code:
        return internals.call_flat(function, flat)


def _with_graph(graph: SerializedGraph, name: str, *types: Any) -> GraphCode:
    code = GraphCode(name, lambda: _rebuild(graph), *types)
    vars(code)["serialized"] = graph
    return code


def _check_end(sequence: Any, type_: SequenceType) -> None:
    plain = to_plain(sequence, type_)  # a tensor, if a leaf has made it
    if isinstance(plain, DatasetSequence):
        plain.check_end()


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
