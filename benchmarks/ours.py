# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The tutorial's round in our language, in the three forms `tutorial_round` measures.

They differ only in what a client does; the federated half is the same. Batches,
metrics and types are those of the demo.
"""

from collections import OrderedDict
from typing import Any

import fedlearn_edu as fl
from benchmarks.by_hand import Arrays, Loop
from fedlearn_edu import tf
from fedlearn_edu.demo import program
from fedlearn_edu.demo.setting import FederatedData

_MODEL, _BATCH, BATCHES = (
    program.MODEL_TYPE,
    program.BATCH_TYPE,
    program.LOCAL_DATA_TYPE,
)


def as_published(data: FederatedData) -> Loop:
    """Rate and model are inserted into every element, as the tutorial had to."""

    @fl.federated_computation(_MODEL, tf.float32, BATCHES)
    def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
        insert = fl.tf_computation(
            lambda batches, rate: batches.map(lambda batch: (batch, rate)),
            BATCHES,
            tf.float32,
        )
        pairs = insert(all_batches, learning_rate)

        @fl.federated_computation(_MODEL, pairs.type_signature.element)
        def step(model: Any, batch_and_rate: Any) -> Any:
            batch, rate = batch_and_rate
            return program.batch_train(model, batch, rate)

        return fl.sequence_reduce(pairs, model, step)

    @fl.federated_computation(_MODEL, BATCHES)
    def local_eval(model: Any, all_batches: Any) -> Any:
        insert = fl.tf_computation(
            lambda model, batches: batches.map(lambda batch: (model, batch)),
            _MODEL,
            BATCHES,
        )
        add = fl.tf_computation(lambda a, b: a + b, tf.float32, tf.float32)
        losses = fl.sequence_map(program.batch_loss, insert(model, all_batches))
        return fl.sequence_reduce(losses, 0.0, add)

    return _federated(data, local_train, local_eval)


def as_its_prose_tells(data: FederatedData) -> Loop:
    """The element function captures; evaluation is a `sequence_sum`."""

    @fl.federated_computation(_MODEL, BATCHES)
    def local_eval(model: Any, all_batches: Any) -> Any:
        loss_on = fl.federated_computation(
            lambda batch: program.batch_loss(model, batch), _BATCH
        )
        return fl.sequence_sum(fl.sequence_map(loss_on, all_batches))

    return _federated(data, program.local_train, local_eval)


def in_one_leaf(data: FederatedData) -> Loop:
    """TensorFlow walks along the sequence: one leaf per client, nothing between."""

    @fl.tf_computation(_MODEL, tf.float32, BATCHES)
    def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
        return all_batches.reduce(
            model, lambda model, batch: program.batch_train(model, batch, learning_rate)
        )

    @fl.tf_computation(_MODEL, BATCHES)
    def local_eval(model: Any, all_batches: Any) -> Any:
        return all_batches.reduce(
            0.0, lambda total, batch: total + program.batch_loss(model, batch)
        )

    return _federated(data, local_train, local_eval)


def _federated(data: FederatedData, local_train: Any, local_eval: Any) -> Loop:
    """The federated half, called as a learner calls it: NumPy in, NumPy out."""

    @fl.federated_computation(
        program.SERVER_MODEL_TYPE, program.SERVER_FLOAT_TYPE, program.CLIENT_DATA_TYPE
    )
    def federated_train(model: Any, learning_rate: Any, data: Any) -> Any:
        sent = [fl.federated_broadcast(model), fl.federated_broadcast(learning_rate)]
        return fl.federated_mean(fl.federated_map(local_train, [*sent, data]))

    @fl.federated_computation(program.SERVER_MODEL_TYPE, program.CLIENT_DATA_TYPE)
    def federated_eval(model: Any, data: Any) -> Any:
        sent = fl.federated_broadcast(model)
        return fl.federated_mean(fl.federated_map(local_eval, [sent, data]))

    def train(model: Arrays, rate: float) -> Arrays:
        result = federated_train(_named(model), rate, data.train)
        return result["weights"], result["bias"]

    def evaluate(model: Arrays) -> float:
        return float(federated_eval(_named(model), data.train))

    return train, evaluate


def _named(model: Arrays) -> OrderedDict[str, Any]:
    weights, bias = model
    return OrderedDict(weights=weights, bias=bias)
