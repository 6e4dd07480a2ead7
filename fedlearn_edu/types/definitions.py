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

Users and tracing hand in what denotes a type; everybody receives frozen values. Tensors
and structs have files of their own; what Python objects denote types is settled in
`conversion.py`.
"""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias, cast, final

from fedlearn_edu.errors import TypeMismatchError, describe, short_traceback
from fedlearn_edu.types import cures
from fedlearn_edu.types import differences as diff
from fedlearn_edu.types.base import Steps, Type
from fedlearn_edu.types.denotation import forbid_inside, required_type, to_type
from fedlearn_edu.types.differences import Difference, TypeKind
from fedlearn_edu.types.placements import CLIENTS, SERVER, Placement
from fedlearn_edu.types.struct_type import StructType
from fedlearn_edu.types.tensor_type import TensorType

__all__ = [
    "AbstractType",
    "AnyType",
    "FederatedType",
    "FunctionType",
    "PlacementType",
    "SequenceType",
    "StructType",
    "TensorType",
    "any_type",
    "type_at_clients",
    "type_at_server",
]


@final
@dataclass(frozen=True, init=False)
class SequenceType(Type):
    """Elements of one type, read one by one at one place: `int32*`."""

    _kind: ClassVar = TypeKind.SEQUENCE
    element: Type

    @short_traceback
    def __init__(self, element: object) -> None:
        type_ = required_type(element, "the element type of a sequence")
        object.__setattr__(self, "element", type_)
        kinds = (TypeKind.SEQUENCE, TypeKind.FUNCTION, TypeKind.FEDERATED)
        forbid_inside(self, *kinds)

    def _parts(self) -> Steps:
        return ((diff.ELEMENT, self.element),)

    def _mismatch(self, source: Type, path: str) -> Difference | None:
        return cures.wrong_kind(self, source, path)

    def _text(self, indent: int | None) -> str:
        return self.element._text(indent) + "*"

    def __repr__(self) -> str:
        return f"SequenceType({self.element!r})"


@final
@dataclass(frozen=True, init=False)
class FunctionType(Type):
    """From at most one parameter to a result: `(int32 -> bool)`, `( -> bool)`."""

    _kind: ClassVar = TypeKind.FUNCTION
    parameter: Type | None
    result: Type

    @short_traceback
    def __init__(self, parameter: object, result: object) -> None:
        type_ = required_type(result, "the result type of a function")
        object.__setattr__(self, "parameter", to_type(parameter))
        object.__setattr__(self, "result", type_)

    def _parts(self) -> Steps:
        result = ((diff.RESULT, self.result),)
        if self.parameter is None:
            return result
        return ((diff.PARAMETER, self.parameter), *result)

    def _mismatch(self, source: Type, path: str) -> Difference | None:
        if not isinstance(source, FunctionType):
            return cures.wrong_kind(self, source, path)
        if (self.parameter is None) != (source.parameter is None):
            sides = [self.parameter, source.parameter]
            mine, theirs = ["no parameter" if t is None else t for t in sides]
            return Difference(path + diff.PARAMETER, mine, theirs)
        return None

    def _text(self, indent: int | None) -> str:
        parameter = "" if self.parameter is None else self.parameter._text(indent)
        return f"({parameter} -> {self.result._text(indent)})"

    def __repr__(self) -> str:
        return f"FunctionType({self.parameter!r}, {self.result!r})"


@final
@dataclass(frozen=True, init=False)
class FederatedType(Type):
    """Members of one type at a placement: `{int32}@CLIENTS`, `int32@SERVER`.

    The braces say that members may differ; without them all members are equal.
    """

    _kind: ClassVar = TypeKind.FEDERATED
    member: Type
    placement: Placement
    all_equal: bool

    @short_traceback
    def __init__(
        self, member: object, placement: Placement, all_equal: bool | None = None
    ) -> None:
        if not isinstance(placement, Placement):
            raise TypeMismatchError(
                "a federated type needs a placement",
                expected="CLIENTS or SERVER",
                found=describe(placement),
                do="write fl.CLIENTS or fl.SERVER, without quotes",
            )
        type_ = required_type(member, "the member type of a federated type")
        equal = placement.default_all_equal if all_equal is None else bool(all_equal)
        object.__setattr__(self, "member", type_)
        object.__setattr__(self, "placement", placement)
        object.__setattr__(self, "all_equal", equal)
        forbid_inside(self, TypeKind.FUNCTION, TypeKind.FEDERATED)

    def _parts(self) -> Steps:
        return ((diff.MEMBER, self.member),)

    def _mismatch(self, source: Type, path: str) -> Difference | None:
        if not isinstance(source, FederatedType):
            return cures.wrong_kind(self, source, path)
        if self.placement != source.placement:
            return Difference(path, self, source, cures.PLACEMENTS)
        if self.all_equal and not source.all_equal:
            return Difference(path, self, source, cures.ALL_EQUAL)
        return None

    def _text(self, indent: int | None) -> str:
        member = self.member._text(indent)
        return f"{member if self.all_equal else '{' + member + '}'}@{self.placement}"

    def __repr__(self) -> str:
        return f"FederatedType({self.member!r}, {self.placement!r}, {self.all_equal})"


@final
@dataclass(frozen=True)
class PlacementType(Type):
    """The type of `CLIENTS` and `SERVER` themselves: `placement`."""

    _kind: ClassVar = TypeKind.PLACEMENT

    def _parts(self) -> Steps:
        return ()

    def _mismatch(self, source: Type, path: str) -> Difference | None:
        return cures.wrong_kind(self, source, path)

    def _text(self, indent: int | None) -> str:
        return "placement"


@final
@dataclass(frozen=True, init=False)
class AbstractType(Type):
    """A label that stands for any type, in signatures of intrinsics: `T`."""

    _kind: ClassVar = TypeKind.ABSTRACT
    label: str

    def __init__(self, label: object) -> None:
        if not isinstance(label, str) or not label:
            raise TypeMismatchError(
                "the label of an abstract type is a word",
                expected="a string such as 'T'",
                found=repr(label),
            )
        object.__setattr__(self, "label", label)

    def _parts(self) -> Steps:
        return ()

    def _mismatch(self, source: Type, path: str) -> Difference | None:
        # NB(TFF): the ancestor raised for any comparison with an abstract type; here a
        # label is assignable from itself, so that assignability is reflexive.
        if isinstance(source, AbstractType) and self.label != source.label:
            return Difference(path, self, source)
        return cures.wrong_kind(self, source, path)

    def _text(self, indent: int | None) -> str:
        return self.label

    def __repr__(self) -> str:
        return f"AbstractType({self.label!r})"


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
