# SPDX-License-Identifier: Apache-2.0
"""One tensor in plain form: a NumPy scalar or array of exactly the declared dtype.

`containers.py` hands in what Python code has at a tensor's place: numbers, nested
lists, arrays, TensorFlow tensors. It receives the plain form. Structures are not known
here.
"""

from typing import Any, final

import numpy as np

from fedlearn_edu.errors import TypeMismatchError, describe
from fedlearn_edu.types import dtypes
from fedlearn_edu.types.cures import SHAPE
from fedlearn_edu.types.dtypes import STRING, DType
from fedlearn_edu.types.shapes import fits, shape_text
from fedlearn_edu.types.tensor_type import TensorType

_MAX_SHOWN = 80
_ROWS = "pad rows of different lengths, or declare them as a sequence: float32[?]*"


@final
class ShapeMismatchError(TypeMismatchError):
    """An array has another shape than declared."""


def to_plain_tensor(value: Any, type_: TensorType, path: str) -> Any:
    """Converts `value` to the declared dtype and checks its shape.

    Numbers convert as they do when TensorFlow makes a tensor of them: integers become
    floats, never the other way round.
    """
    dtype = type_.dtype
    is_numpy = type(value) is np.ndarray or isinstance(value, np.generic)
    if not is_numpy or value.dtype != dtype or dtype == STRING:
        value = _to_array(value, type_, path)
    if not fits(type_.shape, value.shape):
        raise ShapeMismatchError(
            "a tensor has the wrong shape",
            expected=type_,
            found=dtypes.dtype_name(dtype) + shape_text(value.shape),
            where=path,
            do=SHAPE,
        )
    return value if value.shape else value[()]


def is_tf_tensor(x: object) -> bool:
    """Whether `x` looks like an eager `tf.Tensor` or a `tf.Variable`."""
    return dtypes.is_tf_dtype(getattr(x, "dtype", None)) and hasattr(x, "numpy")


def _to_array(value: Any, type_: TensorType, path: str) -> Any:
    never_cast = is_tf_tensor(value)
    # As objects, else NumPy would read ["a", 1] as two strings.
    dtype = STRING if type_.dtype == STRING else None
    try:
        array = np.asarray(value.numpy() if never_cast else value, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise _refusal(value, type_, path, _ROWS) from error
    if array.dtype != type_.dtype and never_cast:
        cure = "cast it first (tf.cast): tensors are never cast by themselves"
        raise _refusal(value, type_, path, cure)
    if type_.dtype == STRING:
        return _to_strings(array, value, type_, path)
    if array.dtype == type_.dtype:
        return array
    if array.size and not _converts(array.dtype, type_.dtype):
        cure = _cure(value, array.dtype, type_.dtype)
        raise _refusal(value, type_, path, cure)
    with np.errstate(over="ignore"):
        converted = array.astype(type_.dtype)
    if dtypes.is_integer(type_.dtype) and not np.array_equal(converted, array):
        limits = np.iinfo(type_.dtype)
        held = f"{type_.dtype} holds {limits.min} to {limits.max}"
        cure = f"{held}: declare a wider dtype"
        raise _refusal(value, type_, path, cure)
    return converted


def _converts(source: DType, target: DType) -> bool:
    if dtypes.is_integer(target):
        return source.kind in "biu"
    if dtypes.is_floating(target):
        return source.kind in "biu" or dtypes.is_floating(source)
    return dtypes.is_complex(target) and source.kind in "biufc"


def _to_strings(array: Any, value: Any, type_: TensorType, path: str) -> Any:
    flat = np.empty(array.size, dtype=object)
    for i, item in enumerate(array.reshape(-1)):
        if not isinstance(item, str | bytes):
            raise _refusal(value, type_, path, "write text as str or bytes")
        # Rid of np.str_ and np.bytes_ as well: the plain form of a string is `bytes`.
        flat[i] = item.encode() if isinstance(item, str) else bytes(item)
    return flat.reshape(array.shape)


def _cure(value: Any, found: DType, wanted: DType) -> str:
    """What to do about a value that does not convert."""
    if callable(value):
        return "call the function: its result is the value"
    if found.kind in "US":
        return "turn text into numbers first: int(…), float(…)"
    if found.kind == "f" and dtypes.is_integer(wanted):
        return "declare np.float32, or round to whole numbers first"
    return f"convert it to {dtypes.dtype_name(wanted)} first"


def _refusal(
    value: Any, type_: TensorType, path: str, do: str | None
) -> TypeMismatchError:
    found = describe(value)
    if len(found) > _MAX_SHOWN or "\n" in found:
        found = found.split(":")[0]
    if isinstance(value, np.ndarray):
        found += f" of {dtypes.as_dtype(value.dtype) or value.dtype}"
    return TypeMismatchError(
        "a value cannot become the declared tensor",
        expected=type_,
        found=found,
        where=path,
        do=do,
    )
