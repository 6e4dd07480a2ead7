# SPDX-License-Identifier: Apache-2.0
"""The seven kinds of types, each with its notation and its rule of assignability.

    type ::= int32 | float32[2,?]     TensorType     numbers or strings of a shape
           | <a=type,type>            StructType     ordered fields, named or not
           | type*                    SequenceType   elements read one by one
           | (type -> type)           FunctionType   at most one parameter
           | {type}@CLIENTS           FederatedType  one member per participant
           | type@SERVER              FederatedType  the same member everywhere
           | placement                PlacementType  CLIENTS and SERVER as values
           | T                        AbstractType   any type, in signatures

Their constructors accept everything that denotes a type (see `python_types.py`). Types
are immutable.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

from fedlearn_edu.errors import FieldError, counted, short_traceback
from fedlearn_edu.structure import Struct, Tree, check_names
from fedlearn_edu.types import dtypes
from fedlearn_edu.types import messages as say
from fedlearn_edu.types.base import Difference, Part, Type, required_type, to_type
from fedlearn_edu.types.dtypes import DType, Shape, dtype_name

Fields = tuple[tuple[str | None, Type], ...]


@final
@dataclass(frozen=True)
class Placement:
    """A group of participants that hold values.

    >>> CLIENTS, str(SERVER), CLIENTS.uri, SERVER.default_all_equal
    (CLIENTS, 'SERVER', 'clients', True)
    """

    name: str
    default_all_equal: bool

    @property
    def uri(self) -> str:
        """The name in the ancestor's spelling, in small letters."""
        return self.name.lower()

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        # By name: a copy would be equal, but a placement is recognized by identity.
        return self.name


CLIENTS = Placement("CLIENTS", default_all_equal=False)
SERVER = Placement("SERVER", default_all_equal=True)
PLACEMENTS = (CLIENTS, SERVER)


@final
@dataclass(frozen=True, init=False, repr=False)
class TensorType(Type):
    """Numbers or strings of one dtype and one shape: `int32`, `float32[2,?]`."""

    dtype: DType
    shape: Shape

    @short_traceback
    def __init__(self, dtype: object, shape: object = None) -> None:
        known = dtypes.as_dtype(dtype)
        if known is None:
            raise say.not_a_dtype(dtype)
        sizes = () if shape is None else dtypes.as_shape(shape)
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

    A field is `t["a"]`, `t.a` or `t[0]`. Only `repr` and `==` see the container.
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
        self._set(fields=fields, python_container=python_container)

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
        _forbid(self, SequenceType | FunctionType | FederatedType)

    @property
    def _parts(self) -> tuple[Part, ...]:
        return (Part("→element", self.element),)

    def _text(self, indent: int | None) -> str:
        return self.element._text(indent) + "*"


@final
@dataclass(frozen=True, init=False, repr=False)
class FunctionType(Type):
    """From at most one parameter to a result: `(int32 -> bool)`, `( -> bool)`."""

    parameter: Type | None
    result: Type

    @short_traceback
    def __init__(self, parameter: object, result: object) -> None:
        type_ = required_type(result, "the result type of a function")
        self._set(parameter=to_type(parameter), result=type_)

    @property
    def _parts(self) -> tuple[Part, ...]:
        result = Part("→result", self.result)
        if self.parameter is None:
            return (result,)
        return (Part("→parameter", self.parameter, is_parameter=True), result)

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        if (self.parameter is None) == (source.parameter is None):
            return None
        sides: list[Type | None] = [self.parameter, source.parameter]
        mine, theirs = ("no parameter" if t is None else t for t in sides)
        return Difference(path + "→parameter", mine, theirs)

    def _text(self, indent: int | None) -> str:
        parameter = "" if self.parameter is None else self.parameter._text(indent)
        return f"({parameter} -> {self.result._text(indent)})"


@final
@dataclass(frozen=True, init=False, repr=False)
class FederatedType(Type):
    """Members of one type at a placement: `{int32}@CLIENTS`, `int32@SERVER`.

    The braces say that members may differ; without them all members are equal.
    """

    member: Type
    placement: Placement
    all_equal: bool

    @short_traceback
    def __init__(
        self, member: object, placement: Placement, all_equal: bool | None = None
    ) -> None:
        if not isinstance(placement, Placement):
            raise say.no_placement(placement)
        type_ = required_type(member, "the member type of a federated type")
        equal = placement.default_all_equal if all_equal is None else bool(all_equal)
        self._set(member=type_, placement=placement, all_equal=equal)
        _forbid(self, FunctionType | FederatedType)

    @property
    def _parts(self) -> tuple[Part, ...]:
        return (Part(say.MEMBER, self.member),)

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        if self.placement != source.placement:
            return Difference(path, self, source, say.PLACES)
        if self.all_equal and not source.all_equal:
            return Difference(path, self, source, say.ALL_EQUAL)
        return None

    def _text(self, indent: int | None) -> str:
        member = self.member._text(indent)
        return f"{member if self.all_equal else '{' + member + '}'}@{self.placement}"


@final
@dataclass(frozen=True, init=False, repr=False)
class PlacementType(Type):
    """The type of `CLIENTS` and `SERVER` themselves: `placement`."""

    def _text(self, indent: int | None) -> str:
        return "placement"


@final
@dataclass(frozen=True, init=False, repr=False)
class AbstractType(Type):
    """A label that stands for any type, in signatures of intrinsics: `T`."""

    label: str

    def __init__(self, label: object) -> None:
        if not isinstance(label, str) or not label:
            summary = "the label of an abstract type is a word"
            raise say.misfit(summary, "a string such as 'T'", repr(label))
        vars(self).update(label=label)

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        # NB(TFF): the ancestor raised for any comparison with an abstract type; here a
        # label is assignable from itself, so that assignability is reflexive.
        return None if self.label == source.label else Difference(path, self, source)

    def _text(self, indent: int | None) -> str:
        return self.label


AnyType: TypeAlias = (
    TensorType
    | StructType
    | SequenceType
    | FunctionType
    | FederatedType
    | PlacementType
    | AbstractType
)


def any_type(type_: Type) -> AnyType:
    """The same type, as the union that an exhaustive `match` can be checked against."""
    return cast(AnyType, type_)


@short_traceback
def type_at_server(type_spec: object) -> FederatedType:
    """`T@SERVER`: one value at the server."""
    return FederatedType(type_spec, SERVER, True)


@short_traceback
def type_at_clients(type_spec: object, all_equal: bool = False) -> FederatedType:
    """`{T}@CLIENTS`, or `T@CLIENTS` if all clients hold the same value."""
    return FederatedType(type_spec, CLIENTS, all_equal)


def _forbid(outer: Type, kinds: Any) -> None:
    """Refuses a type that contains a type of one of the kinds, at any depth."""
    for inner in outer._walk():
        if inner is not outer and isinstance(inner, kinds):
            raise say.cannot_contain(outer, inner)
