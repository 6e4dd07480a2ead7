# SPDX-License-Identifier: Apache-2.0
"""The types of data, and what denotes one: a class, a dtype, a container, a spec.

    type ::= int32 | float32[2,?]     TensorType     numbers or strings of a shape
           | <a=type,type>            StructType     ordered fields, named or not
           | type*                    SequenceType   elements read one by one

Their constructors take for their parts all that denotes a type, hence `to_type` is
here, too. TensorFlow objects are recognized by their attributes, so that nothing here
imports TensorFlow.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, final, overload

from fedlearn_edu.errors import FieldError, TypeMismatchError, counted, short_traceback
from fedlearn_edu.structure import Struct, Tree, check_names
from fedlearn_edu.types import dtypes
from fedlearn_edu.types import messages as say
from fedlearn_edu.types.base import Difference, Part, Type
from fedlearn_edu.types.dtypes import DType, Shape, as_dtype, as_shape, dtype_name
from fedlearn_edu.types.fields import fields_of
from fedlearn_edu.types.messages import kind_word

Fields = tuple[tuple[str | None, Type], ...]
# NB(TFF): the ancestor had types for them, structures of their parts.
_NOT_DENSE = {"RaggedTensor", "SparseTensor", "RaggedTensorSpec", "SparseTensorSpec"}


@final
@dataclass(frozen=True, init=False, repr=False)
class TensorType(Type):
    """Numbers or strings of one dtype and one shape: `int32`, `float32[2,?]`."""

    dtype: DType
    shape: Shape

    @short_traceback
    def __init__(self, dtype: object, shape: object = None) -> None:
        known = as_dtype(dtype)
        if known is None:
            raise say.not_a_dtype(dtype)
        sizes = () if shape is None else as_shape(shape)
        if sizes is None:
            raise say.not_a_shape(shape)
        vars(self).update(dtype=known, shape=sizes)

    @property
    def is_scalar(self) -> bool:
        """Whether it is a single number or string."""
        return self.shape == ()

    @property
    def has_static_shape(self) -> bool:
        """Whether every size is known."""
        return None not in self.shape

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        same = self.dtype == source.dtype
        if same and dtypes.fits(self.shape, source.shape):
            return None
        cure = say.rank_cure(self, source.shape) or (say.SHAPE if same else say.CAST)
        return Difference(path, self, source, cure)

    def _text(self, indent: int | None) -> str:
        return dtype_name(self.dtype) + dtypes.shape_text(self.shape)

    def __repr__(self) -> str:
        dtype = dtypes.python_name(dtype_name(self.dtype))
        return f"TensorType({dtype}{f', {list(self.shape)}' if self.shape else ''})"


@final
@dataclass(frozen=True, init=False, repr=False)
class StructType(Type, Tree[Type]):
    """Ordered fields, each named or not: `<a=int32,bool>`.

    A field is `t["a"]`, `t.a` or `t[0]`. Only `repr` and `==` see the container. That
    of no fields at all is a tuple, so that `StructType([]) == to_type(())`.
    """

    fields: Fields
    python_container: type | None

    @short_traceback
    def __init__(self, elements: Any, python_container: type | None = None) -> None:
        if isinstance(elements, Struct | Mapping):
            elements = elements.items()
        if isinstance(elements, str) or not isinstance(elements, Iterable):
            raise say.not_fields(elements)
        fields = tuple(_field(element) for element in elements)
        check_names(tuple(name for name, _ in fields))
        say.check_field_names(name for name, _ in fields if name is not None)
        container = python_container or (None if fields else tuple)
        self._set(fields=fields, python_container=container)

    # What `Tree` needs, computed on first use.
    @cached_property
    def _names(self) -> tuple[str | None, ...]:  # type: ignore[override]
        return tuple([name for name, _ in self.fields])

    @cached_property
    def _values(self) -> tuple[Type, ...]:  # type: ignore[override]
        return tuple([type_ for _, type_ in self.fields])

    def children(self) -> tuple[Type, ...]:
        """The types of the fields."""
        return self._values

    def _with_types(self, types: Iterable[Type]) -> "StructType":
        """The same names and container around as many other types."""
        return struct_type(self._names, tuple(types), self.python_container)

    def __getattr__(self, name: str) -> Type:
        if name == "fields":  # missing while a pickle is being loaded
            raise AttributeError(name)
        try:
            return Tree.__getattr__(self, name)
        except FieldError:
            say.check_known_method(name)
            raise

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self.names() if name)]

    @cached_property
    def _parts(self) -> tuple[Part, ...]:
        named = enumerate(self.fields)
        return tuple([Part(say.field_step(n, i), type_) for i, (n, type_) in named])

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        if len(self) != len(source):
            mine, theirs = (f"{counted(len(t), 'field')}: {t}" for t in (self, source))
            return Difference(path, mine, theirs)
        names, given = self.names(), source.names()
        if any(b not in (a, None) for a, b in zip(names, given, strict=True)):
            return Difference(path, self, source, say.names_cure(names, given))
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


@lru_cache  # in every call, all layers of a stack ask for the same few types
def struct_type(
    names: tuple[str | None, ...], types: tuple[Type, ...], pytype: type | None = None
) -> StructType:
    """A struct type of names and types that need no conversion and no check."""
    made = object.__new__(StructType)
    made._set(fields=tuple(zip(names, types, strict=True)), python_container=pytype)
    return made


def is_field(x: object) -> bool:
    """Whether `x` is a pair of a name and something else, such as a type."""
    return isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], str)


def _field(x: Any) -> tuple[str | None, Type]:
    is_unnamed = isinstance(x, tuple) and len(x) == 2 and x[0] is None
    name, spec = x if is_unnamed or is_field(x) else (None, x)
    role = f"the type of the field {name}" if name else "the type of a field"
    return (name, required_type(spec, role))


@final
@dataclass(frozen=True, init=False, repr=False)
class SequenceType(Type):
    """Elements of one type, read one by one at one place: `int32*`."""

    element: Type

    @short_traceback
    def __init__(self, element: object) -> None:
        type_ = required_type(element, "the element type of a sequence")
        self._set(element=type_)
        forbid(self, "sequence", "function", "federated")

    @property
    def _parts(self) -> tuple[Part, ...]:
        return (Part("→element", self.element),)

    def _text(self, indent: int | None) -> str:
        return self.element._text(indent) + "*"


def forbid(outer: Type, *kinds: str) -> None:
    """Refuses a type that contains a type of one of the kinds, at any depth."""
    for inner in outer._walk():
        if inner is not outer and kind_word(inner) in kinds:
            raise say.cannot_contain(outer, inner)


# -------------------------------------------------------------------- what denotes


@overload
def to_type(x: None) -> None: ...
@overload
def to_type(x: object) -> Type: ...
@short_traceback
def to_type(x: object) -> Type | None:
    """The type that `x` denotes; `None` (no parameter) stays `None`.

    >>> import numpy as np
    >>> print(to_type([("a", np.int32), ("b", (np.float32, [2, None]))]))
    <a=int32,b=float32[2,?]>
    """
    return None if x is None else denoted_by(x)


def required_type(x: object, role: str) -> Type:
    """The type that `x` denotes, where "no type" makes no sense."""
    if x is None:
        raise TypeMismatchError(f"{role} is missing", expected="a type", found="None")
    try:
        return denoted_by(x)
    except TypeMismatchError as error:
        error.where = error.where or role
        raise


def denoted_by(x: Any) -> Type:
    """The type that a class, a dtype, a container or a `tf.TypeSpec` denotes."""
    if isinstance(x, Type):
        return x
    if isinstance(x, list) or type(x) is tuple:
        return _type_of_list(x)
    if (dtype := as_dtype(x)) is not None:
        return TensorType(dtype)
    names = class_names(x)
    if "TensorSpec" in names:
        return TensorType(x.dtype, x.shape)
    check_dense(x)
    if "DatasetSpec" in names:
        return SequenceType(element_type_of(x.element_spec))
    is_unordered = isinstance(x, Mapping) and not isinstance(x, OrderedDict)
    fields = None if is_unordered else fields_of(x)
    if fields is None:
        raise say.no_type(x)
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
    element_spec: object, type_of: Callable[[Any], Type] = denoted_by
) -> Type:
    """The type of the elements of a `tf.data.Dataset` with that `element_spec`."""
    fields = fields_of(element_spec)
    if fields is None:
        return type_of(element_spec)
    # NB(TFF): a plain dict is welcome here, keys sorted as in TensorFlow.
    pairs = [(name, element_type_of(x, type_of)) for name, x in fields.in_order()]
    return StructType(pairs, fields.container)


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
