# SPDX-License-Identifier: Apache-2.0
"""The type of a Python value, when nobody declared one.

Polymorphic calls, tracing and `containers.py` (for messages) hand in values; they
receive types. Python lists are structs here, never tensors. What *denotes* a type is
converted by `conversion.py`, not inferred.
"""

from typing import Any

import numpy as np

from fedlearn_edu.errors import TypeMismatchError, describe
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.conversion import (
    class_names,
    element_type_of,
    ragged_type,
    sparse_type,
)
from fedlearn_edu.types.definitions import SequenceType, StructType, TensorType
from fedlearn_edu.types.dtypes import is_tf_dtype
from fedlearn_edu.types.python_fields import fields_of
from fedlearn_edu.types.sequences import DatasetSequence, LazySequence, is_dataset

_INT32, _INT64 = np.iinfo(np.int32), np.iinfo(np.int64)


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
            raise _refusal(value, "this is a type, not a value")
        case np.ndarray() | np.generic():
            return _array_type(value)
        case bool() | int() | float() | complex() | str() | bytes():
            return TensorType(_scalar_dtype(value))
    return _tensorflow_type(value) or _struct_type(value)


def _scalar_dtype(value: Any) -> type:
    match value:
        case bool():
            return np.bool_
        case int() if _INT32.min <= value <= _INT32.max:
            return np.int32
        case int() if _INT64.min <= value <= _INT64.max:
            return np.int64
        case int():
            raise _refusal(value, "no integer dtype is wide enough: use a float")
        case float():
            return np.float32
        case complex():
            return np.complex128
    return np.str_


def _array_type(value: Any) -> Type:
    if value.dtype == object and not all(
        isinstance(item, str | bytes) for item in np.ravel(value)
    ):
        raise _refusal(value, "only strings may be in an array of objects")
    return TensorType(value.dtype, value.shape)


def _tensorflow_type(value: Any) -> Type | None:
    names = class_names(value)
    if is_dataset(value):
        return SequenceType(element_type_of(value.element_spec))
    if names & {"RaggedTensor", "RaggedTensorValue"}:
        splits = value.nested_row_splits
        return ragged_type(value.dtype, len(splits), splits[0].dtype)
    if "SparseTensor" in names:
        return sparse_type(value.dtype, value.shape.rank)
    if is_tf_dtype(getattr(value, "dtype", None)):
        return TensorType(value.dtype, value.shape)
    return None


def _struct_type(value: Any) -> Type:
    fields = fields_of(value)
    if fields is None:
        cure = "decorate the function" if callable(value) else "make one of these of it"
        raise _refusal(value, cure)
    pairs = fields.pairs
    if fields.container is dict:
        # The order in which a plain dict was filled should not matter for its type.
        pairs = sorted(pairs, key=lambda pair: str(pair[0]))
    typed = [(name, _element_type(v)) for name, v in pairs]
    return StructType(typed, fields.container)


def _element_type(value: Any) -> Type:
    type_ = infer_type(value)
    if type_ is None:
        raise _refusal(value, "nothing (None) has no type inside a structure")
    return type_


def _refusal(value: object, do: str) -> TypeMismatchError:
    return TypeMismatchError(
        "the type of this value cannot be told",
        expected="numbers, strings, arrays, tensors, datasets, or structures of them",
        found=describe(value),
        do=do,
    )
