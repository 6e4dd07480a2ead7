# SPDX-License-Identifier: Apache-2.0
"""Types from Python: which objects denote one, and the type that a value has.

`fields_of` takes a container apart, `rebuild` puts it together again. TensorFlow
objects are recognized by their attributes, so that nothing here imports TensorFlow.
"""

import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, final

import numpy as np

from fedlearn_edu.errors import StructureError, TypeMismatchError, describe
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.definitions import (
    Placement,
    SequenceType,
    StructType,
    TensorType,
    is_field,
)
from fedlearn_edu.types.dtypes import as_dtype, as_shape, is_tf_dtype
from fedlearn_edu.types.messages import misfit, no_type

# NB(TFF): the ancestor had types for them, structures of their parts.
_NOT_DENSE = {"RaggedTensor", "SparseTensor", "RaggedTensorSpec", "SparseTensorSpec"}
Pairs = list[tuple[str | None, Any]]


@final
class Fields(NamedTuple):
    """The fields of a container, and what rebuilds it (`None`: a `Struct`)."""

    pairs: Pairs
    container: type | None

    def in_order(self) -> Pairs:
        """The fields in order; those of a plain dict sorted by name."""
        if self.container is not dict:
            return self.pairs
        return sorted(self.pairs, key=lambda pair: str(pair[0]))


def fields_of(x: object) -> Fields | None:
    """The fields of a container, in its own order; `None` for anything else."""
    kind: Any = type(x)
    if isinstance(x, dict):
        strange = [key for key in x if not isinstance(key, str)]
        if strange:
            raise TypeMismatchError(
                "the keys of a dictionary are the names of fields",
                expected="strings",
                found=repr(strange[0]),
            )
        ordered = isinstance(x, OrderedDict)
        return Fields(list(x.items()), OrderedDict if ordered else dict)
    if isinstance(x, tuple) and hasattr(kind, "_fields"):
        return Fields(list(zip(kind._fields, x, strict=True)), kind)
    if isinstance(x, list | tuple):
        plain = list if isinstance(x, list) else tuple
        return Fields([(None, value) for value in x], plain)
    if isinstance(x, Struct):
        return Fields(list(x.items()), None)
    # Types and placements are dataclasses too, but no containers.
    names = None if isinstance(x, type | Type | Placement) else _attributes(kind)
    if names is None:
        return None
    return Fields([(name, getattr(x, name)) for name in names], kind)


def _attributes(kind: Any) -> list[str] | None:
    if dataclasses.is_dataclass(kind):
        return [f.name for f in dataclasses.fields(kind) if f.init]
    if hasattr(kind, "__attrs_attrs__"):
        return [a.name for a in kind.__attrs_attrs__ if a.init]
    return None


def rebuild(container: type | None, fields: Struct) -> Any:
    """The container with those fields.

    Without a container: an OrderedDict if all fields are named, a tuple if none is.
    """
    names, values = fields.names(), list(fields)
    if container in (None, list, tuple) and not any(names):
        return values if container is list else tuple(values)
    if container is None and None in names:
        # NB(TFF): the ancestor had no Python form for mixed names; a Struct is one.
        return fields
    if None in names or container in (list, tuple):
        raise StructureError(
            f"a {getattr(container, '__name__', '')} cannot hold these fields",
            expected="no names for a list or tuple, all names for other containers",
            found=names,
        )
    if container is None or issubclass(container, dict):
        return (container or OrderedDict)(fields.items())
    named: dict[Any, Any] = dict(fields.items())
    return container(**named)


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


def type_denoted_by(x: Any) -> Type:
    """The type that a class, a dtype, a container or a `tf.TypeSpec` denotes."""
    if isinstance(x, list) or type(x) is tuple:
        return _type_of_list(x)
    if (dtype := as_dtype(x)) is not None:
        return TensorType(dtype)
    names = _class_names(x)
    if "TensorSpec" in names:
        return TensorType(x.dtype, x.shape)
    check_dense(x)
    if "DatasetSpec" in names:
        return SequenceType(element_type_of(x.element_spec))
    is_unordered = isinstance(x, Mapping) and not isinstance(x, OrderedDict)
    fields = None if is_unordered else fields_of(x)
    if fields is None:
        raise no_type(x)
    return StructType(fields.pairs, fields.container)


def _type_of_list(x: Any) -> Type:
    if type(x) is tuple:
        # Not `None in …`: a dtype float64 equals None, says NumPy.
        if len(x) == 2 and as_dtype(x[0]) is not None and as_shape(x[1]) is not None:
            return TensorType(*x)
        if is_field(x):
            # NB(TFF): no container; the ancestor kept `tuple`, which holds no names.
            return StructType([x])
    return StructType(x, None if any(map(is_field, x)) else type(x))


def element_type_of(
    element_spec: object, type_of: Callable[[Any], Type] = type_denoted_by
) -> Type:
    """The type of the elements of a `tf.data.Dataset` with that `element_spec`."""
    fields = fields_of(element_spec)
    if fields is None:
        return type_of(element_spec)
    # NB(TFF): a plain dict is welcome here, keys sorted as in TensorFlow.
    pairs = [(name, element_type_of(x, type_of)) for name, x in fields.in_order()]
    return StructType(pairs, fields.container)


def is_dataset(x: object) -> bool:
    """Whether `x` looks like a `tf.data.Dataset`."""
    return hasattr(x, "element_spec") and hasattr(x, "as_numpy_iterator")


def _untyped(value: object, do: str) -> TypeMismatchError:
    expected = "numbers, strings, arrays, tensors, datasets, or structures of them"
    summary = "the type of this value cannot be told"
    return misfit(summary, expected, describe(value), do=do)


def check_dense(x: object, where: str | None = None) -> None:
    """Refuses ragged and sparse tensors, and their specs."""
    if not _NOT_DENSE.isdisjoint(_class_names(x)):
        raise TypeMismatchError(
            "only dense tensors have types",
            expected="a tensor with one size for each axis",
            found=f"a {type(x).__name__}",
            where=where,
            do="make it dense first: x.to_tensor(), or tf.sparse.to_dense(x)",
        )


def _class_names(x: object) -> set[str]:
    """The names of the class of `x` and of all its bases."""
    return {c.__name__ for c in type(x).__mro__}
