# SPDX-License-Identifier: Apache-2.0
"""A model as pure, typed functions: weights are passed in, nothing is remembered.

A batch is `<x=float32[?,features],y=int32[?]>`, or `float32[?]` for `y` where a number
is predicted.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.former_names import answers
from fedlearn_edu.learning.arrays import HAS_TENSORFLOW, leaf_computation, tf
from fedlearn_edu.learning.errors import ProcessError


@final
@answers("model")
@dataclass(frozen=True, eq=False)
class Model:
    """What learning has to know about a model.

    Attributes:
        name: what it is, `"softmax regression 784-10"`.
        initialize: `int -> WEIGHTS`, the weights under a seed, made of tensors.
        predict: `<WEIGHTS,float32[n,features]> -> OUTPUTS`: for each class a score
            before the softmax, `float32[n,classes]`, or one number, `float32[n]`.
        loss: `<OUTPUTS,y> -> float32[n]`, one number per example.
        features: numbers per example.
        classes: how many classes, or `None` where a number is predicted.
        gradient: `<WEIGHTS,BATCH> -> <WEIGHTS,float32[n]>`, written out: the gradient
            of the *sum* of the losses, and the losses. TensorFlow needs none; where it
            is not installed, only a model that has one can be trained.

    The functions are called in the body of a `tf_computation`, or on tensors.
    """

    name: str
    initialize: Callable[[int], Any]
    predict: Callable[[Any, Any], Any]
    loss: Callable[[Any, Any], Any]
    features: int
    classes: int | None
    gradient: Callable[[Any, Any], tuple[Any, Any]] | None = None

    @cached_property
    def weights_type(self) -> fl.Type:
        """The type of the weights, `<weights=float32[784,10],bias=float32[10]>`."""
        weights = leaf_computation(lambda: self.initialize(0))
        return weights.type_signature.result

    @cached_property
    def batch_type(self) -> fl.Type:
        """The type of one batch, `<x=float32[?,784],y=int32[?]>`."""
        label = np.float32 if self.classes is None else np.int32
        x, y = (np.float32, [None, self.features]), (label, [None])
        return fl.to_type(OrderedDict(x=x, y=y))

    def losses(self, weights: Any, batch: Any) -> Any:
        """`<WEIGHTS,BATCH> -> float32[n]`: the loss of each example.

        Raises:
            ProcessError: the loss is not one number per example. A mean would count as
                one example, and `[n,1]` less `[n]` are n² numbers.
        """
        found = self.loss(self.predict(weights, batch["x"]), batch["y"])
        tensor = tf.convert_to_tensor(found)
        if tensor.ndim not in (None, 1):
            raise ProcessError(
                "a loss is one number for each example, and no mean",
                expected="float32[n]",
                found=f"a shape of {list(tensor.shape)}",
                where=f"the loss of {self.name}",
                do="leave out reduce_mean; [n,1] becomes [n] by tf.squeeze(…, axis=1)",
            )
        return found

    def mean_gradient(self, weights: Any, batch: Any) -> tuple[Any, Any]:
        """The gradient of a batch's mean loss, and the loss of each of its examples.

        The gradient of an empty batch is zero.
        """

        def mean(losses: Any) -> Any:
            count = tf.cast(tf.maximum(tf.size(losses), 1), losses.dtype)
            return tf.reduce_sum(losses) / count

        if HAS_TENSORFLOW:
            return self._gradient(mean, weights, batch)
        total, losses = self.sum_gradient(weights, batch)
        count = max(len(losses), 1)
        return tf.nest.map_structure(lambda slope: slope / count, total), losses

    def sum_gradient(self, weights: Any, batch: Any) -> tuple[Any, Any]:
        """The gradient of the sum of a batch's losses, and each of them."""
        if HAS_TENSORFLOW:
            return self._gradient(tf.reduce_sum, weights, batch)
        assert self.gradient is not None
        return self.gradient(weights, batch)

    def _gradient(
        self, summary: Callable[[Any], Any], weights: Any, batch: Any
    ) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            losses = self.losses(weights, batch)
            number = summary(losses)
        return tape.gradient(number, weights), losses

    def __repr__(self) -> str:
        return f"Model({self.name!r})"
