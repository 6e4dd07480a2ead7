# SPDX-License-Identifier: Apache-2.0
"""Which Python objects denote which types: the cases behind `to_type`.

`denotation.convert` hands objects in and receives types. TensorFlow objects are known
by the names of their classes, so that nothing here imports TensorFlow. *Values* are
typed by `inference.py`, not here.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from fedlearn_edu.errors import TypeMismatchError, describe
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.definitions import SequenceType, StructType, TensorType
from fedlearn_edu.types.denotation import convert
from fedlearn_edu.types.dtypes import as_dtype, dtype_name
from fedlearn_edu.types.python_fields import fields_of
from fedlearn_edu.types.shapes import UNRANKED, is_shape_like
from fedlearn_edu.types.struct_type import is_field

_CURES = {
    int: "write np.int32 (or tf.int32): the language has no implicit width",
    float: "write np.float32 (or tf.float32): the language has no implicit width",
    bool: "write np.bool_ (or tf.bool)",
    str: "write np.str_ (or tf.string)",
    complex: "write np.complex64 (or tf.complex64)",
}


def class_names(x: object) -> set[str]:
    """The names of the class of `x` and of all its bases."""
    return {c.__name__ for c in type(x).__mro__}


def element_type_of(element_spec: object) -> Type:
    """The type of the elements of a `tf.data.Dataset` with that `element_spec`."""
    # NB(TFF): a plain dict is welcome here, keys sorted as in TensorFlow: the order was
    # not chosen by whoever wrote a type.
    if isinstance(element_spec, dict) and not isinstance(element_spec, OrderedDict):
        pairs = sorted(element_spec.items())
        return StructType([(k, element_type_of(v)) for k, v in pairs], dict)
    fields = fields_of(element_spec)
    if fields is None:
        return convert(element_spec)
    container = fields.container
    pairs = [(name, element_type_of(spec)) for name, spec in fields.pairs]
    return StructType(pairs, container)


@convert.register(object)
def _other(x: Any) -> Type:
    names = class_names(x)
    if (dtype := as_dtype(x)) is not None:
        return TensorType(dtype)
    if "TensorSpec" in names:
        return TensorType(x.dtype, x.shape)
    if "RaggedTensorSpec" in names:
        return ragged_type(x.dtype, x.ragged_rank, x.row_splits_dtype)
    if "SparseTensorSpec" in names:
        return sparse_type(x.dtype, x.shape.rank)
    if "DatasetSpec" in names:
        return SequenceType(element_type_of(x.element_spec))
    if not isinstance(x, Mapping) and (fields := fields_of(x)) is not None:
        return StructType(fields.pairs, fields.container)
    raise _refusal(x, _cure(x))


@convert.register
def _type(x: Type) -> Type:
    return x


@convert.register(list)
@convert.register(tuple)
def _list(x: Any) -> Type:
    fields = fields_of(x)
    if isinstance(x, tuple) and _is_dtype_and_shape(x):
        return TensorType(x[0], x[1])
    if fields is not None and fields.container not in (list, tuple):
        return StructType(fields.pairs, fields.container)
    if is_field(x):
        # NB(TFF): no container; the ancestor kept `tuple`, which cannot hold a name.
        return StructType([x])
    container = None if any(map(is_field, x)) else type(x)
    return StructType(list(x), container)


@convert.register
def _ordered_dict(x: OrderedDict) -> Type:  # type: ignore[type-arg]
    return StructType(list(x.items()), OrderedDict)


@convert.register
def _struct(x: Struct) -> Type:
    return StructType(x)


def ragged_type(dtype: object, ragged_rank: int, splits: object = np.int64) -> Type:
    """The components of a ragged tensor."""
    # NB(TFF): no container, since naming the TensorFlow class would mean importing it.
    rows = StructType([TensorType(splits, [None])] * ragged_rank, tuple)
    flat = TensorType(dtype, UNRANKED)
    return StructType([("flat_values", flat), ("nested_row_splits", rows)])


def sparse_type(dtype: object, rank: int | None) -> Type:
    """The components of a sparse tensor."""
    return StructType(
        [
            ("indices", TensorType(np.int64, [None, rank])),
            ("values", TensorType(dtype, [None])),
            ("dense_shape", TensorType(np.int64, [rank])),
        ]
    )


def _is_dtype_and_shape(x: tuple[Any, ...]) -> bool:
    if len(x) != 2 or isinstance(x[0], Type) or as_dtype(x[0]) is None:
        return False
    return is_shape_like(x[1])


def _cure(x: object) -> str:
    if isinstance(x, str):
        return f"use fl.parse_type({x!r}) for a type in the notation"
    if isinstance(x, type) and x in _CURES:
        return _CURES[x]
    if isinstance(x, type):
        return "fill an instance of the class with types and pass that"
    if isinstance(x, Mapping):
        return (
            "use collections.OrderedDict: the order of the fields is part of the type"
        )
    if isinstance(x, int):
        return "a shape comes second in a tuple: (np.float32, [10])"
    if isinstance(x, np.ndarray | np.generic):
        dtype = dtype_name(as_dtype(x.dtype) or x.dtype)
        return f"this is a value; write its type: (np.{dtype}, {list(x.shape)})"
    if hasattr(x, "type_signature"):
        return "pass its type: x.type_signature"
    return "write down the type of the values, not a value"


def _refusal(x: object, cure: str) -> TypeMismatchError:
    return TypeMismatchError(
        "this does not denote a type",
        expected="np.int32, (np.float32, [10]), [type, type], OrderedDict(a=type), …",
        found=describe(x),
        do=cure,
    )
