# SPDX-License-Identifier: Apache-2.0
"""A learner is looked at from another thread while it learns."""

from types import SimpleNamespace
from typing import Any

import pytest

from fedlearn_edu.viz.explorers.learner import Learner


def test_a_run_is_there_only_once_its_round_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing: Any = None
    learner = Learner("FedAvg", nothing, nothing, nothing)
    looked: list[tuple[int, int]] = []

    def look(self: Learner, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name == "run":
            looked.append((value.rounds, len(self.snapshots) - 1))

    monkeypatch.setattr(Learner, "__setattr__", look)
    for rounds in range(3):
        judged: Any = SimpleNamespace(accuracy_per_example=0.5)
        learner._latest = judged
        run: Any = SimpleNamespace(rounds=rounds, weights={})
        learner._remember(run)
        assert learner.rounds == rounds
    assert looked == [(0, 0), (1, 1), (2, 2)]
