# SPDX-License-Identifier: Apache-2.0
"""Many clients in one graph: what each does, and the fold of what they made.

How a thousand clients cost ten calls, and what stands for them on the way:

    contexts/factories.py   `max_fanout`    ten groups of 100 clients, a call each:
    executors/grouping.py   `_fold`         `Group`: what they hold, as plain data
    groups.py               `fold`          `Work`: what one client does, and the fold
    columns.py              `columns`       `Column`s: a tensor of all is one tensor
    rows.py                 `RowsGraph`     the call: of one graph, traced only once
    rows.py                 `value_of`      in it: `Batched` tensors, and `Elements`
    machine.py              `Machine`       `Batched` results: one operation for all
    groups.py               `_folded`       one state: results folded in client order
    executors/composing.py  `_aggregate`    ten states, merged into that of the server

An operation on a small client costs more than what it computes: so one for all is worth
it. What is left to the flat strategy, each `Declined` says why.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import RLock
from typing import Any, final

from fedlearn_edu.compiler.expansion import obstacle
from fedlearn_edu.compiler.fuse import with_captures_as_fields
from fedlearn_edu.executors.batched import BatchedRuntime, Declined, Group, Parts, Same
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import captured_constants, leaves, rebuild_atoms, walk
from fedlearn_edu.runtimes.tensorflow.columns import (
    LARGE_STEP_BYTES,
    Column,
    Packed,
    Results,
    columns,
)
from fedlearn_edu.runtimes.tensorflow.computation import TensorFlowTracingContext
from fedlearn_edu.runtimes.tensorflow.conversion import (
    flatten,
    leaf_types,
    tensor_spec,
    to_plain,
)
from fedlearn_edu.runtimes.tensorflow.evaluation import ABILITIES, to_machine_fn
from fedlearn_edu.runtimes.tensorflow.executor import to_tensors
from fedlearn_edu.runtimes.tensorflow.graphdef import source_of
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.runtimes.tensorflow.machine import Flat, Machine
from fedlearn_edu.runtimes.tensorflow.rows import RowsGraph, value_of
from fedlearn_edu.runtimes.tensorflow.variables import living_for_one_call
from fedlearn_edu.structure import Struct, unflatten
from fedlearn_edu.types import SequenceType, TensorType, Type
from fedlearn_edu.types.sequences import unwrap

# What all clients of a group read at one step takes up memory at the same time; what
# they share, such as a model, does once each of them has changed it.
GROUP_STEP_BYTES = 2**26
_MAX_GRAPHS = 128


@final
@dataclass(frozen=True)
class Work:
    """What is done for each client, and how what comes out is folded, if it is.

    Attributes:
        function: the function of one client.
        parameter: what it takes.
        accumulate: the function that folds results, in client order.
    """

    function: ir.Node
    parameter: Type
    accumulate: ir.Node | None = None

    @property
    def state(self) -> Type | None:
        """The type of the fold."""
        fold = self.accumulate
        return None if fold is None else ir.function_type_of(fold).result

    @property
    def result(self) -> Type:
        """What the function of one client returns."""
        return ir.function_type_of(self.function).result


@final
class TensorFlowBatchedRuntime(BatchedRuntime):
    """Runs TensorFlow functions for whole groups of clients."""

    def __init__(self) -> None:
        self._graphs: OrderedDict[Any, RowsGraph] = OrderedDict()
        self._lock = RLock()

    def map(self, function: ir.Node, group: Group) -> Sequence[Any]:
        """All clients' results, by one call; see `BatchedRuntime`."""
        work, group = _with_captures(function, group)
        _check(work)
        return Results(self._run(work, group, []), work.result)

    def fold(
        self, function: ir.Node, group: Group, zero: Any, accumulate: ir.Node
    ) -> Any:
        """The fold of all clients' results, by one call; see `BatchedRuntime`."""
        if _collects(accumulate):
            return (*unwrap(zero), *self.map(function, group))
        work, group = _with_captures(function, group)
        work = replace(work, accumulate=accumulate)
        _check(work)
        state = ir.function_type_of(accumulate).result
        start = flatten(to_tensors(unwrap(zero), state), state)
        found = self._run(work, group, start)
        return to_plain(unflatten(state, found), state)

    def _run(self, work: Work, group: Group, start: list[Any]) -> list[Any]:
        found = columns(group.held, group.type)
        size = sum(column.step_bytes(group.count) for column in found)
        if size > LARGE_STEP_BYTES or size * group.count > GROUP_STEP_BYTES:
            raise Declined(f"a client reads {size:,.0f} bytes at one step")
        clients = tf.range(group.count)
        return self._graph(work, found)(found, clients, *start)

    def _graph(self, work: Work, found: Sequence[Column]) -> RowsGraph:
        layout = tuple((c.is_shared, c.is_even, c.changes) for c in found)
        key = (_key(work.function), _key(work.accumulate), layout)
        with self._lock:  # groups run side by side, and all need the same graph
            if key not in self._graphs:
                # The work is kept with its graph: it is known by the ids of its parts.
                run = partial(_run_all, work)
                self._graphs[key] = RowsGraph(run, found, work.parameter)
                if len(self._graphs) > _MAX_GRAPHS:
                    self._graphs.popitem(last=False)
            self._graphs.move_to_end(key)
            return self._graphs[key]


def _with_captures(function: ir.Node, group: Group) -> tuple[Work, Group]:
    """The function with what it captured as a part of what every client holds."""
    # The same one may be mentioned several times.
    constants = {id(c): c for c in captured_constants(function)}
    if not (constants and isinstance(function, ir.Lambda) and function.binds):
        return Work(function, group.type), group
    fields = {
        key: ir.Reference(f"(captured {i})", constant.type)
        for i, (key, constant) in enumerate(constants.items())
    }
    body = rebuild_atoms(function.body, lambda atom: fields.get(id(atom), atom))
    types = {field.name: field.type for field in fields.values()}
    lifted = with_captures_as_fields(replace(function, body=body), types)
    captured = [Same(constant.value, group.count) for constant in constants.values()]
    parts = Parts(Struct.unnamed(*captured, group.held))
    whole = lifted.type.parameter
    assert whole is not None
    return Work(lifted, whole), Group(parts, whole, group.count)


def _key(tree: ir.Node | None) -> Any:
    """What tells a tree from others, without the cost of reading its graphs."""
    if tree is None:
        return None
    parts = [p for p in walk(tree) if isinstance(p, ir.Leaf | ir.Literal)]
    ids = [id(p.code) if isinstance(p, ir.Leaf) else id(p) for p in parts]
    return to_text(tree), tree.type, tuple(ids)


def _check(work: Work) -> None:
    """Refuses what no group can do in one graph, whatever it holds."""
    trees = [tree for tree in (work.function, work.accumulate) if tree is not None]
    outgoing = leaf_types(work.result) + leaf_types(work.state)
    if not all(isinstance(leaf, TensorType) for leaf in outgoing):
        raise Declined("it returns a sequence")
    if work.accumulate is None and not _can_be_stacked(work.result):
        raise Declined("results may have several shapes")
    if work.accumulate is not None and captured_constants(work.accumulate):
        raise Declined("what folds the results has captured a value")
    for tree in trees:
        if found := obstacle(tree, *ABILITIES):
            raise Declined(f"it calls {found}")
        for leaf in leaves(tree):
            code: Any = leaf.code
            if getattr(code, "has_sequences", False) and code.machine_fn is None:
                raise Declined(f"{code.name} has its own way to read a dataset")
            if not code.is_pure:  # one by one, it would run again after an error
                raise Declined(f"{code.name} does more than to return")


def _collects(accumulate: ir.Node) -> bool:
    """Whether it appends each result to a sequence, as `federated_collect` does."""
    found = [(leaf.runtime, leaf.code.name) for leaf in leaves(accumulate)]
    return found == [(ir.ANY_RUNTIME, "append")]


def _can_be_stacked(type_: Type) -> bool:
    """Whether it has tensors, and all its values have the same shapes."""
    specs = list(map(tensor_spec, leaf_types(type_)))
    return bool(specs) and all(spec.shape.is_fully_defined() for spec in specs)


def _run_all(work: Work, values: list[Any], clients: Any, *start: Any) -> list[Any]:
    """All clients' results, or their fold, inside of a graph."""
    machine = Machine(clients)
    with TensorFlowTracingContext(), living_for_one_call():
        made = to_machine_fn(work.function)(values, machine)
        results = machine.stacked(made)
        if work.accumulate is None:
            return results
        return _folded(work, work.accumulate, results, [*start])


def _folded(work: Work, accumulate: ir.Node, results: Flat, start: Flat) -> Flat:
    """`accumulate(… accumulate(start, r0) …, rn)`, inside of a graph.

    Most folds add. A sum is one operation per tensor; every other fold is a loop.
    """
    run, states = to_machine_fn(accumulate), leaf_types(work.state)
    specs = list(map(tensor_spec, states + leaf_types(work.result)))
    traced = tf.function(lambda *flat: run(flat, Machine()), autograph=False)
    reducer = traced.get_concrete_function(*specs)
    if _is_sum(reducer.graph):
        return list(map(_sum, start, results))
    rows = Column(Packed(tuple(results)), is_shared=True)
    sequence = value_of(rows, SequenceType(work.result))
    return Machine().reduce(sequence, start, reducer, specs[: len(states)])


def _is_sum(graph: Any) -> bool:
    """Whether it adds to each tensor of a state the same one of a result."""
    half = len(graph.outputs)
    if len(graph.inputs) != 2 * half:
        return False
    terms = zip(graph.inputs[:half], graph.inputs[half:], strict=True)
    return all(map(_adds, map(source_of, graph.outputs), terms))


def _adds(total: Any, terms: tuple[Any, Any]) -> bool:
    if total.op.type != "AddV2" or total.dtype == tf.string:
        return False
    added, shape = map(source_of, total.op.inputs), total.shape
    return (
        all(a is b for a, b in zip(added, terms, strict=True))
        and all(term.shape.is_fully_defined() and term.shape == shape for term in terms)
        and shape.num_elements() > 0
    )


def _sum(start: Any, tensor: Any) -> Any:
    # Row after row: `tf.reduce_sum` adds in another order.
    here = tf.zeros([tf.shape(tensor)[0], 1], tf.int32)
    return tf.tensor_scatter_nd_add(start[tf.newaxis], here, tensor)[0]
