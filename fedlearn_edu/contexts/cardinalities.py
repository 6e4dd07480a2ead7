# SPDX-License-Identifier: Apache-2.0
"""How many participants an argument implies."""

from collections.abc import Mapping
from typing import Any

from fedlearn_edu.errors import CardinalityError
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    FunctionType,
    Placement,
    StructType,
    Type,
    normalize,
    released,
    to_type,
)
from fedlearn_edu.types.cached import Uncounted

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
    plain = normalize(released(argument), wanted, f"{callee}'s argument")
    return count_members(plain, wanted, callee)


def count_members(plain: Any, type_: Type | None, callee: str) -> Cardinalities:
    """The same for an argument that is in plain form already."""
    counts: dict[Placement, tuple[int, str]] = {}
    if type_ is not None:
        _count(plain, type_, f"{callee}'s argument", counts)
    return {placement: count for placement, (count, _) in counts.items()}


def for_everybody(plain: Any, counts: Cardinalities, default: int) -> Any:
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
            case Struct():
                return part.map(fill)
            case _:
                return part

    return fill(plain)


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
    raise CardinalityError(
        f"nothing tells {callee} how many clients there are",
        expected="data with one entry per client, or a default number of clients",
        found=str(type_),
        do="place([…, …], CLIENTS) says it; so does "
        "local_executor_factory(default_num_clients=3)",
    )


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
                raise CardinalityError(
                    f"parts of the argument disagree on the number of {placement.uri}",
                    expected=f"{known} members, as in {where}",
                    found=f"{len(plain)} members",
                    where=path,
                    do="pass one entry for each participant, everywhere",
                )
        case StructType():
            pairs = zip(type_.items(), plain, strict=True)
            for index, ((name, element_type), element) in enumerate(pairs):
                step = f".{name}" if name else f"[{index}]"
                _count(element, element_type, path + step, counts)
