# SPDX-License-Identifier: Apache-2.0
"""What all types have in common: printing, kinds, and how one type fits another.

The seven kinds in `definitions.py` hand in what is special about them (`_parts`,
`_mismatch`, `_text`); everybody else receives the public methods. Whether one type fits
another and *where* it does not is a single recursion, `difference`. No kind is known
here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, TypeAlias, TypeVar

from fedlearn_edu.errors import (
    TypeMismatchError,
    TypeNotAssignableError,
    TypesNotEquivalentError,
    TypesNotIdenticalError,
    UnexpectedTypeError,
)
from fedlearn_edu.types.differences import (
    PARAMETER,
    ROOT,
    Difference,
    TypeKind,
    clip,
    inside,
)

E = TypeVar("E", bound=TypeMismatchError)
Steps: TypeAlias = "tuple[tuple[str, Type], ...]"


class Type(ABC):
    """An abstract description of values; immutable, compared by content."""

    _kind: ClassVar[TypeKind]

    @abstractmethod
    def _parts(self) -> Steps:
        """The types inside, each with the step that leads to it in a path."""

    @abstractmethod
    def _mismatch(self, source: "Type", path: str) -> Difference | None:
        """Why `source` cannot stand here, its parts left out of account."""

    @abstractmethod
    def _text(self, indent: int | None) -> str:
        """The notation: on one line (`None`) or indented by that many steps."""

    def __str__(self) -> str:
        return self._text(None)

    def formatted_representation(self) -> str:
        """The notation with every struct spread over several lines."""
        return self._text(0)

    def children(self) -> tuple["Type", ...]:
        """The types directly inside this one."""
        return tuple(part for _, part in self._parts())

    def contains(self, predicate: Callable[["Type"], bool]) -> bool:
        """Whether `predicate` holds for this type or for any inside it."""
        return predicate(self) or any(c.contains(predicate) for c in self.children())

    def is_assignable_from(self, source: "Type") -> bool:
        """Whether a value of type `source` may stand where this type is wanted."""
        return self == source or difference(self, source) is None

    def is_equivalent_to(self, other: "Type") -> bool:
        """Whether the two types are assignable both ways."""
        return self.is_assignable_from(other) and other.is_assignable_from(self)

    def is_identical_to(self, other: "Type") -> bool:
        """Whether the types are equal, Python containers included."""
        return self == other

    def check_assignable_from(
        self, source: "Type", *, where: object | None = None
    ) -> None:
        """Raises `TypeNotAssignableError`, which says where the types differ."""
        if self == source:
            return
        found = difference(self, source)
        if found is not None:
            kind = TypeNotAssignableError
            error = _error(kind, "assignable", self, source, found, where)
            error.target_type, error.source_type = self, source
            raise error

    def check_equivalent_to(self, other: "Type") -> None:
        """Raises `TypesNotEquivalentError` unless assignable both ways."""
        found = difference(self, other) or _flipped(difference(other, self))
        if found is not None:
            raise _error(TypesNotEquivalentError, "equivalent", self, other, found)

    def check_identical_to(self, other: "Type") -> None:
        """Raises `TypesNotIdenticalError` unless the types are equal."""
        if self == other:
            return
        found = difference(self, other) or _flipped(difference(other, self))
        found = found or _container_difference(self, other, ROOT)
        raise _error(TypesNotIdenticalError, "identical", self, other, found)

    def is_tensor(self) -> bool:
        """Whether this is a tensor type."""
        return self._kind is TypeKind.TENSOR

    def is_struct(self) -> bool:
        """Whether this is a struct type, with or without a Python container."""
        return self._kind is TypeKind.STRUCT

    def is_struct_with_python(self) -> bool:
        """Whether this is a struct type that remembers a Python container."""
        return getattr(self, "python_container", None) is not None and self.is_struct()

    def is_sequence(self) -> bool:
        """Whether this is a sequence type."""
        return self._kind is TypeKind.SEQUENCE

    def is_function(self) -> bool:
        """Whether this is a function type."""
        return self._kind is TypeKind.FUNCTION

    def is_federated(self) -> bool:
        """Whether this is a federated type."""
        return self._kind is TypeKind.FEDERATED

    def is_placement(self) -> bool:
        """Whether this is the type of placements."""
        return self._kind is TypeKind.PLACEMENT

    def is_abstract(self) -> bool:
        """Whether this is a label that stands for any type."""
        return self._kind is TypeKind.ABSTRACT

    def check_tensor(self) -> None:
        """Raises `UnexpectedTypeError` unless this is a tensor type."""
        self._check_kind(self.is_tensor(), "a tensor type")

    def check_struct(self) -> None:
        """Raises `UnexpectedTypeError` unless this is a struct type."""
        self._check_kind(self.is_struct(), "a struct type")

    def check_struct_with_python(self) -> None:
        """Raises `UnexpectedTypeError` unless this struct has a Python container."""
        needed = "a struct type with a Python container"
        self._check_kind(self.is_struct_with_python(), needed)

    def check_sequence(self) -> None:
        """Raises `UnexpectedTypeError` unless this is a sequence type."""
        self._check_kind(self.is_sequence(), "a sequence type")

    def check_function(self) -> None:
        """Raises `UnexpectedTypeError` unless this is a function type."""
        self._check_kind(self.is_function(), "a function type")

    def check_federated(self) -> None:
        """Raises `UnexpectedTypeError` unless this is a federated type."""
        self._check_kind(self.is_federated(), "a federated type")

    def check_placement(self) -> None:
        """Raises `UnexpectedTypeError` unless this is the type of placements."""
        self._check_kind(self.is_placement(), "the type of placements")

    def check_abstract(self) -> None:
        """Raises `UnexpectedTypeError` unless this is an abstract type."""
        self._check_kind(self.is_abstract(), "an abstract type")

    def _check_kind(self, ok: bool, needed: str) -> None:
        if not ok:
            found = f"{clip(self)}, a {self._kind.value} type"
            raise UnexpectedTypeError(
                f"{needed} is needed here", expected=needed, found=found
            )


def parts_of(type_: Type) -> Steps:
    """The types inside `type_`, each with the step that leads to it in a path."""
    return type_._parts()


def mismatch(target: Type, source: Type, path: str = ROOT) -> Difference | None:
    """Why `source` cannot stand for `target`, looking at the outermost kind only."""
    return target._mismatch(source, path)


def difference(target: Type, source: Type, path: str = ROOT) -> Difference | None:
    """The first place where `source` is not assignable to `target`, if any."""
    here = mismatch(target, source, path)
    if here is not None:
        return here
    pairs = zip(target._parts(), source._parts(), strict=True)
    for (step, wanted), (_, given) in pairs:
        if step == PARAMETER:
            inner = _flipped(difference(given, wanted, path + step))
        else:
            inner = difference(wanted, given, path + step)
        if inner is not None:
            return inner
    return None


def _flipped(found: Difference | None) -> Difference | None:
    # A function may be used where it gets *less* than it accepts: roles change sides.
    if found is None:
        return None
    cure = "let both sides declare the same type here"
    return replace(found, expected=found.found, found=found.expected, do=cure)


def _container_difference(first: Type, second: Type, path: str) -> Difference | None:
    mine, theirs = (getattr(t, "python_container", None) for t in (first, second))
    if first.is_struct() and mine is not theirs:
        names = [c.__name__ if c else "no container" for c in (mine, theirs)]
        cure = "the notation is the same: build both from the same Python container"
        return Difference(
            path, f"{first} as {names[0]}", f"{second} as {names[1]}", cure
        )
    pairs = zip(first._parts(), second._parts(), strict=True)
    inner = (_container_difference(a, b, path + step) for (step, a), (_, b) in pairs)
    return next((found for found in inner if found is not None), None)


def _error(
    error: type[E],
    relation: str,
    first: Type,
    second: Type,
    found: Difference | None,
    where: object = None,
) -> E:
    assert found is not None, (first, second)
    return error(
        f"type {clip(second)} is not {relation} to type {clip(first)}",
        expected=found.expected,
        found=found.found,
        where=", ".join(str(p) for p in (where, inside(found.path)) if p) or None,
        do=found.do,
    )
