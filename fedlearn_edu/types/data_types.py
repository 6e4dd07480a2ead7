# SPDX-License-Identifier: Apache-2.0
"""The types of plain data: tensors, and structs that arrange them.

`definitions.py` hands them on with the other kinds. A struct type only remembers its
Python container, `containers.py` rebuilds it; arrays are not known here.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final, overload

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.structure import Struct, check_names
from fedlearn_edu.types import dtypes
from fedlearn_edu.types import mismatch as diff
from fedlearn_edu.types.base import Steps, Type, required_type
from fedlearn_edu.types.dtypes import UNRANKED, DType, Shape, dtype_name
from fedlearn_edu.types.mismatch import Difference, TypeKind, field_step, misfit

Fields = tuple[tuple[str | None, Type], ...]
_SHAPES = "write [10] for a vector, [None, 784] for rows of any number, [] or nothing"


@final
@dataclass(frozen=True, init=False, repr=False)
class TensorType(Type):
    """Numbers or strings of one dtype and one shape: `int32`, `float32[2,?]`."""

    _kind: ClassVar = TypeKind.TENSOR
    dtype: DType
    shape: Shape

    @short_traceback
    def __init__(self, dtype: object, shape: object = None) -> None:
        known = dtypes.as_dtype(dtype)
        if known is None:
            summary = "this is not the dtype of a tensor"
            expected = "np.int32, np.float32, np.bool_, np.str_, tf.int32, …"
            raise misfit(summary, expected, describe(dtype), do=_dtype_cure(dtype))
        sizes = () if shape is None else dtypes.as_shape(shape)
        if sizes is None:
            summary = "this is not the shape of a tensor"
            expected = "a list of sizes, None where the size is unknown"
            raise misfit(summary, expected, repr(shape), do=f"{_SHAPES} for a scalar")
        vars(self).update(dtype=known, shape=sizes)

    @property
    def is_scalar(self) -> bool:
        """Whether the rank is known to be zero."""
        return self.shape == ()

    @property
    def has_static_shape(self) -> bool:
        """Whether rank and every size are known."""
        return self.shape is not UNRANKED and None not in self.shape

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        same = self.dtype == source.dtype
        if same and dtypes.fits(self.shape, source.shape):
            return None
        whole = self.dtype.kind in dtypes.WHOLE
        cure = dtypes.rank_cure(self.shape, source.shape, whole)
        return Difference(
            path, self, source, cure or (diff.SHAPE if same else diff.CAST)
        )

    def _text(self, indent: int | None) -> str:
        return dtype_name(self.dtype) + dtypes.shape_text(self.shape)

    def __repr__(self) -> str:
        dtype = dtypes.python_name(dtype_name(self.dtype))
        if self.shape is UNRANKED:
            return f"TensorType({dtype}, UNRANKED)"
        return f"TensorType({dtype}{f', {list(self.shape)}' if self.shape else ''})"


@final
@dataclass(frozen=True, init=False, repr=False)
class StructType(Type):
    """Ordered fields, each named or not: `<a=int32,bool>`.

    A field is `t["a"]`, `t.a` or `t[0]`. Only `repr` and `==` see the container.
    """

    _kind: ClassVar = TypeKind.STRUCT
    fields: Fields
    python_container: type | None

    @short_traceback
    def __init__(self, elements: Any, python_container: type | None = None) -> None:
        if isinstance(elements, Struct | Mapping):
            elements = elements.items()
        if isinstance(elements, str) or not isinstance(elements, Iterable):
            summary = "a struct type needs a list of fields"
            expected = "a list of types or of (name, type) pairs"
            cure = "put the fields into a list: [np.int32, np.float32]"
            raise misfit(summary, expected, describe(elements), do=cure)
        fields = tuple(_field(element) for element in elements)
        check_names(tuple(name for name, _ in fields))
        self._set(fields=fields, python_container=python_container)

    def children(self) -> tuple[Type, ...]:
        """The types of the fields."""
        return tuple(self)

    def names(self) -> tuple[str | None, ...]:
        """The name of each field, `None` where it has none."""
        return self._struct.names()

    def items(self) -> Fields:
        """Pairs of name (or `None`) and type, in order."""
        return self.fields

    def position_of(self, name: str) -> int | None:
        """The position of the field called `name`, `None` if there is none."""
        return self._struct.position_of(name)

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[Type]:
        return (type_ for _, type_ in self.fields)

    @overload
    def __getitem__(self, key: int | str) -> Type: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Type, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Type | tuple[Type, ...]:
        found: Type | tuple[Type, ...] = self._struct[key]
        return found

    def __getattr__(self, name: str) -> Type:
        # What is missing while a pickle is being loaded.
        if name.startswith("__") or name in ("fields", "_struct"):
            raise AttributeError(name)
        return self[name]

    @cached_property
    def _struct(self) -> Struct:
        return Struct(self.fields)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self.names() if name)]

    def _parts(self) -> Steps:
        named = enumerate(self.fields)
        return tuple((field_step(name, i), type_) for i, (name, type_) in named)

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        if len(self) != len(source):
            mine, theirs = (f"{len(t)} fields: {t}" for t in (self, source))
            return Difference(path, mine, theirs)
        names, given = self.names(), source.names()
        if any(b not in (a, None) for a, b in zip(names, given, strict=True)):
            return Difference(path, self, source, diff.names_cure(names, given))
        return None

    def _text(self, indent: int | None) -> str:
        deeper = None if indent is None else indent + 1
        parts = [(f"{n}=" if n else "") + t._text(deeper) for n, t in self.fields]
        if indent is None or not parts:
            return "<" + ",".join(parts) + ">"
        margin = "  " * indent
        lines = ",\n".join(f"{margin}  {part}" for part in parts)
        return f"<\n{lines}\n{margin}>"

    def __repr__(self) -> str:
        parts = [f"({n!r}, {t!r})" if n else repr(t) for n, t in self.fields]
        container = self.python_container
        suffix = "" if container is None else f" as {container.__name__}"
        return f"StructType([{', '.join(parts)}]){suffix}"


@final
class _WithPythonType(type):
    """Makes `StructType`s, and takes those that have a container for its instances."""

    def __call__(cls, elements: Any, container: type) -> StructType:
        """A struct type that remembers the Python container its values come from."""
        return StructType(elements, container)

    def __instancecheck__(cls, instance: object) -> bool:
        kind = instance if isinstance(instance, StructType) else None
        return kind is not None and kind.python_container is not None


if TYPE_CHECKING:  # a type checker follows no metaclass
    StructWithPythonType = StructType
else:

    @final
    class StructWithPythonType(metaclass=_WithPythonType):
        """A struct type that remembers the Python container its values come from.

        The name is the ancestor's. What it makes is a `StructType`, and its instances
        are all `StructType`s with a container, however they were made.

        >>> import numpy as np
        >>> kind = StructWithPythonType([("a", np.int32)], dict)
        >>> isinstance(kind, StructWithPythonType), kind
        (True, StructType([('a', TensorType(np.int32))]) as dict)
        """


def struct_type(names: tuple[str | None, ...], types: Iterable[Type]) -> StructType:
    """The type of a structure that is there: nothing is to be converted or checked."""
    made = object.__new__(StructType)
    pairs = zip(names, types, strict=True)
    made._set(fields=tuple(pairs), python_container=None)
    return made


def is_field(x: object) -> bool:
    """Whether `x` is a pair of a name and whatever denotes a type."""
    return isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], str)


def _field(x: Any) -> tuple[str | None, Type]:
    is_unnamed = isinstance(x, tuple) and len(x) == 2 and x[0] is None
    name, spec = x if is_unnamed or is_field(x) else (None, x)
    role = f"the type of the field {name}" if name else "the type of a field"
    return (name, required_type(spec, role))


def _dtype_cure(dtype: object) -> str:
    name = str(getattr(dtype, "__name__", dtype)).lower()
    alias = {"str": "string", "int": "int32", "float": "float32"}.get(name, name)
    near = [*difflib.get_close_matches(alias, dtypes.DTYPE_NAMES, n=1), "float32"][0]
    return f"write {dtypes.python_name(near)}, without quotes"
