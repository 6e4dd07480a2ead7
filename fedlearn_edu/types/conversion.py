# SPDX-License-Identifier: Apache-2.0
"""Types from Python: which objects denote one, and the type that a value has.

`base.convert` hands in what denotes a type (the cases behind `to_type`); polymorphic
calls and tracing hand in values (`infer_type`), where lists are structs, never tensors.
TensorFlow objects are known by their looks, so that nothing here imports TensorFlow.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from fedlearn_edu.errors import TypeMismatchError, describe
from fedlearn_edu.types.base import Type, convert
from fedlearn_edu.types.data_types import StructType, TensorType, is_field
from fedlearn_edu.types.definitions import SequenceType
from fedlearn_edu.types.dtypes import (
    UNRANKED,
    as_dtype,
    as_shape,
    dtype_name,
    is_tf_dtype,
    python_name,
)
from fedlearn_edu.types.mismatch import misfit
from fedlearn_edu.types.plain import DatasetSequence, LazySequence, is_dataset
from fedlearn_edu.types.python_fields import fields_of

_CURES = {
    int: "write np.int32 (or tf.int32): the language has no implicit width",
    float: "write np.float32 (or tf.float32): the language has no implicit width",
    bool: "write np.bool_ (or tf.bool)",
    str: "write np.str_ (or tf.string)",
    complex: "write np.complex64 (or tf.complex64)",
}


def infer_type(value: Any) -> Type | None:
    """The type of `value`; `None` for `None`.

    >>> print(infer_type({"b": 1, "a": [2.5, "hello"]}))
    <a=<float32,string>,b=int32>
    """
    if value is None:
        return None
    signature = getattr(value, "type_signature", None)
    if isinstance(signature, Type):
        return signature
    match value:
        case DatasetSequence() | LazySequence():
            return SequenceType(value.element_type)
        case type() | np.dtype() | Type():
            raise _untyped(value, "this is a type, not a value")
        case np.ndarray() if value.dtype == object:
            if not all(isinstance(item, str | bytes) for item in value.flat):
                raise _untyped(value, "only strings may be in an array of objects")
            return TensorType(np.str_, value.shape)
        case np.ndarray() | np.generic():
            return TensorType(value.dtype, value.shape)
        case bool() | int() | float() | complex() | str() | bytes():
            return TensorType(_scalar_dtype(value))
    return _tensorflow_type(value) or _struct_type(value)


@convert.register
def _type(x: Type) -> Type:
    return x


@convert.register(object)
def _other(x: Any) -> Type:
    if (dtype := as_dtype(x)) is not None:
        return TensorType(dtype)
    names = _class_names(x)
    if "TensorSpec" in names:
        return TensorType(x.dtype, x.shape)
    if "RaggedTensorSpec" in names:
        return _ragged_type(x.dtype, x.ragged_rank, x.row_splits_dtype)
    if "SparseTensorSpec" in names:
        return _sparse_type(x.dtype, x.shape.rank)
    if "DatasetSpec" in names:
        return SequenceType(element_type_of(x.element_spec))
    is_unordered = isinstance(x, Mapping) and not isinstance(x, OrderedDict)
    fields = None if is_unordered else fields_of(x)
    if fields is None:
        raise _refusal(x)
    return StructType(fields.pairs, fields.container)


@convert.register(tuple)
@convert.register(list)
def _list(x: Any) -> Type:
    if isinstance(x, tuple):
        if hasattr(x, "_fields"):
            return _other(x)
        # Not `None in …`: a dtype float64 equals None, says NumPy.
        if len(x) == 2 and as_dtype(x[0]) is not None and as_shape(x[1]) is not None:
            return TensorType(*x)
        if is_field(x):
            # NB(TFF): no container; the ancestor kept `tuple`, which holds no names.
            return StructType([x])
    return StructType(x, None if any(map(is_field, x)) else type(x))


def _class_names(x: object) -> set[str]:
    """The names of the class of `x` and of all its bases."""
    return {c.__name__ for c in type(x).__mro__}


def element_type_of(element_spec: object) -> Type:
    """The type of the elements of a `tf.data.Dataset` with that `element_spec`."""
    fields = fields_of(element_spec)
    if fields is None:
        return convert(element_spec)
    # NB(TFF): a plain dict is welcome here, keys sorted as in TensorFlow.
    pairs = [(name, element_type_of(spec)) for name, spec in fields.in_order()]
    return StructType(pairs, fields.container)


def _ragged_type(dtype: object, ragged_rank: int, splits: object) -> Type:
    """The components of a ragged tensor."""
    # NB(TFF): no container, since naming the TensorFlow class would mean importing it.
    rows = StructType([TensorType(splits, [None])] * ragged_rank, tuple)
    flat = TensorType(dtype, UNRANKED)
    return StructType([("flat_values", flat), ("nested_row_splits", rows)])


def _sparse_type(dtype: object, rank: int | None) -> Type:
    """The components of a sparse tensor."""
    indices, shape = TensorType(np.int64, [None, rank]), TensorType(np.int64, [rank])
    values = TensorType(dtype, [None])
    return StructType(
        [("indices", indices), ("values", values), ("dense_shape", shape)]
    )


def _refusal(x: object) -> TypeMismatchError:
    expected = "np.int32, (np.float32, [10]), [type, type], OrderedDict(a=type), …"
    return misfit("this does not denote a type", expected, describe(x), do=_cure(x))


def _cure(x: object) -> str:
    if isinstance(x, str):
        return f"use fl.parse_type({x!r}) for a type in the notation"
    if isinstance(x, type):
        other = "fill an instance of the class with types and pass that"
        return _CURES.get(x, other)
    if isinstance(x, Mapping):
        return (
            "use collections.OrderedDict: the order of the fields is part of the type"
        )
    if isinstance(x, int):
        return "a shape comes second in a tuple: (np.float32, [10])"
    if isinstance(x, np.ndarray | np.generic):
        dtype = python_name(dtype_name(as_dtype(x.dtype) or x.dtype))
        return f"this is a value; write its type: ({dtype}, {list(x.shape)})"
    if hasattr(x, "type_signature"):
        return "pass its type: x.type_signature"
    return "write down the type of the values, not a value"


def _scalar_dtype(value: Any) -> type:
    match value:
        case bool():
            return np.bool_
        case int() if -(2**31) <= value < 2**31:
            return np.int32
        case int() if -(2**63) <= value < 2**63:
            return np.int64
        case int():
            raise _untyped(value, "no integer dtype is wide enough: use a float")
        case float():
            return np.float32
        case complex():
            return np.complex128
    return np.str_


def _tensorflow_type(value: Any) -> Type | None:
    names = _class_names(value)
    if is_dataset(value):
        return SequenceType(element_type_of(value.element_spec))
    if "RaggedTensor" in names:
        splits = value.nested_row_splits
        return _ragged_type(value.dtype, len(splits), splits[0].dtype)
    if "SparseTensor" in names:
        return _sparse_type(value.dtype, value.shape.rank)
    if is_tf_dtype(getattr(value, "dtype", None)):
        return TensorType(value.dtype, value.shape)
    return None


def _struct_type(value: Any) -> Type:
    fields = fields_of(value)
    if fields is None:
        cure = (
            "decorate the function" if callable(value) else "turn it into one of these"
        )
        raise _untyped(value, cure)
    pairs = [(name, infer_type(item)) for name, item in fields.in_order()]
    if any(type_ is None for _, type_ in pairs):
        raise _untyped(None, "nothing (None) has no type inside a structure")
    return StructType(pairs, fields.container)


def _untyped(value: object, do: str) -> TypeMismatchError:
    expected = "numbers, strings, arrays, tensors, datasets, or structures of them"
    summary = "the type of this value cannot be told"
    return misfit(summary, expected, describe(value), do=do)
