# SPDX-License-Identifier: Apache-2.0
"""A TensorFlow body as loops over sequences, and graphs between them.

    def body(data, rate):
        start = rate * tf.zeros([2])                  a piece of the body
        scaled = data.map(lambda x: x * rate)         an inner function of the loop
        total = scaled.reduce(start, tf.add)          a loop; `tf.add` is its reducer
        return total / 2                              the last piece

A body that does nothing else with its datasets is *lowered*. It is traced on stand-ins,
which remember what is mapped and reduced; placeholders stand for the results of loops.
Pieces are graphs without any dataset. `Lowered.run` runs a piece, then its loop, then
the next piece; a loop may read rows in memory, of one client or of many (`machine.py`),
or a pipeline of `tf.data`. Every other body reads a pipeline, correctly and slower.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, final

from fedlearn_edu.ir.nodes import memoized_property
from fedlearn_edu.runtimes.tensorflow import internals
from fedlearn_edu.runtimes.tensorflow.conversion import (
    Body,
    as_element,
    element_spec,
    from_element,
    leaf_types,
    map_sequences,
    tensor_spec,
)
from fedlearn_edu.runtimes.tensorflow.graphdef import has_tables, is_pure, source_of
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.machine import Elements, Flat, FlatFn, Machine
from fedlearn_edu.runtimes.tensorflow.sequences import arranged_dataset
from fedlearn_edu.runtimes.tensorflow.variables import (
    has_effects,
    living_for_one_call,
    makes_variables,
    replayed,
    without_variables,
)
from fedlearn_edu.signals import is_from_outside
from fedlearn_edu.structure import unflatten
from fedlearn_edu.types import FunctionType, SequenceType, TensorType, Type

# How often the shape of a state may become less definite before TensorFlow takes over.
_MAX_TRACES = 4
# What is known while a body runs: its tensors, and the sequences of its argument.
Values = dict[str, Any]


@final
class NotLoweredError(Exception):
    """A dataset is used in another way than by `map` and `reduce`."""


@final
@dataclass(frozen=True)
class _InnerFunction:
    """A traced function of elements, and the tensors of the body that it uses."""

    function: Any
    captures: tuple[Any, ...]

    def bound(self, machine: Machine, values: Values) -> FlatFn:
        """The same as a function of flat values."""
        used = [values[tensor.name] for tensor in self.captures]

        def call(*flat: Any) -> Flat:
            given = [*flat, *used]
            # What is handed on unchanged need not be computed, nor be each client's.
            made = iter(machine.call(self._made, given, draws=self._has_effects))
            return [next(made) if i is None else given[i] for i in self._handed_on]

        return call

    @memoized_property
    def _has_effects(self) -> bool:
        return has_effects(self.function.graph)

    @memoized_property
    def _handed_on(self) -> list[int | None]:
        """For each result the number of the argument or capture that it is, if any."""
        graph = self.function.graph
        if self._has_effects:  # they belong to the results
            return [None] * len(graph.outputs)
        numbers = {tensor.name: i for i, tensor in enumerate(graph.inputs)}
        return [numbers.get(source_of(tensor).name) for tensor in graph.outputs]

    def _made(self, *flat: Any) -> Flat:
        """The other results, for arguments and captures."""
        ops, types = tf.raw_ops, [t.dtype for t in self.function.graph.outputs]
        call = ops.StatefulPartitionedCall if self._has_effects else ops.PartitionedCall
        results = call(args=flat, Tout=types, f=self.function)
        pairs = zip(results, self._handed_on, strict=True)
        return [result for result, number in pairs if number is None]


@final
class _StandIn(tf.data.Dataset):  # type: ignore[misc]  # TensorFlow has no types
    """Stands for a sequence of the argument, with functions mapped over it."""

    is_stand_in = True

    def __init__(
        self, tracing: "_Tracing", name: str, spec: Any, *functions: _InnerFunction
    ) -> None:
        self.name, self.functions = name, functions
        self._tracing, self._spec = tracing, spec
        super().__init__(None)

    def bound(self, machine: Machine, values: Values) -> Elements:
        """The same with the values of one run."""
        sequence: Elements = values[self.name]
        for function in self.functions:
            sequence = sequence.map(function.bound(machine, values))
        return sequence

    @property
    def element_spec(self) -> Any:
        """What one element looks like."""
        return self._spec

    def _inputs(self) -> list[Any]:
        return []

    @property
    def _variant_tensor(self) -> Any:
        """Whatever is not done here asks for this."""
        raise NotLoweredError

    def map(self, map_func: Callable[..., Any], *_: Any, **__: Any) -> "_StandIn":
        """Remembers the function."""
        traced = _traced(map_func, *_spread(self._spec))
        spec, inner = _spec_of(traced.structured_outputs), self._tracing.inner(traced)
        return _StandIn(self._tracing, self.name, spec, *self.functions, inner)

    def prefetch(self, *_: Any, **__: Any) -> "_StandIn":
        """The rows are here already."""
        return self

    def reduce(self, initial_state: Any, reduce_func: Any, *_: Any, **__: Any) -> Any:
        """Remembers a loop, and returns what stands for its result."""
        state = internals.normalize_element(initial_state)
        traced, spec = _traced_reducer(reduce_func, _spec_of(state), self._spec)
        reducer = self._tracing.inner(traced)
        result = tf.nest.map_structure(_placeholder, spec)
        start, results = map(tf.nest.flatten, (state, result))
        self._tracing.loops.append(_Loop(self, start, reducer, results))
        return result


@final
@dataclass(frozen=True)
class _Loop:
    """A `reduce`: what it reads, where it starts, and what stands for its result."""

    source: _StandIn
    start: Flat
    reducer: _InnerFunction
    results: Flat

    @property
    def functions(self) -> tuple[_InnerFunction, ...]:
        """All that are called for an element."""
        return (*self.source.functions, self.reducer)


@final
class _Tracing:
    """What a body does with its datasets, noted while it is traced.

    Attributes:
        type: the type of the body.
        inputs: the leaves of its argument: tensors of the body, and stand-ins.
        results: likewise, the leaves of its result.
        loops: in the order in which they run.
    """

    @living_for_one_call()
    def run(self, body: Body, type_: Type) -> Flat:
        """Traces the body into the current graph; returns the tensors of its result."""
        self._graph = tf.compat.v1.get_default_graph()
        self.loops: list[_Loop] = []
        self.inputs = list(map(self._input, leaf_types(type_), count()))
        result, leaves = body(unflatten(type_, self.inputs))
        self.type = FunctionType(type_, result)
        self.results = map_sequences(arranged_dataset, leaves, result)
        return _tensors(self.results)

    def _input(self, type_: TensorType | SequenceType, number: int) -> Any:
        if not isinstance(type_, SequenceType):
            return _placeholder(tensor_spec(type_))
        if not leaf_types(type_.element):
            raise NotLoweredError
        return _StandIn(self, f"sequence {number}", element_spec(type_.element))

    def inner(self, traced: Any) -> _InnerFunction:
        """A function that is made where the body itself stands."""
        if tf.compat.v1.get_default_graph() is not self._graph:
            raise NotLoweredError
        if has_effects(traced.graph) and has_tables(traced.graph):
            raise NotLoweredError
        function = without_variables(traced)
        captures = tuple(map(self._here, function.captured_inputs))
        return _InnerFunction(function, captures)

    def _here(self, tensor: Any) -> Any:
        is_here = getattr(tensor, "graph", None) is self._graph
        return tensor if is_here else tf.identity(tensor)


def _placeholder(spec: Any) -> Any:
    return tf.compat.v1.placeholder(spec.dtype, spec.shape)


def _tensors(leaves: Flat) -> Flat:
    return [leaf for leaf in leaves if not isinstance(leaf, _StandIn)]


def _captures(parts: Iterable[Any]) -> Flat:
    return [t for part in parts for f in part.functions for t in f.captures]


def _by_name(leaves: Flat, values: Iterable[Any]) -> Values:
    return {leaf.name: value for leaf, value in zip(leaves, values, strict=True)}


@final
class Lowered:
    """A body for whatever can run its loops.

    Attributes:
        type: its type.
        graph: all of it but its inner functions, if possible without variables.
    """

    def __init__(self, traced: Any, tracing: _Tracing) -> None:
        self._function = self._whole = traced
        self._replayed: Values = {}

        def run() -> None:
            self._replayed.update(replayed(traced.graph, traced.captured_inputs))

        if makes_variables(traced.graph):
            self._function = tf.compat.v1.wrap_function(run, [])
        self.type, self.graph = tracing.type, self._function.graph
        self._inputs, self._results = tracing.inputs, tracing.results
        self._loops: list[tuple[Callable[..., Values], _Loop]] = []
        known = _tensors(self._inputs)
        for loop in tracing.loops:
            wanted = [*loop.start, *_captures([loop])]
            self._loops.append((self._piece(known, wanted), loop))
            known = [*known, *loop.results]
        mapped = [leaf for leaf in self._results if isinstance(leaf, _StandIn)]
        self._last = self._piece(known, [*_tensors(self._results), *_captures(mapped)])
        parts: list[Any] = [*tracing.loops, *mapped]
        self._inner = [f.function.graph for part in parts for f in part.functions]

    def _piece(self, known: Flat, wanted: Flat) -> Callable[[Machine, Values], Values]:
        """What computes some tensors of the body from others."""
        if not wanted:
            return lambda *_: {}
        ends = [[self._replayed.get(t.name, t) for t in end] for end in (known, wanted)]
        pruned = self._function.prune(*ends)
        pruned.whole = self  # TensorFlow's hold on the variables of a body is weak

        def run(machine: Machine, values: Values) -> Values:
            given = [values[tensor.name] for tensor in known]
            return _by_name(wanted, machine.call(pruned, given))

        return run

    @memoized_property
    def is_pure(self) -> bool:
        """Whether it runs no Python, prints nothing and writes no file."""
        return all(is_pure(g.as_graph_def()) for g in (self.graph, *self._inner))

    def run(self, flat: Sequence[Any], machine: Machine) -> Flat:
        """The flat result for flat arguments, in which a sequence is `Elements`."""
        given = map_sequences(_from_type, flat, self.type.parameter)
        known = _by_name(self._inputs, given)
        for piece, loop in self._loops:
            values = known | piece(machine, known)
            source = loop.source.bound(machine, values)
            start = [values[tensor.name] for tensor in loop.start]
            reducer = loop.reducer.bound(machine, values)
            found = machine.reduce(source, start, reducer, loop.results)
            known |= _by_name(loop.results, found)
        values = known | self._last(machine, known)
        found = [
            leaf.bound(machine, values)
            if isinstance(leaf, _StandIn)
            else values[leaf.name]
            for leaf in self._results
        ]
        return map_sequences(_to_type, found, self.type.result)


def _from_type(sequence: Elements, type_: SequenceType) -> Elements:
    """From leaves in the order of a type to the order of `tf.nest`."""
    element = type_.element
    return sequence.map(lambda *flat: list(tf.nest.flatten(as_element(flat, element))))


def _to_type(sequence: Elements, type_: SequenceType) -> Elements:
    element, spec = type_.element, element_spec(type_.element)
    pack = partial(tf.nest.pack_sequence_as, spec)
    return sequence.map(lambda *flat: from_element(pack(flat), element))


def lower(body: Body, type_: Type) -> Lowered | None:
    """A body as loops and graphs.

    `None` if it cannot be lowered, or has an error that real datasets will show.
    """
    tracing = _Tracing()
    try:
        run = partial(tracing.run, body, type_)
        lowered = Lowered(tf.compat.v1.wrap_function(run, []), tracing)
    except Exception as error:  # of whatever kind: a stand-in is no dataset
        if is_from_outside(error):
            raise
        return None
    # Inner functions stay whole. A body is cut: effects would be lost, or come twice.
    return None if has_effects(lowered.graph) else lowered


def _traced(function: Callable[..., Any], *specs: Any) -> Any:
    """A function as one graph; what goes in and out is converted as `tf.data` does."""
    converted = internals.in_autograph(function)

    def call(*arguments: Any) -> Any:
        result = converted(*arguments)
        result = tuple(result) if isinstance(result, list) else result
        return internals.normalize_element(result)

    return tf.function(call, autograph=False).get_concrete_function(*specs)


def _traced_reducer(
    function: Callable[..., Any], state: Any, row: Any
) -> tuple[Any, Any]:
    """A function from state and row to state, and what all states look like."""
    for _ in range(_MAX_TRACES):
        reducer = _traced(function, state, row)
        wider = tf.nest.map_structure(
            lambda a, b: a.most_specific_common_supertype([b]),
            state,
            _spec_of(reducer.structured_outputs),
        )
        if wider == state:
            return reducer, state
        if None in tf.nest.flatten(wider):
            break
        state = wider
    raise NotLoweredError


def _spec_of(value: Any) -> Any:
    """What a structure of tensors looks like."""
    spec = internals.spec_from_value(value)
    leaves = tf.nest.flatten(spec)
    if not leaves or any(type(leaf) is not tf.TensorSpec for leaf in leaves):
        raise NotLoweredError
    return spec


def _spread(element: Any) -> tuple[Any, ...]:
    """An element as the arguments of a function: a tuple is several."""
    is_plain = isinstance(element, tuple) and not hasattr(element, "_fields")
    return element if is_plain else (element,)
