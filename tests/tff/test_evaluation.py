# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Metrics over clients are those of Keras over all their examples."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu.tff as tff
from fedlearn_edu.runtimes.tensorflow.library import tf
from tests.tff.models import clients, keras_model, loss, of_keras, rows

pytestmark = pytest.mark.tensorflow


def layers() -> list[Any]:
    return [tf.keras.layers.BatchNormalization(), tf.keras.layers.Dropout(0.5)]


def metrics() -> list[Any]:
    made = tf.keras.metrics
    return [
        made.SparseCategoricalAccuracy(),
        made.SparseTopKCategoricalAccuracy(2, name="top_2"),
        made.SparseCategoricalCrossentropy(from_logits=True, name="entropy"),
    ]


def model_fn() -> Any:
    return of_keras(*layers(), metrics=metrics())


def of_keras_itself() -> dict[str, Any]:
    model, union = keras_model(*layers()), [rows(i) for i in range(3)]
    model.compile(loss=loss(), metrics=metrics())
    x, y = (np.concatenate([part[name] for part in union]) for name in ("x", "y"))
    found: dict[str, Any] = model.evaluate(x, y, verbose=0, return_dict=True)
    return found


def test_an_evaluation_is_that_of_keras_over_all_examples() -> None:
    evaluate = tff.learning.build_federated_evaluation(model_fn)
    start = tff.learning.models.ModelWeights.from_model(model_fn())
    found = evaluate(start, clients())["eval"]
    for name, value in of_keras_itself().items():
        assert found[name] == pytest.approx(value, abs=1e-6), name
    assert (found["num_examples"], found["num_batches"]) == (24, 9)


def test_a_process_of_evaluation_adds_rounds_up() -> None:
    process = tff.learning.algorithms.build_fed_eval(model_fn)
    first = process.next(process.initialize(), clients()[:1])
    second = process.next(first.state, clients()[1:])
    both = second.metrics["client_work"]["eval"]
    assert both["current_round_metrics"]["num_examples"] == 17
    for name, value in of_keras_itself().items():
        assert both["total_rounds_metrics"][name] == pytest.approx(value, abs=1e-6)


def test_a_model_of_keras_is_made_and_measured_in_a_body() -> None:
    @tf.function
    def over(model: Any, batches: Any) -> None:
        for batch in batches:
            model.forward_pass(batch, training=False)

    @tff.tf_computation(tff.SequenceType(model_fn().input_spec))
    def measured(batches: Any) -> Any:
        model = model_fn()
        over(model, batches)
        sums, of = model.report_local_unfinalized_metrics(), model.metric_finalizers()
        return {name: of[name](each) for name, each in sums.items()}

    found = measured([batch for client in clients() for batch in client])
    for name, value in of_keras_itself().items():
        assert found[name] == pytest.approx(value, abs=1e-6)


def test_a_model_of_keras_by_hand_measures_the_same() -> None:
    model = model_fn()
    for batch in (batch for client in clients() for batch in client):
        model.forward_pass(batch, training=False)
    sums, finalizers = (
        model.report_local_unfinalized_metrics(),
        model.metric_finalizers(),
    )
    assert list(sums) == list(finalizers)
    for name, value in of_keras_itself().items():
        assert float(finalizers[name](sums[name])) == pytest.approx(value, abs=1e-6)
    model.reset_metrics()
    assert [float(tf.reduce_sum(v)) for v in model.local_variables] == [0.0] * 10
