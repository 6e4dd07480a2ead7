# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""What a learner has built by the end of lesson 09a; lessons 09b and 10 begin here.

The model is a softmax regression: a digit's score for an image is the sum of pixels
times weights, plus a bias. In a browser, without TensorFlow, the gradient is worked out
by hand.
"""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.capabilities import has_tensorflow

PIXELS, DIGITS = 784, 10

BATCH_TYPE = fl.to_type(
    OrderedDict(x=(np.float32, [None, PIXELS]), y=(np.int32, [None]))
)
LOCAL_DATA_TYPE = fl.SequenceType(BATCH_TYPE)
MODEL_TYPE = fl.to_type(
    OrderedDict(weights=(np.float32, [PIXELS, DIGITS]), bias=(np.float32, [DIGITS]))
)

zero_model = OrderedDict(
    weights=np.zeros([PIXELS, DIGITS], np.float32), bias=np.zeros([DIGITS], np.float32)
)


def scores_of(model: Any, batch: Any) -> Any:
    """`[images,10]`, in NumPy: a score for each digit."""
    return batch["x"] @ model["weights"] + model["bias"]


def probabilities_of(model: Any, batch: Any) -> Any:
    """`[images,10]`, in NumPy: the softmax of the scores."""
    scores = scores_of(model, batch)
    powers = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return powers / np.sum(powers, axis=1, keepdims=True)


if has_tensorflow():
    tf = fl.tf

    @fl.tf_computation(MODEL_TYPE, BATCH_TYPE)
    def batch_loss(model: Any, batch: Any) -> Any:
        """Cross-entropy, averaged over the images of a batch."""
        scores = tf.matmul(batch["x"], model["weights"]) + model["bias"]
        picked = tf.one_hot(batch["y"], DIGITS) * tf.math.log(tf.nn.softmax(scores))
        return -tf.reduce_mean(tf.reduce_sum(picked, axis=1))

    @fl.tf_computation(MODEL_TYPE, BATCH_TYPE, np.float32)
    def batch_train(model: Any, batch: Any, learning_rate: Any) -> Any:
        """One step of gradient descent."""
        with tf.GradientTape() as tape:
            tape.watch(model)
            loss = batch_loss(model, batch)
        gradient = tape.gradient(loss, model)
        return OrderedDict((n, model[n] - learning_rate * gradient[n]) for n in model)

else:

    @fl.np_computation(MODEL_TYPE, BATCH_TYPE)
    def batch_loss(model: Any, batch: Any) -> Any:
        """Cross-entropy, averaged over the images of a batch."""
        right = np.eye(DIGITS, dtype=np.float32)[batch["y"]]
        picked = right * np.log(probabilities_of(model, batch))
        return -np.mean(np.sum(picked, axis=1))

    @fl.np_computation(MODEL_TYPE, BATCH_TYPE, np.float32)
    def batch_train(model: Any, batch: Any, learning_rate: Any) -> Any:
        """One step of gradient descent."""
        right = np.eye(DIGITS, dtype=np.float32)[batch["y"]]
        errors = (probabilities_of(model, batch) - right) / np.float32(len(right))
        gradient = {"weights": batch["x"].T @ errors, "bias": np.sum(errors, axis=0)}
        return OrderedDict((n, model[n] - learning_rate * gradient[n]) for n in model)


@fl.federated_computation(MODEL_TYPE, np.float32, LOCAL_DATA_TYPE)
def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
    """One step for each batch of a client, each from where the last one ended."""

    @fl.federated_computation(MODEL_TYPE, BATCH_TYPE)
    def step(model: Any, batch: Any) -> Any:
        return batch_train(model, batch, learning_rate)

    return fl.sequence_reduce(all_batches, model, step)


@fl.np_computation(np.float32, BATCH_TYPE)
def add_images(so_far: Any, batch: Any) -> Any:
    """The number of images so far, with those of one more batch."""
    return so_far + np.float32(len(batch["y"]))


@fl.federated_computation(LOCAL_DATA_TYPE)
def images_of(all_batches: Any) -> Any:
    """How many images a client has; a float, as it will be the weight in a mean."""
    return fl.sequence_reduce(all_batches, 0.0, add_images)


@fl.np_computation(MODEL_TYPE, LOCAL_DATA_TYPE)
def share_read(model: Any, all_batches: Any) -> Any:
    """The share of a client's images with the highest score at the right digit."""
    hits = [scores_of(model, b).argmax(axis=1) == b["y"] for b in all_batches]
    return np.mean(np.concatenate(hits), dtype=np.float32)
