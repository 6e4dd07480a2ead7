# SPDX-License-Identifier: Apache-2.0
"""What an evaluation found: counts, and averages whose names say what they are over.

There is no `loss` and no `accuracy` here. A mean over examples and a mean over clients
differ as soon as clients hold different numbers of examples, and a sum over batches
depends on how examples were batched; `docs/honest_evaluation.md` shows all three.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import FedLearnError

CALIBRATION_BINS = 10
"""Tenths: how sure the model was of its answer, 0..0.1, ..., 0.9..1."""

Counts = Mapping[str, Any]


class EvaluationError(FedLearnError, AttributeError):
    """What is asked of an evaluation was not counted."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """How one model does on everybody's examples.

    Attributes:
        total: sums over all clients.
        clients: the same sums, client by client.

    Losses are in nats for classes and in squared units for numbers; accuracies are
    shares 0..1. What is about classes is an `EvaluationError` where the model predicts
    a number.
    """

    total: Counts
    clients: tuple[Counts, ...]

    # ------------------------------------------------------------ loss

    @property
    def loss_per_example(self) -> float:
        """The mean over all examples of all clients, each example counted alike."""
        return float(_share(self.total["loss_sum"], self.total["examples"]))

    @property
    def loss_per_client(self) -> float:
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
    def accuracy_per_client(self) -> float:
        """The mean over clients of each one's share, each client counted alike."""
        return _mean(self.client_accuracies)

    @property
    def client_accuracies(self) -> NDArray[np.float64]:
        """`[clients]`: the share of each client's examples."""
        self._class_count("correct")
        return self._of_clients("correct")

    @property
    def confusion(self) -> NDArray[np.int64]:
        """`[classes,classes]` examples: of the row's class, taken for the column's."""
        return np.asarray(self._class_count("confusion"), np.int64)

    @property
    def class_accuracies(self) -> NDArray[np.float64]:
        """`[classes]`: the share of each one's examples; NaN where there are none."""
        confusion = self.confusion
        return _share(np.diag(confusion), confusion.sum(axis=1))

    @property
    def accuracy_per_class(self) -> float:
        """The mean over classes, each class that occurs counted alike."""
        return _mean(self.class_accuracies)

    # ------------------------------------------------------------ calibration

    @property
    def calibration(self) -> NDArray[np.float64]:
        """`[10,3]`: how sure, how often right, and how many examples, tenth by tenth.

        In a well calibrated model the first two agree: of the answers of which it is
        80 % sure, 80 % are right. NaN where a tenth is empty.
        """
        examples = np.asarray(self._class_count("bin_examples"), np.float64)
        sure = _share(self.total["bin_confidence"], examples)
        right = _share(self.total["bin_correct"], examples)
        return np.stack([sure, right, examples], axis=1)

    @property
    def calibration_error(self) -> float:
        """The mean over examples of |how sure - how often right|, tenth by tenth.

        Source: C. Guo et al., "On Calibration of Modern Neural Networks", ICML 2017.
        """
        sure, right, examples = self.calibration.T
        apart = np.nansum(np.abs(sure - right) * examples)
        return float(_share(apart, examples.sum()))

    # ------------------------------------------------------------ all of it

    @property
    def metrics(self) -> dict[str, float]:
        """All averages by name, for a table or a history."""
        names = ["loss_per_example", "loss_per_client"]
        if "correct" in self.total:
            names += ["accuracy_per_example", "accuracy_per_client"]
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        lines = [
            f"{int(self.total['examples']):,} examples, {len(self.clients)} clients"
        ]
        for name, number in self.metrics.items():
            kind, _, way = name.partition("_")
            lines.append(f"  {kind:<9} {number:<10.6g} {way.replace('_', ' ')}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Evaluation of {self}"

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
                do="look at loss_per_example and loss_per_client",
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
