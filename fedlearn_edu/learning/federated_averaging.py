# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Federated averaging from two functions: one makes a model, another trains it.

The names are those of a web answer about remote execution; TFF never had them. They
are here so that its program runs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.learning.arrays import leaf_computation, tf
from fedlearn_edu.learning.averaging import compose
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.local_training import client_result, difference
from fedlearn_edu.learning.models import LinearRegression, Model
from fedlearn_edu.learning.models.linear_regression import reduce_batches
from fedlearn_edu.learning.optimizers import build_sgd, map_structure
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.rounds import Told


@short_traceback
def build_weighted_averaging_process(
    create_model: Callable[[], LinearRegression],
    training_process: Callable[[LinearRegression, Any], Any],
) -> LearningProcess:
    r"""Federated averaging of models that `training_process` trains.

    In a round every client calls `create_model`, gives it the server's weights $w$, and
    calls `training_process(model, data)` with its own data; what that returns is $w_k$.
    Then $w \leftarrow \sum_k n_k w_k / \sum_k n_k$, with $n_k$ examples.

    The result is a learning process like any other. `process(data)` makes one round and
    returns the weights after it.

    Args:
        create_model: Returns a `LinearRegression`. It is called while tracing.
        training_process: Takes that model and a `tf.data.Dataset` of the client's
            batches, and returns weights; traced, too.

    Raises:
        ProcessError: `create_model` returns something else, or the weights that
            `training_process` returns do not have the type of the model's.

    Source: the answer "How does TFF enable remote execution?", first example.
    """
    model = _pure(create_model())
    client_round = _build_client_round(model, create_model, training_process)
    name = getattr(training_process, "__name__", type(training_process).__name__)
    words = f"{name}, weighted by examples"
    return compose("federated averaging", words, model, client_round, build_sgd(1.0))


def _build_client_round(
    model: Model, create_model: Callable[[], Any], training_process: Callable[..., Any]
) -> fl.Computation:
    """`(<TOLD,BATCH*,<>> -> CLIENT_RESULT)`, as `local_training` returns it."""
    told_type = Told(model.weights_type, np.int32)

    @leaf_computation(told_type, fl.SequenceType(model.batch_type), ())
    def client_round(told: Told, data: Any, kept: Any) -> Any:
        local, weights = create_model(), told.weights
        local.weights = weights
        trained = _checked(weights, training_process(local, data))
        loss_sum, examples = reduce_batches(
            data,
            (tf.constant(0.0), tf.constant(0)),
            lambda so_far, batch: (
                so_far[0] + tf.reduce_sum(model.losses(weights, batch)),
                so_far[1] + tf.size(batch["y"]),
            ),
        )
        update = difference(trained, weights)
        return client_result(update, examples, loss_sum, examples)

    return client_round


def _pure(made: Any) -> Model:
    if not isinstance(made, LinearRegression):
        raise ProcessError(
            "create_model returns something that cannot be trained here",
            expected="fl.learning.models.LinearRegression(feature_dim)",
            found=describe(made),
            where="create_model",
            do="for other models: fl.learning.build_fed_avg(fl.learning.models...)",
        )
    return made.model


def _checked(weights: Any, trained: Any) -> Any:
    """What `training_process` returned, if it can be averaged with the weights."""
    expected, found = (map_structure(_shape, each) for each in (weights, trained))
    if found != expected:
        raise ProcessError(
            "training_process returns something that is not the model's weights",
            expected=str(expected),
            found=str(found),
            where="training_process",
            do="end it with `return model.weights`",
        )
    return trained


def _shape(tensor: Any) -> Any:
    shape = getattr(tensor, "shape", None)
    return describe(tensor) if shape is None else f"{list(shape)}"
