# SPDX-License-Identifier: Apache-2.0
"""Types and values of the language ⇄ flat lists of tensors.

A leaf's graph takes and returns tensors only, one for each tensor or sequence of the
type, in order; a sequence is the variant tensor of its dataset.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fedlearn_edu.errors import TracingError, describe
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    DatasetSequence,
    SequenceType,
    StructType,
    TensorType,
    Type,
    infer_type,
    to_type,
)
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


def element_spec(type_: Type) -> Any:
    """What a dataset's elements of this type look like."""
    match type_:
        case TensorType():
            return tensor_spec(type_)
        case StructType() if all(type_.names()) and len(type_):
            return OrderedDict((n, element_spec(t)) for n, t in type_.items())
        case StructType():
            return tuple(element_spec(t) for t in type_)
        case _:
            raise AssertionError(f"not an element's type: {type_}")


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
        case SequenceType(element=element):
            return tf.data.experimental.from_variant(nested, element_spec(element))
        case _:
            return nested


def from_body(result: Any, name: str) -> tuple[Type, list[Any]]:
    """The type of what a body returned, and its leaves as tensors."""
    if isinstance(result, tf.RaggedTensor):
        splits = tuple(result.nested_row_splits)
        parts = [("flat_values", result.flat_values), ("nested_row_splits", splits)]
        return from_body(Struct(parts), name)
    if isinstance(result, tf.sparse.SparseTensor):
        names = ("indices", "values", "dense_shape")
        return from_body(Struct([(n, getattr(result, n)) for n in names]), name)
    if isinstance(result, tf.data.Dataset):
        type_ = SequenceType(type_of_spec(result.element_spec, name))
        return type_, [tf.data.experimental.to_variant(result)]
    fields = None if isinstance(result, tf.Tensor | tf.Variable) else fields_of(result)
    if fields is None:
        return _tensor_from_body(result, name)
    pairs = fields.pairs
    if fields.container is dict:
        pairs = sorted(pairs, key=lambda pair: str(pair[0]))
    types, leaves = [], []
    for field, value in pairs:
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
        result = tf.constant(result, tf_dtype(type_.dtype))
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
    pairs = [(field, type_of_spec(part, name)) for field, part in fields.pairs]
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
            return DatasetSequence(dataset, element)
        case SequenceType():
            return nested
        case _:
            return nested.numpy()[()] if nested.dtype != tf.string else nested.numpy()


def to_variant(sequence: Any, type_: SequenceType) -> Any:
    """A sequence, in whatever form it is, as the variant tensor of a dataset."""
    if isinstance(sequence, tf.Tensor):
        return sequence
    if isinstance(sequence, DatasetSequence):
        return tf.data.experimental.to_variant(_arranged(sequence.dataset, type_))
    return tf.data.experimental.to_variant(_dataset_of(sequence, type_.element))


def _arranged(dataset: Any, type_: SequenceType) -> Any:
    """The dataset with its elements in the containers the graph was traced with."""
    wanted = element_spec(type_.element)
    try:
        tf.nest.assert_same_structure(dataset.element_spec, wanted, check_types=True)
    except (TypeError, ValueError):
        return dataset.map(lambda *parts: _rearranged(parts, type_.element))
    return dataset


def _rearranged(parts: tuple[Any, ...], type_: Type) -> Any:
    element = parts[0] if len(parts) == 1 else parts
    if not isinstance(type_, StructType):
        return element
    fields = fields_of(element)
    assert fields is not None
    values = dict(fields.pairs) if fields.container is dict else None
    picked = [
        _rearranged((values[str(n)] if values else fields.pairs[i][1],), t)
        for i, (n, t) in enumerate(type_.items())
    ]
    if all(type_.names()) and len(type_):
        return OrderedDict(zip(type_.names(), picked, strict=True))
    return tuple(picked)


def _dataset_of(elements: Any, type_: Type) -> Any:
    """A dataset of plain elements: stacked where shapes allow, generated elsewhere."""
    if isinstance(elements, tuple) and _is_stackable(elements, type_):
        return _stacked(elements, type_)
    # A last batch that is smaller than the others is the usual case.
    if isinstance(elements, tuple) and _is_stackable(elements[:-1], type_):
        last = _stacked(elements[-1:], type_)
        return _stacked(elements[:-1], type_).concatenate(last)
    spec = element_spec(type_)

    def generate() -> Iterator[Any]:
        for element in elements:
            yield _packed(flatten(element, type_), type_)

    return tf.data.Dataset.from_generator(generate, output_signature=spec)


def _stacked(elements: Sequence[Any], type_: Type) -> Any:
    rows = [flatten(element, type_) for element in elements]
    columns = [np.stack(column) for column in zip(*rows, strict=True)]
    return tf.data.Dataset.from_tensor_slices(_packed(columns, type_))


def _is_stackable(elements: Sequence[Any], type_: Type) -> bool:
    if not elements or not leaf_types(type_):
        return False
    first = [np.shape(leaf) for leaf in flatten(elements[0], type_)]
    return all(
        [np.shape(leaf) for leaf in flatten(element, type_)] == first
        for element in elements[1:]
    )


def _packed(leaves: Sequence[Any], type_: Type) -> Any:
    return tf.nest.pack_sequence_as(element_spec(type_), list(leaves))
