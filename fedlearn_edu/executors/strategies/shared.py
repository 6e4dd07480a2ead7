# SPDX-License-Identifier: Apache-2.0
"""What strategies share: checking members and targets, zipping, folding, masking."""

import itertools
import math
from collections.abc import (
    AsyncIterator,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import add_place
from fedlearn_edu.executors import messages, traffic, underway
from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.executors.wrapping import Work
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct, leaves, unflatten
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


def check_members(value: Any, count: int, type_: FederatedType) -> Sequence[Any]:
    """The entries of a federated value, one for each of `count` participants.

    Raises:
        TypeMismatchError: if it is no list or tuple.
        CardinalityError: if it has another number of entries.
    """
    if not isinstance(value, list | tuple | Members):
        raise messages.not_entries(value, type_)
    if len(value) != count:
        raise messages.wrong_number_of_members(len(value), count, type_)
    return value


def identity(owner: object, type_: Type) -> Handle:
    """`(T -> T)`."""
    same = ir.Lambda("x", type_, ir.Reference("x", type_))
    return Handle(owner, same, same.type)


def check_targets(targets: TargetExecutors) -> dict[Placement, tuple[Executor, ...]]:
    """A tuple of executors for each placement; the entry under `None` is left out.

    Raises:
        TypeMismatchError: if a key is no placement or a value no executor.
        CardinalityError: if the server, or the unplaced entry, is not exactly one.
    """
    if not isinstance(targets, Mapping):
        raise messages.targets_are_no_mapping(targets)
    checked: dict[Placement, tuple[Executor, ...]] = {}
    for placement, entry in targets.items():
        executors = tuple(entry) if isinstance(entry, list | tuple) else (entry,)
        _check_entry(placement, executors)
        if placement is not None:
            checked[placement] = executors
    return checked


def _check_entry(placement: Placement | None, executors: tuple[Any, ...]) -> None:
    if placement is not None and not isinstance(placement, Placement):
        raise messages.no_placement(placement)
    strangers = [e for e in executors if not isinstance(e, Executor)]
    if strangers:
        raise messages.no_executor(placement, strangers[0])
    if placement is not CLIENTS and len(executors) != 1:
        raise messages.not_exactly_one(placement, len(executors))


async def member_of_zip(target: Executor, value: Handle, index: int) -> ExecutorValue:
    """Participant `index`'s structure, made of its members of the parts of `value`."""
    if isinstance(value.type_signature, FederatedType):
        member: ExecutorValue = value.representation[index]
        return member
    fields = value.representation
    parts = [await member_of_zip(target, part, index) for part in fields]
    return await target.create_struct(fields.with_values(parts))


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


def federated_result(type_: FunctionType) -> FederatedType:
    """The result type of a federated intrinsic."""
    assert isinstance(type_.result, FederatedType)
    return type_.result


def edge_of_value(type_: FunctionType) -> str:
    """What the value of a `federated_broadcast` crosses, or of a `federated_value`."""
    if isinstance(type_.parameter, FederatedType):
        return traffic.TO_CLIENTS
    return traffic.INTO[federated_result(type_).placement]


def member_type(value: Handle) -> Type:
    """The type of what each participant holds of a federated value."""
    assert isinstance(value.type_signature, FederatedType)
    return value.type_signature.member


Results = AsyncIterator[ExecutorValue]


async def embedded_function(server: Executor, fn: Handle) -> ExecutorValue:
    """A function in the server's executor; what it captured comes with it."""
    of = fn.type_signature
    return await traffic.sent(traffic.INTO_SERVER, server, fn.node, of)


async def fold(
    server: Executor, members: Results, type_: Type, zero: Handle, accumulate: Handle
) -> ExecutorValue:
    """`accumulate(… accumulate(zero, x0) …, xn)` at the server; members of `type_`."""
    step = await embedded_function(server, accumulate)
    state = await server.create_value(await zero.compute(), zero.type_signature)
    async for member in members:
        plain = await traffic.fetched(traffic.TO_SERVER, member)
        item = await server.create_value(plain, type_)
        pair = await server.create_struct(Struct([(None, state), (None, item)]))
        state = await server.create_call(step, pair)
    return state


async def in_turn(members: Iterable[ExecutorValue]) -> Results:
    """The values, one after the other."""
    for member in members:
        yield member


_calls = itertools.count()


def pairwise_masks(prototype: Any, num_clients: int) -> Members:
    """One mask for each client, shaped like `prototype`; all masks sum to zero.

    Each is made of the seeds that its client shares with others, and only where it is
    needed. A single client shares none: its mask is zero, and the server sees its
    value. That is true of every real protocol, too.
    """
    like = unflatten(prototype, map(np.zeros_like, leaves(prototype)))
    return Members(_PairwiseMask(like, num_clients, next(_calls)), range(num_clients))


@final
@dataclass(frozen=True)
class _PairwiseMask:
    """The mask of each of `count` clients: of two that share a seed, one subtracts."""

    prototype: Any
    count: int
    call: int

    def __call__(self, client: int) -> Any:
        masks = [
            self._of_leaf(number, np.asarray(leaf), client)
            for number, leaf in enumerate(leaves(self.prototype))
        ]
        return unflatten(self.prototype, masks)

    def _of_leaf(self, number: int, leaf: Any, client: int) -> Any:
        total = np.zeros(leaf.shape, leaf.dtype)
        limits = np.iinfo(leaf.dtype)
        ends = limits.min, limits.max
        for other in _neighbors(client, self.count):
            pair = sorted((client, other))
            rng = np.random.default_rng([2017, self.call, number, *pair])
            shared = rng.integers(*ends, leaf.shape, leaf.dtype, endpoint=True)
            total += shared if client < other else -shared
        return total[()]


def _neighbors(client: int, count: int) -> list[int]:
    """The clients at most log₂ `count` places away, in a circle."""
    reach = math.ceil(math.log2(count)) if count > 1 else 0
    steps = range(1, reach + 1)
    near = {(client + sign * step) % count for step in steps for sign in (1, -1)}
    return sorted(near - {client})
