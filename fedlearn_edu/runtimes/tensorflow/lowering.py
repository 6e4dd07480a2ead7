# SPDX-License-Identifier: Apache-2.0
"""A TensorFlow body as loops over sequences, and graphs between them.

    data.map(f) … .reduce(start, g)      a loop, whose step is g after f
    everything before, between, after    graphs without any dataset

A body that does nothing else with its datasets is *lowered*: it is traced on stand-ins,
which remember what is mapped and reduced. Its loops may then read rows that lie in
memory, of one client or of many at once (`machine.py`), or a pipeline of `tf.data`.
Every other body reads a pipeline, correctly and slower.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.ir.nodes import memoized_property
from fedlearn_edu.runtimes.tensorflow import internals
from fedlearn_edu.runtimes.tensorflow.conversion import (
    Body,
    as_element,
    element_spec,
    flatten,
    leaf_types,
    tensor_spec,
)
from fedlearn_edu.runtimes.tensorflow.graphdef import (
    has_tables,
    source_of,
    stays_inside,
)
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.machine import Flat, FlatFn, Machine
from fedlearn_edu.runtimes.tensorflow.sequences import arranged_dataset
from fedlearn_edu.runtimes.tensorflow.variables import (
    has_effects,
    living_for_one_call,
    makes_variables,
    replayed,
    without_variables,
)
from fedlearn_edu.structure import unflatten
from fedlearn_edu.types import FunctionType, SequenceType, Type
from fedlearn_edu.types.sequences import arranged

# How often the shape of a state may become less definite before TensorFlow takes over.
_MAX_TRACES = 4


@final
class NotLoweredError(Exception):
    """A dataset is used in another way than by `map` and `reduce`."""


@final
@dataclass(frozen=True)
class _Step:
    """A traced function of elements, and the tensors of the body that it uses."""

    function: Any
    captures: tuple[Any, ...]

    def bound(self, machine: Machine, values: Iterator[Any]) -> FlatFn:
        """The same as a function of flat values, with the next values for captures."""
        used = [next(values) for _ in self.captures]

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
        calls, types = tf.raw_ops, [t.dtype for t in self.function.graph.outputs]
        call = calls.PartitionedCall
        if self._has_effects:
            call = calls.StatefulPartitionedCall
        results = call(args=flat, Tout=types, f=self.function)
        pairs = zip(results, self._handed_on, strict=True)
        return [result for result, number in pairs if number is None]


@final
@dataclass(frozen=True)
class _Mapped:
    """The sequence of a number in the body's argument, and what is mapped over it."""

    number: int
    steps: tuple[_Step, ...] = ()

    @property
    def captures(self) -> Flat:
        """What all steps use."""
        return [tensor for step in self.steps for tensor in step.captures]

    def bound(self, machine: Machine, sequences: Any, values: Iterator[Any]) -> Any:
        """The sequence itself, with the next values for captures."""
        sequence = sequences[self.number]
        for step in self.steps:
            sequence = sequence.map(step.bound(machine, values))
        return sequence


@final
@dataclass(frozen=True)
class _Loop:
    """A `reduce`: what it reads, where it starts, and what stands for its result."""

    source: _Mapped
    start: Flat
    step: _Step
    results: Flat


@final
class _StandIn(tf.data.Dataset):  # type: ignore[misc]  # TensorFlow has no types
    """Stands for a dataset while a body is traced."""

    is_stand_in = True

    def __init__(self, tracing: "_Tracing", mapped: _Mapped, spec: Any) -> None:
        self.mapped = mapped
        self._tracing = tracing
        self._spec = spec
        super().__init__(None)

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
        function = _traced(map_func, *_spread(self._spec))
        step = self._tracing.step(function)
        spec = _spec_of(function.structured_outputs)
        mapped = _Mapped(self.mapped.number, (*self.mapped.steps, step))
        return _StandIn(self._tracing, mapped, spec)

    def prefetch(self, *_: Any, **__: Any) -> "_StandIn":
        """The rows are here already."""
        return self

    def reduce(self, initial_state: Any, reduce_func: Any, *_: Any, **__: Any) -> Any:
        """Remembers a loop, and returns what stands for its result."""
        state = internals.normalize_element(initial_state)
        function, spec = _traced_fold(reduce_func, _spec_of(state), self._spec)
        step = self._tracing.step(function)
        result = tf.nest.map_structure(_placeholder, spec)
        flat = map(tf.nest.flatten, (state, result))
        self._tracing.loops.append(_Loop(self.mapped, next(flat), step, next(flat)))
        return result


@final
class _Tracing:
    """The loops of a body, while it is traced."""

    def __init__(self) -> None:
        self.graph = tf.compat.v1.get_default_graph()
        self.loops: list[_Loop] = []

    def step(self, function: Any) -> _Step:
        """A step that is made where the body itself stands."""
        if tf.compat.v1.get_default_graph() is not self.graph:
            raise NotLoweredError
        if has_effects(function.graph) and has_tables(function.graph):
            raise NotLoweredError
        function = without_variables(function)
        return _Step(function, tuple(map(self._here, function.captured_inputs)))

    def _here(self, tensor: Any) -> Any:
        is_here = getattr(tensor, "graph", None) is self.graph
        return tensor if is_here else tf.identity(tensor)


def _placeholder(spec: Any) -> Any:
    return tf.compat.v1.placeholder(spec.dtype, spec.shape)


@final
class Lowered:
    """A body for whatever can run its loops.

    Attributes:
        type: its type.
        graph: all of it but the steps of its loops.
    """

    def __init__(
        self, type_: FunctionType, whole: Any, inputs: Flat, results: Flat, loops: Any
    ) -> None:
        self.type = type_
        steps = [s for loop in loops for s in (*loop.source.steps, loop.step)]
        steps += [s for r in results if isinstance(r, _Mapped) for s in r.steps]
        self.graph = whole.function.graph
        self._steps = [step.function.graph for step in steps]
        known = list(inputs)
        self._loops: list[tuple[_Loop, FlatFn]] = []
        for loop in loops:
            wanted = [*loop.start, *loop.source.captures, *loop.step.captures]
            self._loops.append((loop, whole.piece(known, wanted)))
            known += loop.results
        wanted = []
        for result in results:
            wanted += result.captures if isinstance(result, _Mapped) else [result]
        self._results = results
        self._last = whole.piece(known, wanted)

    @memoized_property
    def is_pure(self) -> bool:
        """Whether it runs no Python, prints nothing and writes no file."""
        return all(stays_inside(g.as_graph_def()) for g in (self.graph, *self._steps))

    def run(self, flat: Sequence[Any], machine: Machine) -> Flat:
        """The flat result for flat arguments, in which a sequence is `Elements`."""
        known, sequences = [], {}
        given = zip(flat, leaf_types(self.type.parameter), strict=True)
        for i, (value, leaf) in enumerate(given):
            if isinstance(leaf, SequenceType):
                sequences[i] = value.map(_from_type(leaf.element))
            else:
                known.append(value)
        for loop, piece in self._loops:
            values = iter(machine.call(piece, known))
            start = [next(values) for _ in loop.start]
            source = loop.source.bound(machine, sequences, values)
            step = loop.step.bound(machine, values)
            known += machine.reduce(source, start, step, loop.results)
        values = iter(machine.call(self._last, known))
        found = []
        returned = zip(self._results, leaf_types(self.type.result), strict=True)
        for result, leaf in returned:
            if isinstance(leaf, SequenceType):
                sequence = result.bound(machine, sequences, values)
                found.append(sequence.map(_to_type(leaf.element)))
            else:
                found.append(next(values))
        return found


def _from_type(type_: Type) -> FlatFn:
    """From leaves in the order of a type to the order of `tf.nest`."""
    return lambda *flat: list(tf.nest.flatten(as_element(flat, type_)))


def _to_type(type_: Type) -> FlatFn:
    spec = element_spec(type_)
    return lambda *flat: flatten(
        arranged(tf.nest.pack_sequence_as(spec, flat), type_), type_
    )


@final
class _Whole:
    """The graph of a body, with plain values for the variables it makes."""

    def __init__(self, traced: Any) -> None:
        self.function = self._traced = traced
        self._replayed: dict[str, Any] = {}

        def run() -> None:
            self._replayed.update(replayed(traced.graph, traced.captured_inputs))

        if makes_variables(traced.graph):
            self.function = tf.compat.v1.wrap_function(run, [])

    def piece(self, known: Flat, wanted: Flat) -> FlatFn:
        """The part between some tensors of the body and others."""
        if not wanted:
            return lambda *_: []
        pruned = self.function.prune(self._here(known), self._here(wanted))
        pruned.whole = self  # TensorFlow's hold on the variables of a body is weak
        return lambda *flat: list(pruned(*flat))

    def _here(self, tensors: Flat) -> Flat:
        return [self._replayed.get(tensor.name, tensor) for tensor in tensors]


def lower(body: Body, type_: Type) -> Lowered | None:
    """A body as loops and graphs.

    `None` if it cannot be lowered, or has an error that real datasets will show.
    """
    inputs: Flat = []
    results: Flat = []
    found: list[Any] = []

    @living_for_one_call()
    def run() -> Flat:
        tracing = _Tracing()
        found.append(tracing)

        def place(number: int, leaf: Any) -> Any:
            if isinstance(leaf, SequenceType):
                if not leaf_types(leaf.element):
                    raise NotLoweredError
                return _StandIn(tracing, _Mapped(number), element_spec(leaf.element))
            inputs.append(_placeholder(tensor_spec(leaf)))
            return inputs[-1]

        types = leaf_types(type_)
        result, leaves = body(unflatten(type_, map(place, range(len(types)), types)))
        found.append(result)
        for leaf, leaf_type in zip(leaves, leaf_types(result), strict=True):
            if isinstance(leaf_type, SequenceType):
                leaf = arranged_dataset(leaf, leaf_type)
            results.append(leaf.mapped if isinstance(leaf, _StandIn) else leaf)
        return [leaf for leaf in results if not isinstance(leaf, _Mapped)]

    try:
        wrapped = tf.compat.v1.wrap_function(run, [])
        tracing, result = found
        whole = _Whole(wrapped)
        # Steps stay whole, but a body is cut: effects would be lost, or come twice.
        if has_effects(whole.function.graph):
            return None
        parts = inputs, results, tracing.loops
        return Lowered(FunctionType(type_, result), whole, *parts)
    except Exception:  # of whatever kind: a stand-in is no dataset
        return None


def _traced(function: Callable[..., Any], *specs: Any) -> Any:
    """A function as one graph; what goes in and out is converted as `tf.data` does."""
    converted = internals.in_autograph(function)

    def call(*arguments: Any) -> Any:
        result = converted(*arguments)
        result = tuple(result) if isinstance(result, list) else result
        return internals.normalize_element(result)

    return tf.function(call, autograph=False).get_concrete_function(*specs)


def _traced_fold(function: Callable[..., Any], state: Any, row: Any) -> tuple[Any, Any]:
    """A function from state and row to state, and what all states look like."""
    for _ in range(_MAX_TRACES):
        step = _traced(function, state, row)
        wider = tf.nest.map_structure(
            lambda a, b: a.most_specific_common_supertype([b]),
            state,
            _spec_of(step.structured_outputs),
        )
        if wider == state:
            return step, state
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
