# SPDX-License-Identifier: Apache-2.0
"""The kinds of numbers a tensor may hold, whichever library names them.

`definitions.py` and `notation.py` hand in what a user wrote; they receive a NumPy
dtype. Nothing here imports TensorFlow: its dtypes are known by how they look.
"""

from typing import Any

import numpy as np

DType = np.dtype[Any]

STRING = np.dtype(object)
_NUMBERS = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "float32", "float64", "complex64", "complex128"),
)
DTYPE_NAMES = (*_NUMBERS, "bfloat16", "string")
_ABSTRACT = {np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger}
_ABSTRACT |= {np.inexact, np.floating, np.complexfloating, np.flexible, np.character}


def dtype_from_name(name: str) -> DType | None:
    """The dtype that the notation calls `name`, or `None`."""
    if name == "string":
        return STRING
    if name == "bfloat16":
        return _bfloat16()
    return np.dtype(name) if name in _NUMBERS else None


def dtype_name(dtype: DType) -> str:
    """What the notation calls `dtype`."""
    return "string" if dtype == STRING else dtype.name


def as_dtype(x: object) -> DType | None:
    """The dtype that `x` (a NumPy class or dtype, a `tf.DType`) denotes, or `None`."""
    if isinstance(x, np.dtype):
        return _known(x)
    if isinstance(x, type):
        is_dtype = issubclass(x, np.generic) and x not in _ABSTRACT
        return _known(np.dtype(x)) if is_dtype else None
    return dtype_from_name(str(getattr(x, "name", ""))) if is_tf_dtype(x) else None


def is_tf_dtype(x: object) -> bool:
    """Whether `x` looks like a `tf.DType`."""
    # On the class: some instances, such as tf.variant, raise for the property.
    return hasattr(type(x), "as_numpy_dtype")


def is_integer(dtype: DType) -> bool:
    """Whether `dtype` counts: signed or unsigned, but not `bool`."""
    return dtype.kind in "iu"


def is_floating(dtype: DType) -> bool:
    """Whether `dtype` holds real numbers, `bfloat16` included."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def is_complex(dtype: DType) -> bool:
    """Whether `dtype` holds complex numbers."""
    return dtype.kind == "c"


def is_numeric(dtype: DType) -> bool:
    """Whether `dtype` can be added up: neither `bool` nor `string`."""
    return is_integer(dtype) or is_floating(dtype) or is_complex(dtype)


def _known(dtype: DType) -> DType | None:
    # NB(TFF): np.str_ and np.bytes_ of any width are strings, as np.object_ is; the
    # ancestor refused the classes and took the instances.
    if dtype.kind in "USO":
        return STRING
    # Going through the name forgets byte order and aliases such as `longlong`.
    return dtype_from_name(dtype.name)


def _bfloat16() -> DType | None:
    # NumPy has no such dtype; ml_dtypes, which comes with TensorFlow, adds it.
    try:
        import ml_dtypes
    except ImportError:
        return None
    dtype: DType = np.dtype(ml_dtypes.bfloat16)
    return dtype
