# SPDX-License-Identifier: Apache-2.0
"""What a run of the demo found: `run` fills it in, the other files read it."""

from dataclasses import dataclass, field
from typing import Any, final

from fedlearn_edu.learning import Evaluation


@final
@dataclass(frozen=True, eq=False)
class Round:
    """A round of federated averaging, and the model after it.

    Attributes:
        number: 1, 2, …; 0 is the state before training, without the last three.
        weights: of the averaged model, `<weights=float32[784,10],bias=float32[10]>`.
        train: the averaged model on the clients' training examples.
        test: the averaged model on the test examples.
        bytes_down: from the server to all clients together, while training.
        bytes_up: from all clients together to the server, while training.
        seconds: of wall time for training, without the evaluations.
    """

    number: int
    weights: Any
    train: Evaluation
    test: Evaluation
    bytes_down: int
    bytes_up: int
    seconds: float


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """All of a run; losses in nats.

    Attributes:
        losses: on one batch of the lone client, before and after each of five steps.
        lone: the model the lone client trained, on everybody's training examples.
        rounds: those so far, from round 0 on.
    """

    losses: tuple[float, ...]
    lone: Evaluation
    rounds: list[Round] = field(default_factory=list)
