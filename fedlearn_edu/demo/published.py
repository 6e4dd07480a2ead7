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
    rows = [*_baselines(outcome), *_rounds(outcome)]
    return tuple(Comparison(*row) for row in rows)


def _baselines(outcome: Outcome) -> Iterator[tuple[str, float, float]]:
    baselines = outcome.baselines
    lone, own, other = baselines.lone, LONE_CLIENT, OTHER_CLIENT
    yield "zero model, one batch", 2.3025851, baselines.batch_loss
    for count, (published, ours) in enumerate(zip(STEPS, baselines.steps, strict=True)):
        yield f"one batch, after step {count + 1}", published, ours
    yield (
        f"zero model, client {own}",
        23.025854,
        baselines.zero_train.client_losses[own],
    )
    yield f"client {own}'s model, client {own}", 0.43484688, lone.client_losses[own]
    yield f"client {own}'s model, client {other}", 74.50075, lone.client_losses[other]
    yield "zero model, all clients", 23.025852, baselines.zero_train.loss
    yield f"client {own}'s model, all clients", 54.432625, lone.loss
    yield "zero model, test", 22.795593, baselines.zero_test.loss


def _rounds(outcome: Outcome) -> Iterator[tuple[str, float, float]]:
    for published, ours in zip(ROUNDS, outcome.rounds, strict=False):
        yield f"after round {ours.number}", published, ours.train.loss
    if len(outcome.rounds) >= len(ROUNDS):
        last = outcome.rounds[len(ROUNDS) - 1]
        yield f"after round {last.number}, test", 17.278767, last.test.loss
