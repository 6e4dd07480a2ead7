# SPDX-License-Identifier: Apache-2.0
"""Models are pure functions: sizes as in the papers, gradients, Keras in and out."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.learning import build_fed_avg, losses, models
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.models import Model

pytestmark = pytest.mark.tensorflow


HALF: Any = 0.5


def count_weights(model: Model) -> int:
    flat = fl.tf.nest.flatten(model.initialize(0))
    return sum(int(np.prod(tensor.shape)) for tensor in flat)


@pytest.mark.parametrize(
    ("model", "weights"),
    [
        (models.softmax_regression(), 7_850),
        (models.multilayer_perceptron(), 199_210),  # the paper's 2NN
        (models.convolutional_network(), 1_663_370),  # the paper's CNN
        (models.linear_regression(3), 4),
    ],
    ids=str,
)
def test_sizes_are_those_of_the_papers(model: Model, weights: int) -> None:
    assert count_weights(model) == weights


def test_types_say_what_goes_in() -> None:
    model = models.softmax_regression(4, 3)
    assert str(model.weights_type) == "<weights=float32[4,3],bias=float32[3]>"
    assert str(model.batch_type) == "<x=float32[?,4],y=int32[?]>"
    assert (
        str(models.linear_regression(4).batch_type) == "<x=float32[?,4],y=float32[?]>"
    )
    assert repr(model) == "Model('softmax regression 4-3')"


@pytest.mark.parametrize(
    "model",
    [models.multilayer_perceptron([5]), models.convolutional_network()],
    ids=str,
)
def test_seed_decides_where_weights_begin(model: Model) -> None:
    first, again, other = (
        fl.tf.nest.flatten(model.initialize(seed)) for seed in (1, 1, 2)
    )
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert any(np.any(a != b) for a, b in zip(first, other, strict=True))
    assert max(float(np.abs(a).max()) for a in first) < 1


def test_layers_of_one_size_do_not_begin_alike() -> None:
    first, second, _ = models.multilayer_perceptron([6, 6], features=6).initialize(0)
    assert np.any(first["weights"] != second["weights"])


@pytest.mark.parametrize(
    "model",
    [
        models.softmax_regression(features=6, classes=3),
        models.softmax_regression(features=6, classes=3, log_of_softmax=True),
        models.multilayer_perceptron([4], features=6, classes=3),
        models.linear_regression(6),
    ],
    ids=str,
)
def test_mean_gradient_is_the_slope_of_the_mean_loss(model: Model) -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=[5, 6]).astype(np.float32)
    y = np.array([0, 1, 2, 1, 0], np.float32 if model.classes is None else np.int32)
    batch = {"x": fl.tf.constant(x), "y": fl.tf.constant(y)}
    weights = fl.tf.nest.map_structure(
        lambda w: fl.tf.constant(generator.normal(size=w.shape), fl.tf.float32),
        model.initialize(0),
    )
    slopes, found = model.mean_gradient(weights, batch)
    assert found.shape == [5]
    small = 1e-2
    moved = [
        fl.tf.nest.map_structure(lambda w, s, by=by: w + by * s, weights, slopes)
        for by in (small, -small)
    ]
    up, down = (float(np.mean(model.losses(each, batch))) for each in moved)
    steepness = sum(float(np.sum(s.numpy() ** 2)) for s in fl.tf.nest.flatten(slopes))
    assert (up - down) / (2 * small) == pytest.approx(steepness, rel=2e-2)


def test_batch_of_nothing_has_a_gradient_of_zero() -> None:
    model = models.softmax_regression(2, 2)
    batch = {"x": fl.tf.zeros([0, 2]), "y": fl.tf.zeros([0], fl.tf.int32)}
    slopes, _ = model.mean_gradient(model.initialize(0), batch)
    assert not np.any(slopes["weights"])


def test_logarithm_after_the_softmax_is_the_same_until_it_underflows() -> None:
    scores = np.array([[1.0, 0.0], [200.0, 0.0]], np.float32)
    y = np.array([1, 1])
    weights = {"weights": np.eye(2, dtype=np.float32), "bias": np.zeros(2, np.float32)}
    after, before = (
        models.softmax_regression(2, 2, log_of_softmax=way).losses(
            weights, {"x": scores, "y": y}
        )
        for way in (True, False)
    )
    assert float(after[0]) == pytest.approx(float(before[0]))
    assert (float(after[1]), float(before[1])) == (np.inf, 200.0)


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda: models.softmax_regression(features=0), "features"),
        (lambda: models.softmax_regression(classes=-1), "classes"),
        (lambda: models.multilayer_perceptron([10, 0]), "layer 2"),
        (lambda: models.linear_regression(HALF), "features"),
    ],
)
def test_impossible_sizes_are_refused(make: Any, where: str) -> None:
    with pytest.raises(ProcessError, match="whole sizes of at least one") as caught:
        make()
    assert caught.value.where == where


def test_one_inner_layer_is_a_list_of_one() -> None:
    hidden: Any = 200
    with pytest.raises(ProcessError, match="a list of layers"):
        models.multilayer_perceptron(hidden)


def test_unknown_loss_says_which_there_are() -> None:
    with pytest.raises(ProcessError, match="'cross_entropy' or 'sparse_categorical"):
        losses.find("hinge")


# ---------------------------------------------------------------- Keras


def keras_classifier() -> Any:
    keras = fl.tf.keras
    # A seed of its own: one for all of TensorFlow would reach into other tests.
    first, last = (keras.initializers.GlorotUniform(seed) for seed in (0, 1))
    return keras.Sequential(
        [
            keras.Input([4, 4, 1]),
            keras.layers.Conv2D(2, 3, activation="relu", kernel_initializer=first),
            keras.layers.Flatten(),
            keras.layers.Dense(3, kernel_initializer=last),
        ]
    )


def test_keras_model_computes_what_keras_computes() -> None:
    theirs = keras_classifier()
    ours = models.from_keras_model(theirs)
    x = np.random.default_rng(0).normal(size=[5, 16]).astype(np.float32)
    np.testing.assert_allclose(
        ours.predict(ours.initialize(0), x),
        theirs(x.reshape([5, 4, 4, 1])),
        rtol=1e-5,
        atol=1e-6,
    )
    assert (ours.features, ours.classes) == (16, 3)


def test_learning_leaves_the_keras_model_alone_and_gives_weights_for_it() -> None:
    theirs = keras_classifier()
    before = [array.copy() for array in theirs.get_weights()]
    model = models.from_keras_model(theirs)
    process = build_fed_avg(model)
    x = np.random.default_rng(1).normal(size=[6, 16]).astype(np.float32)
    batch = {"x": x, "y": np.array([0, 1, 2] * 2, np.int32)}
    state, first = process.next(process.initialize(), [[batch] * 5])
    for now, then in zip(theirs.get_weights(), before, strict=True):
        np.testing.assert_array_equal(now, then)
    _, second = process.next(state, [[batch] * 5])
    assert second["loss_per_example"] < first["loss_per_example"]
    theirs.set_weights(state.weights)
    np.testing.assert_allclose(
        theirs(x.reshape([6, 4, 4, 1])), model.predict(state.weights, x), rtol=1e-5
    )


def test_keras_model_is_called_by_what_it_does() -> None:
    """A checkpoint of another model is refused by this name, and its own is not."""
    keras = fl.tf.keras

    def named(activation: str, loss: Any = "cross_entropy") -> str:
        layers = [keras.Input([3]), keras.layers.Dense(4, activation=activation)]
        made = keras.Sequential([*layers, keras.layers.Dense(2)])
        return models.from_keras_model(made, loss).name

    def halved(outputs: Any, y: Any) -> Any:
        return losses.cross_entropy(outputs, y) / 2

    name = named("relu")
    assert name.startswith("Keras model Dense-Dense ")
    assert name.endswith(" with cross_entropy")
    assert named("relu") == name
    assert named("tanh") != name
    assert named("relu", halved).endswith(" with halved")


def test_keras_model_of_one_number_takes_mse() -> None:
    keras = fl.tf.keras
    theirs = keras.Sequential([keras.Input([3]), keras.layers.Dense(1)])
    model = models.from_keras_model(theirs, loss="mse")
    assert model.classes is None
    assert model.predict(model.initialize(0), np.ones([2, 3], np.float32)).shape == [2]


def test_keras_models_that_keep_something_are_refused() -> None:
    keras = fl.tf.keras
    layers = [keras.Input([3]), keras.layers.BatchNormalization()]
    with pytest.raises(ProcessError, match="moving_mean") as caught:
        models.from_keras_model(keras.Sequential([*layers, keras.layers.Dense(2)]))
    assert "GroupNormalization" in str(caught.value)
    with pytest.raises(ProcessError, match="no weights yet"):
        models.from_keras_model(keras.Sequential([keras.layers.Dense(2)]))
    with pytest.raises(ProcessError, match="no weights yet"):
        models.from_keras_model("a model")


@pytest.mark.parametrize("end", ["activation", "layer", "inside", "operation"])
def test_keras_models_that_end_in_a_softmax_are_refused(end: str) -> None:
    keras = fl.tf.keras
    dense, start = keras.layers.Dense, keras.Input([4])
    if end == "activation":
        theirs = keras.Sequential([start, dense(3, activation="softmax")])
    elif end == "layer":
        theirs = keras.Sequential([start, dense(3), keras.layers.Softmax()])
    elif end == "inside":
        inner = keras.Sequential([start, dense(3, activation="softmax")])
        theirs = keras.Sequential([keras.Input([4]), inner])
    else:
        theirs = keras.Model(start, keras.ops.softmax(dense(3)(start)))
    with pytest.raises(ProcessError, match="ends in a softmax") as caught:
        models.from_keras_model(theirs)
    assert "leave out activation='softmax'" in str(caught.value)


def test_keras_model_of_zeros_is_not_taken_for_a_softmax() -> None:
    keras = fl.tf.keras
    layer = keras.layers.Dense(3, kernel_initializer="zeros")
    models.from_keras_model(keras.Sequential([keras.Input([4]), layer]))


@pytest.mark.parametrize(("outputs", "loss"), [(1, "cross_entropy"), (3, "mse")])
def test_keras_outputs_have_to_fit_the_loss(outputs: int, loss: str) -> None:
    keras = fl.tf.keras
    theirs = keras.Sequential([keras.Input([4]), keras.layers.Dense(outputs)])
    with pytest.raises(ProcessError, match="outputs do not fit the loss"):
        models.from_keras_model(theirs, loss)


def test_keras_model_without_weights_is_refused() -> None:
    keras = fl.tf.keras
    theirs = keras.Sequential([keras.Input([2, 2]), keras.layers.Flatten()])
    with pytest.raises(ProcessError, match="nothing to train"):
        models.from_keras_model(theirs)


@pytest.mark.parametrize("loss", [lambda o, y: 0.5, lambda o, y: o])
def test_a_loss_that_is_not_one_number_per_example_is_refused(loss: Any) -> None:
    made = models.softmax_regression(2, 2)
    model = models.Model(
        "odd", made.initialize, made.predict, loss, made.features, made.classes
    )
    batch = {"x": np.ones([3, 2], np.float32), "y": np.zeros(3, np.int32)}
    with pytest.raises(ProcessError, match="one number for each example"):
        model.losses(model.initialize(0), batch)


@pytest.mark.parametrize("name", ["class", "function", "number"])
def test_losses_of_keras_are_refused(name: str) -> None:
    of_keras = fl.tf.keras.losses
    loss: Any = {
        "class": of_keras.SparseCategoricalCrossentropy(from_logits=True),
        "function": of_keras.sparse_categorical_crossentropy,
        "number": 0.5,
    }[name]
    with pytest.raises(ProcessError, match="a function of outputs and y"):
        models.from_keras_model(keras_classifier(), loss)
