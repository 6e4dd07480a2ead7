# SPDX-License-Identifier: Apache-2.0
"""The dtype and the shape of a tensor, whichever library names them.

`TensorType` and `notation.py` hand in what a user wrote; they receive a NumPy dtype and
a tuple of sizes. Nothing here imports TensorFlow: its objects are recognized by their
classes' names and attributes.
"""

from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np

from fedlearn_edu.errors import TypeMismatchError, is_whole_number

with suppress(ImportError):  # comes with TensorFlow; in a browser there is none
    import ml_dtypes as ml_dtypes  # so NumPy knows bfloat16

DType = np.dtype[Any]

STRING = np.dtype(object)
_NUMBERS = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "float32", "float64", "complex64", "complex128"),
    *(["bfloat16"] if "bfloat16" in np.sctypeDict else []),
)
DTYPE_NAMES = (*_NUMBERS, "string")
_SCALAR_CLASSES = set(np.sctypeDict.values())

# NumPy's letters for kinds of numbers: whole (signed and unsigned), real, complex.
WHOLE, REAL, COMPLEX = "iu", "f", "c"
NUMERIC = WHOLE + REAL + COMPLEX


def dtype_from_name(name: str) -> DType | None:
    """The dtype of that name in the notation, or `None`."""
    if name == "string":
        return STRING
    return np.dtype(name) if name in _NUMBERS else None


def kind_of(dtype: DType) -> str:
    """NumPy's letter for a kind of numbers; `f` for bfloat16, where NumPy has `V`."""
    # The name comes last: NumPy computes it slowly.
    return REAL if dtype.kind == "V" and dtype.name == "bfloat16" else dtype.kind


def largest(dtype: DType) -> Any:
    """The greatest number of a dtype of floats or complex numbers."""
    finfo = ml_dtypes.finfo if dtype.name == "bfloat16" else np.finfo
    return finfo(dtype).max


def python_name(name: str) -> str:
    """The Python expression for the dtype of that name in the notation."""
    special = {"string": "np.str_", "bool": "np.bool_", "bfloat16": "tf.bfloat16"}
    return special.get(name, f"np.{name}")


def dtype_name(dtype: DType) -> str:
    """The name of `dtype` in the notation."""
    return "string" if dtype == STRING else dtype.name


def as_dtype(x: object) -> DType | None:
    """The dtype that `x` (a NumPy class or dtype, a `tf.DType`) denotes, or `None`."""
    if isinstance(x, type) and x in _SCALAR_CLASSES:
        x = np.dtype(x)
    if isinstance(x, np.dtype):
        # NB(TFF): np.str_ and np.bytes_ of any width are strings, as np.object_ is; the
        # ancestor refused the classes and took the instances.
        # Going through the name forgets byte order and aliases such as `longlong`.
        return STRING if x.kind in "USO" else dtype_from_name(x.name)
    return dtype_from_name(str(getattr(x, "name", ""))) if is_tf_dtype(x) else None


Shape: TypeAlias = tuple[int | None, ...]


def as_shape(x: Any) -> Shape | None:
    """The shape that `x` (a list or tuple, a `tf.TensorShape`) denotes, or `None`."""
    if hasattr(x, "as_list"):
        x = None if x.rank is None else x.as_list()
    if not isinstance(x, list | tuple):
        return None
    if not all(size is None or is_whole_number(size, 0) for size in x):
        return None
    return tuple(None if size is None else int(size) for size in x)


def fits(target: Shape, source: Shape) -> bool:
    """Whether a tensor of shape `source` may stand where `target` is declared."""
    if target == source:
        return True
    if len(target) != len(source):
        return False
    for wanted, given in zip(target, source, strict=True):  # often, so no generator
        if wanted is not None and wanted != given:
            return False
    return True


def smallest(shape: Shape) -> tuple[int, ...]:
    """The sizes of the smallest array that may stand where `shape` is declared."""
    return tuple(size or 0 for size in shape)


def shape_text(shape: Shape) -> str:
    """The notation: `[2,?]`, nothing for a scalar."""
    sizes = ["?" if size is None else str(size) for size in shape]
    return f"[{','.join(sizes)}]" if sizes else ""


# ------------------------------------------------------------ objects of TensorFlow

# NB(TFF): the ancestor had types for them, structures of their parts.
_NOT_DENSE = {"RaggedTensor", "SparseTensor", "RaggedTensorSpec", "SparseTensorSpec"}


def is_tf_dtype(x: object) -> bool:
    """Whether `x` looks like a `tf.DType`."""
    # On the class: some instances, such as tf.variant, raise for the property.
    return hasattr(type(x), "as_numpy_dtype")


def is_dataset(x: object) -> bool:
    """Whether `x` looks like a `tf.data.Dataset`."""
    return hasattr(x, "element_spec") and hasattr(x, "as_numpy_iterator")


def check_dense(x: object, where: str | None = None) -> None:
    """Refuses ragged and sparse tensors, and their specs."""
    if not _NOT_DENSE.isdisjoint(class_names(x)):
        raise TypeMismatchError(
            "only dense tensors have types",
            expected="a tensor with one size for each axis",
            found=f"a {type(x).__name__}",
            where=where,
            do="make it dense first: x.to_tensor(), or tf.sparse.to_dense(x)",
        )


def class_names(x: object) -> set[str]:
    """The names of the class of `x` and of all its bases."""
    return {c.__name__ for c in type(x).__mro__}
