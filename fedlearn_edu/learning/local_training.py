# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""What one client does in a round: a few passes over its batches, one step per batch.

`fed_avg`, `fed_prox` and `scaffold` differ in one line here, the `Correction`, which
changes a batch's gradient before the step is taken.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Optimizer
from fedlearn_edu.learning.process import check_epochs

Correction = Callable[[Any, Any, Any], Any]
"""`<GRADIENTS,WEIGHTS,ANCHOR> -> GRADIENTS`; the anchor has the shape of the weights."""


@final
@dataclass(frozen=True, eq=False)
class LocalTraining:
    """What goes round in a client's loop, and what it has in its hands at the end.

    Attributes:
        weights: of the client's own copy of the model.
        optimizer: the moments of the client's optimizer.
        loss_sum: `float32` in nats, each example by the weights it met.
        examples: `int32`, how many were met; in two passes each one counts twice.
        steps: `int32`, how many batches were met.
    """

    weights: Any
    optimizer: Any
    loss_sum: Any
    examples: Any
    steps: Any


def uncorrected(gradients: Any, weights: Any, anchor: Any) -> Any:
    """The gradient as it is: plain local training."""
    return gradients


def build_local_training(
    model: Model,
    optimizer: Optimizer,
    local_epochs: int = 1,
    correct: Correction = uncorrected,
) -> fl.Computation:
    """`(<WEIGHTS,ANCHOR,int32,BATCH*> -> LOCAL_TRAINING)`, in the round of this number.

    Each batch is one step down the gradient of its *mean* loss; the batches come in
    their order, in every pass the same.
    """
    check_epochs(local_epochs)
    begin = _build_begin(model, optimizer)
    training = begin.type_signature.result
    step = _build_step(model, optimizer, training, correct)

    @fl.federated_computation(
        model.weights_type,
        model.weights_type,
        np.int32,
        fl.SequenceType(model.batch_type),
    )
    def local_training(weights: Any, anchor: Any, number: Any, batches: Any) -> Any:
        @fl.federated_computation(training, model.batch_type)
        def learn(so_far: Any, batch: Any) -> Any:
            return step(so_far, anchor, number, batch)

        so_far = begin(weights)
        for _ in range(local_epochs):
            so_far = fl.sequence_reduce(batches, so_far, learn)
        return so_far

    return local_training


def _build_begin(model: Model, optimizer: Optimizer) -> fl.Computation:
    @fl.tf_computation(model.weights_type)
    def begin(weights: Any) -> Any:
        none = fl.tf.constant(0)
        moments = optimizer.initialize(weights)
        return LocalTraining(weights, moments, fl.tf.constant(0.0), none, none)

    return begin


def _build_step(
    model: Model, optimizer: Optimizer, training: fl.Type, correct: Correction
) -> fl.Computation:
    @fl.tf_computation(training, model.weights_type, np.int32, model.batch_type)
    def step(so_far: Any, anchor: Any, number: Any, batch: Any) -> Any:
        weights = so_far.weights
        gradients, losses = mean_gradient(model, weights, batch)
        gradients = correct(gradients, weights, anchor)
        moments, weights = optimizer.next(so_far.optimizer, weights, gradients, number)
        return LocalTraining(
            weights,
            moments,
            so_far.loss_sum + fl.tf.reduce_sum(losses),
            so_far.examples + fl.tf.size(losses),
            so_far.steps + 1,
        )

    return step


def mean_gradient(model: Model, weights: Any, batch: Any) -> tuple[Any, Any]:
    """The gradient of a batch's mean loss, and the loss of each of its examples."""
    with fl.tf.GradientTape() as tape:
        tape.watch(weights)
        losses = model.losses(weights, batch)
        count = fl.tf.cast(fl.tf.maximum(fl.tf.size(losses), 1), losses.dtype)
        mean = fl.tf.reduce_sum(losses) / count
    return tape.gradient(mean, weights), losses


def difference(left: Any, right: Any) -> Any:
    """`left - right`, tensor by tensor."""
    return fl.tf.nest.map_structure(lambda a, b: a - b, left, right)
