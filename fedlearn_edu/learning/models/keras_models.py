# SPDX-License-Identifier: Apache-2.0
"""A Keras model as a pure function: weights in, outputs out, the model unchanged."""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.learning import losses
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.models.model import Model

_NAMES = {"name", "inbound_nodes", "input_layers", "output_layers", "shared_object_id"}


@short_traceback
def from_keras_model(
    keras_model: Any, loss: str | Callable[[Any, Any], Any] = "cross_entropy"
) -> Model:
    """Takes the layers and the present weights of a Keras model.

    The structure of the weights is the list `keras_model.trainable_variables`; the
    model itself is never changed, `set_weights` puts trained weights back.

    Args:
        keras_model: Built, with one input and one output, and without layers that keep
            something between calls. Images are flat here, `float32[?,784]`; they get
            the shape the model wants.
        loss: `"cross_entropy"` for scores *before* the softmax, `"mse"` for one number,
            or a function from outputs and y to one loss per example.

    Raises:
        ProcessError: it is not built, or has weights that are not trained by gradients
            (`BatchNormalization`, `Dropout`), or none that are; or what comes out of
            it is not what the loss takes, such as shares after a softmax.

    Source: `tff.learning.models.from_keras_model`, `functional_model_from_keras`; the
    call is `keras.Model.stateless_call`.
    """
    shape, outputs = _checked_shapes(keras_model)
    start = [variable.numpy() for variable in keras_model.trainable_variables]
    per_example = losses.find(loss) if isinstance(loss, str) else _not_of_keras(loss)
    if isinstance(loss, str):
        _check_outputs(keras_model, loss, shape, outputs)
    is_regression = per_example is losses.squared_error

    def initialize(seed: int) -> Any:
        return [fl.tf.constant(array) for array in start]

    def predict(weights: Any, x: Any) -> Any:
        images = fl.tf.reshape(x, [-1, *shape])
        result, _ = keras_model.stateless_call(list(weights), [], images, training=True)
        return fl.tf.reshape(result, [-1]) if is_regression else result

    classes = None if is_regression else outputs
    loss_name = getattr(per_example, "__name__", type(per_example).__name__)
    name = f"Keras model {_kind(keras_model)} with {loss_name}"
    return Model(name, initialize, predict, per_example, int(np.prod(shape)), classes)


def _kind(keras_model: Any) -> str:
    """Its layers, and a digest of all their settings, by which a checkpoint knows it.

    Keras numbers names within a program, so that a cell that is run again makes
    `dense_1` of `dense`; names are left out.
    """
    kinds = "-".join(type(layer).__name__ for layer in keras_model.layers)
    settings = repr([_nameless(layer.get_config()) for layer in keras_model.layers])
    return f"{kinds} {hashlib.sha256(settings.encode()).hexdigest()[:8]}"


def _nameless(config: Any) -> Any:
    if isinstance(config, Mapping):
        own = {key: each for key, each in config.items() if key not in _NAMES}
        return {key: _nameless(each) for key, each in sorted(own.items())}
    if isinstance(config, list | tuple):
        return [_nameless(each) for each in config]
    return re.sub(r" at 0x[0-9a-f]+", "", repr(config))


def _checked_shapes(keras_model: Any) -> tuple[tuple[int, ...], int]:
    """The shape of one input, and how many numbers come out."""
    if not getattr(keras_model, "built", False):
        raise ProcessError(
            "the model has no weights yet",
            expected="a built model of Keras",
            found=describe(keras_model),
            do="give it an input shape: keras.Input([784]) as its first layer",
        )
    if not keras_model.trainable_variables:
        raise ProcessError(
            "there is nothing to train in this model",
            expected="trainable weights",
            found=describe(keras_model),
        )
    kept = [each.path for each in keras_model.non_trainable_variables]
    if kept:
        raise ProcessError(
            "the model keeps something that gradients do not train",
            expected="trainable weights only",
            found=", ".join(kept),
            do="leave out Dropout; take GroupNormalization for BatchNormalization",
        )
    shapes = keras_model.input_shape, keras_model.output_shape
    if not all(isinstance(shape, tuple) and None not in shape[1:] for shape in shapes):
        raise ProcessError(
            "one input and one output of known size are needed",
            expected="input_shape and output_shape such as (None, 784) and (None, 10)",
            found=f"{shapes[0]} and {shapes[1]}",
        )
    (_, *inputs), (_, *outputs) = shapes
    return tuple(inputs), int(np.prod(outputs))


def _not_of_keras(loss: Any) -> Any:
    """The loss, unless it is one of Keras, which takes y before the outputs."""
    module: str = getattr(loss, "__module__", None) or type(loss).__module__
    if not callable(loss) or "keras" in module.partition(".")[0]:
        raise ProcessError(
            "a loss is a name, or a function of outputs and y",
            expected=" or ".join(map(repr, losses.NAMES)),
            found=describe(loss),
            where="loss",
            do="Keras's own losses take y first, and many return a mean: take a name",
        )
    return loss


def _check_outputs(
    keras_model: Any, loss: str, shape: tuple[int, ...], outputs: int
) -> None:
    """Refuses outputs from which the loss can be computed, but not meaningfully."""
    is_regression = losses.find(loss) is losses.squared_error
    if (outputs == 1) != is_regression:
        raise ProcessError(
            "the outputs do not fit the loss",
            expected="one number" if is_regression else "a score for each class",
            found=f"{outputs} output{'' if outputs == 1 else 's'}, and loss={loss!r}",
            where=f"the last layer of {keras_model.name}",
            do="loss='cross_entropy' is for classes, loss='mse' for one number",
        )
    if not is_regression and _are_shares(keras_model, shape):
        raise ProcessError(
            "the model ends in a softmax, which this loss takes itself",
            expected="scores before the softmax",
            found="outputs of at least 0 that add up to 1",
            where=f"the last layer of {keras_model.name}",
            do="leave out activation='softmax'; as it is, it would hardly learn",
        )


def _are_shares(keras_model: Any, shape: tuple[int, ...]) -> bool:
    """Whether what comes out of any input adds up to 1.

    A look at the layers would miss a softmax in an inner model, or one that is none.
    """
    inputs = np.random.default_rng(0).random((3, *shape), np.float32)
    found = np.asarray(keras_model(inputs, training=False), np.float32)
    sums = found.reshape(len(inputs), -1).sum(axis=1)
    return bool((found >= 0).all() and np.allclose(sums, 1.0, atol=1e-3))
