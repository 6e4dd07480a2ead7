# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""What one client does in a round: a few passes over its batches, one step per batch.

Algorithms differ in fields of `LocalTrainingConfig`: FedProx and SCAFFOLD in `correct`,
which changes a batch's gradient before the step is taken, SCAFFOLD in `memory`, too.
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
    local_step,
    reduce_sequence,
    tf,
)
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Optimizer, map_structure
from fedlearn_edu.learning.rounds import Told
from fedlearn_edu.rules import number, one_of

Correction = Callable[[Any, Any, Any], Any]
"""`<GRADIENTS,WEIGHTS,ANCHOR> -> GRADIENTS`; the anchor is shaped like the weights."""


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


@final
@dataclass(frozen=True)
class Memory:
    """What clients keep from round to round, and what it does to their training.

    As a default they keep nothing, `<>`. Else the server's aggregator keeps something
    of the same type, which clients are told.

    Attributes:
        begin: `WEIGHTS -> KEPT`, before a client's first round.
        anchor: `<WEIGHTS,KEPT,KEPT> -> ANCHOR`: what `correct` gets, of the server's
            weights, what the server keeps and what the client keeps.
        finish: `<UPDATE,LOCAL_TRAINING,TOLD,KEPT> -> <SENT,KEPT>`, at the end.
    """

    begin: Callable[[Any], Any] = lambda weights: ()
    anchor: Callable[[Any, Any, Any], Any] = lambda weights, common, own: weights
    finish: Callable[..., Any] = lambda update, trained, told, kept: (update, kept)


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
        memory: what clients keep.
    """

    optimizer: Optimizer
    local_epochs: int = 1
    weighting: str = "examples"
    correct: Correction = uncorrected
    correction: str = ""
    memory: Memory = Memory()

    def __post_init__(self) -> None:
        rule = "local_epochs >= 1, a whole number"
        summary = "a client passes over its examples at least once"
        number(self.local_epochs, rule, ProcessError, summary=summary)
        summary = "clients are weighted by their examples, or alike"
        known = ("examples", "uniform")
        one_of(self.weighting, "weighting", known, ProcessError, summary=summary)
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
    """`(<TOLD,BATCH*,KEPT> -> CLIENT_RESULT)`, the work of one client; see `Round`.

    `CLIENT_RESULT` is `<update=SENT,weight=float32,counts=COUNTS,kept=KEPT>`: how far
    the client went, what that weighs in the mean, what is summed for the metrics, and
    what it keeps for the next round.
    """
    train, memory = inside(build_local_training(model, local)), local.memory
    kept_type = build_first_memory(model, local).type_signature.result

    @local_step
    def pack(told: Told, kept: Any, trained: Any) -> Any:
        examples = trained.examples // local.local_epochs
        weigh = examples if local.weighting == "examples" else tf.minimum(examples, 1)
        update = difference(trained.weights, told.weights)
        sent, kept = memory.finish(update, trained, told, kept)
        loss_sum = trained.loss_sum / float(local.local_epochs)
        return client_result(sent, weigh, loss_sum, examples, kept)

    told_type = Told(model.weights_type, np.int32, kept_type)

    @local_computation(told_type, fl.SequenceType(model.batch_type), kept_type)
    def client_round(told: Any, batches: Any, kept: Any) -> Any:
        anchor = memory.anchor(told.weights, told.common, kept)
        trained = train(told.weights, anchor, told.round_number, batches)
        return pack(told, kept, trained)

    return client_round


def build_first_memory(model: Model, local: LocalTrainingConfig) -> fl.Computation:
    """`( -> KEPT)`: what a client keeps before its first round."""

    @leaf_computation
    def first_memory() -> Any:
        return local.memory.begin(model.initialize(0))

    return first_memory


def client_result(
    update: Any, weight: Any, loss_sum: Any, examples: Any, kept: Any = ()
) -> Any:
    """`CLIENT_RESULT`, see `build_client_round`; of one client."""
    one, weight = tf.constant(1), tf.cast(weight, tf.float32)
    counts = OrderedDict(loss_sum=loss_sum, examples=examples, clients=one)
    return OrderedDict(update=update, weight=weight, counts=counts, kept=kept)


def build_local_training(model: Model, local: LocalTrainingConfig) -> fl.Computation:
    """`(<WEIGHTS,ANCHOR,int32,BATCH*> -> LOCAL_TRAINING)`, in the round of this number.

    Each batch is one step down the gradient of its *mean* loss; an empty batch is none.
    The batches come in the same order in every pass.
    """

    @local_step
    def begin(weights: Any) -> Any:
        none, moments = tf.constant(0), local.optimizer.initialize(weights)
        return LocalTraining(weights, moments, tf.constant(0.0), none, none)

    @local_step
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

    weights_type, batches_type = model.weights_type, fl.SequenceType(model.batch_type)

    @local_computation(weights_type, weights_type, np.int32, batches_type)
    def local_training(weights: Any, anchor: Any, number: Any, batches: Any) -> Any:
        def learn(so_far: Any, batch: Any) -> Any:
            return step(so_far, anchor, number, batch)

        so_far = begin(weights)
        for _ in range(local.local_epochs):
            so_far = reduce_sequence(batches, so_far, learn)
        return so_far

    return local_training


def difference(left: Any, right: Any) -> Any:
    """`left - right`, tensor by tensor."""
    return map_structure(lambda a, b: a - b, left, right)
