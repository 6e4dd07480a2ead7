# SPDX-License-Identifier: Apache-2.0
r"""FedOpt: federated averaging whose server takes its step with a better optimizer.

Clients do what they do in `fed_avg`. The mean of their updates, with its sign turned,
stands in for a gradient: $g = -\sum_k \frac{n_k}{n} (w_k - w)$. The server's step,
`_build_step` in `averaging.py`, turns the sign and calls the optimizer; the formulas
are in `optimizers.py`.

Source of all: S. Reddi et al., "Adaptive Federated Optimization", ICLR 2021, Algorithm
2; FedAvgM is from T. Hsu et al., "Measuring the Effects of Non-Identical Data
Distribution for Federated Visual Classification", 2019.
"""

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.aggregators.base import Factory
from fedlearn_edu.learning.averaging import build_averaging_process
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.local_training import LocalTrainingConfig
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import (
    Optimizer,
    Rate,
    build_adagrad,
    build_adam,
    build_sgd,
    build_sgdm,
    build_yogi,
)
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.rules import a


@short_traceback
def build_fed_opt(
    model: Model,
    client_optimizer: Optimizer,
    server_optimizer: Optimizer,
    *,
    local_epochs: int = 1,
    weighting: str = "examples",
    seed: int = 0,
    aggregator: Factory | None = None,
) -> LearningProcess:
    """Federated averaging with any optimizer on either side.

    The clients' moments begin anew in each round, the server's go on. The other
    arguments are those of `build_fed_avg`, which is this with `build_sgd` twice.

    Raises:
        ProcessError: if one of the two is none of `learning.optimizers`.
    """
    _check_optimizer(client_optimizer, "client_optimizer")
    _check_optimizer(server_optimizer, "server_optimizer")
    local = LocalTrainingConfig(client_optimizer, local_epochs, weighting)
    return build_averaging_process(
        "FedOpt", model, local, server_optimizer, seed, aggregator
    )


@short_traceback
def build_fed_avg_m(  # noqa: PLR0913 (a setting for each part)
    model: Model,
    client_learning_rate: Rate = 0.1,
    server_learning_rate: Rate = 1.0,
    *,
    momentum: float = 0.9,
    local_epochs: int = 1,
    weighting: str = "examples",
    seed: int = 0,
    aggregator: Factory | None = None,
) -> LearningProcess:
    r"""FedAvgM: the server's steps have momentum.

    $v \leftarrow \beta v + g$, $w \leftarrow w - \eta_s v$, with β = `momentum`;
    with 0 it is FedAvg.

    Source: T. Hsu et al., 2019.
    """
    client = build_sgd(client_learning_rate)
    local = LocalTrainingConfig(client, local_epochs, weighting)
    server = build_sgdm(server_learning_rate, momentum)
    return build_averaging_process("FedAvgM", model, local, server, seed, aggregator)


@short_traceback
def build_fed_adagrad(  # noqa: PLR0913 (a setting for each part)
    model: Model,
    client_learning_rate: Rate = 0.1,
    server_learning_rate: Rate = 0.1,
    *,
    epsilon: float = 1e-3,
    local_epochs: int = 1,
    weighting: str = "examples",
    seed: int = 0,
    aggregator: Factory | None = None,
) -> LearningProcess:
    r"""FedAdagrad: steps get smaller where updates were large.

    $s \leftarrow s + g^2$, $w \leftarrow w - \eta_s g / (\sqrt{s} + \epsilon)$.

    Source: S. Reddi et al., ICLR 2021, Algorithm 2 with β₁ = 0.
    """
    client = build_sgd(client_learning_rate)
    local = LocalTrainingConfig(client, local_epochs, weighting)
    server = build_adagrad(server_learning_rate, epsilon)
    return build_averaging_process("FedAdagrad", model, local, server, seed, aggregator)


@short_traceback
def build_fed_adam(  # noqa: PLR0913 (a setting for each part)
    model: Model,
    client_learning_rate: Rate = 0.1,
    server_learning_rate: Rate = 0.01,
    *,
    epsilon: float = 1e-3,
    local_epochs: int = 1,
    weighting: str = "examples",
    seed: int = 0,
    aggregator: Factory | None = None,
) -> LearningProcess:
    r"""FedAdam: the server's steps are Adam's, with β₁ = 0.9 and β₂ = 0.99.

    $m \leftarrow \beta_1 m + (1-\beta_1) g$,
    $s \leftarrow \beta_2 s + (1-\beta_2) g^2$,
    $w \leftarrow w - \eta_s m / (\sqrt{s} + \epsilon)$.

    Source: S. Reddi et al., ICLR 2021, Algorithm 2.
    """
    client = build_sgd(client_learning_rate)
    local = LocalTrainingConfig(client, local_epochs, weighting)
    server = build_adam(server_learning_rate, epsilon=epsilon)
    return build_averaging_process("FedAdam", model, local, server, seed, aggregator)


@short_traceback
def build_fed_yogi(  # noqa: PLR0913 (a setting for each part)
    model: Model,
    client_learning_rate: Rate = 0.1,
    server_learning_rate: Rate = 0.01,
    *,
    epsilon: float = 1e-3,
    local_epochs: int = 1,
    weighting: str = "examples",
    seed: int = 0,
    aggregator: Factory | None = None,
) -> LearningProcess:
    r"""FedYogi: as FedAdam, but the squares move by no more than the latest one.

    $s \leftarrow s - (1-\beta_2)\, g^2\, \mathrm{sign}(s - g^2)$.

    Source: S. Reddi et al., ICLR 2021, Algorithm 2.
    """
    client = build_sgd(client_learning_rate)
    local = LocalTrainingConfig(client, local_epochs, weighting)
    server = build_yogi(server_learning_rate, epsilon=epsilon)
    return build_averaging_process("FedYogi", model, local, server, seed, aggregator)


def _check_optimizer(optimizer: object, where: str) -> None:
    a(
        Optimizer,
        optimizer,
        where,
        ProcessError,
        summary="an optimizer is a pair of pure functions",
        expected="one that learning.optimizers makes, such as build_sgd(0.1)",
    )
