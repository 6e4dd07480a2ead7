# SPDX-License-Identifier: Apache-2.0
"""A model of Keras as a pure function: weights in, outputs out, nothing changed."""

from collections.abc import Callable
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import describe
from fedlearn_edu.learning import losses
from fedlearn_edu.learning.models.model import Model, ModelError


def from_keras_model(
    keras_model: Any, loss: str | Callable[[Any, Any], Any] = "cross_entropy"
) -> Model:
    """Takes the layers and the present weights of a model of Keras.

    The structure of the weights is the list `keras_model.trainable_variables`; the
    model itself is never changed, `set_weights` puts trained weights back.

    Args:
        keras_model: Built, with one input and one output, and without layers that keep
            something between calls. Images are flat here, `float32[?,784]`; they get
            the shape the model wants.
        loss: `"cross_entropy"` for scores *before* the softmax, `"mse"` for one number,
            or a function from outputs and y to one loss per example.

    Raises:
        ModelError: it is not built, or has weights that are not trained by gradients
            (`BatchNormalization`, `Dropout`).

    Source: `tff.learning.models.from_keras_model`, `functional_model_from_keras`; the
    call is `keras.Model.stateless_call`.
    """
    shape, outputs = _checked_shapes(keras_model)
    start = [variable.numpy() for variable in keras_model.trainable_variables]
    per_example = losses.find(loss) if isinstance(loss, str) else loss
    is_regression = per_example is losses.squared_error

    def initialize(seed: int) -> Any:
        return [fl.tf.constant(array) for array in start]

    def predict(weights: Any, x: Any) -> Any:
        images = fl.tf.reshape(x, [-1, *shape])
        result, _ = keras_model.stateless_call(list(weights), [], images, training=True)
        return fl.tf.reshape(result, [-1]) if is_regression else result

    classes = None if is_regression else outputs
    name = f"Keras model {keras_model.name}"
    return Model(name, initialize, predict, per_example, int(np.prod(shape)), classes)


def _checked_shapes(keras_model: Any) -> tuple[tuple[int, ...], int]:
    """The shape of one input, and how many numbers come out."""
    if not getattr(keras_model, "built", False):
        raise ModelError(
            "the model has no weights yet",
            expected="a built model of Keras",
            found=describe(keras_model),
            do="give it an input shape: keras.Input([784]) as its first layer",
        )
    kept = [each.path for each in keras_model.non_trainable_variables]
    if kept:
        raise ModelError(
            "the model keeps something that gradients do not train",
            expected="trainable weights only",
            found=", ".join(kept),
            do="leave out Dropout; take GroupNormalization for BatchNormalization",
        )
    shapes = keras_model.input_shape, keras_model.output_shape
    if not all(isinstance(shape, tuple) and None not in shape[1:] for shape in shapes):
        raise ModelError(
            "one input and one output of known size are needed",
            expected="input_shape and output_shape such as (None, 784) and (None, 10)",
            found=f"{shapes[0]} and {shapes[1]}",
        )
    (_, *inputs), (_, *outputs) = shapes
    return tuple(inputs), int(np.prod(outputs))
