# SPDX-License-Identifier: Apache-2.0
"""The flat strategy: one executor for each participant."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.base import Executor
from tests.executors.examples import call, counted, run
from tests.programs import INT_AT_SERVER, INTS, add, failing, increment, local, same

fw = fl.framework
factory = fw.FederatedResolvingStrategy.factory


def stack(server: Executor, clients: list[Executor]) -> Any:
    targets: Any = {fl.SERVER: server, fl.CLIENTS: clients}
    return fw.ReferenceResolvingExecutor(
        fw.FederatingExecutor(factory(targets), counted())
    )


def numbers(*values: int) -> tuple[Any, ...]:
    return tuple(map(np.int32, values))


# ------------------------------------------------------------------ who does what


def test_a_fold_happens_at_the_server_in_client_order() -> None:
    order: list[int] = []

    @fl.np_computation(np.int32, np.int32)
    def noted(state: Any, item: Any) -> Any:
        order.append(int(item))
        return state + item

    program = fl.federated_computation(
        lambda v: fl.federated_aggregate(v, 0, noted, add, same), INTS
    )
    server, clients = counted(), [counted() for _ in range(4)]
    order.clear()
    assert run(call(stack(server, list(clients)), program, numbers(4, 3, 2, 1))) == 10
    assert order == [4, 3, 2, 1]
    assert server.calls["create_call"] == 5  # four items, and the report
    assert [client.calls["compute"] for client in clients] == [1, 1, 1, 1]


def test_a_broadcast_is_computed_once_and_embedded_in_each_client() -> None:
    server, clients = counted(), [counted(), counted()]
    program = fl.federated_computation(
        lambda m: fl.federated_map(increment, fl.federated_broadcast(m)), INT_AT_SERVER
    )
    assert run(call(stack(server, list(clients)), program, np.int32(1))) == (2, 2)
    assert server.calls["compute"] == 1
    # The function and the value, in each of them.
    assert [client.calls["create_value"] for client in clients] == [2, 2]


def test_slices_are_selected_at_the_server() -> None:
    table = fl.TensorType(np.int32, [3])
    pick = fl.np_computation(lambda t, k: t[k], table, np.int32)
    program = fl.federated_computation(
        lambda k, m, t: fl.federated_select(k, m, t, pick),
        fl.type_at_clients(fl.TensorType(np.int32, [2])),
        INT_AT_SERVER,
        fl.type_at_server(table),
    )
    server, clients = counted(), [counted(), counted()]
    keys = (np.array([0, 2], np.int32), np.array([1, 1], np.int32))
    argument = fl.Struct.named(k=keys, m=np.int32(3), t=np.array([5, 6, 7], np.int32))
    result = run(call(stack(server, list(clients)), program, argument))
    assert result == ((5, 7), (6, 6))
    assert server.calls["create_call"] == 4
    assert [client.calls["create_call"] for client in clients] == [0, 0]


@pytest.mark.parametrize(
    ("use", "who"),
    [
        (lambda v, fail: fl.federated_map(fail, v), "client 1"),
        (lambda v, fail: fl.federated_map(fail, fl.federated_sum(v)), "the server"),
    ],
    ids=["client", "server"],
)
def test_an_error_says_at_whom_it_happened(
    use: Callable[[Any, Any], Any], who: str
) -> None:
    program = fl.federated_computation(lambda v: use(v, failing), INTS)
    context = local()
    with context, pytest.raises(KeyError, match="mine") as caught:
        program([1, 0] if who == "client 1" else [1, -1])
    assert any(who in note for note in caught.value.__notes__)
