# SPDX-License-Identifier: Apache-2.0
"""`tff.learning`: models, optimizers, and processes of four parts.

`fl.learning` is another library of the same field, with records and callbacks; names
that both have mean other things there.
"""

from fedlearn_edu.former_names import answering
from fedlearn_edu.tff.learning import algorithms, models, optimizers, templates
from fedlearn_edu.tff.learning import recommended as model_update_aggregator
from fedlearn_edu.tff.learning.algorithms import build_federated_evaluation
from fedlearn_edu.tff.learning.recommended import (
    compression_aggregator,
    dp_aggregator,
    robust_aggregator,
    secure_aggregator,
)
from fedlearn_edu.tff.learning.templates import ClientWeighting

__all__ = [
    "ClientWeighting",
    "algorithms",
    "build_federated_evaluation",
    "compression_aggregator",
    "dp_aggregator",
    "model_update_aggregator",
    "models",
    "optimizers",
    "robust_aggregator",
    "secure_aggregator",
    "templates",
]

__getattr__ = answering("fedlearn_edu.tff.learning", __all__)
