# SPDX-License-Identifier: Apache-2.0
"""The older form: one mapping from placement, or `None`, to executors."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import CardinalityError, TypeMismatchError
from tests.executors.examples import CountingExecutor, call, run
from tests.ids import plain
from tests.programs import INTS, add, increment

fw = fl.framework


def leaf() -> CountingExecutor:
    return CountingExecutor(fw.ReferenceResolvingExecutor(fw.NumPyExecutor()))


@pytest.mark.parametrize("listed", [False, True])
def test_the_entry_under_none_does_the_unplaced_work(listed: bool) -> None:
    unplaced, server, client = leaf(), leaf(), leaf()
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


@pytest.mark.parametrize("targets", [{}, {fl.SERVER: fw.NumPyExecutor()}], ids=len)
def test_without_an_entry_under_none_there_is_nobody_for_unplaced_work(
    targets: Any,
) -> None:
    with pytest.raises(CardinalityError, match="unplaced work") as caught:
        fw.FederatedExecutor(targets)
    assert "None" in str(caught.value.expected)


@pytest.mark.parametrize(
    ("targets", "error"),
    [
        ({None: 5}, TypeMismatchError),
        ({None: fw.NumPyExecutor(), "x": fw.NumPyExecutor()}, TypeMismatchError),
        ({None: []}, CardinalityError),
        (5, TypeMismatchError),
    ],
    ids=plain,
)
def test_a_wrong_mapping_is_refused(targets: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        fw.FederatedExecutor(targets)
