# SPDX-License-Identifier: Apache-2.0
"""FedProx: federated averaging whose clients are pulled back to the server's model."""

from typing import Any

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.aggregators.base import Factory
from fedlearn_edu.learning.averaging import build_averaging_process
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.local_training import LocalTrainingConfig
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Rate, build_sgd, map_structure
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.schedules import exact
from fedlearn_edu.rules import number


@short_traceback
def build_fed_prox(  # noqa: PLR0913 (a setting for each part)
    model: Model,
    client_learning_rate: Rate = 0.1,
    *,
    proximal_strength: float = 0.01,
    server_learning_rate: Rate = 1.0,
    local_epochs: int = 1,
    weighting: str = "examples",
    seed: int = 0,
    aggregator: Factory | None = None,
) -> LearningProcess:
    r"""Federated averaging with a proximal term, FedProx.

    Every client minimizes $f_k(w_k) + \frac{\mu}{2} \lVert w_k - w \rVert^2$, so that
    each of its steps is

    $$w_k \leftarrow w_k - \eta\,(\nabla f(w_k; b) + \mu\,(w_k - w))$$

    `proximal_strength` is μ; with 0 it is FedAvg. All else as in `build_fed_avg`.

    Raises:
        ProcessError: μ is negative, or no finite number.

    Source: T. Li et al., "Federated Optimization in Heterogeneous Networks", MLSys
    2020; `build_weighted_fed_prox` of `tff.learning.algorithms`.
    """
    number(
        proximal_strength,
        "proximal_strength >= 0",
        ProcessError,
        summary="a client cannot be pushed away from the server's model",
        do="0 is FedAvg, 0.01 is a first try",
    )

    def pull_back(gradients: Any, weights: Any, anchor: Any) -> Any:
        return map_structure(
            lambda g, w, a: g + proximal_strength * (w - a), gradients, weights, anchor
        )

    words = f"proximal strength {exact(proximal_strength)}"
    client = build_sgd(client_learning_rate)
    local = LocalTrainingConfig(client, local_epochs, weighting, pull_back, words)
    return build_averaging_process(
        "FedProx", model, local, build_sgd(server_learning_rate), seed, aggregator
    )
