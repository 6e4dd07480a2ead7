# SPDX-License-Identifier: Apache-2.0
"""The strategy of groups: a group in one call, where the runtime can do that.

    federated_map            one call for all members
    federated_map_aggregate  one call, which also folds their results, in client order
    federated_aggregate      one call, for results of such a map
    everything else          the flat strategy below, one participant at a time

A group has up to `max_fanout` clients; there may be many (`composing.py`). What clients
hold stays plain until one of them needs it. Whatever is declined is done by the flat
strategy (`resolving.py`), which also says what an intrinsic means. Clients run in one
call if

    the factory   has no strategy of yours, fuses, counts no bytes   `runs_together`
    the runtime   offers it: TensorFlow does, NumPy does not         `RUNTIMES`
    the data      are plain: no client has made a part of them       `_held`
    the work      is pure, small, …; else the tape has the reason    `groups._check`
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, final

from fedlearn_edu.errors import counted
from fedlearn_edu.executors import traffic
from fedlearn_edu.executors.batched import (
    BatchedRuntime,
    Declined,
    Entries,
    Group,
    Held,
    Parts,
    Same,
)
from fedlearn_edu.executors.federating import FederatingStrategy
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.executors.participants import (
    edge_of_value,
    entries_of,
    federated,
    identity,
)
from fedlearn_edu.executors.recording import note
from fedlearn_edu.executors.resolving import FederatedResolvingStrategy
from fedlearn_edu.executors.threads import Workers
from fedlearn_edu.executors.underway import underway
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import leaves
from fedlearn_edu.signals import is_from_outside
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    FederatedType,
    FunctionType,
    StructType,
    type_at_clients,
)
from fedlearn_edu.types.data_types import struct_type
from fedlearn_edu.types.sequences import unwrap


@final
class FederatedGroupingStrategy(FederatingStrategy):
    """A value at CLIENTS is represented as `Held`, or as below once it was made there.

    Args:
        runtime: the way to run a function for a group.
        count: how many clients there are.
        workers: where the runtime works; the groups of a stack share them. Without,
            it works on the caller's thread.
        below: realizes what cannot be done together.
    """

    implemented = FederatedResolvingStrategy.implemented

    def __init__(
        self,
        runtime: BatchedRuntime,
        count: int,
        workers: Workers | None,
        below: FederatedResolvingStrategy,
    ) -> None:
        self._below = below
        self._runtime = runtime
        self._count = count
        self._workers = workers
        self.targets = below.targets

    async def embed(self, value: Any, type_: FederatedType) -> Any:
        """Keeps what clients hold as it is."""
        if type_.placement is not CLIENTS:
            return await self._below.embed(value, type_)
        held: Held
        if type_.all_equal:
            held = Same(value, self._count)
        else:
            held = Entries(tuple(entries_of(value, self._count, type_)))
        traffic.moved(traffic.inward(CLIENTS), None, type_.member, held)
        return held

    async def compute(self, representation: Any, type_: FederatedType) -> Any:
        """Materializes all members, or the one value that all hold."""
        match representation:
            case Entries(values=values) if not type_.all_equal:
                edge = traffic.outward(CLIENTS)
                traffic.moved(edge, None, type_.member, representation)
                return tuple(map(unwrap, values))
            case Same(value=value) if type_.all_equal and self._count:
                traffic.moved(traffic.outward(CLIENTS), None, type_.member, value)
                return unwrap(value)
            case _:
                with traffic.crossing(traffic.NO_EDGE):
                    members = await self._one_by_one(representation, type_)
                return await self._below.compute(members, type_)

    async def call(self, uri: str, type_: FunctionType, args: list[Handle]) -> Any:
        """Runs an intrinsic for all clients together, or else below."""
        with suppress(Declined):
            return await self._together(uri, type_, args)
        return await self._below.call(uri, type_, [await self._lower(a) for a in args])

    async def _together(self, uri: str, type_: FunctionType, args: list[Handle]) -> Any:
        is_at_clients = federated(type_.result).placement is CLIENTS
        match uri:
            case "federated_map_aggregate":
                return await self._fold(*args)
            case "federated_aggregate":
                return await self._fold_made(*args)
            case "federated_map" if is_at_clients:
                return await self._map(*args)
            case "federated_zip" if is_at_clients:
                return _held(args[0])
            case "federated_value" | "federated_broadcast" if is_at_clients:
                found = Same(await args[0].compute(), self._count)
                member = federated(type_.result).member
                traffic.moved(edge_of_value(type_), None, member, found)
                return found
        raise Declined("the flat strategy does it")

    async def _map(self, fn: Handle, value: Handle) -> Held:
        group = self._group(value)
        found = await self._try(fn, lambda: self._runtime.map(fn.node, group))
        return Entries(found, made_together=True)

    async def _fold_made(self, value: Handle, *how: Handle) -> Any:
        """The fold of what was made together; what users hand in goes one by one."""
        if not _is_made_together(_held(value)):
            raise Declined("the clients were handed it")
        member = federated(value.type_signature).member
        return await self._fold(identity(self, member), value, *how)

    async def _fold(
        self,
        fn: Handle,
        value: Handle,
        zero: Handle,
        accumulate: Handle,
        merge: Handle,
        report: Handle,
    ) -> Any:
        group = self._group(value)
        start, op = await zero.compute(), accumulate.node
        work = partial(self._runtime.fold, fn.node, group, start, op)
        state = await self._try(fn, work, is_fold=True)
        return await self._below.finish(state, report)

    async def _try(
        self, fn: Handle, work: Callable[[], Any], *, is_fold: bool = False
    ) -> Any:
        """What the runtime makes of it; `Declined` by the runtime, or by any error.

        Run one by one, clients meet the same error, which then says whose it is.
        """
        names = dict.fromkeys(leaf.code.name for leaf in leaves(fn.node))
        detail = ", ".join([*names, counted(self._count, "client")])
        try:
            with underway(detail):
                found = await self._workers.do(work) if self._workers else work()
        except Declined as reason:
            note("declined", fn.type_signature, f"{detail}: {reason}")
            raise
        except Exception as error:
            if is_from_outside(error):
                raise
            kind = type(error).__name__
            note("batched_call", fn.type_signature, detail, error=kind)
            raise Declined(kind) from error
        given = (fn.node, self._count)
        number = note("batched_call", fn.type_signature, detail, given=given)
        code, result = Same(*given), ir.function_type_of(fn.node).result
        traffic.moved(traffic.INTO_CLIENTS, None, fn.type_signature, code, number)
        if is_fold:
            sizes = Same(result, self._count)
            traffic.moved(traffic.TO_SERVER, None, result, sizes, number)
        return found

    def _group(self, value: Handle) -> Group:
        if not self._count:
            raise Declined("there are no clients")
        return Group(_held(value), federated(value.type_signature).member, self._count)

    async def _lower(self, arg: Handle) -> Handle:
        """The same argument as the strategy below represents it."""
        type_, held = arg.type_signature, arg.representation
        if isinstance(type_, FederatedType):
            held = await self._one_by_one(held, type_)
        elif isinstance(held, Struct):
            held = held.with_values([await self._lower(part) for part in held])
        return Handle(arg.owner, held, type_)

    async def _one_by_one(self, representation: Any, type_: FederatedType) -> Any:
        """What clients hold, embedded at each of them."""
        match representation:
            case Entries(values=values):
                each = type_at_clients(type_.member)
                return await self._below.embed(tuple(values), each)
            case Same(value=value):
                equal = type_at_clients(type_.member, all_equal=True)
                return await self._below.embed(value, equal)
            case Parts(fields=fields):
                return await self._zipped(fields, type_)
            case members:
                return members

    async def _zipped(self, fields: Struct, type_: FederatedType) -> Any:
        assert isinstance(type_.member, StructType)
        placed, parts = tuple(map(type_at_clients, type_.member)), []
        for held, part_type in zip(fields, placed, strict=True):
            members = await self._one_by_one(held, part_type)
            parts.append(Handle(self, members, part_type))
        types = struct_type(fields.names(), placed)
        whole = Handle(self, fields.with_values(parts), types)
        zips = FunctionType(types, type_)
        return await self._below.call("federated_zip", zips, [whole])


def _held(value: Handle) -> Held:
    """What clients hold of a value or a structure of values, if it is plain still."""
    held: Any = value.representation
    if isinstance(held, Struct):
        return Parts(held.map(_held))
    if not isinstance(held, Held):
        raise Declined("each client has made its own")
    return held


def _is_made_together(held: Held) -> bool:
    match held:
        case Entries(made_together=made_together):
            return made_together
        case Parts(fields=fields):
            return all(map(_is_made_together, fields))
        case Same():
            return False
