# SPDX-License-Identifier: Apache-2.0
"""Executors that change nothing: every contract call passes through one method."""

from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.executors.wrapping import Work, WrappingExecutor
from tests.executors.examples import call, run
from tests.programs import INT, add, increment, seven


class Noting(WrappingExecutor):
    """Notes each call with its subject."""

    def __init__(self) -> None:
        super().__init__(fl.framework.NumPyExecutor())
        self.notes: list[tuple[str, Any]] = []

    async def around(self, what: str, work: Work, subject: Any) -> Any:
        """Notes, then runs."""
        self.notes.append((what, subject))
        return await work()


def test_the_subject_is_what_the_call_is_about() -> None:
    executor = Noting()

    async def work() -> Any:
        one = await executor.create_value(np.int32(1), INT)
        struct = await executor.create_struct([one, one])
        await executor.create_selection(struct, 1)
        fn = await executor.create_value(increment)
        await (await executor.create_call(fn, one)).compute()

    run(work())
    names = [what for what, _ in executor.notes]
    assert names == [
        "create_value",
        "create_struct",
        "create_selection",
        "create_value",
        "create_call",
        "compute",
    ]
    subjects = [subject for _, subject in executor.notes]
    assert subjects[0] == 1
    assert len(subjects[1]) == 2
    assert subjects[2] == 1
    assert subjects[3] is increment
    assert subjects[4].type_signature == increment.type_signature
    assert subjects[5].type_signature == INT


def test_wrappers_can_be_wrapped() -> None:
    inner = Noting()
    outer = fl.framework.SizingExecutor(
        fl.framework.ThreadDelegatingExecutor(inner), fl.framework.Meter()
    )
    pair = fl.Struct.named(a=np.int32(1), b=np.int32(2))
    assert run(call(outer, add, pair)) == 3
    assert run(call(outer, seven)) == 7
    assert [what for what, _ in inner.notes].count("create_call") == 2
    outer.close()
