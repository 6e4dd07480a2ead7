# SPDX-License-Identifier: Apache-2.0
"""Many clients in one graph.

    loop         a `tf.while_loop` over the clients, some of which run at the same time
    vectorized   `tf.vectorized_map`: the same operation for all clients at once

What a client does is traced once, on its part of the columns (`columns.py`), and what
the clients made is folded in their order, in the same graph. A step of a small client
costs less than its operations' overhead: then vectorizing pays. A large client is left
to the threads of the flat strategy, where TensorFlow computes on whole matrices anyway.
"""

from collections import OrderedDict
from collections.abc import Sequence
from logging import CRITICAL
from math import prod
from threading import RLock
from typing import Any, final

from fedlearn_edu.compiler.expand_intrinsics import obstacle
from fedlearn_edu.executors.batched import BatchedRuntime, Group, Parts, Same
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import captured_constants, leaves, rebuild, walk
from fedlearn_edu.runtimes.tensorflow import RUNTIME, internals
from fedlearn_edu.runtimes.tensorflow.columns import Column, Layout, Results, columns
from fedlearn_edu.runtimes.tensorflow.conversion import (
    flatten,
    leaf_types,
    tensor_spec,
    to_plain,
)
from fedlearn_edu.runtimes.tensorflow.evaluation import OPERATIONS_IN_GRAPHS, PRIMITIVES
from fedlearn_edu.runtimes.tensorflow.executor import to_tensors
from fedlearn_edu.runtimes.tensorflow.group_graph import GroupGraph, Work
from fedlearn_edu.runtimes.tensorflow.library import called, tf
from fedlearn_edu.structure import Struct, unflatten
from fedlearn_edu.types import SequenceType, StructType, TensorType, Type
from fedlearn_edu.types.sequences import unwrap

# Measured by `make bench`, see docs/performance.md: up to this size of a step, and from
# this number of clients on, one operation for all beats one operation for each.
SMALL_STEP_BYTES = 2**17
MANY_CLIENTS = 16
# Steps of all clients take memory at once then; one more group does not, nor a loop.
VECTORIZED_BYTES = 2**26
# Beyond this size the calls do not matter, and one call per client uses memory better.
LARGE_STEP_BYTES = 2**21
_MAX_GRAPHS = 128


@final
class TensorFlowBatchedRuntime(BatchedRuntime):
    """Runs TensorFlow functions for whole groups of clients."""

    def __init__(self) -> None:
        self._graphs: OrderedDict[Any, Any] = OrderedDict()
        self._lock = RLock()

    def map(self, function: ir.Node, group: Group) -> Sequence[Any] | None:
        """All clients' results, by one call; see `BatchedRuntime`."""
        work, group = _with_captures(function, group)
        if not _is_possible(work):
            return None
        found = self._run(work, group, [])
        return None if found is None else Results(found, work.result)

    def fold(
        self, function: ir.Node, group: Group, zero: Any, accumulate: ir.Node
    ) -> Any:
        """The fold of all clients' results, by one call; see `BatchedRuntime`."""
        work, group = _with_captures(function, group)
        state = ir.function_type_of(accumulate).result
        work = Work(work.function, work.parameter, accumulate, state)
        if not _is_possible(work):
            return None
        start = flatten(to_tensors(unwrap(zero), state), state)
        found = self._run(work, group, start)
        return None if found is None else to_plain(unflatten(state, found), state)

    def _run(self, work: Work, group: Group, start: list[Any]) -> list[Any] | None:
        found = columns(group)
        if found is None or not internals.can_stack():
            return None
        size = _step_bytes(found)
        if size > LARGE_STEP_BYTES:
            return None
        small = size <= SMALL_STEP_BYTES and size * group.count <= VECTORIZED_BYTES
        many = group.count >= MANY_CLIENTS
        even = all(column.layout != Layout.RAGGED for column in found)
        graph = self._graph(work, found, vectorized=small and many and even)
        if graph is None:
            return None
        flat = [tensor for column in found for tensor in column.tensors]
        return called(graph, tf.constant(group.count), *flat, *start)

    def _graph(self, work: Work, found: Sequence[Column], *, vectorized: bool) -> Any:
        layout = tuple((column.layout, column.has_tails) for column in found)
        key = (_key(work.function), _key(work.accumulate), layout, vectorized)
        with self._lock:  # groups run side by side, and all need the same graph
            if key not in self._graphs:
                # The work is kept with its graph: it is known by the ids of its parts.
                self._graphs[key] = work, _traced(work, found, vectorized=vectorized)
                if len(self._graphs) > _MAX_GRAPHS:
                    self._graphs.popitem(last=False)
            self._graphs.move_to_end(key)
            return self._graphs[key][1]


def _with_captures(function: ir.Node, group: Group) -> tuple[Work, Group]:
    """The function with what it captured as a part of what every client holds."""
    # The same one may be mentioned several times.
    constants = list({id(c): c for c in captured_constants(function)}.values())
    if not (constants and isinstance(function, ir.Lambda) and function.parameter_type):
        return Work(function, group.type), group
    types = [group.type, *(constant.type for constant in constants)]
    whole = StructType([(None, type_) for type_ in types])
    argument = ir.Reference("(member and captured)", whole)
    names = {id(c): f"(captured {i})" for i, c in enumerate(constants)}
    bound = [(str(function.parameter), ir.Selection(argument, 0))]
    bound += [
        (name, ir.Selection(argument, i + 1)) for i, name in enumerate(names.values())
    ]
    body = _replaced(function.body, names)
    lifted = ir.Lambda(argument.name, whole, ir.Block(tuple(bound), body))
    captured = [Same(constant.value, group.count) for constant in constants]
    parts = Parts(Struct.unnamed(group.held, *captured))
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


def _is_possible(work: Work) -> bool:
    trees = [tree for tree in (work.function, work.accumulate) if tree is not None]
    outgoing = [work.result, *([work.state] if work.state else [])]
    if any(type_.contains(_is_unknown_to_loops) for type_ in outgoing):
        return False
    if work.accumulate is None and not _can_be_stacked(work.result):
        return False
    if work.accumulate is not None and captured_constants(work.accumulate):
        return False
    return all(
        obstacle(tree, RUNTIME, PRIMITIVES, OPERATIONS_IN_GRAPHS) is None
        and all(map(_can_be_run_again, leaves(tree)))
        for tree in trees
    )


def _is_unknown_to_loops(type_: Type) -> bool:
    return not isinstance(type_, TensorType | StructType)


def _can_be_stacked(type_: Type) -> bool:
    """Whether all values of a type have the same shapes."""
    return all(tensor_spec(leaf).shape.is_fully_defined() for leaf in leaf_types(type_))


def _can_be_run_again(leaf: ir.Leaf) -> bool:
    reads = leaf.type.parameter is not None and leaf.type.parameter.contains(
        lambda t: isinstance(t, SequenceType)
    )
    code: Any = leaf.code  # one client after the other runs it again, if one fails
    return code.is_pure and (not reads or code.means_the_same_again)


def _step_bytes(found: Sequence[Column]) -> int:
    """How many bytes a client reads for one step of its work, about."""
    axes = {
        Layout.REPLICATED: 0,
        Layout.STACKED: 1,
        Layout.RAGGED: 1,
        Layout.UNIFORM: 2,
    }
    return sum(
        tensor.dtype.size * prod(tensor.shape[axes.get(column.layout, 1) :])
        for column in found
        for tensor in column.tensors
    )


def _traced(work: Work, found: Sequence[Column], *, vectorized: bool) -> Any:
    """The graph for columns laid out like these; `None` if it cannot be traced."""
    graph = GroupGraph(work, found)
    if vectorized and _can_be_stacked(work.result):
        # TensorFlow logs an operation that works for one client at a time only.
        logger = tf.get_logger()
        level = logger.level
        logger.setLevel(CRITICAL)
        try:
            return graph.trace(graph.vectorized)
        except Exception:
            pass
        finally:
            logger.setLevel(level)
    try:
        return graph.trace(graph.loop)
    except Exception:  # the flat strategy will tell what is wrong, if anything is
        return None
