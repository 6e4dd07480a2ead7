# SPDX-License-Identifier: Apache-2.0
"""Many clients in one graph: what each does, and the fold of what they made.

What clients hold becomes a few tensors (`packing.py`), what they do is evaluated for
all at once (`batching.py`), and the results are folded in client order. An operation on
a small client costs more than what it computes: so one for all is worth it. What is
left to the flat strategy, and why, `_check` and `_run` say.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import RLock
from typing import Any, final

from fedlearn_edu.compiler.expand_intrinsics import obstacle
from fedlearn_edu.compiler.fuse import with_captures_as_fields
from fedlearn_edu.executors.batched import BatchedRuntime, Declined, Group, Parts, Same
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import captured_constants, leaves, rebuild, walk
from fedlearn_edu.runtimes.tensorflow import RUNTIME
from fedlearn_edu.runtimes.tensorflow.batching import Vectorized
from fedlearn_edu.runtimes.tensorflow.computation import TensorFlowTracingContext
from fedlearn_edu.runtimes.tensorflow.conversion import (
    flatten,
    leaf_types,
    tensor_spec,
    to_plain,
)
from fedlearn_edu.runtimes.tensorflow.evaluation import (
    OPERATIONS_IN_GRAPHS,
    PRIMITIVES,
    evaluate_on,
)
from fedlearn_edu.runtimes.tensorflow.executor import to_tensors
from fedlearn_edu.runtimes.tensorflow.folding import folded
from fedlearn_edu.runtimes.tensorflow.graph import called
from fedlearn_edu.runtimes.tensorflow.library import silence, tf
from fedlearn_edu.runtimes.tensorflow.packing import (
    Column,
    Results,
    columns,
    exact_specs_of,
    specs_of,
    specs_of_all,
    step_bytes,
    traced,
)
from fedlearn_edu.runtimes.tensorflow.variables import living_for_one_call
from fedlearn_edu.structure import Struct, unflatten
from fedlearn_edu.types import TensorType, Type
from fedlearn_edu.types.sequences import unwrap

# Beyond this size the calls do not matter, and one call per client uses memory better.
LARGE_STEP_BYTES = 2**21
# What all clients of a group read at one step takes memory at once.
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
        self._graphs: OrderedDict[Any, Any] = OrderedDict()
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
        pairs = zip(found, leaf_types(work.parameter), strict=True)
        size = sum(step_bytes(column, type_, group.count) for column, type_ in pairs)
        if size > LARGE_STEP_BYTES or size * group.count > GROUP_STEP_BYTES:
            raise Declined(f"a client reads {size:,.0f} bytes at one step")
        graph = self._graph(work, found, group.count)
        if graph is None:
            raise Declined("TensorFlow makes no graph of it for several clients")
        flat = [tensor for column in found for tensor in column.tensors]
        return called(graph, *flat, tf.constant(group.count), *start)

    def _graph(self, work: Work, found: Sequence[Column], count: int) -> Any:
        layout = tuple((column.is_shared, column.is_even) for column in found)
        key = (_key(work.function), _key(work.accumulate), layout)
        with self._lock:  # groups run side by side, and all need the same graph
            if key not in self._graphs:
                # The work is kept with its graph: it is known by the ids of its parts.
                self._graphs[key] = _Graphs(work, found, count)
                if len(self._graphs) > _MAX_GRAPHS:
                    self._graphs.popitem(last=False)
            self._graphs.move_to_end(key)
            return self._graphs[key].of(found, count)


def _with_captures(function: ir.Node, group: Group) -> tuple[Work, Group]:
    """The function with what it captured as a part of what every client holds."""
    # The same one may be mentioned several times.
    constants = list({id(c): c for c in captured_constants(function)}.values())
    if not (constants and isinstance(function, ir.Lambda) and function.parameter_type):
        return Work(function, group.type), group
    names = {id(c): f"(captured {i})" for i, c in enumerate(constants)}
    body = _replaced(function.body, names)
    types = {names[id(c)]: c.type for c in constants}
    lifted = with_captures_as_fields(replace(function, body=body), types)
    captured = [Same(constant.value, group.count) for constant in constants]
    parts = Parts(Struct.unnamed(*captured, group.held))
    whole = lifted.type.parameter
    assert whole is not None
    return Work(lifted, whole), Group(parts, whole, group.count)


def _replaced(node: ir.Node, names: dict[int, str]) -> ir.Node:
    if id(node) in names:
        return ir.Reference(names[id(node)], node.type)
    return rebuild(node, lambda part: _replaced(part, names))


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
        if found := obstacle(tree, RUNTIME, PRIMITIVES, OPERATIONS_IN_GRAPHS):
            raise Declined(f"it calls {found}")
        for leaf in leaves(tree):
            code: Any = leaf.code
            if not code.is_pure:  # one by one, it would run again after an error
                raise Declined(f"{code.name} does more than to return")


def _collects(accumulate: ir.Node) -> bool:
    """Whether it appends each result to a sequence, as `federated_collect` does."""
    return [leaf.code.name for leaf in leaves(accumulate)] == ["append"]


def _can_be_stacked(type_: Type) -> bool:
    """Whether it has tensors, and all its values have the same shapes."""
    specs = list(map(tensor_spec, leaf_types(type_)))
    return bool(specs) and all(spec.shape.is_fully_defined() for spec in specs)


@final
class _Graphs:
    """The graphs of one piece of work, for columns laid out like these.

    One is for the number of clients and the shapes that came first: it need not find
    them out at each step. All others share a second one.
    """

    def __init__(self, work: Work, found: Sequence[Column], count: int) -> None:
        self._work = work
        self._found = [replace(column, tensors=()) for column in found]
        self._first = count, specs_of_all(exact_specs_of, found, work.parameter)
        self._graphs: dict[bool, Any] = {}

    def of(self, found: Sequence[Column], count: int) -> Any:
        """The graph for these columns; `None` if it cannot be traced."""
        type_ = self._work.parameter
        is_first = (count, specs_of_all(exact_specs_of, found, type_)) == self._first
        if is_first not in self._graphs:
            any_ = None, specs_of_all(specs_of, found, type_)
            known, specs = self._first if is_first else any_
            self._graphs[is_first] = _traced(self._work, self._found, known, specs)
        return self._graphs[is_first]


def _traced(
    work: Work, found: Sequence[Column], known: int | None, specs: Sequence[Any]
) -> Any:
    def run(values: list[Any], any_count: Any, *start: Any) -> list[Any]:
        count = known or any_count
        machine = Vectorized(count)
        with TensorFlowTracingContext(), living_for_one_call():
            nested = unflatten(work.parameter, values)
            made = flatten(evaluate_on(machine, work.function, nested), work.result)
            results = machine.stacked(made)
            if work.accumulate is None:
                return results
            return folded(work.accumulate, work.result, count, results, start)

    states = map(tensor_spec, leaf_types(work.state))
    more = [tf.TensorSpec([], tf.int32), *states]
    try:
        with silence():  # it logs an operation that works for one client at a time only
            return traced(run, found, work.parameter, [*specs, *more])
    except Exception:  # the flat strategy will tell what is wrong, if anything is
        return None
