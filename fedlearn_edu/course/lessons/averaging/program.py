# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""What lesson 10 builds on lesson 09, once more: the right answers to its exercises."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course.lessons.evaluation.program import (
    BATCH_TYPE,
    CLIENT_DATA_TYPE,
    LOCAL_DATA_TYPE,
    MODEL_TYPE,
    SERVER_MODEL_TYPE,
    local_train,
)

SERVER_RATE_TYPE = fl.type_at_server(np.float32)


@cache
def federated_train() -> Any:
    """`(<MODEL@SERVER,float32@SERVER,{BATCH*}@CLIENTS> -> MODEL@SERVER)`: one round."""
    train = local_train()

    @fl.federated_computation(SERVER_MODEL_TYPE, SERVER_RATE_TYPE, CLIENT_DATA_TYPE)
    def federated_train(model: Any, learning_rate: Any, data: Any) -> Any:
        sent = [fl.federated_broadcast(model), fl.federated_broadcast(learning_rate)]
        return fl.federated_mean(fl.federated_map(train, [*sent, data]))

    return federated_train


@cache
def train_rounds() -> Callable[..., Any]:
    """The models before the first round, and after each."""
    train = federated_train()

    def train_rounds(model: Any, data: Any, learning_rate: float, rounds: int) -> Any:
        models = [model]
        for number in range(rounds):
            models.append(train(models[-1], learning_rate * 0.9**number, data))
        return models

    return train_rounds


@cache
def batch_hits() -> Any:
    """`(<MODEL,BATCH> -> float32)`: how many images are read correctly."""
    tf = fl.tf

    @fl.tf_computation(MODEL_TYPE, BATCH_TYPE)
    def batch_hits(model: Any, batch: Any) -> Any:
        scores = tf.matmul(batch["x"], model["weights"]) + model["bias"]
        guesses = tf.argmax(scores, axis=1, output_type=tf.int32)
        return tf.reduce_sum(tf.cast(guesses == batch["y"], tf.float32))

    return batch_hits


@cache
def weighted_train() -> Any:
    """As `federated_train`, with each client's number of images as its weight."""
    train = local_train()
    count = fl.np_computation(lambda batch: np.float32(len(batch["y"])), BATCH_TYPE)

    @fl.federated_computation(LOCAL_DATA_TYPE)
    def images_of(all_batches: Any) -> Any:
        return fl.sequence_sum(fl.sequence_map(count, all_batches))

    @fl.federated_computation(SERVER_MODEL_TYPE, SERVER_RATE_TYPE, CLIENT_DATA_TYPE)
    def weighted_train(model: Any, learning_rate: Any, data: Any) -> Any:
        sent = [fl.federated_broadcast(model), fl.federated_broadcast(learning_rate)]
        trained = fl.federated_map(train, [*sent, data])
        return fl.federated_mean(trained, fl.federated_map(images_of, data))

    return weighted_train
