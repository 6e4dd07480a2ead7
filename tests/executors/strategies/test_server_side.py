# SPDX-License-Identifier: Apache-2.0
"""What a server does with the results of many, one after the other."""

import asyncio
from typing import Any

import pytest

from fedlearn_edu.executors.concurrency import gather, prefetched, run_inline
from fedlearn_edu.executors.strategies.shared import with_participant
from fedlearn_edu.types import CLIENTS


async def made(value: int) -> Any:
    return value


async def all_of(values: list[int]) -> list[Any]:
    return [each async for each in prefetched((made(value) for value in values), 2)]


@pytest.mark.parametrize("values", [[], [1], [1, 2, 3, 4, 5]])
def test_results_come_in_order_with_a_loop_and_without(values: list[int]) -> None:
    assert asyncio.run(all_of(values)) == values
    assert run_inline(lambda: all_of(values)) == values


def test_stepping_makes_no_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would belong to nobody, and be garbage that some other test is blamed for."""
    made_loops = []
    begin = asyncio.BaseEventLoop.__init__

    def note_and_begin(self: asyncio.BaseEventLoop) -> None:
        made_loops.append(self)
        begin(self)

    monkeypatch.setattr(asyncio.BaseEventLoop, "__init__", note_and_begin)
    asyncio.set_event_loop(None)
    assert run_inline(lambda: all_of([1, 2])) == [1, 2]
    assert made_loops == []


def test_what_an_interrupt_keeps_from_beginning_leaves_nothing_to_await(
    recwarn: pytest.WarningsRecorder,
) -> None:
    async def interrupted() -> None:
        raise asyncio.CancelledError

    work = [interrupted, lambda: made(1), lambda: made(2)]
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(gather(with_participant(CLIENTS, 0, work)))
    assert [str(warning.message) for warning in recwarn] == []
