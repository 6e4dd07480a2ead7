# SPDX-License-Identifier: Apache-2.0
"""`LinearRegression(feature_dim)`: a model in the style of Keras, for one client.

Programs from the web make it in one function and train it in another with `compile` and
`fit`; `federated_averaging` calls both. Underneath is the pure `linear_regression`.
"""

from collections.abc import Mapping
from typing import Any, final

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.learning import losses
from fedlearn_edu.learning.arrays import tf
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.models.networks import linear_regression
from fedlearn_edu.learning.optimizers import Optimizer, build_sgd, build_sgdm

_KERAS_RATE = 0.01
_EXTRAS = ("nesterov", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm")


@final
class LinearRegression:
    """One number from `x @ weights + bias`; all begins at zero.

    Unlike all other models it changes: `fit` replaces its `weights`. Data are batches
    `<x=float32[?,feature_dim],y=float32[?]>`, or pairs of the two, in a
    list or in a `tf.data.Dataset`.

    Attributes:
        model: the pure model underneath.
        weights: `<weights=float32[feature_dim],bias=float32>`.

    Source: the answer "How does TFF enable remote execution?", first example.
    """

    def __init__(self, feature_dim: int) -> None:
        self.model = linear_regression(feature_dim)
        self.weights = self.model.initialize(0)
        self._optimizer: Optimizer | None = None

    @short_traceback
    def compile(self, optimizer: Any = "sgd", loss: str = "mse") -> None:
        """Says how `fit` trains.

        Args:
            optimizer: One of `learning.optimizers`, `tf.keras.optimizers.SGD(...)`, or
                `"sgd"`.
            loss: `"mse"`, the only one that fits.

        Raises:
            ProcessError: another optimizer of Keras, or another loss.
        """
        if losses.find(loss) is not losses.squared_error:
            raise ProcessError(
                "linear regression learns by its squared error",
                expected="loss='mse'",
                found=repr(loss),
            )
        self._optimizer = from_keras_optimizer(optimizer)

    @short_traceback
    def fit(self, data: Any, epochs: int = 1) -> None:
        """Takes one step per batch, in `epochs` passes over the data."""
        optimizer = self._optimizer
        if optimizer is None:
            raise ProcessError(
                "nothing says how to train",
                do="call compile(optimizer=..., loss='mse') first",
            )
        so_far = (self.weights, optimizer.initialize(self.weights))

        def step(so_far: Any, batch: Any) -> Any:
            weights, moments = so_far
            gradients, losses = self.model.mean_gradient(weights, _named(batch))
            moments, weights = optimizer.step(
                moments, weights, gradients, 0, tf.size(losses)
            )
            return weights, moments

        for _ in range(epochs):
            so_far = reduce_batches(data, so_far, step)
        self.weights = so_far[0]

    @short_traceback
    def predict(self, x: Any) -> Any:
        """`float32[n,feature_dim] -> float32[n]`."""
        return self.model.predict(self.weights, x)


def from_keras_optimizer(optimizer: Any) -> Optimizer:
    """Ours for one of Keras: `SGD`, with momentum or without, or `"sgd"`.

    Raises:
        ProcessError: it is another one, or has settings that ours has not.
    """
    if isinstance(optimizer, Optimizer):
        return optimizer
    if optimizer == "sgd":
        return build_sgd(_KERAS_RATE)
    is_sgd = type(optimizer).__name__ == "SGD"
    if not is_sgd or any(getattr(optimizer, extra, None) for extra in _EXTRAS):
        raise ProcessError(
            "this optimizer has no twin here",
            expected="tf.keras.optimizers.SGD(learning_rate, momentum), or 'sgd'",
            found=describe(optimizer),
            do="or take one of fl.learning.optimizers, for example build_adam()",
        )

    def rate(number: Any) -> Any:
        # In the body of a tf_computation it is a variable, and has no number yet.
        return tf.convert_to_tensor(optimizer.learning_rate)

    momentum = float(optimizer.momentum)
    return build_sgdm(rate, momentum) if momentum else build_sgd(rate)


def _named(batch: Any) -> Any:
    if isinstance(batch, Mapping):
        return batch
    x, y = batch
    return {"x": x, "y": y}


def reduce_batches(data: Any, so_far: Any, step: Any) -> Any:
    """Over a `tf.data.Dataset`, in a body or not, or over batches in a list."""
    if hasattr(data, "reduce"):
        return data.reduce(so_far, step)
    for batch in data:
        tensors = {n: tf.convert_to_tensor(x) for n, x in _named(batch).items()}
        so_far = step(so_far, tensors)
    return so_far
