# SPDX-License-Identifier: Apache-2.0
"""The fold of what clients of a group have made, in client order.

Most folds add. A sum is one operation per tensor; every other fold is a loop.
"""

from collections.abc import Sequence
from typing import Any

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.runtimes.tensorflow.batching import Vectorized
from fedlearn_edu.runtimes.tensorflow.conversion import leaf_types, tensor_spec
from fedlearn_edu.runtimes.tensorflow.evaluation import Flat, loops_of
from fedlearn_edu.runtimes.tensorflow.graph import source_of
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.types import Type


def folded(
    accumulate: ir.Node, type_: Type, count: Any, results: Flat, start: Sequence[Any]
) -> Flat:
    """`accumulate(… accumulate(start, r0) …, rn)`, inside of a graph.

    Args:
        accumulate: `(<STATE,RESULT> -> STATE)`.
        type_: RESULT.
        count: how many clients there are.
        results: tensors with one result per client, one after the other.
        start: the tensors of the first state.
    """
    state_type = ir.function_type_of(accumulate).result
    loops = loops_of(accumulate)
    step = tf.function(lambda *flat: loops(flat, Vectorized(None)), autograph=False)
    specs = [tensor_spec(leaf) for leaf in leaf_types(state_type) + leaf_types(type_)]
    one = step.get_concrete_function(*specs)
    if _is_sum(one.graph):
        return list(map(_sum, start, results))
    _, *state = tf.while_loop(
        lambda i, *_: i < count,
        lambda i, *state: (i + 1, *one(*state, *(tensor[i] for tensor in results))),
        [tf.constant(0), *start],
        shape_invariants=[tf.TensorShape([]), *(s.shape for s in specs[: len(start)])],
    )
    return list(state)


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
