# SPDX-License-Identifier: Apache-2.0
r"""Membership inference: was this example among those that the model learned from?

A model is surer of what it has seen, so the attack says "member" where the loss is at
most a threshold τ: $\ell(w; x, y) \le \tau$. An attack without any skill has an area
under the curve (AUC) of 0.5 and an advantage of 0.

What it assumes: the attacker has the model, the example with its label, and other
examples of known origin to choose τ by. Here τ is chosen on the very examples it is
judged by, so that `advantage` is an upper bound for this kind of attack.

Source: S. Yeom et al., "Privacy Risk in Machine Learning: Analyzing the Connection to
Overfitting", CSF 2018; R. Shokri et al., "Membership Inference Attacks Against Machine
Learning Models", S&P 2017.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.attacks.errors import AttackError
from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.learning.client_source import check_batches
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.process import check_model
from fedlearn_edu.simulation import ClientData

__all__ = ["Membership", "by_loss"]

Losses = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Membership:
    """How well losses tell members from others.

    Attributes:
        members: `float64[m]`, the loss of each example that was learned from.
        others: `float64[n]`, of each that was not.
    """

    members: Losses
    others: Losses

    @property
    def auc(self) -> float:
        """How likely a member has the smaller loss of a random pair; ties are halves.

        >>> Membership(np.array([0.1, 0.2]), np.array([0.2, 0.9])).auc
        0.875
        """
        others = np.sort(self.others)
        below = np.searchsorted(others, self.members, "left")
        upto = np.searchsorted(others, self.members, "right")
        return float(1.0 - (below + upto).mean() / (2 * len(others)))

    @property
    def threshold(self) -> float:
        """τ: the loss up to which "member" is right most often."""
        tau, _ = self._best()
        return tau

    @property
    def advantage(self) -> float:
        """True positive rate minus false positive rate at the threshold.

        >>> Membership(np.array([0.1, 0.2]), np.array([0.2, 0.9])).advantage
        0.5
        """
        _, advantage = self._best()
        return advantage

    def _best(self) -> tuple[float, float]:
        taus = np.unique(np.concatenate([self.members, self.others]))
        rates = [
            np.searchsorted(np.sort(losses), taus, "right") / len(losses)
            for losses in (self.members, self.others)
        ]
        gains = rates[0] - rates[1]
        best = int(gains.argmax())
        return float(taus[best]), max(0.0, float(gains[best]))


@short_traceback
def by_loss(
    model: Model, weights: Any, members: Any, others: Any, *, scale: bool | None = None
) -> Membership:
    """Tries the attack on examples whose origin is known.

    >>> import fedlearn_edu as fl
    >>> train, test = fl.simulation.datasets.load("digits28")
    >>> model = fl.learning.models.softmax_regression()
    >>> nothing_learned = by_loss(model, model.initialize(0), train, test)
    >>> nothing_learned.auc, nothing_learned.advantage
    (0.5, 0.0)

    Args:
        model: What was trained.
        weights: Its weights after training, such as `run.state.weights`.
        members: x and y of examples it was trained on, as `ClientData` takes them.
        others: x and y of examples it was not trained on.
        scale: Whether features are divided by 255, as for the `ClientData` of the run;
            `None` divides images of bytes alone.

    Raises:
        AttackError: if one of the two is no pair of x and y.
        ExamplesError: if there are no examples, or not as many labels.
    """
    check_model(model)
    found = [
        _losses(model, weights, examples, name, scale)
        for name, examples in (("members", members), ("others", others))
    ]
    return Membership(*found)


def _losses(
    model: Model, weights: Any, examples: Any, name: str, scale: bool | None
) -> Losses:
    if not isinstance(examples, tuple | list) or len(examples) != 2:
        raise AttackError(
            "an attack is tried on examples with their labels",
            expected="x and y, such as Dataset.train",
            found=describe(examples),
            where=name,
        )
    x, y = examples
    held = ClientData(x, y, [np.arange(len(y))], scale=scale)
    check_batches(held, model.batch_type)
    placed = held.place(batch_type=model.batch_type)
    return np.asarray(model.losses(weights, placed.members[0][0]), np.float64)
