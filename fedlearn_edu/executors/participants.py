# SPDX-License-Identifier: Apache-2.0
"""What strategies say of participants, such as "at client 3", and do at one of them."""

from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fedlearn_edu.errors import CardinalityError, TypeMismatchError, counted, describe
from fedlearn_edu.executors import traffic, underway
from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.executors.wrapping import Work
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.signals import add_place
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    FunctionType,
    Placement,
    Type,
)
from fedlearn_edu.types.sequences import Members

TargetExecutors = Mapping[Placement | None, Executor | Sequence[Executor]]


def federated(type_: Type) -> FederatedType:
    """The type itself, which is known to be federated."""
    assert isinstance(type_, FederatedType)
    return type_


def entries_of(value: Any, count: int, type_: FederatedType) -> Sequence[Any]:
    """The entries of a federated value, one for each of `count` participants.

    Raises:
        TypeMismatchError: if it is no list or tuple.
        CardinalityError: if it has another number of entries.
    """
    if not isinstance(value, list | tuple | Members):
        raise TypeMismatchError(
            f"a value of type {type_} has one entry for each participant",
            expected="a list or a tuple",
            found=describe(value),
            where=f"a value at {type_.placement}",
            do="pass a list, or declare the type all-equal",
        )
    if len(value) != count:
        entries = counted(count, "entry", "entries")
        raise CardinalityError(
            f"a value at {type_.placement} has the wrong number of members",
            expected=f"{entries}, one for each participant",
            found=counted(len(value), "entry", "entries"),
            where=str(type_),
            do="pass one entry for each of the executors at this placement",
        )
    return value


def identity(owner: object, type_: Type) -> Handle:
    """`(T -> T)`."""
    same = ir.Lambda("x", type_, ir.Reference("x", type_))
    return Handle(owner, same, same.type)


def edge_of_value(type_: FunctionType) -> str:
    """What the value of a `federated_broadcast` crosses, or of a `federated_value`."""
    if isinstance(type_.parameter, FederatedType):
        return traffic.TO_CLIENTS
    return traffic.INTO[federated(type_.result).placement]


async def function_at(server: Executor, fn: Handle) -> ExecutorValue:
    """A function in the server's executor; what it captured comes with it."""
    type_ = fn.type_signature
    return await traffic.sent(traffic.INTO_SERVER, server, fn.node, type_)


async def call(server: Executor, fn: Handle, *arg: ExecutorValue) -> ExecutorValue:
    """The result of a function at the server."""
    return await server.create_call(await function_at(server, fn), *arg)


def with_participant(
    placement: Placement, first: int, work: Iterable[Work]
) -> Iterator[Coroutine[Any, Any, Any]]:
    """The same work, whose errors say at which participant they happened.

    Each begins when it is awaited: what is cancelled before that leaves no coroutine.
    """
    for number, begin in enumerate(work, first):
        who = "the server" if placement is SERVER else f"client {number}"
        yield _with_participant(who, begin)


async def _with_participant(who: str, begin: Work) -> Any:
    outer = underway.place.set(f" at {who}")
    try:
        return await begin()
    except Exception as error:
        add_place(error, f"at {who}")
        raise
    finally:
        underway.place.reset(outer)


async def member_of_zip(target: Executor, value: Handle, index: int) -> ExecutorValue:
    """Participant `index`'s structure, made of its members of the parts of `value`."""
    fields = value.representation
    if isinstance(value.type_signature, FederatedType):
        member: ExecutorValue = fields[index]
        return member
    parts = [await member_of_zip(target, part, index) for part in fields]
    return await target.create_struct(fields.with_values(parts))


def check_targets(targets: TargetExecutors) -> dict[Placement, tuple[Executor, ...]]:
    """A tuple of executors for each placement; the entry under `None` is left out."""
    if not isinstance(targets, Mapping):
        raise _bad_targets(
            "target_executors maps placements to executors",
            expected="{SERVER: executor, CLIENTS: [executor, …]}",
            found=describe(targets),
            do="write a dict",
        )
    several = {
        placement: tuple(entry) if isinstance(entry, list | tuple) else (entry,)
        for placement, entry in targets.items()
    }
    for placement, executors in several.items():
        _check_entry(placement, executors)
    return {at: executors for at, executors in several.items() if at is not None}


def _check_entry(placement: Any, executors: tuple[Any, ...]) -> None:
    if placement is not None and not isinstance(placement, Placement):
        raise _bad_targets(
            "a key of target_executors is no placement",
            expected="CLIENTS, SERVER or None",
            found=describe(placement),
            do="write fl.CLIENTS or fl.SERVER, without quotes",
        )
    for found in executors:
        if not isinstance(found, Executor):
            raise _bad_targets(
                f"target_executors holds something else than executors at {placement}",
                expected="an executor or a list of executors",
                found=describe(found),
                do="make one, for example framework.NumPyExecutor()",
            )
    if placement is not CLIENTS and len(executors) != 1:
        raise CardinalityError(
            f"there is exactly one participant at {placement or 'no placement'}",
            expected="1 executor",
            found=f"{len(executors)} executors",
            where="target_executors",
            do="give one executor; only CLIENTS may have several",
        )


def _bad_targets(summary: str, **parts: Any) -> TypeMismatchError:
    return TypeMismatchError(summary, where="target_executors", **parts)
