# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Federated evaluation: one model on all clients' examples, and what averages are over.

Clients count, the server adds up, and an `Evaluation` divides. It has no `loss` and no
`accuracy`: a mean over examples and a mean over clients differ as soon as clients hold
different numbers of examples, and a sum over batches depends on how examples were
batched; `docs/honest_evaluation.md` shows all three.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError, short_traceback
from fedlearn_edu.learning.arrays import (
    inside,
    leaf_computation,
    local_computation,
    map_sequence,
    sum_sequence,
    tf,
)
from fedlearn_edu.learning.client_source import check_no_split
from fedlearn_edu.learning.history import RENAMED
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.process import check_model
from fedlearn_edu.simulation import ClientData

_GONE = ("calibration", "calibration_error")

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


class EvaluationError(FedLearnError, AttributeError):
    """What is asked of an evaluation was not counted."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """How well one model does on the examples of all clients.

    Attributes:
        total: sums over all clients.
        clients: the same sums, client by client.

    Names with `per_example` divide the sum over all examples by their number, those
    with `over_clients` are means of what each client has, and vectors are in the
    plural: `client_accuracies`. Losses are in nats for classes and in squared units for
    numbers; accuracies are shares 0..1. What is about classes is an `EvaluationError`
    where the model predicts a number.
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
        return _mean(self.client_losses)

    @property
    def loss_summed_over_batches(self) -> float:
        """The mean over clients of the *sum* over a client's batches of their means.

        This is what the ancestor's tutorial calls loss: twice as many batches, twice
        the loss. It does not compare between data sets. A client without examples
        counts as 0.
        """
        return _mean(self.client_losses_summed_over_batches)

    @property
    def client_losses_summed_over_batches(self) -> NDArray[np.float64]:
        """`[clients]`: the sum over each client's batches of their means."""
        sums = [each["batch_loss_sum"] for each in self.clients]
        return np.array(sums, np.float64)

    @property
    def client_losses(self) -> NDArray[np.float64]:
        """`[clients]`: the mean over each client's examples."""
        return self._of_clients("loss_sum")

    # ------------------------------------------------------------ accuracy

    @property
    def accuracy_per_example(self) -> float:
        """The share of all examples of all clients that was answered rightly."""
        return float(_share(self._class_count("correct"), self.total["examples"]))

    @property
    def mean_accuracy_over_clients(self) -> float:
        """The mean over clients of each one's share, each client counted alike."""
        return _mean(self.client_accuracies)

    @property
    def client_accuracies(self) -> NDArray[np.float64]:
        """`[clients]`: the share of each client's examples."""
        self._class_count("correct")
        return self._of_clients("correct")

    @property
    def confusion(self) -> NDArray[np.int64]:
        """`[classes,classes]` examples, by true class (row) and predicted class."""
        return np.asarray(self._class_count("confusion"), np.int64)

    @property
    def class_accuracies(self) -> NDArray[np.float64]:
        """`[classes]`: the share of each one's examples; NaN where there are none."""
        confusion = self.confusion
        return _share(np.diag(confusion), confusion.sum(axis=1))

    @property
    def balanced_accuracy(self) -> float:
        """The mean over classes of their accuracies, each that occurs counted alike."""
        return _mean(self.class_accuracies)

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
            f"{int(self.total['examples']):,} examples, {len(self.clients)} clients"
        ]
        for name, number in self.metrics.items():
            kind, _, way = name.removeprefix("mean_").partition("_")
            way = way.replace("_", " ").replace("over", "mean over")
            lines.append(f"  {kind:<9} {number:<10.6g} {way}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Evaluation of {self}"

    def __getattr__(self, name: str) -> Any:
        if name in _GONE:
            raise EvaluationError(
                "an evaluation counts what is answered, not how surely",
                found=name,
                do="softmax(model.predict(weights, x)) is how sure of each class it is",
            )
        if name not in RENAMED:  # or a property that refused, which says why
            return object.__getattribute__(self, name)
        raise EvaluationError(
            f"{name} has another name, since it is one number",
            expected=RENAMED[name],
            found=name,
            do=f"did you mean {RENAMED[name]}?",
        )

    def _of_clients(self, name: str) -> NDArray[np.float64]:
        return _share(
            np.array([each[name] for each in self.clients], np.float64),
            np.array([each["examples"] for each in self.clients], np.float64),
        )

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


def _mean(numbers: NDArray[np.float64]) -> float:
    """Of those that are numbers; NaN if there are none."""
    known = numbers[~np.isnan(numbers)]
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
    """Predicted class for each true class."""
    answers = tf.argmax(outputs, axis=1, output_type=tf.int32)
    confusion = tf.matmul(
        tf.one_hot(y, classes, dtype=tf.float32),
        tf.one_hot(answers, classes, dtype=tf.float32),
        transpose_a=True,
    )
    return OrderedDict(
        correct=tf.reduce_sum(tf.cast(tf.equal(answers, y), tf.int32)),
        confusion=tf.cast(confusion, tf.int32),
    )
