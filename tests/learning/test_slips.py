# SPDX-License-Identifier: Apache-2.0
"""Slips that are easily made, and the answer that says what to do instead."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from fedlearn_edu import learning
from fedlearn_edu.learning import models, run
from fedlearn_edu.simulation import ClientData

pytestmark = pytest.mark.tensorflow

MODEL = models.softmax_regression(features=3, classes=2)
WHOLE = np.array([0, 1, 0, 1])


def data_with(y: Any) -> ClientData:
    return ClientData(np.ones([4, 3]), y, [[0, 1], [2, 3]])


def test_a_run_may_start_from_weights_if_they_are_put_into_a_run() -> None:
    process = learning.build_fed_avg(MODEL)
    learned = run(process, data_with(WHOLE), 2)
    state = dataclasses.replace(process.initialize(), weights=learned.weights)
    options = learning.Options(start=learning.Run(state))
    again = run(process, data_with(WHOLE), 1, options=options)
    longer = run(process, data_with(WHOLE), 3)
    np.testing.assert_array_equal(again.weights["bias"], longer.weights["bias"])


def test_an_evaluation_may_be_returned_as_it_is() -> None:
    evaluation, data = learning.build_federated_evaluation(MODEL), data_with(WHOLE)
    evaluators: Any = {"a": lambda w: evaluation(w, data), "b": evaluation.on(data)}
    row = run(learning.build_fed_avg(MODEL), data, 1, evaluate=evaluators).history.last
    assert row["a.accuracy_per_example"] == row["b.accuracy_per_example"]
    assert row["a.mean_loss_over_clients"] == row["b.mean_loss_over_clients"]
