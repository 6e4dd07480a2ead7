# SPDX-License-Identifier: Apache-2.0
"""A model as pure, typed functions: weights are passed in, nothing is remembered.

A batch is `<x=float32[?,features],y=int32[?]>`, or `float32[?]` for `y` where a number
is predicted; a model with other examples says their types.
"""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
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
        features: numbers per example, or the type of one example:
            `(np.int32, [None])`, a sequence of any length, or a structure of types.
        classes: how many classes, counted from 0, or their labels, `(-1, 1)`; `None`
            where a number is predicted. For two, `predict` may give one score each.
        gradient: `<WEIGHTS,BATCH> -> <WEIGHTS,float32[n]>`, written out: the gradient
            of the *sum* of the losses, and the losses. TensorFlow needs none; where it
            is not installed, only a model that has one can be trained.
        targets: the type of the y of one example, if it is not `np.int32` for classes
            and `np.float32` for numbers.
        training: `<WEIGHTS,x> -> <OUTPUTS,float32>`, what takes the place of `predict`
            in training, and a penalty that is added to a batch's mean loss; `None` for
            `predict`, and no penalty.

    The functions are called in the body of a `tf_computation`, or on tensors.
    """

    name: str
    initialize: Callable[[int], Any]
    predict: Callable[[Any, Any], Any]
    loss: Callable[[Any, Any], Any]
    features: Any
    classes: int | tuple[int, ...] | None
    gradient: Callable[[Any, Any], tuple[Any, Any]] | None = None
    targets: Any = None
    training: Callable[[Any, Any], tuple[Any, Any]] | None = None

    @cached_property
    def weights_type(self) -> fl.Type:
        """The type of the weights, `<weights=float32[784,10],bias=float32[10]>`."""
        weights = leaf_computation(lambda: self.initialize(0))
        return weights.type_signature.result

    @cached_property
    def batch_type(self) -> fl.Type:
        """The type of one batch, `<x=float32[?,784],y=int32[?]>`."""
        x, y = self.features, self.targets
        x = (np.float32, [x]) if isinstance(x, Integral) else x
        y = (np.float32 if self.classes is None else np.int32) if y is None else y
        return fl.to_type(OrderedDict(x=in_batches(x), y=in_batches(y)))

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels of the classes, in order; none where a number is predicted."""
        given = self.classes or 0
        return given if isinstance(given, tuple) else tuple(range(given))

    def losses(self, weights: Any, batch: Any) -> Any:
        """`<WEIGHTS,BATCH> -> float32[n]`: the loss of each example.

        Raises:
            ProcessError: the loss is not one number per example. A mean would count as
                one example, and `[n,1]` less `[n]` are n² numbers.
        """
        return self.per_example(self.predict(weights, batch["x"]), batch["y"])

    def per_example(self, outputs: Any, y: Any) -> Any:
        """`<OUTPUTS,y> -> float32[n]`: the loss, if it is one number per example."""
        found = self.loss(outputs, y)
        tensor = tf.convert_to_tensor(found)
        if tensor.ndim not in (None, 1) or not _may_be_one_each(tensor, outputs, y):
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

        The gradient of an empty batch is zero; a penalty is part of the mean loss.
        """
        if HAS_TENSORFLOW:
            return self._gradient(weights, batch, is_mean=True)
        total, losses = self.sum_gradient(weights, batch)
        count = max(len(losses), 1)
        return tf.nest.map_structure(lambda slope: slope / count, total), losses

    def sum_gradient(self, weights: Any, batch: Any) -> tuple[Any, Any]:
        """The gradient of the sum of a batch's losses, and each of them.

        A penalty is added once for each example.
        """
        if HAS_TENSORFLOW:
            return self._gradient(weights, batch, is_mean=False)
        assert self.gradient is not None
        return self.gradient(weights, batch)

    def _gradient(self, weights: Any, batch: Any, *, is_mean: bool) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            if self.training is None:
                losses = self.losses(weights, batch)
                number = tf.reduce_sum(losses)
            else:
                outputs, penalty = self.training(weights, batch["x"])
                losses = self.per_example(outputs, batch["y"])
                size = tf.cast(tf.size(losses), losses.dtype)
                number = tf.reduce_sum(losses) + size * penalty
            if is_mean:
                number /= tf.cast(tf.maximum(tf.size(losses), 1), losses.dtype)
        zero = tf.UnconnectedGradients.ZERO  # for weights that are not used
        slopes = tape.gradient(number, weights, unconnected_gradients=zero)
        return tf.nest.map_structure(_dense, slopes, weights), losses

    def __repr__(self) -> str:
        return f"Model({self.name!r})"


def _may_be_one_each(losses: Any, outputs: Any, y: Any) -> bool:
    """Whether these can be one for each example, or for each place of sequences.

    A size that is known, where that of the batch is not, is none of the batch.
    """
    of_y, of_outputs = (
        [
            tuple(array.shape)
            for array in tf.nest.flatten(of)
            if getattr(array, "ndim", 0)
        ]
        for of in (y, outputs)
    )
    if not of_y or not losses.ndim:
        return True
    known = {None, *(shape[0] for shape in of_y + of_outputs)}
    places = of_y + [shape[:-1] for shape in of_outputs if len(shape) > 2]
    known.update(math.prod(shape) for shape in places if None not in shape)
    return losses.shape[0] in known


def _dense(slope: Any, weight: Any) -> Any:
    """The gradient of one tensor in its shape; of looked up rows it is sparse."""
    tensor = tf.convert_to_tensor(slope)
    tensor.set_shape(weight.shape)
    return tensor


def in_batches(example: Any) -> fl.Type:
    """The type of any number of examples of this type: `int32[3]` to `int32[?,3]`."""
    type_: Any = fl.to_type(example)
    if isinstance(type_, fl.TensorType):
        sizes: Any = type_.shape
        return fl.TensorType(type_.dtype, [None, *sizes])
    if not isinstance(type_, fl.StructType):
        raise ProcessError(
            "an example is made of tensors",
            expected="a type such as (np.float32, [784]), or a structure of types",
            found=str(type_),
        )
    fields = [(name, in_batches(inner)) for name, inner in type_.items()]
    container = type_.python_container or (OrderedDict if all(type_.names()) else tuple)
    return fl.StructType(fields, container)
