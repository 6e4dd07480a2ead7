# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Federated evaluation: one model, everybody's examples, and averages that say of what.

Clients count, and the server adds up; what is an average is computed from the counts in
`judgement.py`, under a name that says over what it was taken.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import fedlearn_edu as fl
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.feeding import check_no_split
from fedlearn_edu.learning.judgement import CALIBRATION_BINS, Evaluation
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.process import check_model
from fedlearn_edu.simulation import ClientData


@short_traceback
def build_federated_evaluation(model: Model) -> "FederatedEvaluation":
    """Builds what judges the weights of a model on the clients' examples.

    Source: `tff.learning.build_federated_evaluation`, whose averages were all weighted
    by examples.
    """
    check_model(model)
    local = _build_local_evaluation(model)

    @fl.federated_computation(
        fl.type_at_server(model.weights_type),
        fl.type_at_clients(fl.SequenceType(model.batch_type)),
    )
    def evaluate(weights: Any, data: Any) -> Any:
        counts = fl.federated_map(local, [fl.federated_broadcast(weights), data])
        return OrderedDict(total=fl.federated_sum(counts), clients=counts)

    return FederatedEvaluation(model, evaluate)


@final
@dataclass(frozen=True, eq=False)
class FederatedEvaluation:
    """A computation, and how to read what it returns.

    Attributes:
        model: whose weights are judged.
        computation: `(<WEIGHTS@SERVER,{BATCH*}@CLIENTS> ->
            <total=COUNTS@SERVER,clients={COUNTS}@CLIENTS>)`. That every client's own
            counts are a result is what a simulation may do, and no real server.
    """

    model: Model
    computation: fl.Computation

    @short_traceback
    def __call__(self, weights: Any, data: Any) -> Evaluation:
        """Evaluates the weights on the data of every client.

        Args:
            weights: In the structure of `Model.weights_type`; `state.weights`.
            data: One sequence of batches per client, placed or not; a `ClientData` is
                taken in batches of at most 1,000.

        Raises:
            DataError: if data are a data set, which no client holds.
        """
        result = self.computation(weights, _placed(data))
        return Evaluation(result["total"], tuple(result["clients"]))

    @short_traceback
    def on(self, data: Any) -> Callable[[Any], dict[str, float]]:
        """From weights to all averages on these data, which are placed only once."""
        placed = _placed(data)
        return lambda weights: self(weights, placed).metrics

    def __str__(self) -> str:
        return f"evaluation of a {self.model.name}: {self.computation.type_signature}"


def _placed(data: Any) -> Any:
    if isinstance(data, ClientData):
        return data.place(batch_size=1000)
    check_no_split(data)
    return data


def _build_local_evaluation(model: Model) -> fl.Computation:
    """`(<WEIGHTS,BATCH*> -> COUNTS)`: the counts of all batches, added up."""

    @fl.tf_computation(model.weights_type, model.batch_type)
    def count(weights: Any, batch: Any) -> Any:
        return count_batch(model, weights, batch)

    @fl.federated_computation(model.weights_type, fl.SequenceType(model.batch_type))
    def local_evaluation(weights: Any, batches: Any) -> Any:
        @fl.federated_computation(model.batch_type)
        def count_with_weights(batch: Any) -> Any:
            return count(weights, batch)

        return fl.sequence_sum(fl.sequence_map(count_with_weights, batches))

    return local_evaluation


def count_batch(model: Model, weights: Any, batch: Any) -> Any:
    """What is counted in one batch: sums only, so that batches can be added up."""
    tf = fl.tf
    outputs = model.predict(weights, batch["x"])
    losses = model.loss(outputs, batch["y"])
    examples = tf.size(losses)
    at_least_one = tf.cast(tf.maximum(examples, 1), tf.float32)
    counts = OrderedDict(
        loss_sum=tf.reduce_sum(losses),
        batch_loss_sum=tf.reduce_sum(losses) / at_least_one,
        batches=tf.minimum(examples, 1),
        examples=examples,
    )
    if model.classes is not None:
        counts.update(_count_classes(outputs, batch["y"], model.classes))
    return counts


def _count_classes(outputs: Any, y: Any, classes: int) -> Any:
    """Who was taken for what, and how sure the model was of it."""
    tf = fl.tf
    shares = tf.nn.softmax(outputs)
    answers = tf.argmax(shares, axis=1, output_type=tf.int32)
    sure = tf.reduce_max(shares, axis=1)
    bins = tf.minimum(tf.cast(sure * CALIBRATION_BINS, tf.int32), CALIBRATION_BINS - 1)
    is_right = tf.cast(tf.equal(answers, y), tf.int32)
    in_bin = tf.one_hot(bins, CALIBRATION_BINS, dtype=tf.float32)
    confusion = tf.matmul(
        tf.one_hot(y, classes, dtype=tf.float32),
        tf.one_hot(answers, classes, dtype=tf.float32),
        transpose_a=True,
    )
    right_in_bin = tf.linalg.matvec(
        in_bin, tf.cast(is_right, tf.float32), transpose_a=True
    )
    return OrderedDict(
        correct=tf.reduce_sum(is_right),
        confusion=tf.cast(confusion, tf.int32),
        bin_examples=tf.cast(tf.reduce_sum(in_bin, axis=0), tf.int32),
        bin_correct=tf.cast(right_in_bin, tf.int32),
        bin_confidence=tf.linalg.matvec(in_bin, sure, transpose_a=True),
    )
