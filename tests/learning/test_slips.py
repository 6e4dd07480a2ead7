# SPDX-License-Identifier: Apache-2.0
"""Slips that are easily made, and the answer that says what to do instead."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import learning
from fedlearn_edu.learning import models, run
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.simulation import ClientData
from tests.learning.small import mean_process, small_data

pytestmark = pytest.mark.tensorflow

MODEL = models.softmax_regression(features=3, classes=2)
WHOLE = np.array([0, 1, 0, 1])


def data_with(y: Any) -> ClientData:
    return ClientData(np.ones([4, 3]), y, [[0, 1], [2, 3]])


def test_data_that_are_not_placed_say_how_to_place_them() -> None:
    process = mean_process()
    with pytest.raises(fl.FedLearnError, match=r"data\.place\(batch_size=…\)"):
        process.next(process.initialize(), small_data())


@pytest.mark.parametrize(
    ("model", "y", "cure"),
    [
        (MODEL, np.eye(2)[WHOLE], "y.argmax(axis=1)"),
        (MODEL, np.eye(2, dtype=int)[WHOLE], "y.argmax(axis=1)"),
        (MODEL, WHOLE.astype(float), "y.astype(int)"),
        (models.linear_regression(3), WHOLE, "y.astype(float)"),
        (models.linear_regression(4), WHOLE.astype(float), "features=…"),
    ],
)
def test_targets_of_another_type_say_how_to_convert_them(
    model: models.Model, y: Any, cure: str
) -> None:
    with pytest.raises(fl.FedLearnError, match="not what the model takes") as caught:
        run(learning.build_fed_avg(model), data_with(y), 1)
    assert cure in str(caught.value)


def test_an_evaluation_needs_data_before_it_can_judge() -> None:
    evaluators: Any = {"test": learning.build_federated_evaluation(MODEL)}
    with pytest.raises(RunError, match=r"evaluation\.on\(test_data\)"):
        run(learning.build_fed_avg(MODEL), data_with(WHOLE), 1, evaluate=evaluators)


def test_an_evaluation_may_be_returned_as_it_is() -> None:
    evaluation, data = learning.build_federated_evaluation(MODEL), data_with(WHOLE)
    evaluators: Any = {"a": lambda w: evaluation(w, data), "b": evaluation.on(data)}
    row = run(learning.build_fed_avg(MODEL), data, 1, evaluate=evaluators).history.last
    assert row["a.accuracy_per_example"] == row["b.accuracy_per_example"]
    assert row["a.mean_loss_over_clients"] == row["b.mean_loss_over_clients"]


def test_a_run_in_an_asynchronous_context_says_what_to_do() -> None:
    factory = fl.framework.local_executor_factory(support_sequence_ops=True)
    with (
        fl.framework.AsyncExecutionContext(factory),
        pytest.raises(RunError, match=r"await process\.next"),
    ):
        run(mean_process(keeps=True), small_data(), 1)


def test_scaffold_counts_the_clients_of_the_data() -> None:
    process = learning.build_scaffold(MODEL, num_clients=3)
    with pytest.raises(RunError, match="another number of clients") as caught:
        run(process, data_with(WHOLE), 1)
    assert "num_clients=2" in str(caught.value)
