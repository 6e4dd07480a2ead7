# SPDX-License-Identifier: Apache-2.0
"""Federated learning: models, algorithms with `initialize` and `next`, evaluation.

Everything is written with the package's public API alone, each algorithm on one page.
Read `fed_avg.py`, then `rounds.py` (a round), `local_training.py` (a client's part).

>>> import fedlearn_edu as fl
>>> model = fl.learning.models.softmax_regression(features=2, classes=2)
>>> process = fl.learning.build_fed_avg(model, client_learning_rate=0.5)
>>> batch = {"x": [[0.0, 1.0], [1.0, 0.0]], "y": [0, 1]}
>>> state = process.initialize()
>>> for _ in range(3):
...     state, metrics = process.next(state, [[batch], [batch]])
>>> metrics["clients"], f"{metrics['loss_per_example']:.4f}"
(np.int32(2), '0.4859')

`run` does that round after round, with a progress bar, a history and checkpoints.
"""

from fedlearn_edu.former_names import answering
from fedlearn_edu.learning import (
    accounting,
    aggregators,
    callbacks,
    federated_averaging,
    leaderboard,
    losses,
    models,
    optimizers,
)
from fedlearn_edu.learning.checkpoints import CheckpointError, Checkpoints
from fedlearn_edu.learning.comparing import compare
from fedlearn_edu.learning.comparison import Comparison
from fedlearn_edu.learning.config import Options
from fedlearn_edu.learning.divergence import DivergenceError
from fedlearn_edu.learning.evaluation import Evaluation, build_federated_evaluation
from fedlearn_edu.learning.fed_avg import build_fed_avg
from fedlearn_edu.learning.fed_opt import (
    build_fed_adagrad,
    build_fed_adam,
    build_fed_avg_m,
    build_fed_opt,
    build_fed_yogi,
)
from fedlearn_edu.learning.fed_prox import build_fed_prox
from fedlearn_edu.learning.fed_sgd import build_fed_sgd
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.learning.scaffold import build_scaffold
from fedlearn_edu.learning.training_loop import run

__all__ = [
    "CheckpointError",
    "Checkpoints",
    "Comparison",
    "DivergenceError",
    "Evaluation",
    "History",
    "LearningProcess",
    "Options",
    "Run",
    "accounting",
    "build_fed_adagrad",
    "build_fed_adam",
    "build_fed_avg",
    "build_fed_avg_m",
    "build_fed_opt",
    "build_fed_prox",
    "build_fed_sgd",
    "build_fed_yogi",
    "build_federated_evaluation",
    "build_scaffold",
    "aggregators",
    "callbacks",
    "compare",
    "federated_averaging",
    "leaderboard",
    "losses",
    "models",
    "optimizers",
    "run",
]

__getattr__ = answering("fedlearn_edu.learning", __all__)
