# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""FedSGD: clients send gradients, the server takes one step. The simplest of all."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.aggregators.base import Factory
from fedlearn_edu.learning.arrays import (
    local_computation,
    local_step,
    reduce_sequence,
    tf,
)
from fedlearn_edu.learning.averaging import compose
from fedlearn_edu.learning.local_training import client_result
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Rate, build_sgd, map_structure, zeros_like
from fedlearn_edu.learning.process import LearningProcess, check_model
from fedlearn_edu.learning.rounds import Told


@short_traceback
def build_fed_sgd(
    model: Model,
    server_learning_rate: Rate = 0.1,
    *,
    seed: int = 0,
    aggregator: Factory | None = None,
) -> LearningProcess:
    r"""Federated stochastic gradient descent, FedSGD.

    Client k computes the gradient of its mean loss over *all* its $n_k$ examples, at
    the server's weights $w$; how they are batched makes no difference. Then

    $$w \leftarrow w - \eta_s \sum_k \frac{n_k}{\sum_j n_j} \nabla f_k(w)$$

    which is one step of gradient descent on everybody's examples together. Instead of
    the mean, `aggregator` may combine the updates $-\nabla f_k(w)$ in another way.

    Source: B. McMahan et al., "Communication-Efficient Learning of Deep Networks from
    Decentralized Data", AISTATS 2017, section 2; `build_fed_sgd` of
    `tff.learning.algorithms`.
    """
    check_model(model)
    server = build_sgd(server_learning_rate)
    words = f"server {server}, weighted by examples, seed {seed}"
    work = _build_client_round(model)
    return compose("FedSGD", words, model, work, server, seed, aggregator)


@final
@dataclass(frozen=True, eq=False)
class GradientSum:
    """The state of a client's loop.

    Attributes:
        gradients: of the sum of the losses, in the structure of the weights.
        loss_sum: `float32`, in nats.
        examples: `int32`.
    """

    gradients: Any
    loss_sum: Any
    examples: Any


def _build_client_round(model: Model) -> fl.Computation:
    """`(<TOLD,BATCH*,<>> -> CLIENT_RESULT)`: no steps, only a sum over the batches."""

    @local_step
    def begin(weights: Any) -> Any:
        return GradientSum(zeros_like(weights), tf.constant(0.0), tf.constant(0))

    @local_step
    def add(weights: Any, total: Any, batch: Any) -> Any:
        slopes, losses = model.sum_gradient(weights, batch)
        return GradientSum(
            map_structure(lambda so_far, g: so_far + g, total.gradients, slopes),
            total.loss_sum + tf.reduce_sum(losses),
            total.examples + tf.size(losses),
        )

    @local_step
    def pack(total: Any) -> Any:
        count = tf.maximum(tf.cast(total.examples, tf.float32), 1.0)
        down = map_structure(lambda slope: -slope / count, total.gradients)
        return client_result(down, total.examples, total.loss_sum, total.examples)

    told_type = Told(model.weights_type, np.int32)

    @local_computation(told_type, fl.SequenceType(model.batch_type), ())
    def client_round(told: Any, batches: Any, kept: Any) -> Any:
        def learn(total: Any, batch: Any) -> Any:
            return add(told.weights, total, batch)

        return pack(reduce_sequence(batches, begin(told.weights), learn))

    return client_round
