# SPDX-License-Identifier: Apache-2.0
"""Tapes that several tests look at."""

from typing import Any

import fedlearn_edu as fl
from fedlearn_edu.executors.recording import Event, Tape
from tests.executors.rounds import clients, model, train


def tape_of_a_round(num_clients: int, num_batches: int = 1, **options: Any) -> Tape:
    with fl.record(**options) as tape:
        train(model(), clients(num_clients, num_batches))
    return tape


def event(number: int, **fields: Any) -> Event:
    """An event written by hand, which lasts a millisecond."""
    given: dict[str, Any] = {
        "layer": "leaf",
        "participant": "server",
        "what": "convert",
        "type": "int32",
        "start_s": number / 1000,
        "end_s": (number + 1) / 1000,
    }
    given |= fields
    return Event(number=number, **given)
