# SPDX-License-Identifier: Apache-2.0
"""The uses of intrinsics that the language itself puts in: zip, map, and place.

A body may hand a structure of federated values where one is wanted, take a field of
one, or add a number to it. What is recorded then is what `mapping.py` and `movement.py`
publish under the same names.
"""

from collections.abc import Sequence
from typing import Any

from fedlearn_edu.errors import FedLearnError, TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.value import Value, body_around, to_value
from fedlearn_edu.signals import add_place
from fedlearn_edu.structure import leaves
from fedlearn_edu.types import FederatedType, FunctionType, Placement, StructType, Type


def recorded(uri: str, result: Type, values: Sequence[Value]) -> Value:
    """Binds a call of the intrinsic `uri` whose result type is known already."""
    nodes = [value.node for value in values]
    whole = ir.Struct(tuple((None, n) for n in nodes)) if len(nodes) > 1 else nodes[0]
    intrinsic = ir.Intrinsic(uri, FunctionType(whole.type, result))
    call = ir.Call(intrinsic, whole)
    return body_around(uri).bind(call, what=f"an argument of {uri}")


def argument(arg: Any, uri: str, hint: Type | None = None) -> Value:
    """A Value of one argument; an error says of which intrinsic."""
    try:
        return to_value(arg, parameter_hint=hint)
    except FedLearnError as error:
        add_place(error, f"an argument of {uri}")
        raise


def mapped(fn: Value, value: Value, *, all_equal: bool | None = None) -> Value:
    """`federated_map` of a function that takes the members."""
    type_ = value.type_signature
    assert isinstance(type_, FederatedType)
    member = ir.function_type_of(fn.node).result
    result = FederatedType(member, type_.placement, all_equal)
    return recorded("federated_map", result, [fn, value])


def placed(value: Value, placement: Placement) -> Value:
    """`federated_value` of a value without a placement."""
    check_plain(value.type_signature, str(value))
    result = FederatedType(value.type_signature, placement, True)
    return recorded("federated_value", result, [value])


def check_plain(type_: Type, where: str = "federated_value") -> None:
    """Refuses placements and functions."""
    if type_.contains(lambda t: isinstance(t, FederatedType | FunctionType)):
        raise TypeMismatchError(
            "federated_value places plain values only",
            expected="a type without placements and functions",
            found=type_,
            where=where,
            do="use federated_broadcast at the server, federated_eval for functions",
        )


def zipped(value: Value) -> Value:
    """`federated_zip` of a structure of federated values."""
    type_ = value.type_signature
    placement = common_placement(type_, str(value))
    result = FederatedType(_without_placements(type_), placement)
    return recorded("federated_zip", result, [value])


def zip_if_needed(value: Value) -> Value:
    """The implicit conversion: a structure that holds federated values is zipped."""
    type_ = value.type_signature
    holds = isinstance(type_, StructType) and type_.contains(Type.is_federated)
    return zipped(value) if holds else value


def common_placement(type_: Type, where: str = "federated_zip") -> Placement:
    """The one placement that all parts of a structure have."""
    parts = leaves(type_) if isinstance(type_, StructType) else []
    unplaced = [part for part in parts if not isinstance(part, FederatedType)]
    if unplaced:
        raise TypeMismatchError(
            "one part of a structure of federated values has no placement",
            expected="federated values, or structures of them",
            found=unplaced[0],
            where=where,
            do="place it first, beside the others: federated_value(…, CLIENTS)",
        )
    placements = {part.placement for part in parts if isinstance(part, FederatedType)}
    if len(placements) != 1:
        raise _not_one_placement(type_, placements, where)
    return placements.pop()


def _not_one_placement(
    type_: Type, placements: set[Placement], where: str
) -> TypeMismatchError:
    problem = "federated_zip needs a structure of federated values"
    do = "hand in several values in a list or tuple: federated_zip((x, y))"
    if placements:
        problem = (
            "the parts of a structure of federated values are at several placements"
        )
        do = (
            "bring all parts to one placement first: "
            "federated_broadcast takes what is at the server to the clients"
        )
    names = ", ".join(sorted(map(str, placements))) or "no placement"
    return TypeMismatchError(
        problem,
        expected="all parts at one placement, as in <{A}@CLIENTS,{B}@CLIENTS>",
        found=f"{type_} ({names})",
        where=where,
        do=do,
    )


def _without_placements(type_: Type) -> Type:
    match type_:
        case FederatedType(member=member):
            return member
        case StructType():
            fields = [(name, _without_placements(t)) for name, t in type_.items()]
            return StructType(fields, type_.python_container)
        case _:
            return type_
