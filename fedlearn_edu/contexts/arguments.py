# SPDX-License-Identifier: Apache-2.0
"""What goes into a call and what comes out: plain forms, and how many participants.

Going in (`prepare`), Python containers become plain form, functions become trees, the
entries of federated values are counted, and one value that all hold is there once for
each. Coming out (`to_python`), plain form becomes Python again.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fedlearn_edu.errors import CardinalityError, TypeMismatchError, counted, describe
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

    All-equal parts count nothing: one value stands for any number of participants. Nor
    does an argument that is left out, `None`.

    >>> from fedlearn_edu.types import parse_type
    >>> infer_cardinalities([[1, 2], []], parse_type("{int32*}@CLIENTS"))
    {CLIENTS: 2}

    Raises:
        TypeMismatchError: if the argument does not have the type.
        CardinalityError: if two parts disagree; names both.
    """
    wanted, path = to_type(type_), f"{callee}'s argument"
    if wanted is None or argument is None:
        return {}
    return _count(normalize(unwrap(argument), wanted, path), wanted, path)


def prepare(
    computation: Computation, argument: Any, default: int
) -> tuple[Any, Cardinalities]:
    """The argument of a call in plain form, and how many participants there are.

    Args:
        default: how many clients there are when no argument says it; 0 if unknown.

    Raises:
        TypeMismatchError: if the argument does not have the type of the parameter.
        CardinalityError: if it matters how many clients there are, and nothing says it,
            or two parts disagree.
    """
    check_closed(computation)
    type_, callee = computation.type_signature, computation.__name__
    plain: Any = None
    counts: Cardinalities = {}
    if type_.parameter is not None:
        path = f"{callee}'s argument"
        plain = normalize(argument, type_.parameter, path)
        counts = _count(plain, type_.parameter, path)
        known = {SERVER: 1, **({CLIENTS: default} if default else {}), **counts}

        def complete(leaf: Type, part: Any) -> Any:
            match part:
                case _ if isinstance(leaf, FunctionType):
                    return _tree_of(part, leaf, path, callee)
                case Uncounted(value, placement) if placement in known:
                    return (value,) * known[placement]
                case Uncounted():
                    raise part.refusal
                case _:
                    return part

        plain = tree_map(complete, type_.parameter, plain)
    if computation.is_eager and CLIENTS not in counts and not default:
        counts = _counts_of_eager(counts, type_, callee)
    return plain, counts


def _counts_of_eager(
    counts: Cardinalities, type_: FunctionType, callee: str
) -> Cardinalities:
    """The counts for an intrinsic outside of any body, whose data do not tell them.

    What is equal at all clients is asked of one of them.
    """
    if not type_.contains(_at_clients):
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


def _count(plain: Any, type_: Type, path: str) -> Cardinalities:
    found: dict[Placement, tuple[int, str]] = {}
    for placement, count, where in _groups(plain, type_, path):
        known, first = found.setdefault(placement, (count, where))
        if known != count:
            raise CardinalityError(
                f"parts of the argument disagree on the number of {placement.uri}",
                expected=f"{counted(known, 'member')}, as in {first}",
                found=counted(count, "member"),
                where=where,
                do="pass one entry for each participant, everywhere",
            )
    return {placement: count for placement, (count, _) in found.items()}


def _groups(plain: Any, type_: Type, path: str) -> Iterator[tuple[Placement, int, str]]:
    """What has an entry for each participant: where, how many, and its path."""
    match type_:
        case FederatedType(placement=placement, all_equal=False):
            if not isinstance(plain, Uncounted):
                yield placement, len(plain), path
        case StructType():
            for part, element in zip(type_._parts, plain, strict=True):
                yield from _groups(element, part.type, path + part.step)


def _tree_of(function: Any, type_: FunctionType, path: str, callee: str) -> ir.Node:
    if isinstance(function, PolymorphicComputation) and type_.parameter is not None:
        function = function.fn_for_argument_type(type_.parameter)
    if not isinstance(function, Computation):
        raise TypeMismatchError(
            f"{callee} takes a computation here",
            expected=str(type_),
            found=describe(function),
            where=path,
            do="decorate the function: np_computation(function, type), …",
        )
    check_closed(function)
    type_.check_assignable_from(function.type_signature, where=path)
    return function.tree


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
