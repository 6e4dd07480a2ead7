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

The first three are in `data_types.py`. All constructors accept what denotes a type (see
`to_type`). Types are immutable.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.types import messages
from fedlearn_edu.types.base import Difference, Type
from fedlearn_edu.types.data_types import SequenceType as SequenceType
from fedlearn_edu.types.data_types import StructType as StructType
from fedlearn_edu.types.data_types import TensorType as TensorType
from fedlearn_edu.types.data_types import check_nesting, required_type, to_type
from fedlearn_edu.types.messages import misfit


@final
class Placement(Enum):
    """A group of participants that hold values.

    >>> CLIENTS, str(SERVER), CLIENTS.uri, SERVER.default_all_equal
    (CLIENTS, 'SERVER', 'clients', True)
    >>> CLIENTS.is_clients(), CLIENTS.is_server()
    (True, False)
    """

    CLIENTS = "clients"
    SERVER = "server"

    @property
    def uri(self) -> str:
        """The name in the ancestor's spelling, in small letters."""
        return self.value

    @property
    def default_all_equal(self) -> bool:
        """Whether members are equal where a type does not say it."""
        return self is SERVER

    def is_clients(self) -> bool:
        """Whether these are the clients."""
        return self is CLIENTS

    def is_server(self) -> bool:
        """Whether this is the server."""
        return self is SERVER

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__
    __hash__ = object.__hash__  # types are hashed often; an Enum goes by its name


CLIENTS, SERVER = Placement


@final
class _WithPythonType(type):
    """Makes `StructType`s, and takes those that have a container for its instances."""

    def __call__(cls, elements: Any, container_type: type) -> StructType:
        """A struct type that remembers the Python container its values come from."""
        return StructType(elements, container_type)

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


@final
@dataclass(frozen=True, init=False, repr=False)
class FunctionType(Type):
    """From at most one parameter to a result: `(int32 -> bool)`, `( -> bool)`."""

    _inner = "parameter", "result"
    parameter: Type | None
    result: Type

    @short_traceback
    def __init__(self, parameter: object, result: object) -> None:
        type_ = required_type(result, "the result type of a function")
        self._set(parameter=to_type(parameter), result=type_)

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

    _inner = ("member",)
    member: Type
    placement: Placement
    all_equal: bool

    @short_traceback
    def __init__(
        self, member: object, placement: Placement, all_equal: bool | None = None
    ) -> None:
        if not isinstance(placement, Placement):
            raise misfit(
                "a federated type needs a placement",
                "CLIENTS or SERVER",
                describe(placement),
                do="write fl.CLIENTS or fl.SERVER, without quotes",
            )
        type_ = required_type(member, "the member type of a federated type")
        equal = placement.default_all_equal if all_equal is None else bool(all_equal)
        self._set(member=type_, placement=placement, all_equal=equal)
        parts = "tensors, sequences, or structs of them"
        check_nesting(self, parts, "function", "federated")

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        if self.placement != source.placement:
            return Difference(path, self, source, messages.PLACES)
        if self.all_equal and not source.all_equal:
            return Difference(path, self, source, messages.ALL_EQUAL)
        return None

    def _text(self, indent: int | None) -> str:
        member = self.member._text(indent)
        return (
            f"{member if self.all_equal else '{' + member + '}'}@{self.placement.name}"
        )


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
            raise misfit(summary, "a string such as 'T'", repr(label))
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
