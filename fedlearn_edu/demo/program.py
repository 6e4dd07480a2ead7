# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The federated program: softmax regression, federated evaluation and averaging.

It is written as a learner would write it, with nothing but the public face, and
follows the tutorial "Custom Federated Algorithms, Part 2" of TensorFlow Federated in
the form its prose tells: functions of one element *capture* the model and the learning
rate. Nothing runs here: tracing makes typed, placed programs, which `story` calls.
"""

from collections import OrderedDict
from typing import Any

import tensorflow as tf

import fedlearn_edu as fl

BATCH_TYPE = fl.to_type(
    OrderedDict(
        x=tf.TensorSpec(shape=[None, 784], dtype=tf.float32),
        y=tf.TensorSpec(shape=[None], dtype=tf.int32),
    )
)
MODEL_TYPE = fl.to_type(
    OrderedDict(
        weights=tf.TensorSpec(shape=[784, 10], dtype=tf.float32),
        bias=tf.TensorSpec(shape=[10], dtype=tf.float32),
    )
)
LOCAL_DATA_TYPE = fl.SequenceType(BATCH_TYPE)
CLIENT_DATA_TYPE = fl.type_at_clients(LOCAL_DATA_TYPE)
SERVER_MODEL_TYPE = fl.type_at_server(MODEL_TYPE)
SERVER_FLOAT_TYPE = fl.type_at_server(tf.float32)


def predict(model: Any, x: Any) -> Any:
    """The share of belief in each digit: `float32[?,784]` to `float32[?,10]`."""
    return tf.nn.softmax(tf.matmul(x, model["weights"]) + model["bias"])


def cross_entropy(model: Any, batch: Any) -> Any:
    """The loss of a batch: mean over its examples, in nats."""
    belief = tf.math.log(predict(model, batch["x"]))
    return -tf.reduce_mean(tf.reduce_sum(tf.one_hot(batch["y"], 10) * belief, axis=1))


# ---------------------------------------------------------------- one batch


@fl.tf_computation(MODEL_TYPE, BATCH_TYPE)
def batch_loss(model: Any, batch: Any) -> Any:
    """`(<MODEL,BATCH> -> float32)`: mean over the examples, in nats."""
    return cross_entropy(model, batch)


@fl.tf_computation(MODEL_TYPE, BATCH_TYPE)
def batch_metrics(model: Any, batch: Any) -> Any:
    """`(<MODEL,BATCH> -> <loss=float32,correct=int32,examples=int32>)`."""
    digits = tf.argmax(predict(model, batch["x"]), axis=1, output_type=tf.int32)
    return OrderedDict(
        loss=cross_entropy(model, batch),
        correct=tf.reduce_sum(tf.cast(digits == batch["y"], tf.int32)),
        examples=tf.size(batch["y"]),
    )


@fl.tf_computation(MODEL_TYPE, BATCH_TYPE, tf.float32)
def batch_train(model: Any, batch: Any, learning_rate: Any) -> Any:
    """`(<MODEL,BATCH,float32> -> MODEL)`: one step of plain gradient descent."""
    with tf.GradientTape() as tape:
        tape.watch(model)
        loss = cross_entropy(model, batch)
    slopes = tape.gradient(loss, model)
    return OrderedDict(
        (name, value - learning_rate * slopes[name]) for name, value in model.items()
    )


# ---------------------------------------------------------------- one client


@fl.federated_computation(MODEL_TYPE, tf.float32, LOCAL_DATA_TYPE)
def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
    """`(<MODEL,float32,BATCH*> -> MODEL)`: one step per batch, in their order."""

    @fl.federated_computation(MODEL_TYPE, BATCH_TYPE)
    def step(model: Any, batch: Any) -> Any:
        return batch_train(model, batch, learning_rate)

    return fl.sequence_reduce(all_batches, model, step)


@fl.federated_computation(MODEL_TYPE, LOCAL_DATA_TYPE)
def local_eval(model: Any, all_batches: Any) -> Any:
    """`(<MODEL,BATCH*> -> METRICS)`: the metrics of all batches, added up."""

    @fl.federated_computation(BATCH_TYPE)
    def evaluate(batch: Any) -> Any:
        return batch_metrics(model, batch)

    return fl.sequence_sum(fl.sequence_map(evaluate, all_batches))


# ---------------------------------------------------------------- everybody


@fl.federated_computation(SERVER_MODEL_TYPE, CLIENT_DATA_TYPE)
def federated_eval(model: Any, data: Any) -> Any:
    """Evaluates the server's model on every client's data.

    The loss is a mean over clients; correct and examples are sums, because an accuracy
    is a share of examples, not of clients. `clients` lets a simulation look at what no
    real server would see: every client's own numbers.
    """
    metrics = fl.federated_map(local_eval, [fl.federated_broadcast(model), data])
    return OrderedDict(
        loss=fl.federated_mean(metrics.loss),
        correct=fl.federated_sum(metrics.correct),
        examples=fl.federated_sum(metrics.examples),
        clients=metrics,
    )


@fl.federated_computation(SERVER_MODEL_TYPE, SERVER_FLOAT_TYPE, CLIENT_DATA_TYPE)
def federated_train(model: Any, learning_rate: Any, data: Any) -> Any:
    """One round of federated averaging: train at the clients, average at the server.

    Source: B. McMahan et al., "Communication-Efficient Learning of Deep Networks from
    Decentralized Data", AISTATS 2017; here every client has the same weight.
    """
    return fl.federated_mean(
        fl.federated_map(
            local_train,
            [
                fl.federated_broadcast(model),
                fl.federated_broadcast(learning_rate),
                data,
            ],
        )
    )
