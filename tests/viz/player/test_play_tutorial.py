# SPDX-License-Identifier: Apache-2.0
"""The second tutorial's round in the player, step by step and fused."""

from types import SimpleNamespace
from typing import Any

import pytest

import fedlearn_edu as fl
from tests.tutorial.conftest import default_context_restored, run_script
from tests.viz.drawn_text import check_text

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]


@pytest.fixture(scope="module")
def tutorial() -> Any:
    from fedlearn_edu.simulation import datasets

    (x, y), (x_test, y_test) = datasets.load_digits28()
    with default_context_restored():
        yield run_script((x[:60], y[:60]), (x_test[:60], y_test[:60])).names


@pytest.mark.parametrize("fuse", [False, True], ids=["steps", "fused"])
def test_a_round_is_played(tutorial: SimpleNamespace, fuse: bool) -> None:
    data = tutorial.federated_train_data
    player = fl.viz.explore_run(
        tutorial.federated_train, tutorial.initial_model, 0.1, data, fuse=fuse
    )
    assert player.error is None
    assert player.result["weights"].shape == (784, 10)
    assert player.controls["step"].source.max == len(player.timeline)
    for step in range(1, len(player.timeline) + 1, 7):
        player.set(step=step)
    player.set(step=len(player.timeline))
    assert player.sentence.endswith(
        "314.0 kB have gone to clients, 314.0 kB have come back"
    )
    texts = check_text(player.figure)
    assert ("clients" if fuse else "client 9") in texts
    together = [
        i for i, e in enumerate(player.timeline.events) if e.what == "batched_call"
    ]
    assert bool(together) == fuse
    for step in together:
        player.set(step=step + 1)
        assert "batch_train" in player.sentence
        assert "10 clients" in player.sentence
