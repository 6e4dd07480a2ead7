# SPDX-License-Identifier: Apache-2.0
"""Types and values of the language ⇄ flat lists of tensors.

A leaf's graph takes and returns tensors only, one for each tensor or sequence of the
type, in order; a sequence is the variant tensor of its dataset.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fedlearn_edu.errors import ComputationFailedError, TracingError, describe
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    DatasetSequence,
    SequenceType,
    StructType,
    TensorType,
    Type,
    infer_type,
    normalize,
    released,
    to_type,
)
from fedlearn_edu.types.dtypes import smallest
from fedlearn_edu.types.failures import unwrapped
from fedlearn_edu.types.python_fields import fields_of, rebuild

_CONSTANTS = (int, float, complex, str, bytes, np.ndarray, np.generic)


def leaf_types(type_: Type | None) -> list[TensorType | SequenceType]:
    """The tensors and sequences a type is made of, in order."""
    match type_:
        case None:
            return []
        case TensorType() | SequenceType():
            return [type_]
        case StructType():
            return [leaf for element in type_ for leaf in leaf_types(element)]
        case _:
            raise AssertionError(f"not leaf code's: {type_}")


def tensor_spec(type_: TensorType | SequenceType) -> Any:
    """What a graph's parameter for this type looks like."""
    if isinstance(type_, SequenceType):
        return tf.TensorSpec([], tf.variant)
    shape = type_.shape if isinstance(type_.shape, tuple) else None
    return tf.TensorSpec(shape, tf.as_dtype(tf_dtype(type_.dtype)))


def tf_dtype(dtype: Any) -> Any:
    """TensorFlow's name for a NumPy dtype."""
    return tf.string if dtype.kind == "O" else tf.as_dtype(dtype)


def stacked(values: Sequence[Any], leaf: Any) -> Any:
    """Tensors of one shape as one tensor, with one axis more in front."""
    if not values:
        return tf.zeros([0, *smallest(leaf.shape)], tf_dtype(leaf.dtype))
    if leaf.dtype.kind != "O":
        return tf.constant(np.stack(values), tf_dtype(leaf.dtype))
    # NumPy would make one array of text of a fixed width, and lose zero bytes at ends.
    pile = np.empty([len(values), *np.shape(values[0])], object)
    for i, value in enumerate(values):
        pile[i] = value
    return tf.constant(pile, tf.string)


def element_spec(type_: Type) -> Any:
    """What a dataset's elements of this type look like."""
    return packed(map(tensor_spec, leaf_types(type_)), type_)


def packed(leaves: Iterable[Any], type_: Type) -> Any:
    """Leaves, in the order of the type, as an element of a dataset."""
    return _pack(iter(leaves), type_)


def _pack(leaves: Iterator[Any], type_: Type) -> Any:
    # Not `tf.nest.pack_sequence_as`, which fills a dict in the order of its keys.
    if not isinstance(type_, StructType):
        return next(leaves)
    fields = [(name, _pack(leaves, t)) for name, t in type_.items()]
    if fields and all(type_.names()):
        return OrderedDict(fields)
    return tuple(part for _, part in fields)


def nest(flat: Iterator[Any], type_: Type) -> Any:
    """Rebuilds the structure of a type from its leaves."""
    if isinstance(type_, StructType):
        return Struct([(name, nest(flat, t)) for name, t in type_.items()])
    return next(flat)


def flatten(nested: Any, type_: Type | None) -> list[Any]:
    """The leaves of a nested value, in the order of its type."""
    match type_:
        case None:
            return []
        case StructType():
            pairs = zip(nested, type_, strict=True)
            return [leaf for value, t in pairs for leaf in flatten(value, t)]
        case _:
            return [nested]


def to_body(nested: Any, type_: Type) -> Any:
    """What the Python body sees: tensors and datasets in the type's containers."""
    match type_:
        case StructType():
            fields = Struct(
                (name, to_body(nested[i], t))
                for i, (name, t) in enumerate(type_.items())
            )
            container = type_.python_container
            return fields if container is None else rebuild(container, fields)
        case SequenceType(element=element) if isinstance(nested, tf.Tensor):
            return tf.data.experimental.from_variant(nested, element_spec(element))
        case _:
            return nested


def from_body(result: Any, name: str) -> tuple[Type, list[Any]]:
    """The type of what a body returned, and its leaves: tensors and datasets."""
    if isinstance(result, tf.RaggedTensor):
        splits = tuple(result.nested_row_splits)
        parts = [("flat_values", result.flat_values), ("nested_row_splits", splits)]
        return from_body(Struct(parts), name)
    if isinstance(result, tf.sparse.SparseTensor):
        names = ("indices", "values", "dense_shape")
        return from_body(Struct([(n, getattr(result, n)) for n in names]), name)
    if isinstance(result, tf.data.Dataset):
        type_ = SequenceType(type_of_spec(result.element_spec, name))
        return type_, [result]
    fields = None if isinstance(result, tf.Tensor | tf.Variable) else fields_of(result)
    if fields is None:
        return _tensor_from_body(result, name)
    types, leaves = [], []
    for field, value in fields.in_order():
        part_type, part = from_body(value, name)
        types.append((field, part_type))
        leaves += part
    return StructType(types, fields.container), leaves


def _tensor_from_body(result: Any, name: str) -> tuple[Type, list[Any]]:
    if not isinstance(result, tf.Tensor | tf.Variable):
        if not isinstance(result, _CONSTANTS):
            raise TracingError(
                f"{name} returned something TensorFlow code cannot return",
                expected="tensors, numbers, strings, datasets, or containers of these",
                found=describe(result),
                where=f"{name}'s result",
                do="return what the rest of the program needs, as a tensor",
            )
        type_ = infer_type(result)
        assert isinstance(type_, TensorType)
        plain = normalize(result, type_, f"{name}'s result")
        result = tf.constant(plain, tf_dtype(type_.dtype))
    tensor = tf.convert_to_tensor(result)
    return to_type(tf.TensorSpec(tensor.shape, tensor.dtype)), [tf.identity(tensor)]


def type_of_spec(spec: Any, name: str) -> Type:
    """The type of a dataset's elements."""
    if isinstance(spec, tf.TensorSpec):
        tensor: Type = to_type(spec)
        return tensor
    fields = fields_of(spec)
    if fields is None:
        raise TracingError(
            f"{name} returned a dataset whose elements have no type here",
            expected="elements made of tensors",
            found=str(spec),
        )
    pairs = [(field, type_of_spec(part, name)) for field, part in fields.in_order()]
    return StructType(pairs, fields.container)


def to_plain(nested: Any, type_: Type) -> Any:
    """Eager tensors in plain form."""
    match type_:
        case StructType():
            pairs = zip(type_.items(), nested, strict=True)
            return Struct([(name, to_plain(value, t)) for (name, t), value in pairs])
        case SequenceType(element=element) if isinstance(nested, tf.Tensor):
            spec = element_spec(element)
            dataset = tf.data.experimental.from_variant(nested, spec)
            return DatasetSequence(dataset, element, explained)
        case SequenceType():
            return released(nested)
        case _:
            return nested.numpy()[()] if nested.dtype != tf.string else nested.numpy()


# How those lines of TensorFlow's messages begin that say where, not what.
_ABOUT_GRAPH = ("Graph execution error", "Detected at node", "  File ", "<stack", "\t")

# What the reason says, and what to do about it; for all others, see below.
_CURES = {
    "outside the valid range of [0, ": (
        "count labels from 0, or make a model of more classes (classes=…)"
    ),
    "must have the same first dimension": "give x and y one row each for every example",
}

_NODE = re.compile(r"^\{\{function_node .*?\}\} ", re.MULTILINE)


def explained(error: Exception, place: str) -> Exception:
    """The error that code read by TensorFlow has raised itself, or one of ours."""
    if unwrapped(error) is not error or not isinstance(error, tf.errors.OpError):
        return unwrapped(error, place)
    text = str(getattr(error, "message", error))
    lines = [line for line in _NODE.sub("", text).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith(_ABOUT_GRAPH)), "")
    return ComputationFailedError(
        f"TensorFlow reported an error {place}",
        found=f"{type(error).__name__}: {reason}",
        do=next(
            (cure for words, cure in _CURES.items() if words in reason),
            "run the function by itself on one client's data to see more",
        ),
    )
