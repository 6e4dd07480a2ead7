# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Federated evaluation: one model on all clients' examples, and what averages are over.

Clients count, the server adds up, and an `Evaluation` divides. It has no `loss` and no
`accuracy`: a mean over examples and a mean over clients differ as soon as clients hold
different numbers of examples, and a sum over batches depends on how examples were
batched; `docs/learning.md` shows all three.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError, counted, short_traceback
from fedlearn_edu.former_names import answers
from fedlearn_edu.learning.arrays import (
    inside,
    leaf_computation,
    local_computation,
    map_sequence,
    sum_sequence,
    tf,
)
from fedlearn_edu.learning.client_source import check_batches, check_no_split
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import map_structure
from fedlearn_edu.learning.process import check_model
from fedlearn_edu.simulation import ClientData

Counts = Mapping[str, Any]


@short_traceback
def build_federated_evaluation(model: Model) -> "FederatedEvaluation":
    """Builds an evaluation of a model's weights on the examples of all clients.

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
        model: whose weights are evaluated.
        computation: `(<WEIGHTS@SERVER,{BATCH*}@CLIENTS> ->
            <total=COUNTS@SERVER,clients={COUNTS}@CLIENTS>)`. That every client's own
            counts are a result is what a simulation may do, and no real server.
    """

    model: Model
    computation: fl.Computation

    @short_traceback
    def __call__(self, weights: Any, data: Any) -> "Evaluation":
        """Evaluates the weights on the data of every client.

        Args:
            weights: In the structure of `Model.weights_type`; `state.weights`.
            data: One sequence of batches per client, placed or not; a `ClientData` is
                taken in batches of at most 1,000.

        Raises:
            RunError: if data are a data set, which no client holds.
        """
        result = self.computation(weights, self._placed(data))
        return Evaluation(result["total"], tuple(result["clients"]))

    @short_traceback
    def on(self, data: Any) -> Callable[[Any], dict[str, float]]:
        """From weights to all averages on these data, which are placed only once."""
        placed = self._placed(data)
        return lambda weights: self(weights, placed).metrics

    def _placed(self, data: Any) -> Any:
        if isinstance(data, ClientData):
            wanted: Any = self.model.batch_type
            check_batches(data, wanted)
            return data.place(batch_size=1000, batch_type=wanted)
        check_no_split(data)
        return data

    def __str__(self) -> str:
        return f"evaluation of a {self.model.name}: {self.computation.type_signature}"


class EvaluationError(FedLearnError, AttributeError):
    """What is asked of an evaluation was not counted."""


@final
@answers("evaluation")
@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """How well one model does on the examples of all clients.

    Attributes:
        total: sums over all clients.
        clients: the same sums, client by client.

    Names with `per_example` divide the sum over all examples by their number, those
    with `over_clients` are means of what each client has, and vectors are in the
    plural: `client_accuracies`. Means over clients leave out those without examples,
    and nothing else: a client with a loss of NaN makes the mean NaN.

    Losses are what the model's loss says, nats for `cross_entropy`, without what layers
    add in training. Accuracies are shares 0..1. The answer is the class of the highest
    score, or, if there is one score for two classes, the class of which the loss is
    smaller: above 0 for a logit, above 0.5 for a probability. Where a score is NaN
    there is no answer, which is wrong. In a sequence each place has its own. All that
    is about classes is an `EvaluationError` where the model predicts a number.
    """

    total: Counts
    clients: tuple[Counts, ...]

    # ------------------------------------------------------------ loss

    @property
    def loss_per_example(self) -> float:
        """The mean over all examples of all clients, each example counted alike."""
        return float(_share(self.total["loss_sum"], self.total["examples"]))

    @property
    def mean_loss_over_clients(self) -> float:
        """The mean over clients of each one's mean, each client counted alike."""
        return _mean(self.client_losses, self._of_each_client("examples"))

    @property
    def loss_summed_over_batches(self) -> float:
        """The mean over clients of the *sum* over a client's batches of their means.

        This is what the ancestor's tutorial calls loss: twice as many batches, twice
        the loss. It does not compare between data sets. A client without examples
        counts as 0.
        """
        sums = self.client_losses_summed_over_batches
        return _mean(sums, np.ones_like(sums))

    @property
    def client_losses_summed_over_batches(self) -> NDArray[np.float64]:
        """`[clients]`: the sum over each client's batches of their means."""
        return self._of_each_client("batch_loss_sum")

    @property
    def client_losses(self) -> NDArray[np.float64]:
        """`[clients]`: the mean over each client's examples."""
        return _share(*map(self._of_each_client, ("loss_sum", "examples")))

    # ------------------------------------------------------------ accuracy

    @property
    def accuracy_per_example(self) -> float:
        """The share of all examples of all clients that was answered rightly."""
        return float(_share(self._class_count("correct"), self.total["answers"]))

    @property
    def mean_accuracy_over_clients(self) -> float:
        """The mean over clients of each one's share, each client counted alike."""
        accuracies = self.client_accuracies
        return _mean(accuracies, self._of_each_client("answers"))

    @property
    def client_accuracies(self) -> NDArray[np.float64]:
        """`[clients]`: the share of each client's examples."""
        self._class_count("correct")
        return _share(*map(self._of_each_client, ("correct", "answers")))

    @property
    def confusion(self) -> NDArray[np.int64]:
        """`[classes,classes]` examples, by true class (row) and predicted class.

        No column counts those without an answer.
        """
        return np.asarray(self._class_count("confusion"), np.int64)

    @property
    def class_accuracies(self) -> NDArray[np.float64]:
        """`[classes]`: the share of each one's examples; NaN where there are none."""
        return _share(np.diag(self.confusion), self.total["class_examples"])

    @property
    def balanced_accuracy(self) -> float:
        """The mean over classes of their accuracies, each that occurs counted alike."""
        accuracies = self.class_accuracies
        return _mean(accuracies, self.total["class_examples"])

    # ------------------------------------------------------------ all of it

    @property
    def metrics(self) -> dict[str, float]:
        """All averages by name, for a table or a history."""
        names = ["loss_per_example", "mean_loss_over_clients"]
        if "correct" in self.total:
            names += ["accuracy_per_example", "mean_accuracy_over_clients"]
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        lines = [
            f"{counted(int(self.total['examples']), 'example')}, "
            f"{counted(len(self.clients), 'client')}"
        ]
        for name, number in self.metrics.items():
            kind, _, way = name.removeprefix("mean_").partition("_")
            way = way.replace("_", " ").replace("over", "mean over")
            lines.append(f"  {kind:<9} {number:<10.6g} {way}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Evaluation of {self}"

    def _of_each_client(self, name: str) -> NDArray[np.float64]:
        return np.array([each[name] for each in self.clients], np.float64)

    def _class_count(self, name: str) -> Any:
        if name not in self.total:
            raise EvaluationError(
                f"there is no {name} to count",
                expected="a model that chooses among classes",
                found="a model that predicts a number",
                do="look at loss_per_example and mean_loss_over_clients",
            )
        return self.total[name]


def _share(part: Any, whole: Any) -> NDArray[np.float64]:
    """`part / whole`, and NaN instead of a division by zero."""
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    shares: NDArray[np.float64] = np.full(np.shape(part), np.nan)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


def _mean(numbers: NDArray[np.float64], of: Any) -> float:
    """Of those that are of something; NaN if there are none."""
    known = numbers[np.asarray(of) > 0]
    return float(known.mean()) if len(known) else float("nan")


def _build_local_evaluation(model: Model) -> fl.Computation:
    """`(<WEIGHTS,BATCH*> -> COUNTS)`: the counts of all batches, added up."""

    @leaf_computation(model.weights_type, model.batch_type)
    def count(weights: Any, batch: Any) -> Any:
        return count_batch(model, weights, batch)

    counts, count_one = count.type_signature.result, inside(count)

    @local_computation(model.weights_type, fl.SequenceType(model.batch_type))
    def local_evaluation(weights: Any, batches: Any) -> Any:
        def count_with_weights(batch: Any) -> Any:
            return count_one(weights, batch)

        return sum_sequence(map_sequence(count_with_weights, batches), counts)

    return local_evaluation


def count_batch(model: Model, weights: Any, batch: Any) -> Any:
    """What is counted in one batch: sums only, so that batches can be added up."""
    outputs = model.predict(weights, batch["x"])
    losses = model.per_example(outputs, batch["y"])
    examples = tf.size(losses)
    at_least_one = tf.cast(tf.maximum(examples, 1), tf.float32)
    counts = OrderedDict(
        loss_sum=tf.reduce_sum(losses),
        batch_loss_sum=tf.reduce_sum(losses) / at_least_one,
        batches=tf.minimum(examples, 1),
        examples=examples,
    )
    if model.classes is not None:
        counts.update(_count_classes(model, outputs, batch["y"]))
    return counts


def _count_classes(model: Model, outputs: Any, y: Any) -> Any:
    """Predicted class for each true class; without an answer, in no column."""
    labels = model.labels
    hot_y = tf.cast(tf.equal(y[..., None], tf.constant(labels, tf.int32)), tf.float32)
    hot_y = tf.reshape(hot_y, [-1, len(labels)])
    answers = tf.reshape(_answers(model, outputs, y), [-1])
    hot_answers = tf.one_hot(answers, len(labels), dtype=tf.float32)
    confusion = tf.matmul(hot_y, hot_answers, transpose_a=True)
    counts = OrderedDict(
        correct=tf.reduce_sum(tf.linalg.diag_part(confusion)),
        answers=tf.size(y),
        class_examples=tf.reduce_sum(hot_y, axis=0),
        confusion=confusion,
    )
    return map_structure(lambda count: tf.cast(count, tf.int32), counts)


def _answers(model: Model, outputs: Any, y: Any) -> Any:
    """The position of each answer among the labels, -1 where a score is NaN."""
    if len(model.labels) == 2 and (outputs.ndim == y.ndim or outputs.shape[-1] == 1):
        first, second = (
            model.per_example(outputs, tf.zeros_like(y) + label)
            for label in model.labels
        )
        found = tf.cast(second < first, tf.int32)
        is_unknown = tf.math.is_nan(first + second)
    else:
        found = tf.argmax(outputs, axis=-1, output_type=tf.int32)
        is_unknown = tf.reduce_any(tf.math.is_nan(outputs), axis=-1)
    return tf.where(is_unknown, -1, found)
