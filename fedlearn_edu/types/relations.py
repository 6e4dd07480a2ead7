# SPDX-License-Identifier: Apache-2.0
"""Signatures with letters, made concrete: `unify` a template, then `substitute`.

Intrinsics hand in the type of their parameter with letters (`<(T -> U),{T}@CLIENTS>`)
and the type of an argument; they receive what each letter stands for. Signatures belong
to the intrinsics; what may be added up is in `predicates.py`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never, final

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.types.base import Type, difference, mismatch, parts_of
from fedlearn_edu.types.definitions import (
    AbstractType,
    FederatedType,
    FunctionType,
    PlacementType,
    SequenceType,
    StructType,
    TensorType,
    any_type,
)
from fedlearn_edu.types.differences import PARAMETER, ROOT, Difference, clip, inside


@final
@dataclass(frozen=True)
class _Use:
    """One place where a letter of the template meets a concrete type."""

    label: str
    type: Type
    path: str
    defines: bool


def unify(template: Type, concrete: Type) -> dict[str, Type]:
    """What the letters of a parameter's `template` stand for in a `concrete` type.

    What the caller hands in *defines* a letter, and all definitions must be equivalent.
    What a function handed in accepts only *uses* it, and must be assignable from the
    definition. A letter without definition may be used once.

    >>> from fedlearn_edu.types.notation import parse_type
    >>> template = parse_type("<(T -> U),{T}@CLIENTS>")
    >>> found = unify(template, parse_type("<(int32[?] -> bool),{int32[3]}@CLIENTS>"))
    >>> print(found["T"], found["U"])
    int32[3] bool
    """
    if concrete.contains(lambda t: t.is_abstract()):
        raise TypeMismatchError(
            "a concrete type is needed", expected=template, found=concrete
        )
    uses = list(_uses(template, concrete, ROOT, True))
    bindings: dict[str, Type] = {}
    for use in sorted(uses, key=lambda u: not u.defines):
        known = bindings.setdefault(use.label, use.type)
        if use.defines and not known.is_equivalent_to(use.type):
            raise _conflict(use, known, "stands for two different types")
        if not use.defines and not use.type.is_assignable_from(known):
            raise _conflict(use, known, "is accepted as a type that does not fit")
    _check_defined(uses, template, concrete)
    return {use.label: bindings[use.label] for use in uses}


def substitute(template: Type, bindings: Mapping[str, Type]) -> Type:
    """The template with every letter replaced by what it stands for."""

    def fill(part: Type) -> Type:
        return substitute(part, bindings)

    match any_type(template):
        case AbstractType(label):
            if label not in bindings:
                known = ", ".join(bindings) or "no letters"
                raise TypeMismatchError(
                    "a letter stands for nothing", expected=known, found=label
                )
            return bindings[label]
        case StructType(fields, container):
            return StructType([(name, fill(t)) for name, t in fields], container)
        case SequenceType(element):
            return SequenceType(fill(element))
        case FunctionType(parameter, result):
            filled = None if parameter is None else fill(parameter)
            return FunctionType(filled, fill(result))
        case FederatedType(member, placement, all_equal):
            return FederatedType(fill(member), placement, all_equal)
        case (TensorType() | PlacementType()) as leaf:
            return leaf
        case unknown:
            assert_never(unknown)


def _uses(template: Type, concrete: Type, path: str, defines: bool) -> Iterator[_Use]:
    """All uses of letters; refuses a concrete type of another form."""
    if isinstance(template, AbstractType):
        yield _Use(template.label, concrete, path, defines)
        return
    wanted, given = (template, concrete) if defines else (concrete, template)
    has_letters = template.contains(lambda t: t.is_abstract())
    found = (mismatch if has_letters else difference)(wanted, given, path)
    if found is not None:
        raise _form_error(found, template, concrete, defines)
    if not has_letters:
        return
    pairs = zip(parts_of(template), parts_of(concrete), strict=True)
    for (step, part), (_, given_part) in pairs:
        inner = defines != (step == PARAMETER)
        yield from _uses(part, given_part, path + step, inner)


def _check_defined(uses: list[_Use], template: Type, concrete: Type) -> None:
    defined = {use.label for use in uses if use.defines}
    labels = [use.label for use in uses if use.label not in defined]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise TypeMismatchError(
            f"the letter {twice[0]} is used twice but nothing defines it",
            expected=template,
            found=concrete,
        )


def _conflict(use: _Use, known: Type, problem: str) -> TypeMismatchError:
    target, source = (known, use.type) if use.defines else (use.type, known)
    found = difference(target, source) or difference(source, target)
    assert found is not None, use
    deeper = "" if found.path == ROOT else f" ({found.path.removeprefix(ROOT)} differs)"
    return TypeMismatchError(
        f"the letter {use.label} of the signature {problem}",
        expected=f"{use.label} = {clip(known)}",
        found=f"{use.label} = {clip(use.type)}",
        where=f"{inside(use.path) or 'the whole type'}{deeper}",
        do=found.do,
    )


def _form_error(
    found: Difference, template: Type, concrete: Type, defines: bool
) -> TypeMismatchError:
    sides = (found.expected, found.found)
    expected, given = sides if defines else reversed(sides)
    return TypeMismatchError(
        f"type {clip(concrete)} does not have the form {clip(template)}",
        expected=expected,
        found=given,
        where=inside(found.path),
        do=found.do,
    )
