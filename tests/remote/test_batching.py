# SPDX-License-Identifier: Apache-2.0
"""Messages for one worker travel together, and those of one call belong together."""

import gc
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import remote
from fedlearn_edu.remote import Cluster, batching, expressions
from fedlearn_edu.remote.batching import Carrier
from tests.patience import PATIENCE_S
from tests.remote import programs
from tests.remote.conftest import MAX_FANOUT
from tests.remote.faults import CLIENTS, ROW, SIZE, Round, until_whole

GROUPS = 10


@fl.np_computation(np.float32)
def _root(x: Any) -> Any:
    assert x >= 0, "a negative number"
    return np.sqrt(x)


@fl.federated_computation(fl.type_at_clients(np.float32))
def _roots(values: Any) -> Any:
    return fl.federated_sum(fl.federated_map(_root, values))


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many messages each batch had; time is no object."""
    found, replies = list[int](), Carrier._replies

    async def counted(self: Carrier, member: Any, messages: Any) -> Any:
        found.append(len(messages))
        return await replies(self, member, messages)

    monkeypatch.setattr(Carrier, "_replies", counted)
    monkeypatch.setattr(batching, "BATCH_SECONDS", 600.0)
    return found


def test_round_of_ten_groups_is_one_batch_for_each_worker(
    in_process: remote.Cluster, sizes: list[int]
) -> None:
    with in_process.context:
        ones = in_process.place(lambda _: 1.0, MAX_FANOUT * GROUPS, np.float32)
        assert _roots(ones) == MAX_FANOUT * GROUPS
        sizes.clear()
        assert _roots(ones) == MAX_FANOUT * GROUPS
    assert sizes == [GROUPS // 2] * 2
    first, last = in_process.traffic().rounds
    assert len(last.messages) == len(first.messages) == GROUPS
    assert len({message.sent for message in last.messages}) == 2
    for one in last.messages:
        assert one.sent <= one.began <= one.ended <= one.received
    # Nothing is shared out: each has the bytes that it has alone.
    assert min(m.bytes_down for m in first.messages) == last.messages[0].bytes_down


def test_error_of_a_group_is_its_own(
    in_process: remote.Cluster, sizes: list[int]
) -> None:
    numbers = [1.0] * 7 + [-1.0] + [1.0] * 12
    with in_process.context:
        _roots([1.0] * 20)
        sizes.clear()
        with pytest.raises(AssertionError, match="a negative number") as caught:
            _roots(numbers)
        assert "at client 7" in "".join(caught.value.__notes__)
        assert sizes[:2] == [GROUPS // 2] * 2
        assert _roots([4.0] * 20) == 40


def test_kill_in_the_midst_of_a_batch_changes_no_bit(
    processes: remote.Cluster, tmp_path: Path, sizes: list[int]
) -> None:
    one, model = Round(tmp_path), np.zeros(SIZE, np.float32)
    data, next_round = processes.place(one.load(), CLIENTS, ROW), one.computation()
    until_whole(processes)
    model = next_round(model, data)
    one.arm("train", 5)
    sizes.clear()
    model = next_round(model, data)
    assert not one.is_armed
    assert hashlib.sha256(model.tobytes()).hexdigest() == one.run_here(MAX_FANOUT, 2)
    assert sorted(sizes) == [1, 2, 2]
    sent = processes.traffic().rounds[-1].messages
    assert {m.first_client for m in sent if m.is_lost} == {0, 4}
    until_whole(processes)


# ----------------------------------------
# What one call asks for in several messages is still one call


FLOATS = fl.type_at_clients(np.float32)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with fl.remote.local(2, max_fanout=2, processes=False) as made, made:
        yield made


@fl.np_computation(np.float32)
def _noisy(x: Any) -> Any:
    programs.ran.append(float(x))
    return np.float32(x + len(programs.ran))


@fl.federated_computation(FLOATS)
def _asked_thrice(values: Any) -> Any:
    noisy = fl.federated_map(_noisy, values)
    return fl.federated_sum(noisy), fl.federated_max(noisy), noisy


def test_clients_work_once_for_all_messages_of_a_call(cluster: Cluster) -> None:
    """Or they would say different things, where there is chance in it."""
    for _ in range(2):
        programs.ran.clear()
        total, most, each = _asked_thrice([1, 2, 3, 4, 5])
        assert sorted(programs.ran) == [1, 2, 3, 4, 5]
        assert (total, most) == (sum(each), max(each))
    assert len(cluster.traffic().rounds[-1].messages) == 3 * 3


def test_numbers_are_in_use_no_longer_than_their_call(cluster: Cluster) -> None:
    _asked_thrice([1, 2, 3])
    deadline = time.monotonic() + PATIENCE_S
    while expressions._in_use and time.monotonic() < deadline:
        gc.collect()  # the loop lets go of what has run a little later
    assert not expressions._in_use
