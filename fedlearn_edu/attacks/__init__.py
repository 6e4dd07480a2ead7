# SPDX-License-Identifier: Apache-2.0
"""Attacks on federated learning, to be tried on one's own models.

`inversion` and `membership` read what updates and models give away. The others poison
what is learned: `poison` writes them into a process, on chosen clients.

>>> import fedlearn_edu as fl
>>> model = fl.learning.models.softmax_regression(features=2, classes=2)
>>> attackers = fl.attacks.sign_flip(times=5).on([0])
>>> process = fl.attacks.poison(fl.learning.build_fed_avg(model), attackers)
>>> process.settings.endswith("under sign_flip(times=5).on([0])")
True

Read `poisoning.py` first, then `attack.py`, `inversion.py` and `membership.py`.
"""

from fedlearn_edu.attacks import inversion, membership
from fedlearn_edu.attacks.attack import Attack, Attackers, Known, poison
from fedlearn_edu.attacks.errors import AttackError
from fedlearn_edu.attacks.poisoning import (
    free_rider,
    gaussian,
    label_flip,
    model_replacement,
    sign_flip,
)
from fedlearn_edu.former_names import answering

__all__ = [
    "Attack",
    "AttackError",
    "Attackers",
    "Known",
    "free_rider",
    "gaussian",
    "inversion",
    "label_flip",
    "membership",
    "model_replacement",
    "poison",
    "sign_flip",
]

__getattr__ = answering("fedlearn_edu.attacks", __all__)
