# SPDX-License-Identifier: Apache-2.0
"""What the demo is made of: a model, federated averaging and evaluation.

All three are parts of `learning`, whose files are the federated program; here they get
the numbers of the tutorial "Custom Federated Algorithms, Part 2" of TensorFlow
Federated. Nothing runs here: building makes typed, placed programs, which `run` runs.
"""

from dataclasses import dataclass
from typing import final

from fedlearn_edu import learning
from fedlearn_edu.demo.setting import DECAY, LEARNING_RATE
from fedlearn_edu.learning.evaluation import FederatedEvaluation
from fedlearn_edu.learning.optimizers import exponential_decay


@final
@dataclass(frozen=True)
class Program:
    """The parts of the demo.

    Attributes:
        averaging: one round: each client takes one step per batch, all clients count
            alike, and the rate gets smaller from round to round.
        stepping: the same with a rate that stays.
        evaluation: of a model on everybody's batches.
    """

    averaging: learning.LearningProcess
    stepping: learning.LearningProcess
    evaluation: FederatedEvaluation


def build_program() -> Program:
    """Builds them for softmax regression, whose weights are all zero at first."""
    model = learning.models.softmax_regression(log_of_softmax=True)
    decaying = exponential_decay(LEARNING_RATE, DECAY)
    return Program(
        averaging=learning.build_fed_avg(model, decaying, weighting="uniform"),
        stepping=learning.build_fed_avg(model, LEARNING_RATE),
        evaluation=learning.build_federated_evaluation(model),
    )
