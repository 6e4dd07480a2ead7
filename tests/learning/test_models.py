# SPDX-License-Identifier: Apache-2.0
"""Models are pure functions: sizes as in the papers, gradients, Keras in and out."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import learning
from fedlearn_edu.learning import build_fed_avg, losses, models
from fedlearn_edu.learning.models import Model
from fedlearn_edu.simulation import ClientData

pytestmark = pytest.mark.tensorflow


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


# ---------------------------------------------------------------- Keras


def distance(outputs: Any, y: Any) -> Any:
    return fl.tf.abs(outputs[:, 0] - fl.tf.cast(y, fl.tf.float32))


def keras_models() -> tuple[Any, Any, Any]:
    """A frozen layer, a subclass and two inputs; a class, as Keras is imported late."""
    keras = fl.tf.keras

    class Subclass(keras.Model):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner = keras.layers.Dense(3, activation="relu")
            self.last = keras.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.last(self.inner(x))

    layers = [keras.layers.Dense(3), keras.layers.BatchNormalization()]
    frozen = keras.Sequential([keras.Input([4]), *layers, keras.layers.Dense(2)])
    for layer in layers:
        layer.trainable = False
    ends = keras.Input([2]), keras.Input([3])
    joined = keras.layers.Concatenate()(ends)
    return frozen, Subclass, keras.Model([*ends], keras.layers.Dense(2)(joined))


def test_keras_model_is_called_by_what_it_does() -> None:
    """A checkpoint of another model is refused by this name, and its own is not."""
    keras = fl.tf.keras

    def named(activation: str, loss: Any = "cross_entropy") -> str:
        layers = [keras.Input([3]), keras.layers.Dense(4, activation=activation)]
        made = keras.Sequential([*layers, keras.layers.Dense(2)])
        targets = "classes" if callable(loss) else None
        return models.from_keras_model(made, loss, targets=targets).name

    def halved(outputs: Any, y: Any) -> Any:
        return losses.cross_entropy(outputs, y) / 2

    name = named("relu")
    assert name.startswith("Keras model Dense-Dense ")
    assert name.endswith(" with cross_entropy")
    assert named("relu") == name
    assert named("tanh") != name
    assert named("relu", halved).endswith(" with halved")


LAYER = """
class Lay(keras.layers.Layer):
    def __init__(self, start=0):
        super().__init__()
        self.start, self.sizes = start, [1, START]
    def call(self, x):
        return SCALE * x + self.start
class Holder(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.inner = Lay(START)
    def call(self, x):
        return self.inner(x)
class Mine(keras.Model):
    def __init__(self):
        super().__init__()
        self.last = keras.layers.Dense(2)
    def call(self, x):
        return SCALE * self.last(x) + START
def act(x):
    return SCALE * x + START
"""
OWN_LAYERS = ["Lay(START)", "Holder()", "keras.layers.Activation(act)", "Mine()"]


@pytest.mark.parametrize("layer", OWN_LAYERS)
def test_code_of_ones_own_is_in_the_name_of_a_keras_model(layer: str) -> None:
    keras = fl.tf.keras

    def named(scale: float, start: int) -> str:
        names: Any = {"keras": keras, "SCALE": scale, "START": start}
        names["__name__"] = "__main__"
        exec(LAYER, names)
        made = eval(layer, names)
        if layer != "Mine()":
            made = keras.Sequential([keras.Input([3]), made, keras.layers.Dense(2)])
        made(np.ones([2, 3], np.float32))
        first = models.from_keras_model(made).name
        made.compile("sgd", "mse")
        made.fit(np.ones([2, 3]), np.ones([2, 2]), verbose=0)
        assert models.from_keras_model(made).name == first
        return first

    found = [named(*each) for each in ((1.0, 0), (1.0, 0), (2.0, 0), (1.0, 1))]
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_keras_model_of_one_number_takes_mse() -> None:
    keras = fl.tf.keras
    theirs = keras.Sequential([keras.Input([3]), keras.layers.Dense(1)])
    model = models.from_keras_model(theirs, loss="mse")
    assert model.classes is None
    assert model.predict(model.initialize(0), np.ones([2, 3], np.float32)).shape == [2]


def test_keras_model_of_zeros_is_not_taken_for_a_softmax() -> None:
    keras = fl.tf.keras
    layer = keras.layers.Dense(3, kernel_initializer="zeros")
    models.from_keras_model(keras.Sequential([keras.Input([4]), layer]))


@pytest.mark.parametrize(
    ("outputs", "targets", "y", "classes"),
    [
        (1, np.float32, "float32[?]", None),
        (3, (np.float32, [3]), "float32[?,3]", None),
        (1, np.int32, "int32[?]", None),
        (1, "classes", "int32[?]", 2),
        (3, "classes", "int32[?]", 3),
        (1, (-1, 1), "int32[?]", (-1, 1)),
    ],
)
def test_targets_of_a_loss_of_ones_own_are_what_is_said(
    outputs: int, targets: Any, y: str, classes: Any
) -> None:
    keras = fl.tf.keras
    theirs = keras.Sequential([keras.Input([4]), keras.layers.Dense(outputs)])
    model = models.from_keras_model(theirs, distance, targets=targets)
    assert str(model.batch_type) == f"<x=float32[?,4],y={y}>"
    assert model.classes == classes


def test_a_batch_of_a_size_that_a_model_says_is_one() -> None:
    """Where the size of y is not known, that of the outputs may be."""
    made = models.softmax_regression(2, 2)

    def predict(weights: Any, x: Any) -> Any:
        return fl.tf.reshape(made.predict(weights, x), [3, 2])

    model = dataclasses.replace(made, predict=predict)
    fl.tf_computation(model.losses, [model.weights_type, model.batch_type])


# ---------------------------------------------------------------- models people bring


def keras_gradient(theirs: Any, x: Any, y: Any) -> list[Any]:
    """Of Keras's own mean loss and of what layers add, in eager mode."""
    tf = fl.tf
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    with tf.GradientTape() as tape:
        mean = loss(y, theirs(x, training=True)) + sum(theirs.losses)
    slopes = tape.gradient(mean, theirs.trainable_variables)
    return [tf.convert_to_tensor(each).numpy() for each in slopes]


def batch_of(x: Any) -> Any:
    y = fl.tf.constant(np.arange(len(x)) % 2, fl.tf.int32)
    return {"x": fl.tf.constant(x), "y": y}


def test_what_layers_add_counts_in_training_as_in_keras() -> None:
    keras = fl.tf.keras
    layers = [
        keras.layers.Dense(3, activity_regularizer="l2"),
        keras.layers.ActivityRegularization(l1=0.1),  # by add_loss
        keras.layers.Dense(2, kernel_regularizer="l2", bias_regularizer="l1"),
    ]
    theirs = keras.Sequential([keras.Input([4]), *layers])
    model, chance = models.from_keras_model(theirs), np.random.default_rng(0)
    weights, batch = model.initialize(0), batch_of(chance.random([6, 4], np.float32))
    (mean, found), (total, _) = (
        of(weights, batch) for of in (model.mean_gradient, model.sum_gradient)
    )
    expected = keras_gradient(theirs, batch["x"], batch["y"])
    for ours, six_times, slope in zip(mean, total, expected, strict=True):
        np.testing.assert_allclose(ours, slope, atol=1e-6)
        np.testing.assert_allclose(six_times, 6 * slope, atol=1e-5)
    np.testing.assert_allclose(found, model.losses(weights, batch), rtol=1e-6)
    nothing, _ = model.mean_gradient(weights, batch_of(np.zeros([0, 4], np.float32)))
    assert not any(np.any(slope) for slope in nothing)


def test_layers_know_whether_they_are_in_training() -> None:
    keras = fl.tf.keras

    class Thrice(keras.layers.Layer):  # type: ignore[misc,name-defined]
        def call(self, x: Any, training: bool = False) -> Any:
            return 3 * x if training else x

    layers = [Thrice(), keras.layers.Dense(2, use_bias=False)]
    model = models.from_keras_model(keras.Sequential([keras.Input([4]), *layers]))
    weights, x = model.initialize(0), np.ones([1, 4], np.float32)
    assert model.training is not None
    np.testing.assert_allclose(
        model.training(weights, x)[0], 3 * model.predict(weights, x), rtol=1e-6
    )


@pytest.mark.parametrize("which", ["frozen", "subclass", "two inputs"])
def test_models_people_bring_learn_as_in_keras(which: str) -> None:
    frozen, subclass, two = keras_models()
    x: Any = np.random.default_rng(0).random([4, 4], np.float32)
    theirs = {"frozen": frozen, "subclass": subclass(), "two inputs": two}[which]
    if which == "two inputs":
        x = [x[:, :2], x[:, 1:]]
    theirs(x)
    model, y = models.from_keras_model(theirs), np.array([0, 1, 1, 0], np.int32)
    before, expected = theirs.get_weights(), keras_gradient(theirs, x, y)
    process = build_fed_avg(model, 0.5)
    state, _ = process.next(process.initialize(), [[{"x": x, "y": y}]])
    for now, start, slope in zip(
        state.weights, model.initialize(0), expected, strict=True
    ):
        np.testing.assert_allclose(now, start - 0.5 * slope, atol=1e-6)
    for now, then in zip(theirs.get_weights(), before, strict=True):
        np.testing.assert_array_equal(now, then)
    if which != "frozen":  # what it keeps beside its weights is not theirs to set
        theirs.set_weights(state.weights)
        np.testing.assert_allclose(theirs(x), model.predict(state.weights, x), 1e-5)


@pytest.mark.parametrize(
    "build",
    [
        build_fed_avg,
        learning.build_fed_prox,
        learning.build_fed_sgd,
        learning.build_fed_adam,
        lambda model: learning.build_scaffold(model, num_clients=1),
    ],
)
def test_gradients_are_dense_and_there_for_all_weights(build: Any) -> None:
    tf = fl.tf

    def initialize(seed: int) -> Any:
        return {"rows": tf.ones([3, 2]), "unused": tf.ones([2])}

    model = Model(
        "looks up rows",
        initialize,
        lambda weights, x: tf.gather(weights["rows"], tf.cast(x[:, 0], tf.int32)),
        losses.cross_entropy,
        features=1,
        classes=2,
    )
    data = [[{"x": [[0.0], [2.0]], "y": [0, 1]}]]
    learned = learning.run(build(model), data, 1).weights
    np.testing.assert_array_equal(learned["unused"], 1)
    np.testing.assert_array_equal(learned["rows"][1], 1)
    assert (learned["rows"][[0, 2], [0, 1]] > 1).all()


def text_model(layer: str = "GRU", **embedding: Any) -> Any:
    layers = fl.tf.keras.layers
    recurrent = getattr(layers, layer)(3, return_sequences=True)
    start = fl.tf.keras.Input([None], dtype="int32")
    first = layers.Embedding(5, 2, **embedding)
    return fl.tf.keras.Sequential([start, first, recurrent, layers.Dense(5)])


@pytest.mark.thorough
def test_text_model_learns_the_next_character_with_ten_clients() -> None:
    """Of FedAvg's first round, against Keras's own gradients; lengths may differ."""
    theirs, chance = text_model(), np.random.default_rng(0)
    model = models.from_keras_model(theirs)
    assert str(model.batch_type) == "<x=int32[?,?],y=int32[?,?]>"
    texts = [chance.integers(0, 5, [1 + k % 3, 3 + k % 2]) for k in range(10)]
    clients = [[{"x": t[:, :-1], "y": t[:, 1:]}] for t in np.array(texts, object)]
    process = build_fed_avg(model, 0.5)
    state, _ = process.next(process.initialize(), clients)
    slopes = [keras_gradient(theirs, each["x"], each["y"]) for [each] in clients]
    sizes = [len(text) for text in texts]
    for position, start in enumerate(model.initialize(0)):
        of_clients = [each[position] for each in slopes]
        step = np.average(of_clients, axis=0, weights=sizes)
        np.testing.assert_allclose(
            state.weights[position], start - 0.5 * step, atol=1e-6
        )


@pytest.mark.parametrize("layer", ["LSTM", "SimpleRNN"])
def test_recurrent_layers_without_dropout_are_taken(layer: str) -> None:
    assert models.from_keras_model(text_model(layer)).classes == 5


def test_subclass_is_taken_as_built_or_as_said() -> None:
    _, subclass, _ = keras_models()
    theirs = subclass()
    theirs(np.ones([2, 4, 3], np.float32))
    assert "x=float32[?,4,3]" in str(models.from_keras_model(theirs).batch_type)
    said = models.from_keras_model(theirs, inputs=(np.float32, [None, 3]))
    assert str(said.batch_type) == "<x=float32[?,?,3],y=int32[?,?]>"


EXAMPLES = np.arange(48, dtype=np.float32).reshape(2, 4, 6)


@pytest.mark.parametrize("shape", [[4, 6], [None, 6], [4, 6, 1], [24]])
def test_examples_keep_their_shape(shape: Any) -> None:
    keras = fl.tf.keras
    layers = [keras.layers.Dense(2), keras.layers.Flatten(), keras.layers.Dense(2)]
    pooled = [keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(2)]
    theirs = keras.Sequential(
        [keras.Input(shape), *(pooled if None in shape else layers)]
    )
    model, data = (
        models.from_keras_model(theirs),
        ClientData(EXAMPLES, [0, 1], [[0, 1]]),
    )
    found = learning.build_federated_evaluation(model)(model.initialize(0), data)
    x = EXAMPLES.reshape([2, *(shape if None not in shape else [4, 6])])
    right = model.losses(model.initialize(0), {"x": x, "y": np.array([0, 1], np.int32)})
    assert found.loss_per_example == pytest.approx(float(np.mean(right)), rel=1e-5)
    assert learning.run(build_fed_avg(model), data, 1).rounds == 1
