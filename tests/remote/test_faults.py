# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a cluster, and what happens then."""

from pathlib import Path

import pytest

from fedlearn_edu import remote
from tests.remote.conftest import MAX_FANOUT
from tests.remote.faults import CLIENTS, ROW, STEPS, Round, until_whole

# ------------------------------------------------------------------- workers are killed


@pytest.mark.parametrize("step", STEPS)
def test_round_survives_the_kill_of_a_worker_bit_by_bit(
    step: str, processes: remote.Cluster, tmp_path: Path
) -> None:
    one = Round(tmp_path)
    data = processes.place(one.load(), CLIENTS, ROW)
    one.arm(step, 3)
    joined = len(processes.workers())
    assert one.run(data) == one.run_here(MAX_FANOUT)
    assert not one.is_armed
    lost = [line for line in processes.log() if "was lost" in line]
    assert "its connection broke off" in lost[-1]
    messages = processes.traffic().rounds[-1].messages
    assert any(m.is_lost and m.first_client == 2 for m in messages)
    until_whole(processes)  # its nanny starts another, at another address
    *_, new = processes.workers()
    assert len(processes.workers()) == joined + 1
    assert one.run(data, rounds=2) == one.run_here(MAX_FANOUT, rounds=2)
    served = {m.worker for m in processes.traffic().rounds[-1].messages}
    assert new.name in served
