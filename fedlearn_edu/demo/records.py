# SPDX-License-Identifier: Apache-2.0
"""What a run of the demo found, as frozen records: `run` fills them in."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray


@final
@dataclass(frozen=True)
class Evaluation:
    """How one model does on one split.

    Attributes:
        loss: mean over clients of the sum over a client's batches, in nats.
        accuracy: share 0..1 of all examples of all clients.
        client_losses: sum over the batches of each client, in nats.
        client_accuracies: share 0..1 of each client's examples.
    """

    loss: float
    accuracy: float
    client_losses: tuple[float, ...]
    client_accuracies: tuple[float, ...]


@final
@dataclass(frozen=True)
class Baselines:
    """What the zero model and one client alone can do; losses in nats.

    Attributes:
        batch_loss: the zero model on one batch of the lone client.
        steps: the loss on that batch after each of five steps on it.
        zero_train: the zero model on the training examples.
        zero_test: the zero model on the test examples.
        lone: the model the lone client trained, on everybody's training examples.
    """

    batch_loss: float
    steps: tuple[float, ...]
    zero_train: Evaluation
    zero_test: Evaluation
    lone: Evaluation


@final
@dataclass(frozen=True, eq=False)
class Round:
    """One round of federated averaging, and the model after it.

    Attributes:
        number: 1, 2, …; round 0 would be the state before training.
        learning_rate: of every local step of this round.
        weights: of the averaged model, `float32[784,10]`.
        train: the averaged model on the clients' training examples.
        test: the averaged model on the test examples.
        bytes_down: from the server to all clients together, while training.
        bytes_up: from all clients together to the server, while training.
        seconds: of wall time for training, without the evaluations.
    """

    number: int
    learning_rate: float
    weights: NDArray[np.float32]
    train: Evaluation
    test: Evaluation
    bytes_down: int
    bytes_up: int
    seconds: float


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """All of a run: the baselines, and at least one round."""

    baselines: Baselines
    rounds: tuple[Round, ...]
