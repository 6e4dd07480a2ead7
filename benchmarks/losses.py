# SPDX-License-Identifier: Apache-2.0
"""The loss of a model on a batch, in TensorFlow, and one step of gradient descent.

Every TensorFlow row uses these, ours and those by hand, so that what differs is what
happens around them.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fedlearn_edu import tf


def _softmax(parameters: Sequence[Any], x: Any, y: Any) -> Any:
    weights, bias = parameters
    belief = tf.nn.softmax(x @ weights + bias)
    right = tf.one_hot(y, 10) * tf.math.log(belief)
    return -tf.reduce_mean(tf.reduce_sum(right, axis=1))


def _cnn(parameters: Sequence[Any], x: Any, y: Any) -> Any:
    kernel_1, bias_1, kernel_2, bias_2, weights_3, bias_3, weights_4, bias_4 = (
        parameters
    )
    seen = tf.reshape(x, [-1, 28, 28, 1])
    for kernel, bias in ((kernel_1, bias_1), (kernel_2, bias_2)):
        seen = tf.nn.relu(tf.nn.conv2d(seen, kernel, 1, "SAME") + bias)
        seen = tf.nn.max_pool2d(seen, 2, 2, "SAME")
    hidden = tf.nn.relu(tf.reshape(seen, [-1, 7 * 7 * 64]) @ weights_3 + bias_3)
    scores = hidden @ weights_4 + bias_4
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores)
    return tf.reduce_mean(losses)


LOSSES: dict[str, Callable[[Sequence[Any], Any, Any], Any]] = {
    "softmax": _softmax,
    "cnn": _cnn,
}
"""`(parameters, x, y)` to the loss of a batch: the mean over its examples, in nats."""


def descend(loss: Any, parameters: Sequence[Any], x: Any, y: Any, rate: Any) -> Any:
    """One step of plain gradient descent on one batch, in TensorFlow."""
    with tf.GradientTape() as tape:
        tape.watch(parameters)
        value = loss(parameters, x, y)
    gradients = tape.gradient(value, parameters)
    return tuple(p - rate * s for p, s in zip(parameters, gradients, strict=True))
