# SPDX-License-Identifier: Apache-2.0
"""FedAvg: clients train copies of the model, the server averages them."""

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.aggregators.base import Factory
from fedlearn_edu.learning.averaging import build_averaging_process
from fedlearn_edu.learning.local_training import LocalTrainingConfig
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Rate, build_sgd
from fedlearn_edu.learning.process import LearningProcess


@short_traceback
def build_fed_avg(
    model: Model,
    client_learning_rate: Rate = 0.1,
    server_learning_rate: Rate = 1.0,
    *,
    local_epochs: int = 1,
    weighting: str = "examples",
    seed: int = 0,
    aggregator: Factory | None = None,
) -> LearningProcess:
    r"""Federated averaging, FedAvg.

    From the server's $w$, client k takes a step $w_k \leftarrow w_k - \eta \nabla
    f(w_k; b)$ for each of its batches $b$, in `local_epochs` passes. Then

    $$w \leftarrow w + \eta_s \sum_k \frac{n_k}{\sum_j n_j} (w_k - w)$$

    With the server's rate $\eta_s = 1$ that is the mean of the clients' models.

    Args:
        model: What is trained.
        client_learning_rate: η, a number, or a function of the rounds finished.
        server_learning_rate: η_s.
        local_epochs: Passes over a client's batches in one round, the paper's E; how
            large a batch is (B) is up to the data.
        weighting: `"examples"`, where $n_k$ counts examples, or `"uniform"`, where it
            is 1 for every client that has any.
        seed: Of the initial weights.
        aggregator: What the server makes of the updates $w_k - w$, one of
            `learning.aggregators`; `None` for `mean()`, the sum above.

    Source: B. McMahan et al., "Communication-Efficient Learning of Deep Networks from
    Decentralized Data", AISTATS 2017, Algorithm 1; `build_weighted_fed_avg` and
    `build_unweighted_fed_avg` of `tff.learning.algorithms`.
    """
    client = build_sgd(client_learning_rate)
    local = LocalTrainingConfig(client, local_epochs, weighting)
    optimizer = build_sgd(server_learning_rate)
    return build_averaging_process("FedAvg", model, local, optimizer, seed, aggregator)
