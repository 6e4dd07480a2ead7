# SPDX-License-Identifier: Apache-2.0
"""`explore_poisoning`: what attackers do to a model, and what a defence saves of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, final

import numpy as np

from fedlearn_edu import attacks, learning
from fedlearn_edu.attacks import Attack
from fedlearn_edu.errors import counted, short_traceback
from fedlearn_edu.learning import aggregators
from fedlearn_edu.learning.aggregators import AggregatorFactory
from fedlearn_edu.simulation import ClientData, datasets, partitions
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.curves import curve_panels
from fedlearn_edu.viz.explorers.controls import a_choice, a_count, arguments
from fedlearn_edu.viz.explorers.drift import model
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.frames import Frame, Frames
from fedlearn_edu.viz.explorers.learner import Learner, train_all

CLIENTS = 20
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
    controls = arguments(
        attack=a_choice(attack, _titles(ATTACKS)),
        rule=a_choice(rule, _titles(RULES), label="defence"),
        data=a_choice(data, _titles(DATA), label="clients"),
        attackers=a_count(
            attackers, 0, 8, label=f"attackers (of {CLIENTS})", live=False
        ),
        rounds=a_count(rounds, 1, 30, live=False),
    )
    return Explorer("Poison, and defend", PoisoningPicture(), controls)


def _titles(table: Mapping[str, tuple[str, Any]]) -> dict[str, str]:
    return {name: title for name, (title, _) in table.items()}


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
    """Up to three curves: the mean, the defence, and the mean without attackers."""

    @style.in_our_look
    def __init__(self) -> None:
        self._figure, (self._panel,) = curve_panels({"Test accuracy": True}, (3, 1))
        self._trials = cache(_learner)

    def show(
        self, attack: str, rule: str, data: str, attackers: int, rounds: int
    ) -> Frames:
        """Does the runs that are compared."""
        looks = {
            self._trials(setting): look
            for setting, look in _settings(attack, rule, data, attackers).items()
        }
        title, end = ATTACKS[attack][0], "s" * (attackers == 1)
        who = f"{attackers} of them attack{end}: {title}"
        who = who if attackers else "no attackers"
        what = f"{CLIENTS} clients, {DATA[data][0]}, {who}."
        draw = partial(self._drawn, looks, rounds)
        yield from train_all(looks, rounds, lambda now: draw(f"{what} So far {now}."))
        ends = [
            f"{x.curve(rounds).values[-1]:.1%} ({look[0]})" for x, look in looks.items()
        ]
        after = f"After {counted(rounds, 'round')} the accuracy is"
        yield draw(f"{what} {after}: {'; '.join(ends)}.")

    @style.in_our_look
    def _drawn(
        self, looks: Mapping[Learner, tuple[str, str]], rounds: int, said: str
    ) -> Frame:
        """The curves as far as they are."""
        shown = [each.curve(rounds, *look) for each, look in looks.items()]
        self._panel.show(shown, rounds)
        return self._figure, said


def _settings(
    attack: str, rule: str, data: str, attackers: int
) -> dict[Setting, tuple[str, str]]:
    """The runs to be compared, each with its name and color; a place is a look, too."""
    hit = Setting(data, attack, attackers) if attackers else Setting(data)
    who = f", attacked by {attackers} of {CLIENTS}" if attackers else ""
    return {
        Setting(data): ("mean, no attack", colors.QUIET),
        hit: (f"mean{who}", colors.ALARM),
        replace(hit, rule=rule): (f"{RULES[rule][0]}{who}", colors.SERVER),
    }


def _learner(setting: Setting) -> Learner:
    (x, y), (test_x, test_y) = datasets.load_digits28()
    data = ClientData(x, y, DATA[setting.data][1](y))
    test = ClientData(test_x, test_y, [np.arange(len(test_y))])
    name = RULES[setting.rule][0] if setting.rule else "mean"
    name += " under attack" if setting.attack else ""
    return Learner(name, setting.process, data, test, _BATCH_SIZE)
