# SPDX-License-Identifier: Apache-2.0
"""The older form: one mapping from placement, or `None`, to executors."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from tests.executors.examples import call, counted, run
from tests.programs import INTS, add, increment

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
