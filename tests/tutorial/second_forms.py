# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Other ways to write the local half of the second tutorial's program.

Each takes the names of the published program and returns its four computations anew.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import fedlearn_edu as tff
from fedlearn_edu import tf


@dataclass(frozen=True)
class Form:
    """The four computations that a form of the program consists of."""

    local_train: Any
    local_eval: Any
    federated_train: Any
    federated_eval: Any


def as_published(program: SimpleNamespace) -> Form:
    """Rate and model are inserted into every element of the dataset."""
    return Form(
        program.local_train,
        program.local_eval,
        program.federated_train,
        program.federated_eval,
    )


def as_its_prose_tells(program: SimpleNamespace) -> Form:
    """The element function captures rate and model; evaluation is a `sequence_sum`."""

    @tff.federated_computation(program.MODEL_TYPE, tf.float32, program.LOCAL_DATA_TYPE)
    def local_train(initial_model: Any, learning_rate: Any, all_batches: Any) -> Any:
        @tff.federated_computation(program.MODEL_TYPE, program.BATCH_TYPE)
        def batch_fn(model: Any, batch: Any) -> Any:
            return program.batch_train(model, batch, learning_rate)

        return tff.sequence_reduce(all_batches, initial_model, batch_fn)

    @tff.federated_computation(program.MODEL_TYPE, program.LOCAL_DATA_TYPE)
    def local_eval(model: Any, all_batches: Any) -> Any:
        return tff.sequence_sum(
            tff.sequence_map(
                tff.federated_computation(
                    lambda batch: program.batch_loss(model, batch), program.BATCH_TYPE
                ),
                all_batches,
            )
        )

    return federated(program, local_train, local_eval)


def in_tensorflow(program: SimpleNamespace) -> Form:
    """`tf.data.Dataset.reduce` does it all, in one leaf per client."""

    @tff.tf_computation(program.MODEL_TYPE, tf.float32, program.LOCAL_DATA_TYPE)
    def local_train(initial_model: Any, learning_rate: Any, all_batches: Any) -> Any:
        def step(model: Any, batch: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(model)
                loss = program.forward_pass(model, batch)
            slopes = tape.gradient(loss, model)
            pairs = model.items()
            return OrderedDict((n, v - learning_rate * slopes[n]) for n, v in pairs)

        return all_batches.reduce(initial_model, step)

    @tff.tf_computation(program.MODEL_TYPE, program.LOCAL_DATA_TYPE)
    def local_eval(model: Any, all_batches: Any) -> Any:
        return all_batches.reduce(
            0.0, lambda total, batch: total + program.forward_pass(model, batch)
        )

    return federated(program, local_train, local_eval)


def in_tensorflow_calling_computations(program: SimpleNamespace) -> Form:
    """The same, with the published `batch_train` and `batch_loss` called inside."""

    @tff.tf_computation(program.MODEL_TYPE, tf.float32, program.LOCAL_DATA_TYPE)
    def local_train(initial_model: Any, learning_rate: Any, all_batches: Any) -> Any:
        return all_batches.reduce(
            initial_model,
            lambda model, batch: program.batch_train(model, batch, learning_rate),
        )

    @tff.tf_computation(program.MODEL_TYPE, program.LOCAL_DATA_TYPE)
    def local_eval(model: Any, all_batches: Any) -> Any:
        return all_batches.reduce(
            0.0, lambda total, batch: total + program.batch_loss(model, batch)
        )

    return federated(program, local_train, local_eval)


def federated(program: SimpleNamespace, local_train: Any, local_eval: Any) -> Form:
    """The federated half, as in the tutorial, over these local computations."""

    @tff.federated_computation(
        program.SERVER_MODEL_TYPE, program.SERVER_FLOAT_TYPE, program.CLIENT_DATA_TYPE
    )
    def federated_train(model: Any, learning_rate: Any, data: Any) -> Any:
        arguments = [
            tff.federated_broadcast(model),
            tff.federated_broadcast(learning_rate),
            data,
        ]
        return tff.federated_mean(tff.federated_map(local_train, arguments))

    @tff.federated_computation(program.SERVER_MODEL_TYPE, program.CLIENT_DATA_TYPE)
    def federated_eval(model: Any, data: Any) -> Any:
        arguments = [tff.federated_broadcast(model), data]
        return tff.federated_mean(tff.federated_map(local_eval, arguments))

    return Form(local_train, local_eval, federated_train, federated_eval)


FORMS: dict[str, Callable[[SimpleNamespace], Form]] = {
    form.__name__: form
    for form in (
        as_published,
        as_its_prose_tells,
        in_tensorflow,
        in_tensorflow_calling_computations,
    )
}
