# SPDX-License-Identifier: Apache-2.0
"""Types and values of the language ⇄ flat lists of tensors.

A leaf's graph takes and returns tensors only, one for each tensor or sequence of the
type, in order; a sequence is the variant tensor of its dataset.
"""

import itertools
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fedlearn_edu.errors import ComputationFailedError, TracingError, describe
from fedlearn_edu.executors.underway import call
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.signals import add_place
from fedlearn_edu.structure import leaves, tree_map
from fedlearn_edu.types import (
    SequenceType,
    StructType,
    TensorType,
    Type,
    infer_type,
    normalize,
    to_type,
)
from fedlearn_edu.types.data_types import element_type_of
from fedlearn_edu.types.dtypes import smallest
from fedlearn_edu.types.fields import fields_of, rebuild
from fedlearn_edu.types.packing import aligned, memory_of
from fedlearn_edu.types.sequences import DatasetSequence, arranged, unwrap

# From nested tensors and datasets to the type and the leaves of the result.
Body = Callable[[Any], tuple[Type, list[Any]]]

_UNTUNED = tf.data.Options()
_UNTUNED.autotune.enabled = False
_UNTUNED.experimental_optimization.apply_default_optimizations = False

_MAX_QUOTED = 20
_numbers = itertools.count()
_quoted: OrderedDict[int, Exception] = OrderedDict()
_CONSTANTS = (int, float, complex, str, bytes, np.ndarray, np.generic)


def leaf_types(type_: Type | None) -> list[TensorType | SequenceType]:
    """The tensors and sequences a type is made of, in order."""
    return [] if type_ is None else leaves(type_)


def tensor_spec(type_: TensorType | SequenceType) -> Any:
    """What a graph's parameter for this type looks like."""
    if isinstance(type_, SequenceType):
        return tf.TensorSpec([], tf.variant)
    return tf.TensorSpec(type_.shape, tf.as_dtype(tf_dtype(type_.dtype)))


def tf_dtype(dtype: Any) -> Any:
    """TensorFlow's name for a NumPy dtype."""
    return tf.string if dtype.kind == "O" else tf.as_dtype(dtype)


def stacked(values: Sequence[Any], leaf: Any) -> Any:
    """Tensors of one shape as one tensor, with one axis more in front."""
    shape = np.shape(values[0]) if values else smallest(leaf.shape)
    return tf.reshape(end_to_end(values, leaf), [len(values), *shape])


def end_to_end(values: Sequence[Any], leaf: Any) -> Any:
    """The numbers of all tensors as one vector."""
    if (whole := memory_of(values, leaf.dtype)) is not None:
        return _shared(whole)
    # NumPy would make text of a fixed width, and lose zero bytes at ends.
    kind = object if leaf.dtype.kind == "O" else None
    flat = [np.asarray(value, kind).ravel() for value in values]
    flat.append(np.zeros([0], leaf.dtype))
    if leaf.dtype.kind not in "fiu":
        return tf.constant(np.concatenate(flat), tf_dtype(leaf.dtype))
    whole = aligned(sum(map(len, flat)), leaf.dtype)
    np.concatenate(flat, out=whole)
    return _shared(whole)


def _shared(whole: Any) -> Any:
    """A tensor in the memory of an array, where `tf.constant` copies."""
    return tf.experimental.dlpack.from_dlpack(whole.__dlpack__())


def element_spec(type_: Type) -> Any:
    """What a dataset's elements of this type look like."""
    return as_element(map(tensor_spec, leaf_types(type_)), type_)


def as_element(leaves: Iterable[Any], type_: Type) -> Any:
    """Leaves, in the order of the type, as an element of a dataset."""
    rest = iter(leaves)  # once begun, it is its own
    if not isinstance(type_, StructType):
        return next(rest)
    # Not `tf.nest.pack_sequence_as`, which fills a dict in the order of its keys.
    parts = [as_element(rest, t) for t in type_]
    if parts and all(type_.names()):
        return OrderedDict(zip(type_.names(), parts, strict=True))
    return tuple(parts)


def from_element(element: Any, type_: Type) -> list[Any]:
    """The leaves of an element of a dataset, in the order of the type."""
    return flatten(arranged(element, type_), type_)


def flatten(nested: Any, type_: Type | None) -> list[Any]:
    """The leaves of a nested value, in the order of its type."""
    found: list[Any] = []
    if type_ is not None:
        tree_map(lambda _, leaf: found.append(leaf), type_, nested)
    return found


def map_sequences(
    fn: Callable[[Any, SequenceType], Any], flat: Sequence[Any], type_: Type | None
) -> list[Any]:
    """Flat values of a type, with `fn(sequence, type)` in place of each sequence."""
    pairs = zip(flat, leaf_types(type_), strict=True)
    return [fn(v, t) if isinstance(t, SequenceType) else v for v, t in pairs]


def to_body(nested: Any, type_: Type) -> Any:
    """What the Python body sees: tensors and datasets in the type's containers."""
    match type_:
        case StructType():
            fields = type_._with_values(map(to_body, nested, type_))
            container = type_.python_container
            return fields if container is None else rebuild(container, fields)
        case SequenceType(element=element):
            if isinstance(nested, tf.Tensor):
                spec = element_spec(element)
                nested = tf.data.experimental.from_variant(nested, spec)
            if not element.contains(_is_named_tuple):
                return nested
            return nested.map(
                lambda *parts: _named(parts[0] if len(parts) == 1 else parts, element)
            )
        case _:
            return nested


def _is_named_tuple(type_: Type) -> bool:
    """Whether elements of this type are seen as what no other code packs them into."""
    container = type_.python_container if isinstance(type_, StructType) else None
    return hasattr(container, "_fields") or hasattr(container, "__attrs_attrs__")


@tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
def _named(element: Any, type_: Type) -> Any:
    """A packed element with its named tuples."""
    if not isinstance(type_, StructType):
        return element
    values = element.values() if isinstance(element, dict) else element
    parts = [_named(value, t) for value, t in zip(values, type_, strict=True)]
    if _is_named_tuple(type_):
        return rebuild(type_.python_container, type_._with_values(parts))
    is_dict = isinstance(element, dict)
    return OrderedDict(zip(element, parts, strict=True)) if is_dict else tuple(parts)


def from_body(result: Any, name: str) -> tuple[Type, list[Any]]:
    """The type of what a body returned, and its leaves: tensors and datasets."""
    if isinstance(result, tf.data.Dataset):
        type_ = SequenceType(type_of_spec(result.element_spec, name))
        return type_, [result]
    tensors = tf.Tensor | tf.Variable | tf.RaggedTensor | tf.sparse.SparseTensor
    fields = None if isinstance(result, tensors) else fields_of(result)
    if fields is None:
        return _tensor_from_body(result, name)
    types, leaves = [], []
    for field, value in fields.in_order():
        part_type, part = from_body(value, name)
        types.append((field, part_type))
        leaves += part
    return StructType(types, fields.container), leaves


def _tensor_from_body(result: Any, name: str) -> tuple[Type, list[Any]]:
    is_composite = isinstance(result, tf.RaggedTensor | tf.sparse.SparseTensor)
    if is_composite or not tf.is_tensor(result):
        if not isinstance(result, _CONSTANTS):
            raise TracingError(
                f"{name} returned something TensorFlow code cannot return",
                expected="tensors, numbers, strings, datasets, or containers of these",
                found=describe(result),
                where=f"{name}'s result",
                do="make it dense: x.to_tensor(), or tf.sparse.to_dense(x)"
                if is_composite
                else "return what the rest of the program needs, as a tensor",
            )
        type_ = infer_type(result)
        assert isinstance(type_, TensorType)
        plain = normalize(result, type_, f"{name}'s result")
        result = tf.constant(plain, tf_dtype(type_.dtype))
    tensor = tf.convert_to_tensor(result)
    return to_type(tf.TensorSpec(tensor.shape, tensor.dtype)), [tf.identity(tensor)]


def type_of_spec(spec: Any, name: str) -> Type:
    """The type of a dataset's elements."""

    def type_of(part: Any) -> Type:
        if not isinstance(part, tf.TensorSpec):
            raise TracingError(
                f"{name} returned a dataset whose elements have no type here",
                expected="elements made of tensors",
                found=part,
                do=_cure_of_elements(part),
            )
        found: Type = to_type(part)
        return found

    return element_type_of(spec, type_of)


# What makes tensors of elements, by the kind of their spec, and its ragged rank.
_DENSE = {
    "Sparse": "make them dense first: data.map(tf.sparse.to_dense), say",
    "RaggedTensorSpec0": "make tensors of the rows first: data.map(lambda x: x)",
    "Ragged": "make them dense first: data.map(lambda x: x.to_tensor()), say",
    "Dataset": "take data.batch(2), say, in place of data.window(2)",
}


def _cure_of_elements(spec: object) -> str:
    kind = f"{type(spec).__name__}{getattr(spec, 'ragged_rank', '')}"
    return next(
        (cure for words, cure in _DENSE.items() if words in kind),
        "let the body return what it makes of them: tensors, or one dataset",
    )


def to_plain(nested: Any, type_: Type) -> Any:
    """Eager tensors in plain form."""
    return tree_map(_to_plain_leaf, type_, nested)


def _read_untuned(dataset: Any) -> Iterator[Any]:
    # Few elements are read: before TensorFlow would know how to do it faster.
    reader = call.get()
    for element in dataset.with_options(_UNTUNED).as_numpy_iterator():
        reader.go_on()
        yield element


def _to_plain_leaf(type_: Type, leaf: Any) -> Any:
    match type_:
        case SequenceType(element=element) if isinstance(leaf, tf.Tensor):
            dataset = tf.data.experimental.from_variant(leaf, element_spec(element))
            return DatasetSequence(dataset, element, explained, _read_untuned)
        case SequenceType():
            return unwrap(leaf)
        case _:
            return leaf.numpy()[()] if leaf.dtype != tf.string else leaf.numpy()


# How those lines of TensorFlow's messages begin that say where, not what.
_ABOUT_GRAPH = ("Graph execution error", "Detected at node", "  File ", "<stack", "\t")

# Of `tf.debugging.Assert(…, [summary, "expected: …", "found: …", "do: …"])`.
_ASSERTED = re.compile(
    r"assertion failed: \[(?P<summary>[^]]*)\] \[expected: (?P<expected>[^]]*)\]"
    r" \[found: (?P<found>[^]]*)\] \[do: (?P<do>[^]]*)\]"
)
# What TensorFlow's reason says, and what to do about it; for all others, see below.
_CURES = {
    "outside the valid range of [0, ": (
        "count labels from 0, or make a model of more classes (classes=…)"
    ),
    "must have the same first dimension": "give x and y one row each for every example",
}
_NODE = re.compile(r"^\{\{function_node .*?\}\} ", re.MULTILINE)


def wrapped(error: Exception) -> RuntimeError:
    """An error whose text leads back to `error`: TensorFlow keeps only the text."""
    number = next(_numbers)
    _quoted[number] = error
    while len(_quoted) > _MAX_QUOTED:
        _quoted.popitem(last=False)
    return RuntimeError(f"[fedlearn_edu failure {number}] {error}")


def unwrapped(error: Exception, place: str = "") -> Exception:
    """The error that a pipeline's `error` quotes, or else itself, at that `place`."""
    found = re.search(r"\[fedlearn_edu failure (\d+)\]", str(error))
    if found and int(found[1]) in _quoted:
        return _quoted[int(found[1])]
    return add_place(error, place) if place else error


def explained(error: Exception, place: str) -> Exception:
    """The error that code read by TensorFlow has raised itself, or one of ours."""
    if unwrapped(error) is not error or not isinstance(error, tf.errors.OpError):
        return unwrapped(error, place)
    text = str(getattr(error, "message", error))
    lines = [line for line in _NODE.sub("", text).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith(_ABOUT_GRAPH)), "")
    if asserted := _ASSERTED.fullmatch(reason):
        return ComputationFailedError(**asserted.groupdict())
    return ComputationFailedError(
        f"TensorFlow reported an error {place}",
        found=f"{type(error).__name__}: {reason}",
        do=next(
            (cure for words, cure in _CURES.items() if words in reason),
            "run the function by itself on one client's data to see more",
        ),
    )
