# SPDX-License-Identifier: Apache-2.0
"""`federated_map` and `federated_zip`: work at the participants, member by member.

Nothing moves here: the result stays where the arguments are.
"""

from typing import Any

from fedlearn_edu.language.application import (
    apply,
    argument,
    define,
    intrinsic,
    record,
    traced,
)
from fedlearn_edu.language.messages import intrinsics as messages
from fedlearn_edu.language.value import Value, structure_like
from fedlearn_edu.structure import leaves
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    Placement,
    StructType,
    Type,
)

_MAP = define(
    "federated_map",
    "(<(T -> U),{T}@CLIENTS> -> {U}@CLIENTS)",
    "(<(T -> U),T@SERVER> -> U@SERVER)",
    "(<(T -> U),T@CLIENTS> -> U@CLIENTS)",
)
_AT_CLIENTS, _AT_SERVER, _EQUAL_AT_CLIENTS = 0, 1, 2


@intrinsic
def federated_map(fn: Any, arg: Any) -> Value:
    """Applies a computation to every member of a federated value, where it is.

    `(<(T -> U),{T}@CLIENTS> -> {U}@CLIENTS)`, and at the server
    `(<(T -> U),T@SERVER> -> U@SERVER)`. The result at CLIENTS is not all-equal, even if
    the argument is: `fn` may draw random numbers. A structure of federated values is
    zipped first.

    >>> import numpy as np
    >>> from fedlearn_edu import federated_computation, np_computation, type_at_clients
    >>> half = np_computation(lambda x: x / np.float32(2), np.float32)
    >>> @federated_computation(type_at_clients(np.float32))
    ... def halves(value):
    ...     return federated_map(half, value)
    >>> [float(x) for x in halves([1.0, 2.0])]
    [0.5, 1.0]

    Raises:
        TypeMismatchError: if `fn` does not take a member, or `arg` is not federated.

    Source: `tff.federated_map`.
    """
    value = zip_if_needed(argument(arg, "federated_map"))
    type_ = value.type_signature
    at_server = isinstance(type_, FederatedType) and type_.placement is SERVER
    variant = _AT_SERVER if at_server else _AT_CLIENTS
    return apply(_MAP, [fn, value], variant=variant)


@intrinsic
def federated_apply(fn: Any, arg: Any) -> Value:
    """`federated_map` under the name it once had at the server.

    `(<(T -> U),T@SERVER> -> U@SERVER)`. Source: `tff.federated_apply` up to 0.18.
    """
    return apply(_MAP, [fn, arg], variant=_AT_SERVER)


# Recorded as the map it is; an executor may be asked for it by its own name.
define("federated_apply", _MAP.signatures[_AT_SERVER], expand=federated_apply)


@intrinsic
def federated_zip(value: Any) -> Value:
    """Makes one federated structure of a structure of federated values.

    `(<{T}@CLIENTS,{U}@CLIENTS> -> {<T,U>}@CLIENTS)`, likewise at SERVER, for structures
    of any size, names and nesting. The result at CLIENTS is not all-equal.

    >>> import numpy as np
    >>> from fedlearn_edu import federated_computation, type_at_clients
    >>> T = type_at_clients(np.int32)
    >>> print(federated_computation(lambda a, b: federated_zip([a, b]), T, T))
    lambda: (<a={int32}@CLIENTS,b={int32}@CLIENTS> -> {<int32,int32>}@CLIENTS)

    Raises:
        TypeMismatchError: if a part is unplaced, or the parts are at several
        placements.

    Source: `tff.federated_zip`.
    """
    whole = argument(value, "federated_zip")
    placement = _placement_of(whole.type_signature, str(whole))
    member = _without_placements(whole.type_signature)
    return record("federated_zip", FederatedType(member, placement), [whole])


def _placement_of(type_: Type, where: str = "federated_zip") -> Placement:
    """The one placement that all parts of a structure have."""
    parts = leaves(type_) if isinstance(type_, StructType) else []
    unplaced = [part for part in parts if not isinstance(part, FederatedType)]
    if unplaced:
        raise messages.unplaced_part(unplaced[0], where)
    placements = {part.placement for part in parts if isinstance(part, FederatedType)}
    if len(placements) != 1:
        raise messages.not_one_placement(type_, placements, where)
    return placements.pop()


# T is a structure of federated values; U is the same structure without the placements.
define("federated_zip", "(T -> {U}@CLIENTS)", "(T -> U@SERVER)", require=_placement_of)


def _without_placements(type_: Type) -> Type:
    match type_:
        case FederatedType(member=member):
            return member
        case StructType():
            fields = [(name, _without_placements(t)) for name, t in type_.items()]
            return StructType(fields, type_.python_container)
        case _:
            return type_


def zip_if_needed(value: Value) -> Value:
    """The implicit conversion: a structure that holds federated values is zipped."""
    type_ = value.type_signature
    holds_federated = isinstance(type_, StructType) and type_.contains(
        lambda t: isinstance(t, FederatedType)
    )
    return federated_zip(value) if holds_federated else value


def fit(value: Value, wanted: Type) -> Value:
    """Zips parts of an argument, and forgets all-equal bits, as its parameter wants."""
    found = value.type_signature
    if isinstance(wanted, FederatedType) and isinstance(found, StructType):
        return zip_if_needed(value)
    if _is_equal_at_clients(found) and wanted.is_assignable_from(found):
        forgets = not _is_equal_at_clients(wanted)
        return map_members(lambda member: member, value, "each") if forgets else value
    if not isinstance(wanted, StructType) or not isinstance(found, StructType):
        return value
    if len(wanted) != len(found):
        return value
    parts = list(value)
    fitted = [fit(part, type_) for part, type_ in zip(parts, wanted, strict=True)]
    if all(new is old for new, old in zip(fitted, parts, strict=True)):
        return value
    return structure_like(found, fitted)


def _is_equal_at_clients(type_: Type) -> bool:
    if not isinstance(type_, FederatedType):
        return False
    return type_.all_equal and type_.placement is CLIENTS


@intrinsic
def select(value: Any, index: int | slice) -> Value:
    """A field of a federated structure, or several; keeps the all-equal bit."""
    type_ = value.type_signature
    assert isinstance(type_, FederatedType)
    fn = traced(lambda member: member[index], type_.member, name="select")
    variant = _AT_SERVER
    if type_.placement is CLIENTS:
        variant = _EQUAL_AT_CLIENTS if type_.all_equal else _AT_CLIENTS
    return apply(_MAP, [fn, value], variant=variant)


def map_members(fn: Any, value: Value, name: str) -> Value:
    """`federated_map` of Python code on Values; for expansions."""
    type_ = value.type_signature
    assert isinstance(type_, FederatedType)
    return federated_map(traced(fn, type_.member, name=name), value)
