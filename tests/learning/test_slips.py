# SPDX-License-Identifier: Apache-2.0
"""Slips that are easily made, and the answer that says what to do instead."""

import dataclasses
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


@pytest.mark.parametrize(
    ("model", "y", "cure"),
    [
        (MODEL, np.eye(2)[WHOLE], "y.argmax(axis=1)"),
        (MODEL, np.eye(2, dtype=int)[WHOLE], "y.argmax(axis=1)"),
        (MODEL, WHOLE.astype(float), "y.astype(int)"),
        (models.linear_regression(3), WHOLE, "y.astype(float)"),
        (MODEL, WHOLE[:, None], "y.ravel()"),
        (MODEL, WHOLE[:, None].astype(float), "y.ravel().astype(int)"),
        (models.linear_regression(3), WHOLE[:, None], "y.ravel().astype(float)"),
        (models.linear_regression(3), WHOLE[:, None, None] / 2, "y.ravel()"),
    ],
)
def test_targets_of_another_type_say_how_to_convert_them(
    model: models.Model, y: Any, cure: str
) -> None:
    """And that works, and learns the same as before: the labels stay what they are."""
    process = learning.build_fed_avg(model)
    with pytest.raises(fl.FedLearnError, match="not what the model takes") as caught:
        run(process, data_with(y), 1)
    assert f" {cure}" in str(caught.value)
    cured = eval(cure, {"y": y})
    assert cured.tolist() == (WHOLE / 2 if y.ndim > 2 else WHOLE).tolist()
    run(process, data_with(cured), 1)


def test_a_run_may_start_from_weights_if_they_are_put_into_a_run() -> None:
    process = learning.build_fed_avg(MODEL)
    learned = run(process, data_with(WHOLE), 2)
    state = dataclasses.replace(process.initialize(), weights=learned.weights)
    options = learning.Options(start=learning.Run(state))
    again = run(process, data_with(WHOLE), 1, options=options)
    longer = run(process, data_with(WHOLE), 3)
    np.testing.assert_array_equal(again.weights["bias"], longer.weights["bias"])


def test_pairs_of_arrays_say_how_to_make_batches_of_them() -> None:
    x, y = np.ones([2, 3], np.float32), WHOLE[:2].astype(np.int32)
    process = learning.build_fed_avg(MODEL)
    for pair in ((x, y), (x.tolist(), y.tolist()), [x.tolist(), y]):
        data: Any = [pair] * 3
        with pytest.raises(RunError, match="a client holds batches") as caught:
            run(process, data, 1)
        cure = str(caught.value.do).partition(" makes ")[0]
        assert run(process, eval(cure, {"data": data}), 1).rounds == 1


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
