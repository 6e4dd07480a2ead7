# SPDX-License-Identifier: Apache-2.0
"""Callbacks decide by the history alone."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fedlearn_edu.learning.callbacks import EarlyStop, reason_to_stop
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run


def run_with(losses: Sequence[float | None]) -> Run:
    """A run whose loss was these numbers; `None` where it was not measured."""
    measured = [{} if loss is None else {"loss": loss} for loss in losses]
    rows = [{"round": i, **row} for i, row in enumerate(measured, 1)]
    return Run(None, history=History.of(rows))


def stopping_round(callback: Any, losses: Sequence[float | None]) -> int | None:
    for count in range(1, len(losses) + 1):
        if callback(run_with(losses[:count])) is not None:
            return count
    return None


@pytest.mark.parametrize(
    ("stop", "losses", "expected"),
    [
        (EarlyStop("loss", patience=2), [3, 2, 1, 1, 1], 5),
        (EarlyStop("loss", patience=2), [3, 4, 2, 3, 1], None),
        (EarlyStop("loss", patience=1), [3, 3], 2),
        (EarlyStop("loss", patience=2, min_change=0.5), [3, 2.7, 2.4, 2.0], None),
        (EarlyStop("loss", patience=2, min_change=0.5), [3, 2.8, 2.6, 2.0], 3),
        (EarlyStop("loss", patience=2, mode="max"), [1, 2, 3, 3, 2], 5),
        (EarlyStop("loss", patience=2), [3, None, None, None, 2], None),
        (EarlyStop("loss", patience=2), [3, None, 3, None, 3], 5),
        (EarlyStop("loss", patience=2), [math.nan, math.nan, 1], None),
    ],
)
def test_early_stop_waits_for_a_better_measurement(
    stop: EarlyStop, losses: list[float | None], expected: int | None
) -> None:
    assert stopping_round(stop, losses) == expected


def test_early_stop_says_why() -> None:
    reason = EarlyStop("loss", patience=2)(run_with([2, 1.5, 1.5, 1.75]))
    assert reason == "loss has not fallen below 1.5 for 2 measurements"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, None),
        (False, None),
        (np.False_, None),
        (True, "<lambda> said so"),
        ("enough", "enough"),
    ],
)
def test_answers_of_a_callback(answer: object, expected: str | None) -> None:
    assert reason_to_stop((lambda run: answer,), run_with([1])) == expected


def test_all_callbacks_are_called_and_the_first_reason_counts() -> None:
    called = []

    def note(run: Run) -> str:
        called.append(run.rounds)
        return "second"

    assert reason_to_stop((lambda run: "first", note), run_with([1])) == "first"
    assert called == [1]


def test_an_error_in_a_callback_says_after_which_round() -> None:
    def broken(run: Run) -> None:
        raise KeyError("oops")

    with pytest.raises(KeyError, match="oops") as error:
        reason_to_stop((broken,), run_with([1, 2]))
    assert error.value.__notes__ == ["  callback broken, after round 2"]
