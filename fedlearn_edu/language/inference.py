# SPDX-License-Identifier: Apache-2.0
"""The concrete type of an intrinsic's use: what the letters of its signature mean.

`application.py` hands in a signature and the arguments. Data decide first what the
letters stand for; then every function among the arguments must fit, and may say more by
its result.
"""

from collections.abc import Sequence

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.language.value import Value
from fedlearn_edu.types import (
    AbstractType,
    FunctionType,
    SequenceType,
    StructType,
    Type,
    substitute,
    unify,
)
from fedlearn_edu.types.relations import BY_ELEMENT

Bindings = dict[str, Type]


def parameters_of(signature: FunctionType) -> tuple[Type, ...]:
    """The types of an intrinsic's arguments: one, or the fields of a structure."""
    parameter = signature.parameter
    if isinstance(parameter, StructType):
        return tuple(parameter)
    return () if parameter is None else (parameter,)


def infer_result(uri: str, signature: FunctionType, values: Sequence[Value]) -> Type:
    """The result type, after checking that the functions fit the other arguments."""
    bindings: Bindings = {}
    pairs = list(zip(parameters_of(signature), values, strict=True))
    for template, value in pairs:
        if not isinstance(template, FunctionType):
            bindings |= unify(template, value.type_signature)
    for template, value in pairs:
        if isinstance(template, FunctionType):
            bindings |= _check_function(uri, template, value, bindings)
    return substitute(signature.result, bindings)


def _check_function(
    uri: str, template: FunctionType, value: Value, bindings: Bindings
) -> Bindings:
    """Checks a function argument and returns what its result type teaches."""
    found = value.type_signature
    assert isinstance(found, FunctionType)
    wanted = hint_for(template, bindings)
    fits = (wanted is None) == (found.parameter is None)
    if wanted is not None and found.parameter is not None:
        fits = found.parameter.is_assignable_from(wanted)
    if fits and _is_bound(template.result, bindings):
        fits = substitute(template.result, bindings).is_assignable_from(found.result)
    if not fits:
        parameter = "" if wanted is None else str(wanted)
        known = _is_bound(template.result, bindings)
        result = substitute(template.result, bindings) if known else "…"
        raise TypeMismatchError(
            f"{uri} cannot use this function on these values",
            expected=f"({parameter} -> {result})",
            found=str(found),
            where=str(value),
            do=cure_by_element(wanted, found.parameter)
            or "decorate the function with the type expected here, or cast the values"
            if template.parameter
            else "take a function without parameters, or use federated_map",
        )
    if _is_bound(template.result, bindings):
        return {}
    return unify(template.result, found.result)


def cure_by_element(wanted: Type | None, found: Type | None) -> str:
    """What to do if a function of one element, or a step, is given whole sequences."""
    match wanted, found:
        case FunctionType(), FunctionType():
            return cure_by_element(wanted.parameter, found.parameter)
        case StructType(), StructType() if len(wanted) == len(found) == 2:
            return cure_by_element(wanted[1], found[1])
        case SequenceType(element), StructType() if len(found) == 2:
            return BY_ELEMENT * found[1].is_assignable_from(element)
        case SequenceType(element), Type():
            return BY_ELEMENT * found.is_assignable_from(element)
        case _:
            return ""


def hint_for(template: FunctionType, bindings: Bindings) -> Type | None:
    """What a function argument will be called with, if that is known already."""
    if template.parameter is None or not _is_bound(template.parameter, bindings):
        return None
    return substitute(template.parameter, bindings)


def _is_bound(template: Type, bindings: Bindings) -> bool:
    return not template.contains(
        lambda t: isinstance(t, AbstractType) and t.label not in bindings
    )
