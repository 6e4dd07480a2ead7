# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""What one client does in a round: a few passes over its batches, one step per batch.

`fed_avg`, `fed_prox` and `scaffold` differ in one line here, the `Correction`, which
changes a batch's gradient before the step is taken.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.learning.arrays import (
    inside,
    leaf_computation,
    local_computation,
    reduce_sequence,
    tf,
)
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Optimizer, map_structure
from fedlearn_edu.learning.process import check_weighting, check_whole_number

Correction = Callable[[Any, Any, Any], Any]
"""`<GRADIENTS,WEIGHTS,ANCHOR> -> GRADIENTS`; the anchor is shaped like the weights."""


# `fl.to_type` is not there yet during import, so this is an unconverted type.
COUNTS_TYPE: Any = OrderedDict(loss_sum=np.float32, examples=np.int32, clients=np.int32)
"""What clients report of a round, to be summed: nats, examples, and one each."""


@final
@dataclass(frozen=True, eq=False)
class LocalTraining:
    """The state of a client's training loop, and its result.

    Attributes:
        weights: of the client's own copy of the model.
        optimizer: the moments of the client's optimizer.
        loss_sum: `float32` in nats, each example by the weights it met.
        examples: `int32`, how many were met; in two passes each one counts twice.
        steps: `int32`, how many batches with examples were met.
    """

    weights: Any
    optimizer: Any
    loss_sum: Any
    examples: Any
    steps: Any


def uncorrected(gradients: Any, weights: Any, anchor: Any) -> Any:
    """The gradient as it is: plain local training."""
    return gradients


@final
@dataclass(frozen=True)
class LocalTrainingConfig:
    """What clients do in a round, and what their updates weigh.

    Attributes:
        optimizer: of every client; its moments begin anew in each round.
        local_epochs: passes over a client's batches.
        weighting: `"examples"` or `"uniform"`.
        correct: changes each gradient; the anchor is the server's model.
        correction: in words, for `LearningProcess.settings`.
    """

    optimizer: Optimizer
    local_epochs: int = 1
    weighting: str = "examples"
    correct: Correction = uncorrected
    correction: str = ""

    def __post_init__(self) -> None:
        check_whole_number("local_epochs", self.local_epochs)
        check_weighting(self.weighting)
        # NumPy's whole numbers would turn int32 into int64 in the body.
        object.__setattr__(self, "local_epochs", int(self.local_epochs))

    def __str__(self) -> str:
        parts = [
            f"client {self.optimizer}",
            f"{self.local_epochs} local epoch{'s' if self.local_epochs > 1 else ''}",
            f"weighted by {self.weighting}"
            if self.weighting == "examples"
            else "clients weighted alike",
        ]
        return ", ".join([*parts, *filter(None, [self.correction])])


def build_client_round(model: Model, local: LocalTrainingConfig) -> fl.Computation:
    """`(<WEIGHTS,int32,BATCH*> -> CLIENT_RESULT)` in the round of this number.

    `CLIENT_RESULT` is `<update=WEIGHTS,weight=float32,counts=COUNTS>`: how far the
    client went, what that weighs in the mean, and what is summed for the metrics.
    """
    train = build_local_training(model, local)
    pack = inside(build_pack(model, local, train.type_signature.result))
    train = inside(train)

    @local_computation(model.weights_type, np.int32, fl.SequenceType(model.batch_type))
    def client_round(weights: Any, number: Any, batches: Any) -> Any:
        return pack(weights, train(weights, weights, number, batches))

    return client_round


def build_pack(
    model: Model, local: LocalTrainingConfig, training: fl.Type
) -> fl.Computation:
    """What a client sends: how far it went, and what that weighs."""

    @leaf_computation(model.weights_type, training)
    def pack(weights: Any, trained: Any) -> Any:
        examples = trained.examples // local.local_epochs
        weigh = examples if local.weighting == "examples" else tf.minimum(examples, 1)
        update = difference(trained.weights, weights)
        loss_sum = trained.loss_sum / float(local.local_epochs)
        return client_result(update, weigh, loss_sum, examples)

    return pack


def client_result(update: Any, weight: Any, loss_sum: Any, examples: Any) -> Any:
    """`CLIENT_RESULT`, see `build_client_round`; of one client."""
    one, weight = tf.constant(1), tf.cast(weight, tf.float32)
    counts = OrderedDict(loss_sum=loss_sum, examples=examples, clients=one)
    return OrderedDict(update=update, weight=weight, counts=counts)


def build_local_training(model: Model, local: LocalTrainingConfig) -> fl.Computation:
    """`(<WEIGHTS,ANCHOR,int32,BATCH*> -> LOCAL_TRAINING)`, in the round of this number.

    Each batch is one step down the gradient of its *mean* loss; an empty batch is none.
    The batches come in the same order in every pass.
    """
    begin = _build_begin(model, local.optimizer)
    training = begin.type_signature.result
    step = inside(_build_step(model, local, training))
    begin = inside(begin)

    @local_computation(
        model.weights_type,
        model.weights_type,
        np.int32,
        fl.SequenceType(model.batch_type),
    )
    def local_training(weights: Any, anchor: Any, number: Any, batches: Any) -> Any:
        def learn(so_far: Any, batch: Any) -> Any:
            return step(so_far, anchor, number, batch)

        so_far = begin(weights)
        for _ in range(local.local_epochs):
            so_far = reduce_sequence(batches, so_far, learn)
        return so_far

    return local_training


def _build_begin(model: Model, optimizer: Optimizer) -> fl.Computation:
    @leaf_computation(model.weights_type)
    def begin(weights: Any) -> Any:
        none = tf.constant(0)
        moments = optimizer.initialize(weights)
        return LocalTraining(weights, moments, tf.constant(0.0), none, none)

    return begin


def _build_step(
    model: Model, local: LocalTrainingConfig, training: fl.Type
) -> fl.Computation:
    @leaf_computation(training, model.weights_type, np.int32, model.batch_type)
    def step(so_far: Any, anchor: Any, number: Any, batch: Any) -> Any:
        weights = so_far.weights
        gradients, losses = model.mean_gradient(weights, batch)
        gradients = local.correct(gradients, weights, anchor)
        examples = tf.size(losses)
        moments, weights = local.optimizer.step(
            so_far.optimizer, weights, gradients, number, examples
        )
        return LocalTraining(
            weights,
            moments,
            so_far.loss_sum + tf.reduce_sum(losses),
            so_far.examples + examples,
            so_far.steps + tf.minimum(examples, 1),
        )

    return step


def difference(left: Any, right: Any) -> Any:
    """`left - right`, tensor by tensor."""
    return map_structure(lambda a, b: a - b, left, right)
