# SPDX-License-Identifier: Apache-2.0
"""What intrinsics ask about types: can they be summed, what do type variables mean.

A signature has type variables, each a letter: `<(T -> U),{T}@CLIENTS>`. `unify` finds
what they stand for in the type of an argument, `substitute` puts it in their place. The
predicates answer yes or no; `check_sum_compatible` raises.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, final

from fedlearn_edu.errors import SumIncompatibleError, TypeMismatchError
from fedlearn_edu.types import dtypes
from fedlearn_edu.types.base import Type, difference, mismatch
from fedlearn_edu.types.definitions import (
    AbstractType,
    FederatedType,
    SequenceType,
    StructType,
    TensorType,
)
from fedlearn_edu.types.messages import ROOT, by_element, clip, inside


def is_sum_compatible(type_: Type) -> bool:
    """Numbers of static shape, in any structure, placed or not."""
    return _first_other(type_, dtypes.NUMERIC, is_static=True) is None


def is_average_compatible(type_: Type) -> bool:
    """Floating or complex numbers of any shape, in any structure, placed or not."""
    return _first_other(type_, dtypes.REAL + dtypes.COMPLEX) is None


def is_structure_of_integers(type_: Type) -> bool:
    """Integers only, in any structure, placed or not; true of `<>`."""
    return _first_other(type_, dtypes.WHOLE) is None


def is_tensorflow_compatible(type_: Type) -> bool:
    """Tensors, structs and sequences only: what leaf code can receive and return."""
    leaf_kinds = TensorType | StructType | SequenceType
    return not type_.contains(lambda t: not isinstance(t, leaf_kinds))


def check_sum_compatible(type_: Type, done: str = "added up") -> None:
    """Raises `SumIncompatibleError`, which names the part that cannot be added up."""
    found = _first_other(type_, dtypes.NUMERIC, is_static=True)
    if found is not None:
        path, part = found
        is_number = isinstance(part, TensorType) and (
            dtypes.kind_of(part.dtype) in dtypes.NUMERIC
        )
        do = "leave this part out, or turn it into numbers first"
        if is_number:
            do = "declare every size; `?` may differ between summands"
        raise SumIncompatibleError(
            f"values of type {clip(type_)} cannot be {done}",
            expected="numbers of static shape, or structures of them",
            found=part,
            where=inside(path.replace("→member", "", 1)),
            do=by_element(part) or do,
        )


def unify(template: Type, concrete: Type) -> dict[str, Type]:
    """What each type variable of a `template` stands for in a `concrete` type.

    What the caller hands in *defines* a variable, and all definitions must be
    equivalent. What a function handed in accepts only *uses* it, and must be assignable
    from the definition. A variable without a definition may be used once.

    >>> from fedlearn_edu.types.notation import parse_type
    >>> template = parse_type("<(T -> U),{T}@CLIENTS>")
    >>> found = unify(template, parse_type("<(int32[?] -> bool),{int32[3]}@CLIENTS>"))
    >>> print(found["T"], found["U"])
    int32[3] bool
    """
    if _has_variables(concrete):
        summary = "a concrete type is needed"
        raise TypeMismatchError(summary, expected=template, found=concrete)
    uses = list(_uses(template, concrete, ROOT, True))
    bindings: dict[str, Type] = {}
    for use in sorted(uses, key=lambda u: not u.defines):
        known = bindings.setdefault(use.label, use.type)
        if use.defines and not known.is_equivalent_to(use.type):
            raise _conflict(use, known, "stands for two different types")
        if not use.defines and not use.type.is_assignable_from(known):
            raise _conflict(use, known, "is accepted as a type that does not fit")
    labels = [use.label for use in uses]
    for label in set(labels) - {use.label for use in uses if use.defines}:
        if labels.count(label) > 1:
            summary = f"the letter {label} is used twice but nothing defines it"
            raise TypeMismatchError(summary, expected=template, found=concrete)
    return {label: bindings[label] for label in labels}


def substitute(template: Type, bindings: Mapping[str, Type]) -> Type:
    """The template with every type variable replaced by what it stands for."""
    if not isinstance(template, AbstractType):
        parts = template.children()
        filled = [substitute(part, bindings) for part in parts]
        return template._with_types(filled) if parts else template
    if template.label not in bindings:
        known = ", ".join(bindings) or "no letters"
        summary = "a letter stands for nothing"
        raise TypeMismatchError(summary, expected=known, found=template.label)
    return bindings[template.label]


@final
class _Use(NamedTuple):
    """One place where a type variable of the template meets a concrete type."""

    label: str
    type: Type
    path: str
    defines: bool


def _uses(template: Type, concrete: Type, path: str, defines: bool) -> Iterator[_Use]:
    """All uses of type variables; refuses a concrete type of another form."""
    if isinstance(template, AbstractType):
        yield _Use(template.label, concrete, path, defines)
        return
    wanted, given = (template, concrete) if defines else (concrete, template)
    find = mismatch if _has_variables(template) else difference
    found = find(wanted, given, path)
    if found is not None:
        sides = found.expected, found.found
        expected, other = sides if defines else reversed(sides)
        raise TypeMismatchError(
            f"type {clip(concrete)} does not have the form {clip(template)}",
            expected=expected,
            found=other,
            where=inside(found.path),
            do=found.do,
        )
    if _has_variables(template):
        pairs = zip(template._parts, concrete._parts, strict=True)
        for part, other in pairs:
            inner = defines != part.is_parameter
            yield from _uses(part.type, other.type, path + part.step, inner)


def _has_variables(type_: Type) -> bool:
    return type_.contains(Type.is_abstract)


def _conflict(use: _Use, known: Type, what: str) -> Exception:
    target, source = (known, use.type) if use.defines else (use.type, known)
    found = difference(target, source) or difference(source, target)
    assert found is not None
    deeper = "" if found.path == ROOT else f" ({found.path.removeprefix(ROOT)} differs)"
    return TypeMismatchError(
        f"the letter {use.label} of the signature {what}",
        expected=f"{use.label} = {clip(known)}",
        found=f"{use.label} = {clip(use.type)}",
        where=f"{inside(use.path) or 'the whole type'}{deeper}",
        do=found.do,
    )


def _first_other(
    type_: Type, kinds: str, is_static: bool = False, path: str = ROOT
) -> tuple[str, Type] | None:
    """The first part that is not a tensor of these kinds of numbers, and its path."""
    if isinstance(type_, StructType | FederatedType):
        for part in type_._parts:
            found = _first_other(part.type, kinds, is_static, path + part.step)
            if found is not None:
                return found
        return None
    if not isinstance(type_, TensorType) or dtypes.kind_of(type_.dtype) not in kinds:
        return (path, type_)
    return None if type_.has_static_shape or not is_static else (path, type_)
