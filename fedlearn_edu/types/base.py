# SPDX-License-Identifier: Apache-2.0
"""What all types have in common: printing, and how one type fits another.

The seven kinds in `definitions.py` name their `_inner` types, and implement `_mismatch`
and `_text`; all other code uses the public methods. Whether one type fits another, and
*where* it does not, is a single recursion: `difference`.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

from fedlearn_edu.errors import TypeNotAssignableError, too_deep
from fedlearn_edu.types import messages
from fedlearn_edu.types.messages import KINDS, ROOT, clip, kind_word

_CALLS_PER_LEVEL = 10


@final
class Part(NamedTuple):
    """A type inside another, and the step that leads to it in a path."""

    step: str
    type: "Type"
    is_parameter: bool = False


@final
@dataclass(frozen=True)
class Difference:
    """A place where two types differ, and what to do about it."""

    path: str
    expected: object
    found: object
    do: str | None = None


def _is(kind: str) -> Callable[["Type"], bool]:
    def is_kind(self: "Type") -> bool:
        return kind_word(self) == kind

    is_kind.__doc__ = f"Whether this is a type of the kind {kind!r}."
    return is_kind


class Type(ABC):
    """An abstract description of values; immutable, compared by content."""

    _depth = 0
    _inner: ClassVar[tuple[str, ...]] = ()  # the attributes that are types, or None

    def _set(self, **values: Any) -> None:
        vars(self).update(values)
        depth = 1 + max((part._depth for part in self.children()), default=0)
        # Python itself compares, hashes, prints and pickles them level by level.
        if depth > sys.getrecursionlimit() // _CALLS_PER_LEVEL:
            raise too_deep()
        vars(self)["_depth"] = depth

    def __getstate__(self) -> dict[str, Any]:
        names: tuple[str, ...] = self.__match_args__  # type: ignore[attr-defined]
        return {name: vars(self)[name] for name in names}

    @cached_property
    def _parts(self) -> tuple[Part, ...]:
        """The types directly inside this one, with their steps."""
        known = [name for name in self._inner if vars(self)[name] is not None]
        pairs = zip(known, self.children(), strict=True)
        return tuple([Part(f"→{n}", type_, n == "parameter") for n, type_ in pairs])

    def _with_types(self, types: Iterable["Type"]) -> "Type":
        """This type with other types in place of its parts."""
        others, state = iter(types), self.__getstate__()
        state.update((n, next(others)) for n in self._inner if state[n] is not None)
        make: Callable[..., Type] = type(self)
        return make(**state)

    def _mismatch(self, source: Any, path: str) -> Difference | None:
        """Why `source`, of the same kind, does not fit, regardless of its parts."""
        return None

    @abstractmethod
    def _text(self, indent: int | None) -> str:
        """The notation: on one line (`None`) or indented by that many steps."""

    def __str__(self) -> str:
        return self._text(None)

    def __repr__(self) -> str:
        parts = ", ".join(map(repr, self.__getstate__().values()))
        return f"{type(self).__name__}({parts})"

    def compact_representation(self) -> str:
        """The notation on one line, as `str` has it.

        >>> from fedlearn_edu.types import parse_type
        >>> parse_type("<a=int32,{bool}@CLIENTS>").compact_representation()
        '<a=int32,{bool}@CLIENTS>'
        """
        return self._text(None)

    def formatted_representation(self) -> str:
        """The notation with every struct spread over several lines."""
        return self._text(0)

    def children(self) -> tuple["Type", ...]:
        """The types directly inside this one."""
        state = vars(self)
        return tuple([state[n] for n in self._inner if state[n] is not None])

    def _walk(self) -> Iterator["Type"]:
        """This type and all types inside it, the outer ones first."""
        stack = [self]
        while stack:
            yield (here := stack.pop())
            stack.extend(reversed(here.children()))

    def contains(self, predicate: Callable[["Type"], bool]) -> bool:
        """Whether `predicate` holds for this type or for any inside it."""
        return any(map(predicate, self._walk()))

    def is_assignable_from(self, source: "Type") -> bool:
        """Whether a value of type `source` may stand where this type is wanted."""
        return difference(self, source) is None

    def is_equivalent_to(self, other: "Type") -> bool:
        """Whether the two types are assignable both ways."""
        return self.is_assignable_from(other) and other.is_assignable_from(self)

    def check_assignable_from(self, source: "Type", *, where: object = None) -> None:
        """Raises `TypeNotAssignableError`, which says where the types differ."""
        found = difference(self, source)
        if found is not None:
            places = [
                str(part) for part in (where, messages.inside(found.path)) if part
            ]
            error = TypeNotAssignableError(
                f"type {clip(source)} is not assignable to type {clip(self)}",
                expected=found.expected,
                found=found.found,
                where=", ".join(places) or None,
                do=found.do,
            )
            error.target_type, error.source_type = self, source
            raise error

    if not TYPE_CHECKING:  # which would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            messages.check_known_method(name)
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    is_tensor, is_struct, is_sequence, is_function = map(_is, KINDS[:4])
    is_federated, is_placement, is_abstract = map(_is, KINDS[4:])


def difference(target: Type, source: Type, path: str = ROOT) -> Difference | None:
    """The first place where `source` is not assignable to `target`, if any."""
    if target is source or target == source:
        return None
    here = mismatch(target, source, path)
    if here is not None:
        return here
    for wanted, given in zip(target._parts, source._parts, strict=True):
        left, right = wanted.type, given.type
        if wanted.is_parameter:
            # A function may be used where it gets *less* than it accepts.
            left, right = right, left
        inner = difference(left, right, path + wanted.step)
        if inner is not None:
            return _flipped(inner) if wanted.is_parameter else inner
    return None


def mismatch(target: Type, source: Type, path: str) -> Difference | None:
    """Why `source` is not assignable to `target`, whatever their parts are."""
    if type(target) is type(source):
        return target._mismatch(source, path)
    return Difference(path, target, source, messages.kind_cure(target, source))


def _flipped(found: Difference) -> Difference:
    cure = "let both sides declare the same type here"
    return replace(found, expected=found.found, found=found.expected, do=cure)
