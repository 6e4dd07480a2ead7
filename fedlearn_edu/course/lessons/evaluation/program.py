# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""What lessons 09 and 10 build, once more: the right answers to their exercises.

Nothing is made before it is asked for: lessons can be listed without TensorFlow.
"""

from collections import OrderedDict
from functools import cache
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl

MODEL: Final = "<weights=float32[784,10],bias=float32[10]>"
BATCH: Final = "<x=float32[?,784],y=int32[?]>"

MODEL_TYPE: Final = fl.to_type(
    OrderedDict(weights=(np.float32, [784, 10]), bias=(np.float32, [10]))
)
BATCH_TYPE: Final = fl.to_type(
    OrderedDict(x=(np.float32, [None, 784]), y=(np.int32, [None]))
)
LOCAL_DATA_TYPE: Final = fl.SequenceType(BATCH_TYPE)
SERVER_MODEL_TYPE: Final = fl.type_at_server(MODEL_TYPE)
CLIENT_DATA_TYPE: Final = fl.type_at_clients(LOCAL_DATA_TYPE)


@cache
def batch_loss() -> Any:
    """`(<MODEL,BATCH> -> float32)`: cross-entropy, averaged over the batch."""
    tf = fl.tf

    @fl.tf_computation(MODEL_TYPE, BATCH_TYPE)
    def batch_loss(model: Any, batch: Any) -> Any:
        scores = tf.matmul(batch["x"], model["weights"]) + model["bias"]
        belief = tf.nn.softmax(scores)
        right = tf.one_hot(batch["y"], 10)
        return -tf.reduce_mean(tf.reduce_sum(right * tf.math.log(belief), axis=1))

    return batch_loss


@cache
def batch_train() -> Any:
    """`(<MODEL,BATCH,float32> -> MODEL)`: one step of gradient descent."""
    tf, loss_of = fl.tf, batch_loss()

    @fl.tf_computation(MODEL_TYPE, BATCH_TYPE, np.float32)
    def batch_train(model: Any, batch: Any, learning_rate: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(model)
            loss = loss_of(model, batch)
        slopes = tape.gradient(loss, model)
        return OrderedDict(
            weights=model["weights"] - learning_rate * slopes["weights"],
            bias=model["bias"] - learning_rate * slopes["bias"],
        )

    return batch_train


@cache
def local_train() -> Any:
    """`(<MODEL,float32,BATCH*> -> MODEL)`: one step for each batch of a client."""
    train = batch_train()

    @fl.federated_computation(MODEL_TYPE, np.float32, LOCAL_DATA_TYPE)
    def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
        @fl.federated_computation(MODEL_TYPE, BATCH_TYPE)
        def step(model: Any, batch: Any) -> Any:
            return train(model, batch, learning_rate)

        return fl.sequence_reduce(all_batches, model, step)

    return local_train


@cache
def local_eval() -> Any:
    """`(<MODEL,BATCH*> -> float32)`: the losses of a client's batches, added up."""
    loss_of = batch_loss()

    @fl.federated_computation(MODEL_TYPE, LOCAL_DATA_TYPE)
    def local_eval(model: Any, all_batches: Any) -> Any:
        @fl.federated_computation(BATCH_TYPE)
        def loss_on(batch: Any) -> Any:
            return loss_of(model, batch)

        return fl.sequence_sum(fl.sequence_map(loss_on, all_batches))

    return local_eval


@cache
def federated_evaluation() -> Any:
    """`(<MODEL@SERVER,{BATCH*}@CLIENTS> -> float32@SERVER)`: the mean over clients."""
    evaluate = local_eval()

    @fl.federated_computation(SERVER_MODEL_TYPE, CLIENT_DATA_TYPE)
    def federated_eval(model: Any, data: Any) -> Any:
        losses = fl.federated_map(evaluate, [fl.federated_broadcast(model), data])
        return fl.federated_mean(losses)

    return federated_eval
