# SPDX-License-Identifier: Apache-2.0
"""What the server does for the flat strategy: folds members, and answers keys."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable
from typing import Any

from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.executors.run_inline import is_stepping
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import Type

Results = AsyncIterator[ExecutorValue]


async def fold(
    server: Executor, members: Results, type_: Type, zero: Handle, accumulate: Handle
) -> ExecutorValue:
    """`accumulate(… accumulate(zero, x0) …, xn)` at the server; members of `type_`."""
    step = await server.create_value(accumulate.node, accumulate.type_signature)
    state = await server.create_value(await zero.compute(), zero.type_signature)
    async for member in members:
        item = await server.create_value(await member.compute(), type_)
        pair = await server.create_struct(Struct([(None, state), (None, item)]))
        state = await server.create_call(step, pair)
    return state


async def in_turn(members: Iterable[ExecutorValue]) -> Results:
    """Values that are there already."""
    for member in members:
        yield member


async def ahead(
    work: Iterable[Coroutine[Any, Any, ExecutorValue]], count: int
) -> Results:
    """The results in order, while at most `count` of those that follow are made."""
    under_way: deque[asyncio.Future[ExecutorValue]] = deque()
    try:
        for one in work:
            if is_stepping():
                yield await one
                continue
            under_way.append(asyncio.ensure_future(one))
            if len(under_way) > count:
                yield await under_way.popleft()
        while under_way:
            yield await under_way.popleft()
    finally:
        for task in under_way:
            task.cancel()
        if under_way:  # of nothing, `gather` would make a loop that nobody closes
            await asyncio.gather(*under_way, return_exceptions=True)


async def select_slices(
    server: Executor,
    select: ExecutorValue,
    value: ExecutorValue,
    keys: ExecutorValue,
    key_type: Type,
) -> tuple[Any, ...]:
    """For each of one client's keys what `select` makes of the server's value."""
    chosen = []
    for key in await keys.compute():
        embedded = await server.create_value(key, key_type)
        pair = await server.create_struct([value, embedded])
        chosen.append(await (await server.create_call(select, pair)).compute())
    return tuple(chosen)
