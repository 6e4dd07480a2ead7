# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""What the server does in a round, in all algorithms: begin, take a step, report.

The step treats the direction that clients agreed on as if it were a gradient with its
sign turned, so that any `Optimizer` can take it.
"""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Optimizer
from fedlearn_edu.learning.process import ServerState


def build_begin(model: Model, optimizer: Optimizer, seed: int) -> fl.Computation:
    """`( -> STATE)`: the model's weights under the seed, and no round done."""

    @fl.tf_computation
    def begin() -> Any:
        weights = model.initialize(seed)
        return ServerState(weights, optimizer.initialize(weights), fl.tf.constant(0))

    return begin


def build_step(model: Model, optimizer: Optimizer, state: fl.Type) -> fl.Computation:
    """`(<STATE,WEIGHTS> -> STATE)`: one step in the direction of the mean update."""

    @fl.tf_computation(state, model.weights_type)
    def step(state: Any, mean_update: Any) -> Any:
        against = fl.tf.nest.map_structure(lambda update: -update, mean_update)
        moments, weights = optimizer.next(
            state.optimizer, state.weights, against, state.round_number
        )
        return ServerState(weights, moments, state.round_number + 1)

    return step


def build_report(model: Model) -> fl.Computation:
    """`(<float32,int32,int32,WEIGHTS> -> METRICS)`: what a round says of itself.

    `loss_per_example` is the mean over all examples of all clients, each by the weights
    it met; `update_norm` is the length of the mean update, all weights together.
    """

    @fl.tf_computation(np.float32, np.int32, np.int32, model.weights_type)
    def report(loss_sum: Any, examples: Any, clients: Any, update: Any) -> Any:
        return OrderedDict(
            loss_per_example=loss_sum / fl.tf.cast(examples, fl.tf.float32),
            examples=examples,
            clients=clients,
            update_norm=fl.tf.linalg.global_norm(fl.tf.nest.flatten(update)),
        )

    return report
