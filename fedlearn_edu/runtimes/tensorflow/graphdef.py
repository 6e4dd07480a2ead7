# SPDX-License-Identifier: Apache-2.0
"""What can be learned about a graph without running it.

A `GraphDef` is TensorFlow's serialized form of a graph: a list of nodes, each with the
name of an operation (`node.op`), and a library of the functions that nodes call.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.types.sequences import DatasetSequence

# Operations with effects that are seen outside of a graph.
_OUTSIDE = re.compile("PyFunc|^Print|^WriteFile|^Save|Summary|Enqueue")
_PYTHON = "PyFunc"
_CHANGING = re.compile("Shuffle|Random|Sampl|Multinomial|Normal|Rng|Variable|Time")
_IGNORE = 1  # that a dataset has a state: it is only looked at
# Attributes that name a gradient, which leaf code is never asked for, and seeds.
_GRADIENT, _SEEDS = "_gradient_op_type", ("seed", "seed2")
# The lines of a graph's text with names of its parts and of functions; constants, say,
# stand in others.
_NAMING = re.compile(r'^( *(name|op|input): "\^?)([^":]+)', re.MULTILINE)


def is_pure(definition: Any) -> bool:
    """Whether a `GraphDef` runs no Python, prints nothing and writes no file."""
    return not any(_OUTSIDE.search(node.op) for node in _nodes(definition))


def has_tables(graph: Any) -> bool:
    """Whether a graph makes a lookup table, which would outlive the call."""
    return any("HashTable" in node.op for node in _nodes(graph.as_graph_def()))


def runs_python(graph: Any) -> bool:
    """Whether a graph calls Python; found out once."""
    if not hasattr(graph, "runs_python"):
        nodes = _nodes(graph.as_graph_def())
        graph.runs_python = any(_PYTHON in node.op for node in nodes)
    return bool(graph.runs_python)


def source_of(tensor: Any) -> Any:
    """The tensor that this one hands on."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def calls_python(dataset: Any) -> bool:
    """Whether reading a dataset runs Python code."""
    return any(_PYTHON in name for name in _operations(dataset))


def may_change(sequence: Any) -> bool:
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


def _nodes(definition: Any) -> Iterator[Any]:
    """All nodes of a `GraphDef`, with those of its functions."""
    functions = definition.library.function
    return chain(definition.node, *(function.node_def for function in functions))


def digest_of(serialized: bytes, captures: Sequence[Any], *ends: Sequence[str]) -> str:
    """A hash of a `GraphDef`, what it captured, and the names of what goes in and out.

    TensorFlow never gives two graphs the same names. So what is hashed is the graph's
    text, with a number for each of its own names, and a digest for a function's.
    """
    definition = tf.compat.v1.GraphDef.FromString(serialized)
    functions = {each.signature.name: each for each in definition.library.function}
    for node in _nodes(definition):
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

    graph = digest(definition.node, *ends).encode()
    return hashlib.sha256(graph + b"".join(map(_bytes_of, captures))).hexdigest()


def _bytes_of(array: Any) -> bytes:
    """The same bytes for equal arrays; of a pickle, equal strings may have others."""
    array = np.asarray(array)
    is_text = array.dtype.kind == "O"
    data = repr(array.tolist()).encode() if is_text else array.tobytes()
    return repr((array.dtype.name, array.shape)).encode() + data
