# SPDX-License-Identifier: Apache-2.0
"""`explore_budget`: what rounds of private averaging cost, and what they teach."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import final

import numpy as np

from fedlearn_edu import learning
from fedlearn_edu.errors import counted, short_traceback
from fedlearn_edu.learning import accounting, aggregators
from fedlearn_edu.simulation import ClientData, ClientSampling, datasets
from fedlearn_edu.simulation.seeded_rng import seeded_rng
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.curves import Curve, curve_panels
from fedlearn_edu.viz.explorers.controls import a_count, a_stop, arguments
from fedlearn_edu.viz.explorers.drift import model
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.frames import Frame, Frames
from fedlearn_edu.viz.explorers.learner import Learner, train_all

_NOISES = (0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)
_EXAMPLES, _BATCH_SIZE, _LEARNING_RATE, _CLIP = 20, 5, 0.1, 0.5
_POINTS = 11


@short_traceback
def explore_budget(
    clients: int = 300,
    probability: float = 0.1,
    noise_multiplier: float = 1.0,
    rounds: int = 10,
) -> Explorer:
    r"""Shows epsilon and the test accuracy round by round, also without the noise.

    A softmax regression learns the embedded digits by `gaussian` with clip 0.5, and
    `accounting.epsilon` counts. Each client has 20 digits, drawn at random from all, so
    several may have the same one. Delta is $n^{-1.1}$, for n clients. The arguments are
    what the controls begin with.

    Args:
        clients: How many there are, 50 to 1,000.
        probability: Of each of them to take part in a round (Poisson sampling), from
            0.03 to 1.
        noise_multiplier: z, the standard deviation of the noise in the sum in units of
            the clip, from 0.3 to 10.
        rounds: How many, 1 to 50.

    Raises:
        FigureDataError: if an argument is none of these.
    """
    noise = "noise multiplier (std / clip)"
    controls = arguments(
        clients=a_stop(clients, (50, 100, 300, 1000)),
        probability=a_stop(
            probability, (0.03, 0.1, 0.3, 1.0), label="probability (per round)"
        ),
        noise_multiplier=a_stop(noise_multiplier, _NOISES, most=10.0, label=noise),
        rounds=a_count(rounds, 1, 50, live=False),
    )
    return Explorer("Spend a budget", BudgetPicture(), controls)


@final
@dataclass(frozen=True)
class Setting:
    """One run; noise 0 is clipped federated averaging."""

    clients: int
    probability: float
    noise: float

    @property
    def delta(self) -> float:
        """Well below one over the number of clients."""
        return float(self.clients**-1.1)

    def process(self) -> learning.LearningProcess:
        """Federated averaging with noise; the mean is of the clients expected."""
        expected = self.probability * self.clients
        private = aggregators.gaussian(_CLIP, self.noise, expected)
        return learning.build_fed_avg(model(), _LEARNING_RATE, aggregator=private)


def _learner(setting: Setting) -> Learner:
    (x, y), (test_x, test_y) = datasets.load_digits28()
    chance = seeded_rng("budget", setting.clients)
    shares = chance.integers(0, len(y), (setting.clients, _EXAMPLES))
    return Learner(
        "with noise" if setting.noise else "without noise",
        setting.process,
        ClientData(x, y, [*shares]),
        ClientData(test_x, test_y, [np.arange(len(test_y))]),
        _BATCH_SIZE,
        ClientSampling(probability=setting.probability),
    )


@final
class BudgetPicture:
    """Epsilon above, accuracy below, round by round; what was computed is kept."""

    @style.in_our_look
    def __init__(self) -> None:
        titles = {"Privacy spent": False, "Test accuracy": True}
        self._figure, (self._spent, self._accuracy) = curve_panels(titles)
        self._trials = cache(_learner)
        self._epsilons: dict[tuple[Setting, int], float] = {}

    def show(
        self, clients: int, probability: float, noise_multiplier: float, rounds: int
    ) -> Frames:
        """Counts epsilon, and trains without the noise and with it."""
        private = Setting(clients, probability, noise_multiplier)
        both = [self._trials(each) for each in (replace(private, noise=0.0), private)]
        spent = Curve("epsilon", np.array([np.nan]))
        try:
            spent = yield from self._count(private, rounds)
            cost = f"epsilon is {spent.values[-1]:.3g} at delta {private.delta:.2g}"
        except accounting.MissingAccountantError as error:
            cost = f"{error.summary} ({error.do})"
        what = (
            f"{clients:,} clients, each in a round with probability {probability:g}, "
            f"z = {noise_multiplier:g}."
        )
        draw = partial(self._drawn, spent, both, rounds)
        yield draw(f"{what} Computing …")
        yield from train_all(both, rounds, lambda now: draw(f"{what} So far {now}."))
        quiet, noisy = (each.curve(rounds).values[-1] for each in both)
        after = f"After {counted(rounds, 'round')} the accuracy is {noisy:.1%}"
        yield draw(f"{what} {after}, without noise {quiet:.1%}; {cost}.")

    def _count(self, private: Setting, rounds: int) -> Generator[None, None, Curve]:
        """Epsilon after some of the rounds: the curve between them is smooth."""
        account = partial(accounting.epsilon, private.noise, private.probability)
        points = np.unique(np.linspace(0, rounds, _POINTS).round().astype(np.int64))
        for at in points.tolist():
            if (private, at) not in self._epsilons:
                yield
                self._epsilons[private, at] = account(at, private.delta)
        spent = [self._epsilons[private, at] for at in points.tolist()]
        name = f"epsilon at delta {private.delta:.2g}"
        return Curve(name, np.array(spent), measured=points)

    @style.in_our_look
    def _drawn(
        self, spent: Curve, both: Sequence[Learner], rounds: int, said: str
    ) -> Frame:
        """The curves as far as they are."""
        self._spent.show([spent], rounds)
        looks = zip(both, (colors.QUIET, colors.SERVER), strict=True)
        curves = [each.curve(rounds, color=color) for each, color in looks]
        self._accuracy.show(curves, rounds)
        return self._figure, said
