# SPDX-License-Identifier: Apache-2.0
"""`explore_poisoning`: what attackers do to a model, and what a defence saves of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from matplotlib.figure import Figure

from fedlearn_edu import attacks, learning
from fedlearn_edu.attacks import Attack
from fedlearn_edu.errors import counted, short_traceback
from fedlearn_edu.learning import aggregators
from fedlearn_edu.learning.aggregators import AggregatorFactory
from fedlearn_edu.simulation import ClientData, datasets, partitions
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.curves import Curve
from fedlearn_edu.viz.explorers.background import Step
from fedlearn_edu.viz.explorers.computing import (
    Trials,
    Values,
    computing_explorer,
    curve_panels,
)
from fedlearn_edu.viz.explorers.controls import check_count, choice, slider
from fedlearn_edu.viz.explorers.drift import model
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.learner import Learner

CLIENTS, _MOST_ATTACKERS, _MOST_ROUNDS = 20, 8, 30
_BATCH_SIZE, _LEARNING_RATE = 10, 0.1


def _replaces() -> Attack:
    """The model of the attackers reads a 3 in every image."""
    bias = 10.0 * np.eye(10, dtype=np.float32)[3]
    target = {"weights": np.zeros((784, 10), np.float32), "bias": bias}
    everything = len(datasets.load_digits28().train[1])
    return attacks.model_replacement(target, total_weight=everything)


ATTACKS: dict[str, tuple[str, Callable[[], Attack]]] = {
    "sign_flip": ("sign flip × 5", lambda: attacks.sign_flip(times=5)),
    "label_flip": ("label flip", attacks.label_flip),
    "gaussian": ("Gaussian × 10", lambda: attacks.gaussian(times=10)),
    "model_replacement": ("model replacement", _replaces),
    "free_rider": ("free riding", attacks.free_rider),
}
"""What attackers send: a title, and the attack."""

RULES: dict[str, tuple[str, Callable[[int], AggregatorFactory]]] = {
    "median": ("median", lambda bad: aggregators.median()),
    "clipping": (
        "clipped mean",
        lambda bad: aggregators.clipping(aggregators.mean(), quantile=0.5),
    ),
    "trimmed_mean": (
        "trimmed mean",
        lambda bad: aggregators.median(trim=bad / CLIENTS),
    ),
    "krum": ("Krum", aggregators.krum),
    "multi_krum": ("multi-Krum", aggregators.multi_krum),
}
"""How updates are aggregated: a title, and the rule for so many bad clients."""

DATA: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "iid": ("IID", lambda y: partitions.iid(y, CLIENTS)),
    "dirichlet": (
        "Dirichlet, alpha 1",
        lambda y: partitions.dirichlet(y, CLIENTS, 1.0),
    ),
    "two_shards": ("two shards each", lambda y: partitions.shards(y, CLIENTS, 2)),
    "one_shard": ("one shard each", lambda y: partitions.shards(y, CLIENTS, 1)),
}
"""How the embedded digits are dealt out to twenty clients: a title, and how."""


@short_traceback
def explore_poisoning(
    attack: str = "sign_flip",
    rule: str = "median",
    data: str = "iid",
    *,
    attackers: int = 4,
    rounds: int = 10,
) -> Explorer:
    """Shows the test accuracy under an attack, with and without a defence.

    Twenty clients learn the embedded digits by federated averaging of a softmax
    regression, in batches of 10. The defence takes the place of the mean. Where it asks
    how many bad clients to bear, these are the attackers, at least one. The arguments
    are what the controls begin with.

    Args:
        attack: `"sign_flip"`, `"label_flip"`, `"gaussian"`, `"model_replacement"` or
            `"free_rider"`.
        rule: `"median"`, `"clipping"`, `"trimmed_mean"`, `"krum"` or `"multi_krum"`.
        data: From clients that are alike to such that differ: `"iid"`, `"dirichlet"`,
            `"two_shards"` or `"one_shard"`.
        attackers: How many of the clients attack, 0 to 8.
        rounds: How many, 1 to 30.

    Raises:
        FigureDataError: if an argument is none of these.
    """
    first = _checked(attack, rule, data, attackers, rounds)
    menus = (("attack", ATTACKS), ("rule", RULES), ("data", DATA))
    labels = {"attack": "attack", "rule": "defence", "data": "clients"}
    controls = {
        name: choice(
            labels[name],
            first[name],
            {title: key for key, (title, _) in options.items()},
        )
        for name, options in menus
    }
    for name, label, low, high in (
        ("attackers", f"attackers (of {CLIENTS})", 0, _MOST_ATTACKERS),
        ("rounds", "rounds", 1, _MOST_ROUNDS),
    ):
        controls[name] = slider(label, first[name], low, high, live=False)
    return computing_explorer("Poison, and defend", PoisoningPicture(), controls)


@final
@dataclass(frozen=True)
class Setting:
    """One run; without an attack or a rule where the controls do not matter."""

    data: str
    attack: str | None = None
    attackers: int = 0
    rule: str | None = None

    def process(self) -> learning.LearningProcess:
        """Federated averaging, under attack and defended."""
        bad = max(1, self.attackers)
        rule = RULES[self.rule][1](bad) if self.rule else None
        process = learning.build_fed_avg(model(), _LEARNING_RATE, aggregator=rule)
        if self.attack is None:
            return process
        attack = ATTACKS[self.attack][1]()
        return attacks.poison(process, attack.on(range(self.attackers)))


@final
class PoisoningPicture:
    """Up to three curves: the mean without attackers, the mean, and the defence.

    Attributes:
        ask: called if a run to be shown is not done yet.
    """

    @style.in_our_look
    def __init__(self) -> None:
        self.ask: Callable[[], None] = lambda: None
        self.figure, (self._panel,) = curve_panels({"Test accuracy": True})
        self._trials = Trials(_learner)

    def has(self, values: Values) -> bool:
        """Whether all runs for these values are done."""
        return self._trials.has([*_settings(values)], values["rounds"])

    def compute(self, values: Values) -> Iterator[Step]:
        """Does the runs that are missing."""
        yield from self._trials.train([*_settings(values)], values["rounds"])

    @style.in_our_look
    def show(self, **values: Any) -> tuple[Figure, str]:
        """Shows the rounds there are, and asks for those that are missing."""
        rounds = values["rounds"]
        curves = [
            Curve(name, accuracy, diverged=learner.diverged, color=color)
            for each, (name, color) in _settings(values).items()
            if len(accuracy := (learner := self._trials[each]).accuracy[: rounds + 1])
        ]
        self._panel.show(curves, rounds, note="" if curves else "computing …")
        bad, attack = values["attackers"], ATTACKS[values["attack"]][0]
        many = f"{bad} of them attack{'s' * (bad == 1)}: {attack}"
        who = many if bad else "no attackers"
        what = f"{CLIENTS} clients, {DATA[values['data']][0]}, {who}."
        if not self.has(values):
            self.ask()
            return self.figure, f"{what} Not computed yet."
        names = map(_end, curves[-2:])
        without = f"; {_end(curves[0])}" if bad else ""
        after = f"After {counted(rounds, 'round')}"
        return (
            self.figure,
            f"{what} {after} the accuracy is: {', '.join(names)}{without}.",
        )


def _end(curve: Curve) -> str:
    return f"{curve.name} {curve.values[-1]:.1%}"


def _settings(values: Values) -> dict[Setting, tuple[str, str]]:
    """The runs to be compared, each with its name and color."""
    names = "attack", "rule", "data", "attackers"
    attack, rule, data, attackers = (values[name] for name in names)
    title, honest = RULES[rule][0], Setting(data)
    if not attackers:
        defended = Setting(data, rule=rule)
        return {honest: ("mean", colors.QUIET), defended: (title, colors.SERVER)}
    under = Setting(data, attack, attackers)
    return {
        honest: ("no attack", colors.QUIET),
        under: ("mean", colors.ALARM),
        Setting(data, attack, attackers, rule): (title, colors.SERVER),
    }


def _learner(setting: Setting) -> Learner:
    (x, y), (test_x, test_y) = datasets.load_digits28()
    data = ClientData(x, y, DATA[setting.data][1](y))
    test = ClientData(test_x, test_y, [np.arange(len(test_y))])
    name = RULES[setting.rule][0] if setting.rule else "mean"
    return Learner(name, setting.process, data, test, _BATCH_SIZE)


def _checked(
    attack: Any, rule: Any, data: Any, attackers: Any, rounds: Any
) -> dict[str, Any]:
    """The values of the controls, or an error that says what is wrong."""
    for name, found, options in (
        ("attack", attack, ATTACKS),
        ("rule", rule, RULES),
        ("data", data, DATA),
    ):
        if not (isinstance(found, str) and found in options):
            raise style.FigureDataError(
                f"there is no picture of poisoning with this {name}",
                expected=", ".join(options),
                found=repr(found)[:60],
                where=name,
            )
    return {
        "attack": attack,
        "rule": rule,
        "data": data,
        "attackers": check_count(attackers, "attackers", 0, _MOST_ATTACKERS),
        "rounds": check_count(rounds, "rounds", 1, _MOST_ROUNDS),
    }
