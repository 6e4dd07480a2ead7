# SPDX-License-Identifier: Apache-2.0
"""Federated averaging by TFF's names, against the same by hand in eager Keras."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
import fedlearn_edu.tff as tff
from fedlearn_edu.runtimes.tensorflow.library import tf
from tests.tff.models import (
    MODELS,
    SPEC,
    OfVariables,
    clients,
    dense,
    keras_model,
    loss,
    of_keras,
)

pytestmark = pytest.mark.tensorflow
algorithms, optimizers = tff.learning.algorithms, tff.learning.optimizers


def by_hand(
    client: Callable[[], Any], server: Callable[[], Any], *, strength: float = 0.0
) -> list[Any]:
    """The weights after two rounds."""
    center = [tf.Variable(v) for v in keras_model().trainable_variables]
    at_server = server()
    for _ in range(2):
        updates, counts = [], []
        start = [v.numpy() for v in center]
        for data in clients():
            model, optimizer, count = keras_model(), client(), 0
            weights = model.trainable_variables
            for variable, value in zip(weights, start, strict=True):
                variable.assign(value)
            for batch in data:
                with tf.GradientTape() as tape:
                    found = loss()(batch["y"], model(batch["x"], training=True))
                slopes = tape.gradient(found, weights)
                moved = zip(slopes, weights, start, strict=True)
                slopes = [g + strength * (w - s) for g, w, s in moved]
                optimizer.apply_gradients(zip(slopes, weights, strict=True))
                count += len(batch["x"])
            pairs = zip(weights, start, strict=True)
            updates.append([w.numpy() - s for w, s in pairs])
            counts.append(count)
        means = [np.average(u, 0, counts) for u in zip(*updates, strict=True)]
        steps = zip([-m.astype(np.float32) for m in means], center, strict=True)
        at_server.apply_gradients(steps)
    return [v.numpy() for v in center]


def run(process: Any, rounds: int = 2) -> tuple[Any, Any]:
    state, metrics = process.initialize(), None
    for _ in range(rounds):
        state, metrics = process.next(state, clients())
    return process.get_model_weights(state).trainable, metrics


def keras(name: str, rate: float, **more: Any) -> Callable[[], Any]:
    return lambda: getattr(tf.keras.optimizers, name)(rate, **more)


PAIRS = {
    "SGD, and SGD": (keras("SGD", 0.1), keras("SGD", 1.0), 1e-6),
    "with momentum": (
        keras("SGD", 0.1, momentum=0.9), keras("SGD", 0.5, momentum=0.5), 1e-6
    ),
    "Adam": (keras("Adam", 0.05), keras("Adam", 0.1), 2e-6),
    "Adagrad, and RMSprop": (keras("Adagrad", 0.1), keras("RMSprop", 0.05), 1e-5),
}  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_optimizers_of_keras_do_what_they_do_by_hand(pair: str) -> None:
    client, server, near = PAIRS[pair]
    found, _ = run(algorithms.build_weighted_fed_avg(of_keras, client, server))
    for mine, theirs in zip(found, by_hand(client, server), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=near)


@pytest.mark.parametrize("form", MODELS)
def test_each_form_of_a_model_learns_the_same(form: str) -> None:
    made: Any = MODELS[form]
    model = made() if form == "functions" else made
    process = algorithms.build_weighted_fed_avg(model, optimizers.build_sgdm(0.1))
    found, _ = run(process)
    expected = by_hand(keras("SGD", 0.1), keras("SGD", 1.0))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-6)


def test_fed_prox_pulls_clients_back() -> None:
    process = algorithms.build_weighted_fed_prox(
        of_keras, 0.5, optimizers.build_sgdm(0.1)
    )
    expected = by_hand(keras("SGD", 0.1), keras("SGD", 1.0), strength=0.5)
    for mine, theirs in zip(run(process)[0], expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-6)


def test_metrics_have_the_names_and_the_nesting_of_tff() -> None:
    def model() -> Any:
        return of_keras(metrics=[tf.keras.metrics.SparseCategoricalAccuracy()])

    process = algorithms.build_weighted_fed_avg(model, keras("SGD", 0.1))
    _, metrics = run(process, rounds=1)
    assert list(metrics) == ["distributor", "client_work", "aggregator", "finalizer"]
    train = metrics["client_work"]["train"]
    names = ["sparse_categorical_accuracy", "loss", "num_examples", "num_batches"]
    assert list(train) == names
    assert (train["num_examples"], train["num_batches"]) == (24, 9)
    assert metrics["finalizer"] == {"update_non_finite": 0}


def test_a_client_that_diverged_is_left_out() -> None:
    process = algorithms.build_weighted_fed_avg(of_keras, keras("SGD", 0.1))
    state, bad = process.initialize(), clients()
    bad[1] = bad[1].map(lambda b: {**b, "x": b["x"] * np.float32(np.nan)})
    with_bad, metrics = process.next(state, bad)
    without, _ = process.next(state, [bad[0], bad[2]])
    assert metrics["client_work"]["train"]["num_examples"] == 12
    for mine, theirs in zip(with_bad[0].trainable, without[0].trainable, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-7)


@pytest.mark.parametrize("form", ["Keras", "functions"])
def test_dropout_differs_from_batch_to_batch_but_not_from_run_to_run(form: str) -> None:
    made: Any = MODELS[form]
    drop = tf.keras.layers.Dropout(0.5, seed=1)
    model = made(drop) if form == "functions" else lambda: made(drop)
    process = algorithms.build_weighted_fed_avg(model, keras("SGD", 0.0))
    alike = tf.data.Dataset.from_tensor_slices({"x": np.ones((64, 4), np.float32),
        "y": np.zeros((64, 1), np.int32)}).batch(64)  # fmt: skip

    def losses(scale: float) -> float:
        data = [alike.map(lambda b: {**b, "x": b["x"] * np.float32(scale)})]
        _, metrics = process.next(process.initialize(), data)
        return float(metrics["client_work"]["train"]["loss"])

    assert losses(1.0) == losses(1.0)
    assert losses(1.0) != pytest.approx(losses(1.0 + 1e-6), abs=1e-5)


def measured_and_with_dropout() -> Any:
    drop = tf.keras.layers.Dropout(0.5, seed=1)
    return of_keras(drop, metrics=[tf.keras.metrics.SparseCategoricalAccuracy()])


@pytest.mark.parametrize("model", [measured_and_with_dropout, OfVariables])
def test_clients_with_pipelines_run_in_one_call(model: Any) -> None:
    process = algorithms.build_weighted_fed_avg(model, keras("Adam", 0.1))
    state = process.initialize()
    with fl.record(fuse=True) as tape:
        process.next(state, clients())
    calls = [event.detail for event in tape if event.what == "batched_call"]
    assert calls == ["work, apply, 3 clients"]


def sequences(depth: int) -> Any:
    """Batches of 5 steps with that many features each."""
    spec = OrderedDict(
        x=tf.TensorSpec([None, 5, depth], tf.float32),
        y=tf.TensorSpec([None, 5], tf.int32),
    )
    rows = OrderedDict(
        x=np.ones((6, 5, depth), np.float32), y=np.ones((6, 5), np.int32)
    )
    return spec, rows


def words() -> Any:
    spec = OrderedDict(
        x=tf.TensorSpec([None, 5], tf.int64), y=tf.TensorSpec([None, 1], tf.int32)
    )
    return spec, OrderedDict(x=np.ones((6, 5), np.int64), y=np.ones((6, 1), np.int32))


def layers_of(*layers: Any, spec: Any) -> Callable[[], Any]:
    def make() -> Any:
        x = spec["x"]
        start = tf.keras.Input(x.shape[1:], dtype=x.dtype)
        model = tf.keras.Sequential([start, *(layer() for layer in layers)])
        return tff.learning.models.from_keras_model(model, loss(), spec)

    return make


def embedding() -> Any:
    return tf.keras.layers.Embedding(9, 4, tf.keras.initializers.GlorotUniform(1))


@pytest.mark.parametrize("optimizer", [optimizers.build_adam(0.1), keras("Adam", 0.1)])
@pytest.mark.parametrize(
    ("data", "layers"),
    [
        (words, (embedding, tf.keras.layers.Flatten, lambda: dense(3))),
        (lambda: sequences(1), (lambda: dense(3),)),
    ],
    ids=["slopes of some rows", "an axis of one"],
)
def test_models_of_other_shapes_train(data: Any, layers: Any, optimizer: Any) -> None:
    spec, rows = data()
    process = algorithms.build_weighted_fed_avg(
        layers_of(*layers, spec=spec), optimizer
    )
    state, seen = process.initialize(), []
    for _ in range(3):
        client = tf.data.Dataset.from_tensor_slices(rows).batch(2)
        state, metrics = process.next(state, [client, client])
        seen.append(metrics["client_work"]["train"])
    assert seen[2]["loss"] < seen[0]["loss"]
    assert seen[0]["num_examples"] == 12


class Around(tff.learning.models.VariableModel):
    """A model of Keras with moving averages, wrapped by hand; it measures nothing."""

    input_spec = SPEC

    def __init__(self) -> None:
        self.keras_model = keras_model(tf.keras.layers.BatchNormalization())
        self.trainable_variables = self.keras_model.trainable_variables
        self.non_trainable_variables = self.keras_model.non_trainable_variables

    def forward_pass(self, batch_input: Any, training: bool = True) -> Any:
        found = self.keras_model(batch_input["x"], training=training)
        return tff.learning.models.BatchOutput(loss()(batch_input["y"], found), found)

    def report_local_unfinalized_metrics(self) -> Any:
        return OrderedDict()

    def metric_finalizers(self) -> Any:
        return OrderedDict()


def test_a_model_of_keras_may_be_wrapped_by_hand() -> None:
    def made() -> Any:
        return of_keras(tf.keras.layers.BatchNormalization())

    sgd = optimizers.build_sgdm(0.1)
    found = [run(algorithms.build_weighted_fed_avg(m, sgd))[0] for m in (Around, made)]
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-6)
