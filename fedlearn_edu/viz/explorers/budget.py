# SPDX-License-Identifier: Apache-2.0
"""`explore_budget`: what rounds of private averaging cost, and what they teach."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fedlearn_edu import learning
from fedlearn_edu.errors import counted, short_traceback
from fedlearn_edu.learning import accounting, aggregators
from fedlearn_edu.simulation import ClientData, ClientSampling, datasets
from fedlearn_edu.simulation.seeded_rng import seeded_rng
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.curves import Curve
from fedlearn_edu.viz.explorers.background import Step
from fedlearn_edu.viz.explorers.computing import (
    Trials,
    Values,
    computing_explorer,
    curve_panels,
)
from fedlearn_edu.viz.explorers.controls import check_count, check_number, slider, stops
from fedlearn_edu.viz.explorers.drift import model
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.learner import Learner

_COUNTS, _PROBABILITIES = (50, 100, 300, 1000), (0.03, 0.1, 0.3, 1.0)
_NOISES = (0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)
_LEAST_NOISE, _MOST_NOISE, _MOST_ROUNDS = 0.3, 10.0, 50
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
    first = _checked(clients, probability, noise_multiplier, rounds)
    controls = {
        name: stops(
            label, first[name], {f"{n:g}": n for n in sorted({*usual, first[name]})}
        )
        for name, label, usual in (
            ("clients", "clients", _COUNTS),
            ("probability", "probability (per round)", _PROBABILITIES),
            ("noise", "noise multiplier (std / clip)", _NOISES),
        )
    }
    controls["rounds"] = slider("rounds", first["rounds"], 1, _MOST_ROUNDS, live=False)
    return computing_explorer("Spend a budget", BudgetPicture(), controls)


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
    """Epsilon above, accuracy below, round by round.

    Attributes:
        ask: called if what is to be shown is not computed yet.
    """

    @style.in_our_look
    def __init__(self) -> None:
        self.ask: Callable[[], None] = lambda: None
        titles = {"Privacy spent": False, "Test accuracy": True}
        self.figure, panels = curve_panels(titles)
        self._spent, self._accuracy = panels
        self._trials = Trials(_learner)
        self._epsilons: dict[tuple[Setting, int], float] = {}
        self._missing = ""

    def has(self, values: Values) -> bool:
        """Whether both runs are done, and the epsilons are counted."""
        private, rounds = _setting(values), values["rounds"]
        counted = all((private, at) in self._epsilons for at in _points(rounds))
        is_counted = bool(self._missing) or counted
        return is_counted and self._trials.has(_both(private), rounds)

    def compute(self, values: Values) -> Iterator[Step]:
        """Counts, and trains."""
        private, rounds = _setting(values), values["rounds"]
        try:
            yield from self._count(private, _points(rounds))
        except accounting.MissingAccountantError as error:
            self._missing = f"{error.summary} ({error.do})"
        yield from self._trials.train(_both(private), rounds)

    def _count(self, private: Setting, points: NDArray[np.int64]) -> Iterator[Step]:
        account = partial(accounting.epsilon, private.noise, private.probability)
        for number, at in enumerate(points.tolist()):
            if (private, at) not in self._epsilons:
                yield number, len(points), f"epsilon after {counted(at, 'round')}"
                self._epsilons[private, at] = account(at, private.delta)

    @style.in_our_look
    def show(self, **values: Any) -> tuple[Figure, str]:
        """Shows what there is, and asks for what is missing."""
        private, rounds = _setting(values), values["rounds"]
        points = np.array(
            [at for at in _points(rounds) if (private, at) in self._epsilons], int
        )
        spent = np.array([self._epsilons[private, at] for at in points.tolist()])
        waiting, missing = "computing …", "dp-accounting\nis not installed"
        costs = [Curve("epsilon", spent, measured=points)] if len(points) else []
        note = "" if costs else missing if self._missing else waiting
        self._spent.show(costs, rounds, note=note)
        looks = zip(_both(private), (colors.QUIET, colors.SERVER), strict=True)
        curves = [
            Curve(learner.name, accuracy, diverged=learner.diverged, color=color)
            for each, color in looks
            if len(accuracy := (learner := self._trials[each]).accuracy[: rounds + 1])
        ]
        self._accuracy.show(curves, rounds, note="" if curves else waiting)
        what = (
            f"{private.clients:,} clients, each in a round with probability "
            f"{private.probability:g}, z = {private.noise:g}."
        )
        if not self.has(values):
            self.ask()
            return self.figure, f"{what} Not computed yet."
        cost = self._missing
        if costs:
            cost = f"epsilon is {spent[-1]:.3g} at delta {private.delta:.2g}"
        after = f"After {counted(rounds, 'round')}"
        quiet, noisy = (curve.values[-1] for curve in curves)
        return self.figure, (
            f"{what} {after} the accuracy is {noisy:.1%}, without noise {quiet:.1%}; "
            f"{cost}."
        )


def _points(rounds: int) -> NDArray[np.int64]:
    """Rounds after which epsilon is counted: the curve between them is smooth."""
    return np.unique(np.linspace(0, rounds, _POINTS).round().astype(np.int64))


def _setting(values: Values) -> Setting:
    return Setting(values["clients"], values["probability"], values["noise"])


def _both(private: Setting) -> list[Setting]:
    """The run without noise, and the private one."""
    return [Setting(private.clients, private.probability, 0.0), private]


def _checked(clients: Any, chance: Any, noise: Any, rounds: Any) -> dict[str, Any]:
    """The values of the controls, or an error that says what is wrong."""
    least, most = _PROBABILITIES[0], _PROBABILITIES[-1]
    return {
        "clients": check_count(clients, "clients", _COUNTS[0], _COUNTS[-1]),
        "probability": check_number(chance, "probability", least, most),
        "noise": check_number(noise, "noise_multiplier", _LEAST_NOISE, _MOST_NOISE),
        "rounds": check_count(rounds, "rounds", 1, _MOST_ROUNDS),
    }
