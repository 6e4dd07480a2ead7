# SPDX-License-Identifier: Apache-2.0
"""FedAvg of a linear model whose clients train with `jax.grad`.

B. McMahan et al., "Communication-Efficient Learning of Deep Networks from Decentralized
Data", AISTATS 2017. Run it: `python -m examples.jax_runtime.fed_avg`.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import fedlearn_edu as fl
from examples.jax_runtime.runtime import jax_computation
from examples.softmax import make_clients


def losses(weights: Any, batch: Any) -> Any:
    """`float32[n]`: cross-entropy in nats for labels, squared error for numbers."""
    outputs = batch.x @ weights.weights + weights.bias
    if outputs.ndim == 1:
        return (outputs - batch.y) ** 2
    right = jnp.take_along_axis(outputs, batch.y[:, None], axis=1)[:, 0]
    return jax.nn.logsumexp(outputs, axis=1) - right


def build_fed_avg(
    model: fl.learning.models.Model, client_learning_rate: float
) -> fl.Computation:
    """`(<WEIGHTS@SERVER,{BATCH*}@CLIENTS> -> WEIGHTS@SERVER)`, one round.

    Args:
        model: `linear_regression` or `softmax_regression` of the library; its types and
            first weights are used, its functions are not.
        client_learning_rate: of the clients' gradient descent, one step per batch.
    """
    weights_type, batch_type = model.weights_type, model.batch_type
    batches_type = fl.SequenceType(batch_type)

    @jax_computation(weights_type, batch_type)
    def step(weights: Any, batch: Any) -> Any:
        count = max(len(batch.y), 1)
        slopes = jax.grad(lambda w: losses(w, batch).sum() / count)(weights)
        return jax.tree.map(lambda w, g: w - client_learning_rate * g, weights, slopes)

    @jax_computation(batch_type)
    def size(batch: Any) -> Any:
        return float(len(batch.y))

    @fl.federated_computation(weights_type, batches_type)
    def train(weights: Any, batches: Any) -> Any:
        examples = fl.sequence_sum(fl.sequence_map(size, batches))
        return fl.sequence_reduce(batches, weights, step), examples

    @fl.federated_computation(
        fl.type_at_server(weights_type), fl.type_at_clients(batches_type)
    )
    def fed_avg(weights: Any, data: Any) -> Any:
        trained = fl.federated_map(train, (fl.federated_broadcast(weights), data))
        return fl.federated_mean(trained[0], trained[1])

    return fed_avg


if __name__ == "__main__":
    model = fl.learning.models.softmax_regression(features=3, classes=3)
    clients = [[{"x": x, "y": y} for x, y in client] for client in make_clients()]
    next_round = build_fed_avg(model, 0.1)
    weights = model.initialize(0)
    for number in range(1, 6):
        weights = next_round(weights, clients)
        shown = fl.Struct(weights.items())
        everybody = [losses(shown, fl.Struct(b.items())) for c in clients for b in c]
        print(
            f"round {number}  loss per example {np.concatenate(everybody).mean():.4f}"
        )
