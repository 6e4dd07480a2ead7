# SPDX-License-Identifier: Apache-2.0
"""The types of data, what denotes them, and what has them.

    type ::= int32 | float32[2,?]     TensorType     numbers or strings of a shape
           | <a=type,type>            StructType     ordered fields, named or not
           | type*                    SequenceType   elements read one by one

The constructors accept for a part whatever denotes a type: a class, a dtype, a
container, a spec. So `to_type` is here, and its counterpart `infer_type`, which looks
at a value. TensorFlow objects are recognized by their attributes; nothing here imports
TensorFlow.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, final, overload

import numpy as np

from fedlearn_edu.errors import (
    FieldError,
    StructureError,
    TypeMismatchError,
    counted,
    describe,
    short_traceback,
)
from fedlearn_edu.structure import Struct, Tree, check_names
from fedlearn_edu.types import dtypes, messages
from fedlearn_edu.types.base import Difference, Part, Type
from fedlearn_edu.types.dtypes import DType, Shape, as_dtype, as_shape, dtype_name
from fedlearn_edu.types.fields import fields_of
from fedlearn_edu.types.messages import FIELD_NAME, clip, field_step, kind_word, misfit


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
            raise messages.not_a_dtype(dtype)
        sizes = () if shape is None else as_shape(shape)
        if sizes is None:
            raise messages.not_a_shape(shape)
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
        do = messages.SHAPE if same else messages.CAST
        do = messages.rank_cure(self, source.shape) or do
        return Difference(path, self, source, do)

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

    _names: tuple[str | None, ...]
    _values: tuple[Type, ...]
    python_container: type | None

    @short_traceback
    def __init__(self, elements: Any, python_container: type | None = None) -> None:
        if isinstance(elements, Struct | Mapping):
            elements = elements.items()
        if isinstance(elements, str) or not isinstance(elements, Iterable):
            raise misfit(
                "a struct type needs a list of fields",
                "a list of types or of (name, type) pairs",
                describe(elements),
                do="put the fields into a list: [np.int32, np.float32]",
            )
        fields = [_field(element) for element in elements]
        names = tuple([name for name, _ in fields])
        check_names(names)
        types = tuple([type_ for _, type_ in fields])
        container = python_container or (None if fields else tuple)
        self._set(_names=names, _values=types, python_container=container)

    def children(self) -> tuple[Type, ...]:
        """The types of the fields."""
        return self._values

    def _with_types(self, types: Iterable[Type]) -> "StructType":
        return struct_type(self._names, tuple(types), self.python_container)

    def __getattr__(self, name: str) -> Type:
        try:
            return Tree.__getattr__(self, name)
        except FieldError:
            messages.check_known_method(name)
            raise

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self.names() if name)]

    @cached_property
    def _parts(self) -> tuple[Part, ...]:
        named = enumerate(self.items())
        return tuple([Part(field_step(n, i), type_) for i, (n, type_) in named])

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        if len(self) != len(source):
            mine, theirs = (f"{counted(len(t), 'field')}: {t}" for t in (self, source))
            return Difference(path, mine, theirs)
        names, given = self.names(), source.names()
        if any(b not in (a, None) for a, b in zip(names, given, strict=True)):
            return Difference(path, self, source, messages.names_cure(names, given))
        return None

    def _text(self, indent: int | None) -> str:
        deeper = None if indent is None else indent + 1
        parts = [(f"{n}=" if n else "") + t._text(deeper) for n, t in self.items()]
        if indent is None or not parts:
            return "<" + ",".join(parts) + ">"
        margin = "  " * indent
        lines = ",\n".join(f"{margin}  {part}" for part in parts)
        return f"<\n{lines}\n{margin}>"

    def __repr__(self) -> str:
        parts = [f"({n!r}, {t!r})" if n else repr(t) for n, t in self.items()]
        container = self.python_container
        suffix = "" if container is None else f" as {container.__name__}"
        return f"StructType([{', '.join(parts)}]){suffix}"


@lru_cache  # in every call, all layers of a stack ask for the same few types
def struct_type(
    names: tuple[str | None, ...], types: tuple[Type, ...], pytype: type | None = None
) -> StructType:
    """A struct type of names and types that need no conversion and no check."""
    made = object.__new__(StructType)
    made._set(_names=names, _values=types, python_container=pytype)
    return made


def is_field(x: object) -> bool:
    """Whether `x` is a pair of a name and something else, such as a type."""
    return isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], str)


def _field(x: Any) -> tuple[str | None, Type]:
    is_unnamed = isinstance(x, tuple) and len(x) == 2 and x[0] is None
    name, spec = x if is_unnamed or is_field(x) else (None, x)
    if name is not None and not re.fullmatch(FIELD_NAME, name):
        raise StructureError(
            "this is no name of a field",
            expected="letters, digits and _, with . / ~ - inside, as in fc1.weight",
            found=repr(name),
            do="rename it, or leave the name out: None",
        )
    role = f"the type of the field {name}" if name else "the type of a field"
    return (name, required_type(spec, role))


@final
@dataclass(frozen=True, init=False, repr=False)
class SequenceType(Type):
    """Elements of one type, read one by one at one place: `int32*`."""

    _inner = ("element",)
    element: Type

    @short_traceback
    def __init__(self, element: object) -> None:
        type_ = required_type(element, "the element type of a sequence")
        self._set(element=type_)
        parts = "tensors, or structs of tensors"
        check_nesting(self, parts, "sequence", "function", "federated")

    def _text(self, indent: int | None) -> str:
        return self.element._text(indent) + "*"


def check_nesting(outer: Type, allowed: str, *forbidden: str) -> None:
    """Refuses a type that contains a type of a forbidden kind, at any depth."""
    kind = kind_word(outer)
    for inner in outer._walk():
        if inner is not outer and (found := kind_word(inner)) in forbidden:
            raise misfit(
                f"a {found} type cannot be inside a {kind} type",
                f"a {kind} type of {allowed}",
                f"{clip(inner)} inside {clip(outer)}",
                do=messages.OTHER_NESTING.get((kind, found)),
            )


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
    names = dtypes.class_names(x)
    if "TensorSpec" in names:
        return TensorType(x.dtype, x.shape)
    dtypes.check_dense(x)
    if "DatasetSpec" in names:
        return SequenceType(element_type_of(x.element_spec))
    is_unordered = isinstance(x, Mapping) and not isinstance(x, OrderedDict)
    fields = None if is_unordered else fields_of(x)
    if fields is None:
        raise messages.no_type(x)
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
    element_spec: object,
    type_of: Callable[[Any], Type] = denoted_by,
    like: Type | None = None,
) -> Type:
    """The type of the elements of a `tf.data.Dataset` with that `element_spec`.

    The fields of a plain dict have the order of those of the type `like`, if they have
    the same names; else they are sorted, as in TensorFlow.
    """
    fields = fields_of(element_spec)
    if fields is None:
        return type_of(element_spec)
    # NB(TFF): a plain dict is welcome here.
    names = like.names() if isinstance(like, StructType) else ()
    pairs = [(n, element_type_of(x, type_of)) for n, x in fields.in_order(names)]
    return StructType(pairs, fields.container)


# -------------------------------------------------------------------- what has a type


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
    if dtypes.is_dataset(value):
        return SequenceType(element_type_of(value.element_spec))
    dtypes.check_dense(value)
    if dtypes.is_tf_dtype(getattr(value, "dtype", None)):
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


def _untyped(value: object, do: str) -> TypeMismatchError:
    expected = "numbers, strings, arrays, tensors, datasets, or structures of them"
    summary = "the type of this value cannot be told"
    return misfit(summary, expected, describe(value), do=do)
