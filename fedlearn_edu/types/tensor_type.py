# SPDX-License-Identifier: Apache-2.0
"""The tensor type: a dtype and a shape.

`definitions.py` hands it on with the other kinds. Arrays are not known here.
"""

import difflib
from dataclasses import dataclass
from typing import ClassVar, final

from fedlearn_edu.errors import TypeMismatchError, describe, short_traceback
from fedlearn_edu.types import cures
from fedlearn_edu.types.base import Steps, Type
from fedlearn_edu.types.differences import Difference, TypeKind
from fedlearn_edu.types.dtypes import DTYPE_NAMES, DType, as_dtype, dtype_name
from fedlearn_edu.types.shapes import UNRANKED, Shape, as_shape, fits, shape_text


@final
@dataclass(frozen=True, init=False, repr=False)
class TensorType(Type):
    """Numbers or strings of one dtype and one shape: `int32`, `float32[2,?]`."""

    _kind: ClassVar = TypeKind.TENSOR
    dtype: DType
    shape: Shape

    @short_traceback
    def __init__(self, dtype: object, shape: object = None) -> None:
        known = as_dtype(dtype)
        if known is None:
            raise TypeMismatchError(
                "this is not the dtype of a tensor",
                expected="np.int32, np.float32, np.bool_, np.str_, tf.int32, …",
                found=describe(dtype),
                do=_cure(dtype),
            )
        object.__setattr__(self, "dtype", known)
        object.__setattr__(self, "shape", as_shape(shape))

    @property
    def is_scalar(self) -> bool:
        """Whether the rank is known to be zero."""
        return self.shape == ()

    @property
    def has_static_shape(self) -> bool:
        """Whether rank and every size are known."""
        return self.shape is not UNRANKED and None not in self.shape

    def _parts(self) -> Steps:
        return ()

    def _mismatch(self, source: Type, path: str) -> Difference | None:
        if not isinstance(source, TensorType):
            return cures.wrong_kind(self, source, path)
        if self.dtype != source.dtype:
            return Difference(path, self, source, cures.CAST)
        if not fits(self.shape, source.shape):
            return Difference(path, self, source, cures.SHAPE)
        return None

    def _text(self, indent: int | None) -> str:
        return dtype_name(self.dtype) + shape_text(self.shape)

    def __repr__(self) -> str:
        name = dtype_name(self.dtype)
        numpy_name = {"string": "np.str_", "bool": "np.bool_", "bfloat16": name}
        dtype = numpy_name.get(name, f"np.{name}")
        if self.shape is UNRANKED:
            return f"TensorType({dtype}, UNRANKED)"
        return f"TensorType({dtype}{f', {list(self.shape)}' if self.shape else ''})"


def _cure(dtype: object) -> str:
    name = str(getattr(dtype, "__name__", dtype)).lower()
    alias = {"str": "string", "int": "int32", "float": "float32"}.get(name, name)
    near = [*difflib.get_close_matches(alias, DTYPE_NAMES, n=1), "float32"][0]
    written = {"bool": "bool_", "string": "str_"}.get(near, near)
    return f"write np.{written}, without quotes"
