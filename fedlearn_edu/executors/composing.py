# SPDX-License-Identifier: Apache-2.0
"""The strategy of groups of groups: a server above child stacks that hold some clients.

    SERVER  : one executor
    CLIENTS : child stacks, each a federated stack of its own over some of the clients

A value at CLIENTS is a tuple of the children's federated values, in client order. Here,
and only here, `merge` is needed: each child folds its clients, the server merges the
partial folds, in the order of the children. What the server does by itself is done by
the flat strategy, which here has no clients.
"""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing
from itertools import accumulate, starmap
from typing import Any, final

from fedlearn_edu.errors import CardinalityError
from fedlearn_edu.executors import traffic
from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.executors.driving import gather, prefetched
from fedlearn_edu.executors.federating import (
    FederatingExecutor,
    FederatingStrategy,
    implements,
)
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.executors.masks import pairwise_masks
from fedlearn_edu.executors.participants import (
    call,
    edge_of_value,
    entries_of,
    federated,
    function_at,
    identity,
)
from fedlearn_edu.executors.resolving import FederatedResolvingStrategy, Values
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

# What each child does by itself, unless it is the server's.
_IN_CHILDREN = ("federated_eval", "federated_map", "federated_zip", "federated_select")


@final
class FederatedComposingStrategy(FederatingStrategy):
    """Composes child stacks into one.

    Source: `tff.framework.FederatedComposingStrategy`.
    """

    implemented = dict.fromkeys(_IN_CHILDREN, "call")

    def __init__(
        self, server: Executor, children: Sequence[Executor], counts: Sequence[int]
    ) -> None:
        self._children = tuple(children)
        self._counts = tuple(counts)
        self._at_server = FederatedResolvingStrategy({SERVER: (server,)})
        self.targets = (server, *self._children)

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
            raise CardinalityError(
                "every child stack needs its number of clients",
                expected=f"{len(target_executors)} counts",
                found=f"{len(counts)} counts",
            )
        return lambda executor: FederatedComposingStrategy(
            server_executor, target_executors, counts
        )

    async def embed(self, value: Any, type_: FederatedType) -> Values:
        """Deals the entries out to the children, or gives all of them the one value."""
        if type_.placement is SERVER:
            return await self._at_server.embed(value, type_)
        parts: list[Any] = [value] * len(self._children)
        if not type_.all_equal:
            members = entries_of(value, sum(self._counts), type_)
            ends = zip(self._counts, accumulate(self._counts), strict=True)
            parts = [members[end - count : end] for count, end in ends]
        pairs = zip(self._children, parts, strict=True)
        return tuple(await gather(c.create_value(part, type_) for c, part in pairs))

    async def compute(self, representation: Values, type_: FederatedType) -> Any:
        """Materializes all members in client order, or the first if all are equal."""
        if type_.placement is SERVER:
            return await self._at_server.compute(representation, type_)
        if type_.all_equal:
            first = next((i for i, count in enumerate(self._counts) if count), 0)
            return await representation[first].compute()
        groups = await gather(part.compute() for part in representation)
        return tuple(member for group in groups for member in group)

    async def call(self, uri: str, type_: FunctionType, args: list[Handle]) -> Any:
        """Runs an intrinsic in every child, at the server alone, or by its method."""
        if uri not in _IN_CHILDREN:
            return await super().call(uri, type_, args)
        if federated(type_.result).placement is SERVER:
            return await self._at_server.call(uri, type_, args)
        return tuple(await gather(self._in_each_child(uri, type_.result, args)))

    @implements("federated_value", "federated_broadcast")
    async def _value(self, type_: FunctionType, value: Handle) -> Values:
        plain = await value.compute()
        with traffic.crossing(edge_of_value(type_)):
            return await self.embed(plain, federated(type_.result))

    @implements("federated_aggregate", "federated_map_aggregate")
    async def _aggregate(self, type_: FunctionType, *args: Handle) -> Values:
        """Every child folds its clients; the server merges what they have."""
        *mapped, zero, accumulate, merge, report = args
        uri = "federated_map_aggregate" if mapped[1:] else "federated_aggregate"
        state_type = ir.function_type_of(report.node).parameter
        assert state_type is not None
        parts = [*mapped, zero, accumulate, merge, identity(self, state_type)]
        partials = self._in_each_child(uri, type_at_server(state_type), parts)
        server = self._at_server.server
        join = await function_at(server, merge)
        state = None
        with closing(prefetched(partials, len(self._children))) as in_order:
            for later in in_order:  # while others still fold
                plain = await (await later).compute()
                one = await server.create_value(plain, state_type)
                if state is not None:
                    pair = await server.create_struct([state, one])
                    one = await server.create_call(join, pair)
                state = one
        if state is None:
            state = await server.create_value(await zero.compute(), state_type)
        return (await call(server, report, state),)

    @implements("federated_pairwise_masks")
    async def _masks(self, type_: FunctionType, prototype: Handle) -> Values:
        # For all clients at once: alone in its group, a client would have no mask.
        masks = pairwise_masks(await prototype.compute(), sum(self._counts))
        return await self.embed(masks, federated(type_.result))

    def _in_each_child(
        self, uri: str, result: Type, args: Sequence[Handle]
    ) -> Iterator[Coroutine[Any, Any, ExecutorValue]]:
        """The same intrinsic in each child, on its part of the arguments."""

        async def run(index: int, child: Executor) -> ExecutorValue:
            parts = [await self._part(arg, index, child) for arg in args]
            arg = parts[0] if len(parts) == 1 else await child.create_struct(parts)
            intrinsic = ir.Intrinsic(uri, FunctionType(arg.type_signature, result))
            return await child.create_call(await child.create_value(intrinsic), arg)

        return starmap(run, enumerate(self._children))

    async def _part(self, arg: Handle, index: int, child: Executor) -> ExecutorValue:
        """Child `index`'s part of an argument, or a copy of what the server has."""
        type_, held = arg.type_signature, arg.representation
        match type_:
            case FederatedType(placement=placement) if placement is CLIENTS:
                part: ExecutorValue = held[index]
                return part
            case FunctionType():
                return await child.create_value(arg.node, type_)
            case StructType() if isinstance(held, Struct):
                parts = [await self._part(field, index, child) for field in held]
                return await child.create_struct(held.with_values(parts))
            case _:
                return await child.create_value(await arg.compute(), type_)
