# SPDX-License-Identifier: Apache-2.0
"""The models of the lessons and of the papers, from one matrix product to a CNN."""

import math
from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from fedlearn_edu.errors import describe, short_traceback, whole_number
from fedlearn_edu.learning import losses
from fedlearn_edu.learning.arrays import tf
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.models.model import Model

IMAGE_PIXELS = 28 * 28
DIGITS = 10


@short_traceback
def softmax_regression(
    features: int = IMAGE_PIXELS, classes: int = DIGITS, *, log_of_softmax: bool = False
) -> Model:
    """Scores are one matrix product: `x @ weights + bias`; all weights begin at zero.

    Args:
        features: Numbers per example.
        classes: Labels are 0..classes-1.
        log_of_softmax: Takes the logarithm after the softmax, as the tutorial of the
            ancestor does: the same number but for its last digits, and NaN where
            the share of a class is too small for a `float32`.
    """
    _check_sizes(features=features, classes=classes)

    def initialize(seed: int) -> Any:
        zeros = tf.zeros
        return OrderedDict(weights=zeros([features, classes]), bias=zeros([classes]))

    def predict(weights: Any, x: Any) -> Any:
        return tf.matmul(x, weights["weights"]) + weights["bias"]

    def log_after(outputs: Any, y: Any) -> Any:
        shares = tf.math.log(tf.nn.softmax(outputs))
        return -tf.reduce_sum(tf.one_hot(y, classes) * shares, axis=1)

    loss = log_after if log_of_softmax else losses.cross_entropy

    def gradient(weights: Any, batch: Any) -> tuple[Any, Any]:
        x, y = batch["x"], batch["y"]
        scores = predict(weights, x)
        found = loss(scores, y)
        shares, hot = tf.nn.softmax(scores), tf.one_hot(y, classes)
        if log_of_softmax:  # NaN where a share is 0, as the loss
            hot = hot / shares * shares
        errors = shares * tf.reduce_sum(hot, 1)[:, None] - hot
        slopes = tf.matmul(x, errors, transpose_a=True)
        return OrderedDict(weights=slopes, bias=tf.reduce_sum(errors, 0)), found

    name = f"softmax regression {features}-{classes}"
    name += ", logarithm after softmax" if log_of_softmax else ""
    return Model(name, initialize, predict, loss, features, classes, gradient)


@short_traceback
def multilayer_perceptron(
    hidden: Sequence[int] = (200, 200),
    features: int = IMAGE_PIXELS,
    classes: int = DIGITS,
) -> Model:
    """Layers of `relu(x @ weights + bias)`, and a last one without relu.

    With 200 and 200 it is the "2NN" of the federated averaging paper: 199,210 weights.

    Source: B. McMahan et al., "Communication-Efficient Learning of Deep Networks from
    Decentralized Data", AISTATS 2017, section 3.
    """
    if not isinstance(hidden, Sequence):
        raise ProcessError(
            "a multilayer perceptron has a list of layers",
            expected="the size of each inner layer, such as [200, 200]",
            found=describe(hidden),
            where="hidden",
        )
    sizes = (features, *hidden, classes)
    _check_sizes(**{f"layer {position}": size for position, size in enumerate(sizes)})

    def initialize(seed: int) -> Any:
        return [
            _layer([*ends], seed, position)
            for position, ends in enumerate(pairwise(sizes))
        ]

    def predict(weights: Any, x: Any) -> Any:
        *inner, last = weights
        for layer in inner:
            x = tf.nn.relu(_affine(layer, x))
        return _affine(last, x)

    name = f"multilayer perceptron {'-'.join(map(str, sizes))}"
    return Model(name, initialize, predict, losses.cross_entropy, features, classes)


@short_traceback
def convolutional_network(classes: int = DIGITS) -> Model:
    """The paper's CNN for images of 28x28 pixels: 1,663,370 weights.

    Two 5x5 convolutions with 32 and 64 channels, each followed by relu and 2x2 max
    pooling; then a layer of 512 units with relu, and the scores of the classes.

    Source: B. McMahan et al., AISTATS 2017, section 3.
    """
    _check_sizes(classes=classes)

    def initialize(seed: int) -> Any:
        return OrderedDict(
            first=_layer([5, 5, 1, 32], seed, 0),
            second=_layer([5, 5, 32, 64], seed, 1),
            hidden=_layer([7 * 7 * 64, 512], seed, 2),
            scores=_layer([512, classes], seed, 3),
        )

    def predict(weights: Any, x: Any) -> Any:
        images = tf.reshape(x, [-1, 28, 28, 1])
        for name in ("first", "second"):
            layer = weights[name]
            images = tf.nn.conv2d(images, layer["weights"], 1, "SAME") + layer["bias"]
            images = tf.nn.max_pool2d(tf.nn.relu(images), 2, 2, "VALID")
        flat = tf.reshape(images, [-1, 7 * 7 * 64])
        hidden = tf.nn.relu(_affine(weights["hidden"], flat))
        return _affine(weights["scores"], hidden)

    name = f"convolutional network 28x28-32-64-512-{classes}"
    return Model(name, initialize, predict, losses.cross_entropy, IMAGE_PIXELS, classes)


@short_traceback
def linear_regression(features: int) -> Model:
    """One number from `x @ weights + bias`, with the squared error; begins at zero.

    `LinearRegression(feature_dim)` is the same model, in the style of Keras.
    """
    _check_sizes(features=features)

    def initialize(seed: int) -> Any:
        zeros = tf.zeros
        return OrderedDict(weights=zeros([features]), bias=zeros([]))

    def predict(weights: Any, x: Any) -> Any:
        return tf.linalg.matvec(x, weights["weights"]) + weights["bias"]

    def gradient(weights: Any, batch: Any) -> tuple[Any, Any]:
        x, y = batch["x"], batch["y"]
        found = predict(weights, x)
        errors = 2.0 * (found - y)
        slopes = tf.linalg.matvec(x, errors, transpose_a=True)
        bias = tf.reduce_sum(errors)
        return OrderedDict(weights=slopes, bias=bias), losses.squared_error(found, y)

    name, loss = f"linear regression {features}-1", losses.squared_error
    return Model(name, initialize, predict, loss, features, None, gradient)


def _layer(shape: list[int], seed: int, position: int) -> Any:
    """Weights of a dense or a convolutional layer, by Glorot; the bias is zero.

    Uniform within ±sqrt(6 / (fan_in + fan_out)), the same under the same seed.
    """
    *patch, inputs, outputs = shape
    limit = (6.0 / (math.prod(patch) * (inputs + outputs))) ** 0.5
    draw = tf.random.stateless_uniform
    weights = draw(shape, (seed, position), -limit, limit)
    return OrderedDict(weights=weights, bias=tf.zeros([outputs]))


def _affine(layer: Any, x: Any) -> Any:
    return tf.matmul(x, layer["weights"]) + layer["bias"]


def _check_sizes(**sizes: object) -> None:
    for name, size in sizes.items():
        whole_number(
            size,
            name,
            1,
            ProcessError,
            summary="a model has whole sizes of at least one",
            expected=f"{name} >= 1",
            found=repr(size),
        )
