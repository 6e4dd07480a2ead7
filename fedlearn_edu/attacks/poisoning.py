# SPDX-License-Identifier: Apache-2.0
r"""Poisoning: what malicious clients send in place of honest updates.

Throughout, $\Delta_k$ is what client k would send if it were honest, $n_k$ its weight,
and $w$ the server's model. Attackers know these three, the number of the round and
their own number, and nothing of other clients. They claim the weight $n_k$, and do not
coordinate.
"""

import hashlib
from typing import Any

import numpy as np

from fedlearn_edu.attacks.attack import Attack, Known, in_form_of
from fedlearn_edu.attacks.errors import AttackError
from fedlearn_edu.errors import describe, short_traceback, whole_number
from fedlearn_edu.learning.arrays import l2_norm, tf
from fedlearn_edu.learning.optimizers import map_structure
from fedlearn_edu.learning.pytree import flatten, is_finite
from fedlearn_edu.learning.schedules import exact
from fedlearn_edu.rules import number


@short_traceback
def label_flip() -> Attack:
    r"""Training on wrong labels: class y becomes $C - 1 - y$; of ten digits, $9 - y$.

    What it assumes: an attacker changes its data, and then follows the algorithm.

    >>> label_flip().on([0])
    label_flip().on([0])

    Source: V. Tolpegin et al., "Data Poisoning Attacks Against Federated Learning
    Systems", ESORICS 2020; the formula is that of M. Fang et al., "Local Model
    Poisoning Attacks to Byzantine-Robust Federated Learning", USENIX Security 2020.
    """
    return Attack("label_flip()", labels=lambda y, classes: classes - 1 - y)


@short_traceback
def sign_flip(times: float = 1.0) -> Attack:
    r"""The opposite direction: $-t\, \Delta_k$, with t = `times`.

    What it assumes: an attacker may send what it likes, however long it is.

    >>> sign_flip(times=5).on([0, 1, 2, 3])
    sign_flip(times=5).on([0, 1, 2, 3])

    Raises:
        AttackError: unless `times` is above 0.

    Source: L. Li et al., "RSA: Byzantine-Robust Stochastic Aggregation Methods for
    Distributed Learning from Heterogeneous Datasets", AAAI 2019.
    """
    factor = -_positive(times, "times")

    def flip(known: Known) -> Any:
        return map_structure(lambda change: factor * change, known.update)

    return Attack(f"sign_flip(times={exact(times)})", flip)


@short_traceback
def gaussian(times: float = 10.0, *, seed: int = 0) -> Attack:
    r"""Noise t times as long as the honest update, with t = `times`.

    From $\mathcal N(0, \sigma^2 I)$, $\sigma = t\, \lVert \Delta_k \rVert / \sqrt d$,
    where an update has d numbers. It differs from attacker to attacker and from round
    to round, and is the same in every run.

    What it assumes: an attacker may send what it likes, and has no aim but disorder.

    >>> gaussian(times=10, seed=1).on([0])
    gaussian(times=10, seed=1).on([0])

    Raises:
        AttackError: unless `times` is above 0, and the seed a whole number.

    Source: P. Blanchard et al., "Machine Learning with Adversaries: Byzantine Tolerant
    Gradient Descent", NeurIPS 2017, where σ is a constant.
    """
    factor, key = _positive(times, "times"), _seed(seed)

    def noise(known: Known) -> Any:
        leaves = tf.nest.flatten(known.update)
        numbers = sum(int(np.prod(leaf.shape)) for leaf in leaves)
        deviation = factor * l2_norm(leaves) / float(numbers) ** 0.5
        return _noise_like(known, deviation, key)

    return Attack(f"gaussian(times={exact(times)}, seed={key})", noise)


@short_traceback
def model_replacement(target: Any, total_weight: float) -> Attack:
    r"""A model of the attacker's own: $\frac{n}{n_k} (w^* - w)$, n = `total_weight`.

    If the other clients hardly change the model any more, their mean with this one is
    the target $w^*$, after a single round. With several attackers, each sends as much.

    What it assumes: a mean without clipping, a server's learning rate of 1, and a good
    guess at the weight of all clients of the round together.

    >>> import numpy as np
    >>> says_1 = {"weights": np.zeros((2, 2)), "bias": np.array([0.0, 10.0])}
    >>> model_replacement(says_1, total_weight=6000).on([0])
    model_replacement(4f6188bf…, total_weight=6000).on([0])

    Args:
        target: w*, in the structure of `model.weights_type`.
        total_weight: Of all clients of a round: their examples, or their number where
            they are weighted alike.

    Raises:
        AttackError: unless the target is made of finite numbers, and `total_weight` is
            above 0.

    Source: E. Bagdasaryan et al., "How To Backdoor Federated Learning", AISTATS 2020.
    """
    total = _positive(total_weight, "total_weight")
    if not flatten(target) or not is_finite(target):
        raise AttackError(
            "a model is replaced by another model",
            expected="weights, made of finite numbers",
            found=describe(type(target)),
            where="target",
        )
    wanted = {
        path: np.asarray(leaf, np.float32) for path, leaf in flatten(target).items()
    }

    def replacement(known: Known) -> Any:
        aim = in_form_of(known.weights, wanted)
        scale = tf.math.divide_no_nan(total, known.weight)
        return map_structure(lambda now, to: scale * (to - now), known.weights, aim)

    everything = b"".join(leaf.tobytes() for leaf in wanted.values())
    digest = hashlib.sha256(everything).hexdigest()[:8]
    name = f"model_replacement({digest}…, total_weight={exact(total_weight)})"
    return Attack(name, replacement)


@short_traceback
def free_rider(noise: float = 0.0, *, seed: int = 0) -> Attack:
    r"""No work: zero, or $\mathcal N(0, \sigma^2)$ for each number, σ = `noise`.

    The client has the model of everybody, and claims the weight of data that it never
    read. (The simulation trains all the same, and throws the result away.)

    What it assumes: no check whether an update is made of data; noise is to look as if.

    >>> free_rider().on([0]), free_rider(noise=0.01)
    (free_rider(noise=0, seed=0).on([0]), free_rider(noise=0.01, seed=0))

    Raises:
        AttackError: unless `noise` is at least 0, and the seed a whole number.

    Source: Y. Fraboni et al., "Free-rider Attacks on Model Aggregation in Federated
    Learning", AISTATS 2021: plain and disguised free-riding.
    """
    number(noise, "noise >= 0", AttackError)
    deviation, key = float(noise), _seed(seed)
    return Attack(
        f"free_rider(noise={exact(noise)}, seed={key})",
        lambda known: _noise_like(known, deviation, key),
    )


def _noise_like(known: Known, deviation: Any, seed: int) -> Any:
    """Noise in the structure of the update, from stateless generators."""
    fold = tf.random.experimental.stateless_fold_in
    key = fold(tf.stack([seed, known.round_number]), known.attacker)
    leaves = [
        tf.cast(deviation, leaf.dtype)
        * tf.cast(
            tf.random.stateless_normal(leaf.shape, fold(key, position)), leaf.dtype
        )
        for position, leaf in enumerate(tf.nest.flatten(known.update))
    ]
    return tf.nest.pack_sequence_as(known.update, leaves)


def _positive(x: Any, name: str) -> float:
    summary, do = "this would be no attack", "free_rider() sends zeros"
    number(x, f"{name} > 0", AttackError, summary=summary, do=do)
    return float(x)


def _seed(seed: object) -> int:
    return whole_number(seed, "seed", 0, AttackError)
