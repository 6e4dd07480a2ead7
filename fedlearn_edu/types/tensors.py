# SPDX-License-Identifier: Apache-2.0
"""One value as a tensor of a declared type: NumPy scalars and arrays, and `bytes`.

`containers.py` hands in what a user wrote for a tensor. Numbers convert as they do when
TensorFlow makes a tensor of them; what would lose something is refused.
"""

from typing import Any

import numpy as np

from fedlearn_edu.errors import ShapeMismatchError, TypeMismatchError, describe
from fedlearn_edu.types import dtypes
from fedlearn_edu.types.definitions import TensorType
from fedlearn_edu.types.dtypes import STRING, as_dtype, dtype_name, shape_text
from fedlearn_edu.types.messages import SHAPE, misfit, rank_cure

# Which kinds of numbers become which: NumPy's letters, `b` for bool.
_CONVERTS = {"i": "biu", "u": "biu", "f": "biuf", "c": "biufc"}
_MAX_SHOWN = 80


def to_plain_tensor(value: Any, type_: TensorType, path: str) -> Any:
    """Converts `value` to the declared dtype and checks its shape.

    Integers become floats, never the other way round. A number that is too large is
    refused; infinity stays infinity.
    """
    dtype = type_.dtype
    is_numpy = type(value) is np.ndarray or isinstance(value, np.generic)
    if not is_numpy or value.dtype != dtype or dtype == STRING:
        value = _to_array(value, type_, path)
    if not dtypes.fits(type_.shape, value.shape):
        raise ShapeMismatchError(
            "a tensor has the wrong shape",
            expected=type_,
            found=dtype_name(dtype) + shape_text(value.shape),
            where=path,
            do=rank_cure(type_, value.shape) or SHAPE,
        )
    return value if value.shape else value[()]


def _to_array(value: Any, type_: TensorType, path: str) -> Any:
    wanted = type_.dtype
    is_tf = dtypes.is_tf_dtype(getattr(value, "dtype", None))
    if is_tf:
        dtypes.check_dense(value, path)
    is_tf = is_tf and hasattr(value, "numpy")
    # As objects, else NumPy would read ["a", 1] as two strings.
    dtype = STRING if wanted == STRING else None
    try:
        array = np.asarray(value.numpy() if is_tf else value, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        do = "pad rows of different lengths, or declare them as a sequence: float32[?]*"
        raise _no_tensor(value, type_, path, do) from error
    if wanted == STRING:
        return _to_strings(array, value, type_, path)
    if array.dtype == wanted:
        return array
    if is_tf:
        do = "cast it first (tf.cast): tensors are never cast by themselves"
        raise _no_tensor(value, type_, path, rank_cure(type_, array.shape) or do)
    return _converted(array, value, type_, path)


def _converted(array: Any, value: Any, type_: TensorType, path: str) -> Any:
    """The same numbers in the declared dtype, which is another one."""
    wanted, letter = type_.dtype, dtypes.kind_of(type_.dtype)
    is_huge = array.dtype.kind == "O" and all(type(n) is int for n in array.flat)
    kind = "i" if is_huge else dtypes.kind_of(array.dtype)
    if array.size and kind not in _CONVERTS.get(letter, ""):
        do = _cure_of_kinds(value, array, kind, type_)
        raise _no_tensor(value, type_, path, do)
    try:
        with np.errstate(over="raise"):
            is_rounded = is_huge and wanted.kind not in dtypes.WHOLE
            converted = (array.astype(float) if is_rounded else array).astype(wanted)
    except (FloatingPointError, OverflowError):
        raise _no_tensor(value, type_, path, _cure_of_range(wanted)) from None
    if wanted.kind in dtypes.WHOLE and not np.array_equal(converted, array):
        raise _no_tensor(value, type_, path, _cure_of_range(wanted))
    return converted


def _to_strings(array: Any, value: Any, type_: TensorType, path: str) -> Any:
    flat = np.empty(array.size, dtype=object)
    for i, item in enumerate(array.flat):
        if not isinstance(item, str | bytes):
            raise _no_tensor(value, type_, path, "write text as str or bytes")
        # The plain form of a string is `bytes`, never np.str_ or np.bytes_.
        flat[i] = item.encode() if isinstance(item, str) else bytes(item)
    return flat.reshape(array.shape)


def _no_tensor(value: object, type_: object, path: str, do: str) -> TypeMismatchError:
    found, dtype = describe(value), getattr(value, "dtype", None)
    if len(found) > _MAX_SHOWN or "\n" in found:
        found = found.split(":")[0].strip("<")
    if isinstance(value, np.ndarray) or found == "tf.Tensor":
        shape = shape_text(tuple(getattr(value, "shape", ())))
        found += f" of {as_dtype(dtype) or dtype}{shape}"
    return misfit("a value cannot become the declared tensor", type_, found, path, do)


def _cure_of_kinds(value: object, array: Any, kind: str, type_: TensorType) -> str:
    """What to do about a value of a kind that is never converted to the wanted one."""
    wanted = type_.dtype
    cure = rank_cure(type_, array.shape) if kind in dtypes.NUMERIC else None
    if cure is not None:
        return cure
    if callable(value):
        return "call the function: its result is the value"
    if array.dtype.kind in "US":
        return "turn text into numbers first: int(…), float(…)"
    if dtypes.kind_of(array.dtype) == dtypes.REAL and wanted.kind in dtypes.WHOLE:
        return "declare np.float32, or round to whole numbers first"
    return f"convert it to {dtype_name(wanted)} first"


def _cure_of_range(dtype: Any) -> str:
    if dtype.kind in dtypes.WHOLE:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        return f"{dtype} holds {least} to {most}: declare a wider dtype"
    limit = f"{dtype} holds numbers up to {dtypes.largest(dtype):g}"
    return f"{limit}: declare a wider dtype, or scale the data"
