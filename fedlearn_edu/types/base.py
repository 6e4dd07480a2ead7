# SPDX-License-Identifier: Apache-2.0
"""What all types have in common: printing, kinds, and how one type fits another.

The seven kinds hand in what is special about them (`_parts`, `_mismatch`, `_text`);
everybody else receives the public methods, and `to_type`. Whether one type fits another
and *where* it does not is a single recursion, `difference`. No kind is built here.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, replace
from functools import singledispatch
from typing import Any, ClassVar, TypeAlias, TypeVar, overload

from fedlearn_edu.errors import (
    TypeMismatchError,
    TypeNotAssignableError,
    TypesNotEquivalentError,
    TypesNotIdenticalError,
    UnexpectedTypeError,
    short_traceback,
    too_deep,
)
from fedlearn_edu.types import mismatch as diff
from fedlearn_edu.types.mismatch import Difference, TypeKind, clip, misfit

E = TypeVar("E", bound=TypeMismatchError)
Steps: TypeAlias = "tuple[tuple[str, Type], ...]"
Question: TypeAlias = "Callable[[Type], bool]"
Check: TypeAlias = "Callable[[Type], None]"
_CALLS_PER_LEVEL = 10


def _kind_methods(kind: TypeKind) -> tuple[Question, Check]:
    """The methods `is_…` and `check_…` of one kind."""
    words = {TypeKind.PLACEMENT: "the type of placements"}
    needed = words.get(
        kind, f"a{'n' if kind.value[0] == 'a' else ''} {kind.value} type"
    )

    def is_kind(self: "Type") -> bool:
        return self._kind is kind

    def check_kind(self: "Type") -> None:
        _check(self, self._kind is kind, needed)

    is_kind.__doc__ = f"Whether this is {needed}."
    check_kind.__doc__ = f"Raises `UnexpectedTypeError` unless this is {needed}."
    return is_kind, check_kind


class Type(ABC):
    """An abstract description of values; immutable, compared by content."""

    _kind: ClassVar[TypeKind]
    _depth = 0

    def _set(self, **values: Any) -> None:
        vars(self).update(values)
        depth = 1 + max((part._depth for part in self.children()), default=0)
        # Python itself compares, hashes, prints and pickles them level by level.
        if depth > sys.getrecursionlimit() // _CALLS_PER_LEVEL:
            raise too_deep()
        vars(self)["_depth"] = depth

    def __getstate__(self) -> dict[str, Any]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return {name: vars(self)[name] for name in names}

    def _parts(self) -> Steps:
        """The types inside, each with the step that leads to it in a path."""
        return ()

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        """Why `source`, of the same kind, cannot stand here; its parts left out."""
        return None

    @abstractmethod
    def _text(self, indent: int | None) -> str:
        """The notation: on one line (`None`) or indented by that many steps."""

    def __str__(self) -> str:
        return self._text(None)

    def __repr__(self) -> str:
        parts = ", ".join(map(repr, self.__getstate__().values()))
        return f"{type(self).__name__}({parts})"

    def formatted_representation(self) -> str:
        """The notation with every struct spread over several lines."""
        return self._text(0)

    def children(self) -> tuple["Type", ...]:
        """The types directly inside this one."""
        return tuple([part for _, part in self._parts()])

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

    def check_assignable_from(self, source: "Type", *, where: object = None) -> None:
        """Raises `TypeNotAssignableError`, which says where the types differ."""
        if self is source or self == source:
            return
        found = difference(self, source)
        if found is not None:
            kind = TypeNotAssignableError
            error = _error(kind, "assignable", self, source, found, where)
            error.target_type, error.source_type = self, source
            raise error

    def check_equivalent_to(self, other: "Type") -> None:
        """Raises `TypesNotEquivalentError` unless assignable both ways."""
        found = _two_way_difference(self, other)
        if found is not None:
            raise _error(TypesNotEquivalentError, "equivalent", self, other, found)

    def check_identical_to(self, other: "Type") -> None:
        """Raises `TypesNotIdenticalError` unless the types are equal."""
        if self == other:
            return
        found = _two_way_difference(self, other)
        found = found or _container_difference(self, other, diff.ROOT)
        raise _error(TypesNotIdenticalError, "identical", self, other, found)

    is_tensor, check_tensor = _kind_methods(TypeKind.TENSOR)
    is_struct, check_struct = _kind_methods(TypeKind.STRUCT)
    is_sequence, check_sequence = _kind_methods(TypeKind.SEQUENCE)
    is_function, check_function = _kind_methods(TypeKind.FUNCTION)
    is_federated, check_federated = _kind_methods(TypeKind.FEDERATED)
    is_placement, check_placement = _kind_methods(TypeKind.PLACEMENT)
    is_abstract, check_abstract = _kind_methods(TypeKind.ABSTRACT)

    def is_struct_with_python(self) -> bool:
        """Whether this is a struct type that remembers a Python container."""
        return self.is_struct() and getattr(self, "python_container", None) is not None

    def check_struct_with_python(self) -> None:
        """Raises `UnexpectedTypeError` unless this struct has a Python container."""
        needed = "a struct type with a Python container"
        _check(self, self.is_struct_with_python(), needed)


@singledispatch
def convert(x: object) -> Type:
    """Converts `x`; `conversion.py`, above the kinds, registers the cases."""
    raise NotImplementedError(x)


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
    return x if x is None or isinstance(x, Type) else convert(x)


def required_type(x: object, role: str) -> Type:
    """The type that `x` denotes, where "no type" makes no sense."""
    if x is None:
        raise misfit(f"{role} is missing", "a type", "None")
    try:
        return convert(x)
    except TypeMismatchError as error:
        error.where = error.where or role
        raise


def difference(target: Type, source: Type, path: str = diff.ROOT) -> Difference | None:
    """The first place where `source` is not assignable to `target`, if any."""
    here = mismatch(target, source, path)
    if here is not None:
        return here
    for (step, wanted), (_, given) in zip(
        target._parts(), source._parts(), strict=True
    ):
        if step == diff.PARAMETER:
            inner = _flipped(difference(given, wanted, path + step))
        else:
            inner = difference(wanted, given, path + step)
        if inner is not None:
            return inner
    return None


def mismatch(target: Type, source: Type, path: str) -> Difference | None:
    """Why `source` cannot stand for `target`, looking at the outermost kind only."""
    if target._kind is source._kind:
        return target._mismatch(source, path)
    members = source.children() if source.is_struct() else ()
    if target.is_federated() and members and all(m.is_federated() for m in members):
        return Difference(path, target, source, diff.ZIP)
    return Difference(path, target, source, diff.kind_cure(target._kind, source._kind))


def _flipped(found: Difference | None) -> Difference | None:
    # A function may be used where it gets *less* than it accepts: roles change sides.
    if found is None:
        return None
    cure = "let both sides declare the same type here"
    return replace(found, expected=found.found, found=found.expected, do=cure)


def _two_way_difference(first: Type, second: Type) -> Difference | None:
    return difference(first, second) or _flipped(difference(second, first))


def _container_difference(first: Type, second: Type, path: str) -> Difference | None:
    mine, theirs = (getattr(t, "python_container", None) for t in (first, second))
    if first.is_struct() and mine is not theirs:
        a, b = (c.__name__ if c else "no container" for c in (mine, theirs))
        cure = "the notation is the same: build both from the same Python container"
        return Difference(path, f"{first} as {a}", f"{second} as {b}", cure)
    pairs = zip(first._parts(), second._parts(), strict=True)
    inner = (_container_difference(a, b, path + step) for (step, a), (_, b) in pairs)
    return next((found for found in inner if found is not None), None)


def _check(type_: Type, ok: bool, needed: str) -> None:
    if not ok:
        found = f"{clip(type_)}, a {type_._kind.value} type"
        summary = f"{needed} is needed here"
        raise UnexpectedTypeError(summary, expected=needed, found=found)


def _error(
    error: type[E],
    relation: str,
    first: Type,
    second: Type,
    found: Difference | None,
    where: object = None,
) -> E:
    assert found is not None, (first, second)
    places = [str(part) for part in (where, diff.inside(found.path)) if part]
    return error(
        f"type {clip(second)} is not {relation} to type {clip(first)}",
        expected=found.expected,
        found=found.found,
        where=", ".join(places) or None,
        do=found.do,
    )
