# SPDX-License-Identifier: Apache-2.0
"""The strategy of groups of groups: a server above child stacks that hold some clients.

    SERVER  : one executor
    CLIENTS : child stacks, each a federated stack of its own over some of the clients

A value at CLIENTS is a tuple of the children's federated values, in client order. Here,
and only here, `merge` is needed: each child folds its clients, the server merges the
partial folds, in the order of the children.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from itertools import accumulate, starmap
from typing import Any, final

from fedlearn_edu.executors import messages, traffic
from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.executors.concurrency import gather, prefetched
from fedlearn_edu.executors.federating import FederatingExecutor
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.executors.strategies.base import FederatingStrategy, implements
from fedlearn_edu.executors.strategies.shared import (
    check_members,
    edge_of_value,
    embedded_function,
    federated_result,
    identity,
    member_of_zip,
    pairwise_masks,
    with_participant,
)
from fedlearn_edu.executors.wrapping import Work
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    FunctionType,
    StructType,
    Type,
    type_at_server,
)


@final
class FederatedComposingStrategy(FederatingStrategy):
    """Composes child stacks into one.

    Source: `tff.framework.FederatedComposingStrategy`.
    """

    def __init__(
        self, server: Executor, children: Sequence[Executor], counts: Sequence[int]
    ) -> None:
        self._server = server
        self._children = tuple(children)
        self.targets = (server, *self._children)
        self._counts = tuple(counts)

    @staticmethod
    def factory(
        server_executor: Executor,
        target_executors: Sequence[Executor],
        counts: Sequence[int],
    ) -> Callable[[FederatingExecutor], "FederatedComposingStrategy"]:
        """Makes a strategy factory for `FederatingExecutor`.

        Args:
            server_executor: does the server's work.
            target_executors: federated stacks, each over its own clients.
            counts: how many clients each of them has.
        """
        # NB(TFF): there, the counts are found out by asking each child for a sum of
        # ones.
        if len(counts) != len(target_executors):
            raise messages.wrong_number_of_counts(len(counts), len(target_executors))
        return lambda executor: FederatedComposingStrategy(
            server_executor, target_executors, counts
        )

    def close(self) -> None:
        """Closes the server's executor and all children."""
        for target in self.targets:
            target.close()

    async def embed(self, value: Any, type_: FederatedType) -> Any:
        """Deals the entries out to the children, or gives all of them the one value."""
        if type_.placement is SERVER:
            plain = value if type_.all_equal else check_members(value, 1, type_)[0]
            edge = traffic.inward(SERVER)
            return (await traffic.sent(edge, self._server, plain, type_.member),)
        parts: list[Any] = [value] * len(self._children)
        if not type_.all_equal:
            members = check_members(value, sum(self._counts), type_)
            ends = zip(self._counts, accumulate(self._counts), strict=True)
            parts = [members[end - count : end] for count, end in ends]
        pairs = zip(self._children, parts, strict=True)
        return tuple(await gather(c.create_value(part, type_) for c, part in pairs))

    async def compute(self, representation: Any, type_: FederatedType) -> Any:
        """Materializes all members in client order, or the first if all are equal."""
        if type_.placement is SERVER:
            plain = await traffic.fetched(traffic.outward(SERVER), representation[0])
            return plain if type_.all_equal else (plain,)
        if type_.all_equal:
            first = next((i for i, count in enumerate(self._counts) if count), 0)
            return await representation[first].compute()
        groups = await gather(part.compute() for part in representation)
        return tuple(member for group in groups for member in group)

    @implements("federated_value", "federated_broadcast")
    async def _value(self, type_: FunctionType, value: Handle) -> Any:
        plain = await value.compute()
        with traffic.crossing(edge_of_value(type_)):
            return await self.embed(plain, federated_result(type_))

    @implements("federated_eval")
    async def _eval(self, type_: FunctionType, fn: Handle) -> Any:
        if federated_result(type_).placement is SERVER:
            return (await self._at_server(lambda: self._called(fn)),)
        return await self._in_children("federated_eval", type_.result, [fn])

    @implements("federated_map")
    async def _map(self, type_: FunctionType, fn: Handle, arg: Handle) -> Any:
        if federated_result(type_).placement is SERVER:
            given = arg.representation
            return (await self._at_server(lambda: self._called(fn, *given)),)
        return await self._in_children("federated_map", type_.result, [fn, arg])

    @implements("federated_zip")
    async def _zip(self, type_: FunctionType, value: Handle) -> Any:
        if federated_result(type_).placement is SERVER:
            return (await member_of_zip(self._server, value, 0),)
        return await self._in_children("federated_zip", type_.result, [value])

    @implements("federated_aggregate", "federated_map_aggregate")
    async def _aggregate(self, type_: FunctionType, *args: Handle) -> Any:
        """Every child folds its clients; the server merges what they have."""
        *mapped, zero, accumulate, merge, report = args
        uri = "federated_map_aggregate" if mapped[1:] else "federated_aggregate"
        state_type = ir.function_type_of(report.node).parameter
        assert state_type is not None
        keep = identity(self, state_type)
        parts = [*mapped, zero, accumulate, merge, keep]
        partials = self._in_each_child(uri, type_at_server(state_type), parts)
        in_order = prefetched(partials, len(self._children))
        state = await self._merge(in_order, merge, zero, state_type)
        return (await self._called(report, state),)

    @implements("federated_pairwise_masks")
    async def _masks(self, type_: FunctionType, prototype: Handle) -> Any:
        # For all clients at once: alone in its group, a client would have no mask.
        masks = pairwise_masks(await prototype.compute(), sum(self._counts))
        return await self.embed(masks, federated_result(type_))

    @implements("federated_select")
    async def _select(self, type_: FunctionType, *args: Handle) -> Any:
        return await self._in_children("federated_select", type_.result, args)

    async def _merge(
        self,
        partials: AsyncIterator[ExecutorValue],
        merge: Handle,
        zero: Handle,
        state_type: Type,
    ) -> ExecutorValue:
        join = await embedded_function(self._server, merge)
        state = None
        async for partial in partials:  # while other children still fold
            one = await self._server.create_value(await partial.compute(), state_type)
            if state is None:
                state = one
                continue
            pair = await self._server.create_struct([state, one])
            state = await self._server.create_call(join, pair)
        if state is None:
            return await self._server.create_value(await zero.compute(), state_type)
        return state

    async def _called(self, fn: Handle, *arg: ExecutorValue) -> ExecutorValue:
        """The result of a function at the server."""
        return await self._server.create_call(
            await embedded_function(self._server, fn), *arg
        )

    async def _at_server(self, work: Work) -> Any:
        """What comes of the work; an error says that it was the server's."""
        return await next(with_participant(SERVER, 0, [work]))

    async def _in_children(
        self, uri: str, result: Type, args: Sequence[Handle]
    ) -> tuple[ExecutorValue, ...]:
        """Runs the same intrinsic in every child, each on its part of the arguments."""
        return tuple(await gather(self._in_each_child(uri, result, args)))

    def _in_each_child(
        self, uri: str, result: Type, args: Sequence[Handle]
    ) -> Iterator[Coroutine[Any, Any, ExecutorValue]]:
        """The same, one coroutine per child."""

        async def run(index: int, child: Executor) -> ExecutorValue:
            parts = [await self._part(arg, index, child) for arg in args]
            arg = parts[0] if len(parts) == 1 else await child.create_struct(parts)
            intrinsic = ir.Intrinsic(uri, FunctionType(arg.type_signature, result))
            return await child.create_call(await child.create_value(intrinsic), arg)

        return starmap(run, enumerate(self._children))

    async def _part(self, arg: Handle, index: int, child: Executor) -> ExecutorValue:
        """Child `index`'s part of an argument, embedded in the child."""
        type_ = arg.type_signature
        match type_:
            case FederatedType(placement=placement) if placement is CLIENTS:
                part: ExecutorValue = arg.representation[index]
                return part
            case FunctionType():
                return await child.create_value(arg.node, type_)
            case StructType() if isinstance(fields := arg.representation, Struct):
                parts = [await self._part(field, index, child) for field in fields]
                return await child.create_struct(fields.with_values(parts))
            case _:
                return await child.create_value(await arg.compute(), type_)
