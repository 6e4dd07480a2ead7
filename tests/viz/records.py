# SPDX-License-Identifier: Apache-2.0
"""Records of rounds and of runs that were made up, to be drawn."""

from typing import Any

import numpy as np

from fedlearn_edu.learning.comparison import Comparison, Entry, Protocol
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.remote.records import Message, Round

MODEL = 31_400


def message(worker: int, group: int, sent: float, began: float, **more: Any) -> Message:
    """Half a second of work on a hundred clients."""
    times = {"sent": sent, "began": began, "ended": began + 0.5}
    sizes = {"bytes_down": 1_000 + MODEL, "bytes_up": MODEL}
    at = {"first_client": 100 * group, "num_clients": 100, "received": began + 0.6}
    given: dict[str, Any] = times | sizes | at | more
    return Message(f"worker {worker}", **given)


def in_turn(groups: int, workers: int = 2) -> Round:
    """All are sent at once, and a worker works on one at a time, as far as is known."""
    begun = [(g, 0.1 + 0.49 * (g // workers)) for g in range(groups)]
    sent = tuple(message(g % workers, g, 0.0, began) for g, began in begun)
    return Round(3, "next", sent)


_GONE = {"ended": np.nan, "received": 0.4, "bytes_up": 0, "is_lost": True}
WITH_A_LOSS = Round(
    4,
    "next",
    (
        message(0, 0, 0.0, 0.1),
        message(1, 1, 0.0, np.nan, **_GONE),
        message(0, 1, 0.5, 0.6),
    ),
)


def history(accuracies: list[float]) -> History:
    return History.of(
        {
            "round": number + 1,
            "loss_per_example": 9.0,
            "test.loss_per_example": 2.0 / (number + 1),
            "test.accuracy_per_example": share,
            "test.accuracy_lowest": share - 0.1,
            "test.accuracy_highest": share + 0.1,
        }
        for number, share in enumerate(accuracies)
    )


def measured(*rounds: float) -> History:
    """A loss, at these rounds."""
    rows = [{"round": at, "loss": 9.0 / (n + 1)} for n, at in enumerate(rounds)]
    return History.of(rows)


def four_runs(**more: Any) -> dict[str, Run]:
    return {
        f"number {n}": Run(None, history=history([0.2 + 0.1 * n, 0.5]), **more)
        for n in range(4)
    }


def comparison(count: int, max_bytes: int | None = None) -> Comparison:
    """Of processes with two seeds and three rounds; each sends more than the last."""

    def row(process: int, seed: int, at: int) -> dict[str, float]:
        share = 0.9 - 0.1 * process - 0.3 / at - 0.01 * seed
        sent = {"bytes_down": 10**6, "bytes_up": 10**6 * (1 + process)}
        return {"round": at, "test.accuracy_per_example": share, **sent}

    def entry(process: int) -> Entry:
        runs = (History.of(row(process, s, at) for at in (1, 2, 3)) for s in (0, 1))
        return Entry(f"one of a long name, number {process}", "", 0, 0, tuple(runs))

    protocol = Protocol("accuracy_per_example", (0, 1), 3, max_bytes, 20, "", "", "")
    return Comparison({each.name: each for each in map(entry, range(count))}, protocol)
