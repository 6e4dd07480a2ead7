# SPDX-License-Identifier: Apache-2.0
"""A small round of federated averaging in NumPy, whose bytes and calls are known."""

from collections import OrderedDict
from typing import Any

import numpy as np

import fedlearn_edu as fl

MODEL = fl.to_type(OrderedDict(w=fl.TensorType(np.float32, [4]), b=np.float32))
BATCH = fl.to_type(fl.TensorType(np.float32, [None, 4]))
MODEL_BYTES, WEIGHT_BYTES = 20, 4
# A mean asks also how many there are: each client sends a 1, which the program gave it.
ONE_BYTES = 4
UP_BYTES = MODEL_BYTES + WEIGHT_BYTES + ONE_BYTES


@fl.np_computation(MODEL, BATCH)
def step(model: Any, batch: Any) -> Any:
    return OrderedDict(w=model["w"] + batch.mean(axis=0), b=model["b"] + np.float32(1))


@fl.np_computation(fl.SequenceType(BATCH))
def count(batches: Any) -> Any:
    return np.float32(sum(len(batch) for batch in batches))


@fl.federated_computation(MODEL, fl.SequenceType(BATCH))
def local_train(model: Any, batches: Any) -> Any:
    return fl.sequence_reduce(batches, model, step)


@fl.federated_computation(
    fl.type_at_server(MODEL), fl.type_at_clients(fl.SequenceType(BATCH))
)
def train(model: Any, data: Any) -> Any:
    sent = fl.federated_broadcast(model)
    trained = fl.federated_map(local_train, [sent, data])
    return fl.federated_mean(trained, weight=fl.federated_map(count, data))


def model() -> Any:
    return OrderedDict(w=np.zeros(4, np.float32), b=np.float32(0))


def clients(num_clients: int, num_batches: int) -> Any:
    batches = [np.full([2, 4], k, np.float32) for k in range(num_batches)]
    return [batches for _ in range(num_clients)]


@fl.np_computation(np.int32)
def picky(x: Any) -> Any:
    """Does not like zero."""
    if x == 0:
        raise ZeroDivisionError("no")
    return x
