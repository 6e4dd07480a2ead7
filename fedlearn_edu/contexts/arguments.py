# SPDX-License-Identifier: Apache-2.0
"""What goes into a call and what comes out: plain forms, and how many participants.

Going in, Python containers become plain form (`to_plain`), the entries of federated
values are counted (`count_members`), and one value that all hold is there once for each
(`fill_all_equal`). Coming out, plain form becomes Python again (`to_python`).
"""

from collections.abc import Mapping
from typing import Any

from fedlearn_edu.contexts import messages
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.computation import (
    Computation,
    PolymorphicComputation,
    check_closed,
)
from fedlearn_edu.structure import tree_map
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    FunctionType,
    Placement,
    StructType,
    Type,
    normalize,
    restore,
    to_type,
)
from fedlearn_edu.types.containers import Uncounted, private
from fedlearn_edu.types.sequences import unwrap

Cardinalities = Mapping[Placement, int]


def infer_cardinalities(
    argument: Any, type_: Any, callee: str = "the computation"
) -> Cardinalities:
    """How many participants an argument implies for a parameter of this type.

    All-equal parts count nothing: one value stands for any number of participants.

    >>> from fedlearn_edu.types import parse_type
    >>> infer_cardinalities([[1, 2], []], parse_type("{int32*}@CLIENTS"))
    {CLIENTS: 2}

    Raises:
        TypeMismatchError: if the argument does not have the type.
        CardinalityError: if two parts disagree; names both.
    """
    wanted = to_type(type_)
    if wanted is None:
        return {}
    plain = normalize(unwrap(argument), wanted, f"{callee}'s argument")
    return count_members(plain, wanted, callee)


def to_plain(argument: Any, type_: Type, callee: str) -> Any:
    """The argument in plain form, with functions as trees."""

    def with_tree(leaf: Type, part: Any) -> Any:
        return _tree_of(part, leaf, callee) if isinstance(leaf, FunctionType) else part

    plain = normalize(argument, type_, f"{callee}'s argument")
    return tree_map(with_tree, type_, plain)


def count_members(plain: Any, type_: Type | None, callee: str) -> Cardinalities:
    """The same for an argument that is in plain form already."""
    counts: dict[Placement, tuple[int, str]] = {}
    if type_ is not None:
        _count(plain, type_, f"{callee}'s argument", counts)
    return {placement: count for placement, (count, _) in counts.items()}


def fill_all_equal(plain: Any, counts: Cardinalities, default: int) -> Any:
    """The argument, where what all members of a group hold is there once for each.

    Raises:
        TypeMismatchError: if nothing says how many clients there are.
    """
    known = {SERVER: 1, **({CLIENTS: default} if default else {}), **counts}

    def fill(part: Any) -> Any:
        match part:
            case Uncounted(value, placement) if placement in known:
                return (value,) * known[placement]
            case Uncounted():
                raise part.refusal
            case _:
                return part

    return tree_map(fill, plain)


def prepare(
    computation: Computation, argument: Any, default: int, *, at_once: bool
) -> tuple[Any, Cardinalities]:
    """The argument of a call in plain form, and how many participants there are.

    Args:
        default: how many clients there are when no argument says it; 0 if unknown.
        at_once: whether the call is an intrinsic outside of any body.
    """
    check_closed(computation)
    type_, callee = computation.type_signature, computation.__name__
    plain = None
    if type_.parameter is not None:
        plain = to_plain(argument, type_.parameter, callee)
    counts = count_members(plain, type_.parameter, callee)
    plain = fill_all_equal(plain, counts, default)
    if at_once:
        counts = cardinalities_at_once(counts, type_, default, callee)
    return plain, counts


def cardinalities_at_once(
    counts: Cardinalities, type_: FunctionType, default: int, callee: str
) -> Cardinalities:
    """The counts for an intrinsic outside of any body, whose data may not tell them.

    What is equal at all clients is asked of one of them.

    Raises:
        CardinalityError: if it matters how many clients there are, and nothing says it.
    """
    placed = [part for part in (type_.parameter, type_.result) if part is not None]
    if CLIENTS in counts or default or not any(p.contains(_at_clients) for p in placed):
        return counts
    result = type_.result
    if isinstance(result, FederatedType) and result.all_equal and _at_clients(result):
        return {**counts, CLIENTS: 1}
    raise messages.unknown_number_of_clients(callee, type_)


def _at_clients(type_: Type) -> bool:
    return isinstance(type_, FederatedType) and type_.placement is CLIENTS


def _count(
    plain: Any, type_: Type, path: str, counts: dict[Placement, tuple[int, str]]
) -> None:
    match type_:
        case FederatedType(placement=placement, all_equal=False) if not isinstance(
            plain, Uncounted
        ):
            known, where = counts.setdefault(placement, (len(plain), path))
            if known != len(plain):
                raise messages.counts_disagree(
                    placement, known, where, len(plain), path
                )
        case StructType():
            for part, element in zip(type_._parts, plain, strict=True):
                _count(element, part.type, path + part.step, counts)


def to_python(plain: Any, found: Type, type_: Type, clients: int) -> Any:
    """What Python gets for a plain result of the type `found`: arrays of its own.

    A value that is equal everywhere may have passed through `{T}@CLIENTS`: then it is
    there once for each participant.
    """

    def whole(leaf: Type, found: Type, part: Any) -> Any:
        match found, leaf:
            case FederatedType(all_equal=True), FederatedType(all_equal=False) as each:
                return (part,) * (clients if each.placement is CLIENTS else 1)
        return part

    return restore(tree_map(whole, type_, found, private(plain)), type_)


def _tree_of(function: Any, type_: FunctionType, callee: str) -> ir.Node:
    if isinstance(function, PolymorphicComputation) and type_.parameter is not None:
        function = function.concretize(type_.parameter)
    if not isinstance(function, Computation):
        raise messages.not_a_computation(callee, type_, function)
    check_closed(function)
    where = f"{callee}'s argument"
    type_.check_assignable_from(function.type_signature, where=where)
    return function.tree
