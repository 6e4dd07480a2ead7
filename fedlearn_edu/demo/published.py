# SPDX-License-Identifier: Apache-2.0
"""The tutorial's published numbers beside ours. They hold for MNIST in file order.

Source: the outputs of "Custom Federated Algorithms, Part 2: Implementing Federated
Averaging", tensorflow.org.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from fedlearn_edu.demo.records import Outcome
from fedlearn_edu.demo.setting import LONE_CLIENT, OTHER_CLIENT

TOLERANCE = 1e-5
STEPS = (0.19690023, 0.13176313, 0.10113225, 0.08273812, 0.070301384)
ROUNDS = (21.605522156, 20.365678787, 19.274801254, 18.311111450, 17.457254410)


@final
@dataclass(frozen=True)
class Comparison:
    """One published number and ours, both losses in nats.

    >>> Comparison("half", published=2.0, ours=1.0).difference
    0.5
    """

    what: str
    published: float
    ours: float

    @property
    def difference(self) -> float:
        """Relative to the published number, without sign."""
        return abs(self.ours - self.published) / abs(self.published)

    @property
    def is_reproduced(self) -> bool:
        """Whether the difference is no more than another order of additions makes."""
        return self.difference <= TOLERANCE


def compare(outcome: Outcome) -> tuple[Comparison, ...]:
    """Puts the published numbers beside those of this run, as far as it went."""
    return tuple(Comparison(*row) for row in (*_alone(outcome), *_together(outcome)))


def _alone(outcome: Outcome) -> Iterator[tuple[str, float, float]]:
    own, other, (zero, *steps) = LONE_CLIENT, OTHER_CLIENT, outcome.losses
    yield "zero model, one batch", 2.3025851, zero
    for count, (published, ours) in enumerate(zip(STEPS, steps, strict=True), 1):
        yield f"one batch, after step {count}", published, ours
    train, test = outcome.rounds[0].train, outcome.rounds[0].test
    at_zero, lone = (
        found.client_losses_summed_over_batches for found in (train, outcome.lone)
    )
    yield f"zero model, client {own}", 23.025854, at_zero[own]
    yield f"client {own}'s model, client {own}", 0.43484688, lone[own]
    yield f"client {own}'s model, client {other}", 74.50075, lone[other]
    yield "zero model, all clients", 23.025852, at_zero.mean()
    yield f"client {own}'s model, all clients", 54.432625, lone.mean()
    yield "zero model, test", 22.795593, test.loss_summed_over_batches


def _together(outcome: Outcome) -> Iterator[tuple[str, float, float]]:
    for published, ours in zip(ROUNDS, outcome.rounds[1:], strict=False):
        loss = ours.train.loss_summed_over_batches
        yield f"after round {ours.number}", published, loss
        if ours.number == len(ROUNDS):
            loss = ours.test.loss_summed_over_batches
            yield f"after round {ours.number}, test", 17.278767, loss
