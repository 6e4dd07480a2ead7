# SPDX-License-Identifier: Apache-2.0
"""`tff.learning`: models, optimizers, and processes of four parts.

`fl.learning` is another library of the same field, with records and callbacks; names
that both have mean other things there.
"""

from typing import Any

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import unknown
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


@short_traceback
def __getattr__(name: str) -> Any:
    raise unknown("fedlearn_edu.tff.learning", name, __all__)
