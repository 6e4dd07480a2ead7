# SPDX-License-Identifier: Apache-2.0
"""Where placements are interpreted: unplaced work, strategies, the older form."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.federating import FederatingExecutor, implements
from fedlearn_edu.ir import nodes as ir
from tests.executors.examples import CountingExecutor, Plain, call, counted, pair, run
from tests.programs import INT, INT_AT_SERVER, INTS, add, increment

SUM = ir.Intrinsic("federated_sum", fl.FunctionType(INTS, INT_AT_SERVER))
MEMBERS = (np.int32(1), np.int32(2))


def test_unplaced_work_never_touches_the_server_or_a_client() -> None:
    server, client, unplaced = (CountingExecutor() for _ in range(3))
    strategy = fl.framework.FederatedResolvingStrategy.factory(
        {fl.SERVER: server, fl.CLIENTS: [client]}
    )
    executor = FederatingExecutor(strategy, unplaced)

    async def work() -> Any:
        fn = await executor.create_value(add)
        one = await executor.create_value(np.int32(1), INT)
        argument = await executor.create_struct(pair(one, one))
        return await (await executor.create_call(fn, argument)).compute()

    assert run(work()) == 2
    assert not server.calls
    assert not client.calls
    assert unplaced.calls["create_call"] == 1


# ------------------------------------------------------------------ strategies


class Extended(Plain):
    """Adds an intrinsic, and realizes another one anew."""

    @implements("federated_sum")
    async def _other_sum(self, type_: Any, value: Any) -> Any:
        return np.int32(100)

    @implements("federated_broadcast", "federated_value")
    async def _copy(self, type_: Any, value: Any) -> Any:
        return value.representation


def test_a_strategy_lists_what_it_implements() -> None:
    assert set(Plain.implemented) == {"federated_sum"}
    assert set(Extended.implemented) == {
        "federated_sum",
        "federated_broadcast",
        "federated_value",
    }


@pytest.mark.parametrize(("strategy", "result"), [(Plain, 3), (Extended, 100)])
def test_a_strategy_realizes_intrinsics(strategy: Any, result: int) -> None:
    async def work() -> Any:
        executor = FederatingExecutor(
            lambda executor: strategy(), fl.framework.NumPyExecutor()
        )
        fn = await executor.create_value(SUM)
        value = await executor.create_value(MEMBERS, INTS)
        return await (await executor.create_call(fn, value)).compute()

    assert run(work()) == result


# ----------------------------------------
# The older form: one mapping from placement, or `None`, to executors


fw = fl.framework


@pytest.mark.parametrize("listed", [False, True])
def test_the_entry_under_none_does_the_unplaced_work(listed: bool) -> None:
    unplaced, server, client = counted(), counted(), counted()
    targets: Any = {
        fl.SERVER: [server] if listed else server,
        fl.CLIENTS: [client, client],
        None: [unplaced] if listed else unplaced,
    }
    executor = fw.ReferenceResolvingExecutor(fw.FederatedExecutor(targets))
    pair = fl.Struct.named(a=np.int32(1), b=np.int32(2))
    assert run(call(executor, add, pair)) == 3
    assert unplaced.calls["create_call"] == 1
    program = fl.federated_computation(lambda v: fl.federated_map(increment, v), INTS)
    assert run(call(executor, program, (np.int32(1), np.int32(2)))) == (2, 3)
    assert client.calls["create_call"] == 2
    assert unplaced.calls["create_call"] == 1
    executor.close()
    assert [e.times_closed for e in (unplaced, server, client)] == [1, 1, 1]
