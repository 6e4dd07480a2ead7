# SPDX-License-Identifier: Apache-2.0
"""A whole function of the language as one TensorFlow graph.

`compiler/fuse.py` hands in a function that is closed and knows no placements. Its tree
is evaluated once, while TensorFlow traces, and so becomes one graph: what the stack of
executors would do step by step, TensorFlow then does in one call.
"""

from fedlearn_edu.compiler.expand_intrinsics import obstacle
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import intrinsics, leaves, walk
from fedlearn_edu.runtimes.tensorflow import RUNTIME
from fedlearn_edu.runtimes.tensorflow.computation import code_from_loops
from fedlearn_edu.runtimes.tensorflow.conversion import leaf_types
from fedlearn_edu.runtimes.tensorflow.evaluation import (
    OPERATIONS_IN_GRAPHS,
    PRIMITIVES,
    loops_of,
)
from fedlearn_edu.types import SequenceType, Type


def fuse(function: ir.Lambda, name: str) -> ir.Leaf | None:
    """The function as one leaf; `None` if TensorFlow cannot run it as a whole."""
    if obstacle(function, RUNTIME, PRIMITIVES, OPERATIONS_IN_GRAPHS) is not None:
        return None
    types = {id(node.type): node.type for node in walk(function)}  # few, named often
    if any(type_.contains(_is_sequence_of_nothing) for type_ in types.values()):
        return None
    if any(map(_folds_sequences, intrinsics(function))):
        return None
    codes = [leaf.code for leaf in leaves(function)]
    code = code_from_loops(loops_of(function), function.type, name, codes)
    return ir.Leaf(RUNTIME, code, function.type)


def _folds_sequences(intrinsic: ir.Intrinsic) -> bool:
    """TensorFlow has no loop whose running state is a sequence."""
    return intrinsic.uri == "sequence_reduce" and intrinsic.type.result.contains(
        lambda type_: isinstance(type_, SequenceType)
    )


def _is_sequence_of_nothing(type_: Type) -> bool:
    """No dataset has elements without a tensor."""
    return isinstance(type_, SequenceType) and not leaf_types(type_.element)
