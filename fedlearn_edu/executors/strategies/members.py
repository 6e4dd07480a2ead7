# SPDX-License-Identifier: Apache-2.0
"""What strategies share: counting members, checking targets, rebuilding structs."""

from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fedlearn_edu.errors import CardinalityError, TypeMismatchError, add_place, describe
from fedlearn_edu.executors import underway
from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    FunctionType,
    Placement,
    Type,
)

TargetExecutors = Mapping[Placement | None, Executor | Sequence[Executor]]


def check_members(value: Any, count: int, type_: FederatedType) -> Sequence[Any]:
    """The entries of a federated value, one for each of `count` participants.

    Raises:
        TypeMismatchError: if it is no list or tuple.
        CardinalityError: if it has another number of entries.
    """
    if not isinstance(value, list | tuple):
        raise TypeMismatchError(
            f"a value of type {type_} has one entry for each participant",
            expected="a list or a tuple",
            found=describe(value),
            where=f"a value at {type_.placement}",
            do="pass a list, or declare the type all-equal",
        )
    if len(value) != count:
        raise CardinalityError(
            f"a value at {type_.placement} has the wrong number of members",
            expected=f"{count} entries, one for each participant",
            found=f"{len(value)} entries",
            where=str(type_),
            do="pass one entry for each of the executors at this placement",
        )
    return value


def check_targets(targets: TargetExecutors) -> dict[Placement, tuple[Executor, ...]]:
    """A tuple of executors for each placement; the entry under `None` is left out.

    Raises:
        TypeMismatchError: if a key is no placement or a value no executor.
        CardinalityError: if the server, or the unplaced entry, is not exactly one.
    """
    if not isinstance(targets, Mapping):
        raise TypeMismatchError(
            "target_executors maps placements to executors",
            expected="{SERVER: executor, CLIENTS: [executor, …]}",
            found=describe(targets),
            where="target_executors",
            do="write a dict",
        )
    checked: dict[Placement, tuple[Executor, ...]] = {}
    for placement, entry in targets.items():
        executors = tuple(entry) if isinstance(entry, list | tuple) else (entry,)
        _check_entry(placement, executors)
        if placement is not None:
            checked[placement] = executors
    return checked


def _check_entry(placement: Placement | None, executors: tuple[Any, ...]) -> None:
    if placement is not None and not isinstance(placement, Placement):
        raise TypeMismatchError(
            "a key of target_executors is no placement",
            expected="CLIENTS, SERVER or None",
            found=describe(placement),
            where="target_executors",
            do="write fl.CLIENTS or fl.SERVER, without quotes",
        )
    strangers = [e for e in executors if not isinstance(e, Executor)]
    if strangers:
        raise TypeMismatchError(
            f"target_executors holds something else than executors at {placement}",
            expected="an executor or a list of executors",
            found=describe(strangers[0]),
            where="target_executors",
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


async def member_of_zip(target: Executor, value: Handle, index: int) -> ExecutorValue:
    """Participant `index`'s structure, made of its members of the parts of `value`."""
    if isinstance(value.type_signature, FederatedType):
        member: ExecutorValue = value.representation[index]
        return member
    assert isinstance(value.representation, Struct)
    pairs = [
        (name, await member_of_zip(target, part, index))
        for name, part in value.representation.items()
    ]
    return await target.create_struct(Struct(pairs))


def noted(
    placement: Placement, first: int, work: Iterable[Coroutine[Any, Any, Any]]
) -> Iterator[Coroutine[Any, Any, Any]]:
    """The same work, whose errors say at which participant they happened."""
    for number, one in enumerate(work, first):
        yield _noted("the server" if placement is SERVER else f"client {number}", one)


async def _noted(who: str, work: Coroutine[Any, Any, Any]) -> Any:
    outer = underway.place.set(f" at {who}")
    try:
        return await work
    except Exception as error:
        add_place(error, f"at {who}")
        raise
    finally:
        underway.place.reset(outer)


def federated_result(type_: FunctionType) -> FederatedType:
    """The result type of a federated intrinsic."""
    assert isinstance(type_.result, FederatedType)
    return type_.result


def member_type(value: Handle) -> Type:
    """The type of what each participant holds of a federated value."""
    assert isinstance(value.type_signature, FederatedType)
    return value.type_signature.member
