# SPDX-License-Identifier: Apache-2.0
"""The type that a value of Python, NumPy or TensorFlow has."""

from typing import Any

import numpy as np

from fedlearn_edu.errors import TypeMismatchError, describe
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.data_types import (
    SequenceType,
    StructType,
    TensorType,
    check_dense,
    element_type_of,
)
from fedlearn_edu.types.dtypes import is_tf_dtype
from fedlearn_edu.types.fields import fields_of
from fedlearn_edu.types.messages import misfit


def infer_type(value: Any) -> Type | None:
    """The type of `value`, where a list is a structure; `None` for `None`.

    >>> print(infer_type({"b": 1, "a": [2.5, "hello"]}))
    <a=<float32,string>,b=int32>
    """
    if value is None:
        return None
    signature = getattr(value, "type_signature", None)
    if isinstance(signature, Type):
        return signature
    match value:
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


def _scalar_dtype(value: Any) -> type:
    match value:
        case bool():
            return np.bool_
        case int() if -(2**31) <= value < 2**31:
            return np.int32
        case int() if -(2**63) <= value < 2**63:
            return np.int64
        case int():
            cure = "no integer dtype is wide enough: use a float"
            raise _untyped(value, cure)
        case float():
            return np.float32
        case complex():
            return np.complex128
    return np.str_


def _tensorflow_type(value: Any) -> Type | None:
    if is_dataset(value):
        return SequenceType(element_type_of(value.element_spec))
    check_dense(value)
    if is_tf_dtype(getattr(value, "dtype", None)):
        return TensorType(value.dtype, value.shape)
    return None


def _struct_type(value: Any) -> Type:
    fields = fields_of(value)
    if fields is None:
        is_function = callable(value)
        do = "decorate the function" if is_function else "turn it into one of these"
        raise _untyped(value, do)
    pairs = [(name, infer_type(item)) for name, item in fields.in_order()]
    if any(type_ is None for _, type_ in pairs):
        raise _untyped(None, "nothing (None) has no type inside a structure")
    return StructType(pairs, fields.container)


def is_dataset(x: object) -> bool:
    """Whether `x` looks like a `tf.data.Dataset`."""
    return hasattr(x, "element_spec") and hasattr(x, "as_numpy_iterator")


def _untyped(value: object, do: str) -> TypeMismatchError:
    expected = "numbers, strings, arrays, tensors, datasets, or structures of them"
    summary = "the type of this value cannot be told"
    return misfit(summary, expected, describe(value), do=do)
