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
and structs are in `data_types.py`, the objects that denote types in `conversion.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, cast, final

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.types import mismatch as diff
from fedlearn_edu.types.base import Steps, Type, required_type, to_type
from fedlearn_edu.types.data_types import StructType as StructType
from fedlearn_edu.types.data_types import TensorType as TensorType
from fedlearn_edu.types.mismatch import Difference, TypeKind, clip, misfit
from fedlearn_edu.types.placements import CLIENTS, SERVER, Placement


@final
@dataclass(frozen=True, init=False, repr=False)
class SequenceType(Type):
    """Elements of one type, read one by one at one place: `int32*`."""

    _kind: ClassVar = TypeKind.SEQUENCE
    element: Type

    @short_traceback
    def __init__(self, element: object) -> None:
        type_ = required_type(element, "the element type of a sequence")
        self._set(element=type_)
        _forbid(self, TypeKind.SEQUENCE, TypeKind.FUNCTION, TypeKind.FEDERATED)

    def _parts(self) -> Steps:
        return ((diff.ELEMENT, self.element),)

    def _text(self, indent: int | None) -> str:
        return self.element._text(indent) + "*"


@final
@dataclass(frozen=True, init=False, repr=False)
class FunctionType(Type):
    """From at most one parameter to a result: `(int32 -> bool)`, `( -> bool)`."""

    _kind: ClassVar = TypeKind.FUNCTION
    parameter: Type | None
    result: Type

    @short_traceback
    def __init__(self, parameter: object, result: object) -> None:
        type_ = required_type(result, "the result type of a function")
        self._set(parameter=to_type(parameter), result=type_)

    def _parts(self) -> Steps:
        result = ((diff.RESULT, self.result),)
        if self.parameter is None:
            return result
        return ((diff.PARAMETER, self.parameter), *result)

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        if (self.parameter is None) == (source.parameter is None):
            return None
        sides: list[Type | None] = [self.parameter, source.parameter]
        mine, theirs = ("no parameter" if t is None else t for t in sides)
        return Difference(path + diff.PARAMETER, mine, theirs)

    def _text(self, indent: int | None) -> str:
        parameter = "" if self.parameter is None else self.parameter._text(indent)
        return f"({parameter} -> {self.result._text(indent)})"


@final
@dataclass(frozen=True, init=False, repr=False)
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
            raise misfit(
                "a federated type needs a placement",
                "CLIENTS or SERVER",
                describe(placement),
                do="write fl.CLIENTS or fl.SERVER, without quotes",
            )
        type_ = required_type(member, "the member type of a federated type")
        equal = placement.default_all_equal if all_equal is None else bool(all_equal)
        self._set(member=type_, placement=placement, all_equal=equal)
        _forbid(self, TypeKind.FUNCTION, TypeKind.FEDERATED)

    def _parts(self) -> Steps:
        return ((diff.MEMBER, self.member),)

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        if self.placement != source.placement:
            return Difference(path, self, source, diff.PLACES)
        if self.all_equal and not source.all_equal:
            return Difference(path, self, source, diff.ALL_EQUAL)
        return None

    def _text(self, indent: int | None) -> str:
        member = self.member._text(indent)
        return f"{member if self.all_equal else '{' + member + '}'}@{self.placement}"


@final
@dataclass(frozen=True, init=False, repr=False)
class PlacementType(Type):
    """The type of `CLIENTS` and `SERVER` themselves: `placement`."""

    _kind: ClassVar = TypeKind.PLACEMENT

    def _text(self, indent: int | None) -> str:
        return "placement"


@final
@dataclass(frozen=True, init=False, repr=False)
class AbstractType(Type):
    """A label that stands for any type, in signatures of intrinsics: `T`."""

    _kind: ClassVar = TypeKind.ABSTRACT
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


_ALLOWED = {
    TypeKind.SEQUENCE: "tensors, or structs of tensors",
    TypeKind.FEDERATED: "tensors, sequences, or structs of them",
}
_CURES = {
    (TypeKind.FEDERATED, TypeKind.FEDERATED): "place the member: x.member, not x",
    (TypeKind.SEQUENCE, TypeKind.SEQUENCE): "declare rows as tensors: float32[?]*",
    (TypeKind.SEQUENCE, TypeKind.FEDERATED): "turn it around: {T*}@CLIENTS",
}


def _forbid(outer: Type, *kinds: TypeKind) -> None:
    """Refuses a type that contains a type of one of the kinds, at any depth."""
    name = outer._kind.value
    for inner in _inside(outer):
        if inner._kind in kinds:
            raise misfit(
                f"a {inner._kind.value} type cannot be inside a {name} type",
                f"a {name} type of {_ALLOWED[outer._kind]}",
                f"{clip(inner)} inside {clip(outer)}",
                do=_CURES.get((outer._kind, inner._kind)),
            )


def _inside(type_: Type) -> Iterator[Type]:
    for child in type_.children():
        yield child
        yield from _inside(child)
