# SPDX-License-Identifier: Apache-2.0
"""The flat strategy: one target executor for each participant.

    SERVER  : one executor    the one member is that executor's value
    CLIENTS : executor × n    member i is executor i's value, also if all are equal

Data move by `compute` at one executor and `create_value` at another: a broadcast from
the server's into the clients', an aggregation from the clients' into the server's, in
client order. Clients work concurrently.
"""

from collections.abc import (
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import closing
from functools import partial
from typing import Any, final

from fedlearn_edu.errors import CardinalityError
from fedlearn_edu.executors import traffic
from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.executors.batched import Entries
from fedlearn_edu.executors.driving import gather, prefetched
from fedlearn_edu.executors.federating import (
    FederatingExecutor,
    FederatingStrategy,
    implements,
)
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.executors.masks import pairwise_masks
from fedlearn_edu.executors.participants import (
    TargetExecutors,
    call,
    check_targets,
    edge_of_value,
    entries_of,
    federated,
    function_at,
    member_of_zip,
    with_participant,
)
from fedlearn_edu.executors.wrapping import Work, WrappingExecutor
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    FunctionType,
    Placement,
    SequenceType,
    Type,
)
from fedlearn_edu.types.containers import one_of

Values = tuple[ExecutorValue, ...]
Results = Generator[Awaitable[ExecutorValue], None, None]
# How many clients may be ahead of the fold, for each thread there is.
_AHEAD = 2


@final
class FederatedResolvingStrategy(FederatingStrategy):
    """Resolves placements to participants, each with its own target executor.

    Source: `tff.framework.FederatedResolvingStrategy`.
    """

    def __init__(
        self,
        target_executors: Mapping[Placement, Sequence[Executor]],
        first_client: int = 0,
    ) -> None:
        self._targets = target_executors
        targets = (target for some in target_executors.values() for target in some)
        self.targets = {id(target): target for target in targets}.values()
        self._first_client = first_client

    @staticmethod
    def factory(
        target_executors: TargetExecutors, first_client: int = 0
    ) -> Callable[[FederatingExecutor], "FederatedResolvingStrategy"]:
        """Makes a strategy factory for `FederatingExecutor`.

        `target_executors` has an executor for each placement, or a list with one per
        participant (the same one may serve several); errors count from `first_client`.
        """
        targets = check_targets(target_executors)
        return lambda _: FederatedResolvingStrategy(targets, first_client)

    async def embed(self, value: Any, type_: FederatedType) -> Values:
        """Embeds one entry at each participant, or the one value at all of them."""
        targets, edge = self._at(type_.placement), traffic.inward(type_.placement)
        if type_.all_equal:
            return await self._everywhere(edge, type_.placement, value, type_.member)
        entries = entries_of(value, len(targets), type_)
        pairs = zip(targets, entries, strict=True)
        work = (partial(traffic.sent, edge, t, e, type_.member) for t, e in pairs)
        return await self._each(type_.placement, work)

    async def compute(self, representation: Values, type_: FederatedType) -> Any:
        """Materializes all members, or the first where all are equal."""
        edge = traffic.outward(type_.placement)
        if not type_.all_equal:
            members = (partial(traffic.fetched, edge, m) for m in representation)
            return await self._each(type_.placement, members)
        return await traffic.fetched(edge, one_of(representation, type_))

    @implements("federated_value", "federated_broadcast")
    async def _value(self, type_: FunctionType, value: Handle) -> Values:
        plain, at = await value.compute(), federated(type_.result)
        edge = edge_of_value(type_)
        return await self._everywhere(edge, at.placement, plain, at.member)

    @implements("federated_eval")
    async def _eval(self, type_: FunctionType, fn: Handle) -> Values:
        placement = federated(type_.result).placement
        return await self._each(placement, await self._calls(placement, fn))

    @implements("federated_map")
    async def _map(self, type_: FunctionType, fn: Handle, arg: Handle) -> Values:
        placement = federated(type_.result).placement
        work = await self._calls(placement, fn, arg.representation)
        return await self._each(placement, work)

    @implements("federated_zip")
    async def _zip(self, type_: FunctionType, value: Handle) -> Values:
        placement = federated(type_.result).placement
        targets = enumerate(self._at(placement))
        work = (partial(member_of_zip, t, value, i) for i, t in targets)
        return await self._each(placement, work)

    @implements("federated_aggregate")
    async def _aggregate(
        self, type_: FunctionType, value: Handle, *how: Handle
    ) -> Values:
        item = federated(value.type_signature).member
        return await self._folded(_in_turn(value.representation), item, *how)

    @implements("federated_map_aggregate")
    async def _map_aggregate(
        self, type_: FunctionType, fn: Handle, value: Handle, *how: Handle
    ) -> Values:
        # A result is let go of when it is folded: memory does not grow with clients.
        work = await self._calls(CLIENTS, fn, value.representation)
        named = with_participant(CLIENTS, self._first_client, work)
        results = prefetched(named, _AHEAD * len(self.targets))
        return await self._folded(results, ir.function_type_of(fn.node).result, *how)

    async def _folded(
        self,
        members: Results,
        item: Type,
        zero: Handle,
        accumulate: Handle,
        merge: Handle,
        report: Handle,
    ) -> Values:
        # One group of clients: there is nothing to merge.
        state = await self._fold(members, item, zero, accumulate)
        return (await call(self.server, report, state),)

    @implements("federated_reduce")
    async def _reduce(
        self, type_: FunctionType, value: Handle, zero: Handle, op: Handle
    ) -> Values:
        item = federated(value.type_signature).member
        return (await self._fold(_in_turn(value.representation), item, zero, op),)

    async def _fold(
        self, members: Results, item: Type, zero: Handle, accumulate: Handle
    ) -> ExecutorValue:
        """`accumulate(… accumulate(zero, x0) …, xn)` at the server."""
        server = self.server
        step = await function_at(server, accumulate)
        state = await server.create_value(await zero.compute(), zero.type_signature)
        with closing(members):
            for later in members:
                plain = await traffic.fetched(traffic.TO_SERVER, await later)
                received = await server.create_value(plain, item)
                pair = await server.create_struct([state, received])
                state = await server.create_call(step, pair)
        return state

    async def finish(self, state: Any, report: Handle) -> Values:
        """The end of an aggregation whose fold, in plain form, is here already."""
        type_ = ir.function_type_of(report.node).parameter
        embedded = await self.server.create_value(state, type_)
        return (await call(self.server, report, embedded),)

    @implements("federated_select")
    async def _select(
        self,
        type_: FunctionType,
        keys: Handle,
        max_key: Handle,
        source: Handle,
        fn: Handle,
    ) -> Values:
        server, (value,) = self.server, source.representation
        select = await function_at(server, fn)
        key_type = federated(max_key.type_signature).member
        slices = federated(type_.result).member
        assert isinstance(slices, SequenceType)

        async def serve(client: Executor, keys: ExecutorValue) -> ExecutorValue:
            chosen = []
            for key in await traffic.fetched(traffic.TO_SERVER, keys):
                embedded = await server.create_value(key, key_type)
                pair = await server.create_struct([value, embedded])
                one = await server.create_call(select, pair)
                chosen.append(await one.compute())
            made = await client.create_value(tuple(chosen), slices)
            traffic.moved(traffic.TO_CLIENTS, made, slices.element, Entries(chosen))
            return made

        clients = zip(self._at(CLIENTS), keys.representation, strict=True)
        return await self._each(
            CLIENTS, (partial(serve, c, wanted) for c, wanted in clients)
        )

    @implements("federated_pairwise_masks")
    async def _masks(self, type_: FunctionType, prototype: Handle) -> Values:
        masks = pairwise_masks(await prototype.compute(), len(self._at(CLIENTS)))
        return await self.embed(masks, federated(type_.result))

    async def _each(self, placement: Placement, work: Iterable[Work]) -> Values:
        """Lets all participants work side by side; errors say whose they are."""
        named = with_participant(placement, self._first_client, work)
        return tuple(await gather(named))

    async def _calls(
        self, placement: Placement, fn: Handle, *arg: Values
    ) -> Iterator[Work]:
        """The call of `fn` for each participant, on its member if `arg` is given."""
        edge, type_ = traffic.INTO[placement], fn.type_signature
        functions = await self._everywhere(edge, placement, fn.node, type_)
        rows = zip(self._at(placement), functions, *arg, strict=True)
        return (partial(target.create_call, *row) for target, *row in rows)

    async def _everywhere(
        self, edge: str, placement: Placement, value: Any, type_: Type
    ) -> Values:
        """The same in each participant's executor, embedded once in each executor."""
        targets = self._at(placement)
        distinct = {id(target): target for target in targets}
        work = (target.create_value(value, type_) for target in distinct.values())
        by_id = dict(zip(distinct, await gather(work), strict=True))
        members = tuple(by_id[id(target)] for target in targets)
        for member in members:
            traffic.moved(edge, member, type_, value)
        return members

    def _at(self, placement: Placement) -> Sequence[Executor]:
        if placement in self._targets:
            return self._targets[placement]
        raise CardinalityError(
            f"this executor has no participant at {placement}",
            expected=f"target_executors with an entry for {placement}",
            found=", ".join(map(str, self._targets)) or "no placements",
            where="target_executors",
            do="give it an executor, or a list of them",
        )

    @property
    def server(self) -> Executor:
        """The server's executor."""
        return self._at(SERVER)[0]


@final
class FederatedExecutor(WrappingExecutor):
    """Handles federated types and intrinsics over one executor for each participant.

    It embeds and calls what a `FederatingExecutor` does: among the intrinsics
    aggregate, apply, broadcast, collect, eval, map, mean, reduce, sum, value,
    weighted_mean and zip. Lambdas are called by a ReferenceResolvingExecutor on top.

    Args:
        target_executors: from a placement, or `None` for unplaced work, to an executor
            or a list of executors.

    Source: `tff.framework.FederatedExecutor`, up to 0.14.
    """

    def __init__(self, target_executors: TargetExecutors) -> None:
        strategy = FederatedResolvingStrategy.factory(target_executors)
        unplaced = target_executors.get(None)
        if unplaced is None:
            raise CardinalityError(
                "this executor has nobody for unplaced work",
                expected="target_executors with an entry for None",
                found=", ".join(map(str, target_executors)) or "no entries",
                where="target_executors",
                do="write {None: executor, SERVER: executor, CLIENTS: [executor, …]}",
            )
        one = unplaced if isinstance(unplaced, Executor) else unplaced[0]
        super().__init__(FederatingExecutor(strategy, one))

    async def around(self, what: str, work: Work, subject: Any) -> Any:
        """Passes every call on as it is."""
        return await work()


def _in_turn(members: Iterable[ExecutorValue]) -> Results:
    async def made(member: ExecutorValue) -> ExecutorValue:
        return member

    yield from map(made, members)
