# SPDX-License-Identifier: Apache-2.0
"""What to do about a function that an intrinsic cannot use on the values it has."""

import itertools

from fedlearn_edu.types import FunctionType, SequenceType, StructType, Type
from fedlearn_edu.types.messages import BY_ELEMENT

CURES = {
    "federated_aggregate": "let zero, accumulate and merge agree on one type of the "
    "running state",
    "federated_select": "declare it so, or convert it; place(values, placement, type) "
    "does both",
}
"""What to do about any argument of these intrinsics."""


def cure_of_function(uri: str, wanted: Type, found: Type) -> str:
    """What to do about an argument, if it is more than to declare another type."""
    do = _by_element(wanted, found) or CURES.get(uri, "")
    if do or not isinstance(wanted, FunctionType):
        return do
    if wanted.parameter is None:
        return "take a function without parameters, or use federated_map"
    if isinstance(found, FunctionType):
        return _cure_of_parameter(uri, wanted.parameter, found.parameter)
    return ""


def _cure_of_parameter(uri: str, given: Type | None, taken: Type | None) -> str:
    """What to do about a function that takes other values than it is given."""
    parts = taken if isinstance(taken, StructType) else ()
    fits = given is not None and any(part.is_assignable_from(given) for part in parts)
    if uri == "sequence_map" and fits:
        return (
            "it is passed one element and nothing else: capture what stays the same, "
            "or take sequence_reduce for a state that changes"
        )
    if uri == "sequence_map" and isinstance(taken, SequenceType):
        return "it takes a whole sequence: federated_map hands each client's to it"
    if uri == "sequence_reduce" and isinstance(given, StructType):
        if taken is not None and taken.is_assignable_from(given[1]):
            return "for a function of one element: sequence_map, then sequence_sum"
        if not isinstance(taken, StructType) or _is_permuted(given, taken):
            return "its operator takes a state and an element, in this order"
    if isinstance(given, StructType) and isinstance(taken, StructType):
        names = ", ".join(name or "…" for name in taken.names())
        if _is_permuted(given, taken):
            return f"pass what the function takes, in this order: [{names}]"
        if len(given) != len(taken):
            return (
                f"{len(given)} values are passed, and it takes {len(taken)}: [{names}]"
            )
    return ""


def _is_permuted(given: StructType, taken: StructType) -> bool:
    """Whether the parts would fit in another order."""
    left = list(given)
    for part in taken:
        fitting = next((each for each in left if part.is_assignable_from(each)), None)
        if fitting is None:
            return False
        left.remove(fitting)
    return not left


def _by_element(given: Type | None, taken: Type | None) -> str:
    """What to do if a function of one element, or a step, is given whole sequences."""
    match given, taken:
        case FunctionType(), FunctionType():
            return _by_element(given.parameter, taken.parameter)
        case StructType(), StructType() if _is_permuted(given, taken):
            return ""
        case StructType(), StructType() if len(given) == len(taken):
            pairs = zip(given, taken, strict=True)
            return next(filter(None, itertools.starmap(_by_element, pairs)), "")
        case SequenceType(element), Type() if taken.is_assignable_from(element):
            return BY_ELEMENT
        case SequenceType(element), StructType() if len(taken) == 2:
            return BY_ELEMENT * taken[1].is_assignable_from(element)
        case _:
            return ""
