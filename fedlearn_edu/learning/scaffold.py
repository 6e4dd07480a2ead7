# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""SCAFFOLD: clients keep control variates, which correct their drift."""

from collections import OrderedDict
from dataclasses import replace
from typing import Any

import fedlearn_edu as fl
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.aggregators.base import (
    Aggregator,
    AggregatorFactory,
    AggregatorOutput,
    aggregation,
    at_each,
    at_server,
    nothing,
    zero,
)
from fedlearn_edu.learning.arrays import local_step, tf
from fedlearn_edu.learning.averaging import build_averaging_process
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.local_training import LocalTrainingConfig, Memory, difference
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Rate, build_sgd, map_structure, zeros_like
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.schedules import at_round
from fedlearn_edu.rules import number


@short_traceback
def build_scaffold(
    model: Model,
    num_clients: int,
    client_learning_rate: Rate = 0.1,
    server_learning_rate: Rate = 1.0,
    *,
    local_epochs: int = 1,
    seed: int = 0,
    aggregator: None = None,
) -> LearningProcess:
    r"""Stochastic controlled averaging, SCAFFOLD.

    Client k keeps a control variate $c_k$, the server keeps $c$; all begin at zero and
    have the shape of the weights. In a round, client k takes K steps from $w$,

    $$w_k \leftarrow w_k - \eta\,(\nabla f(w_k; b) + c - c_k)$$

    and then sets (option II of the paper) $c_k^+ = c_k - c + (w - w_k) / (K \eta)$, the
    mean gradient it met, corrected. With S clients in the round and N in all,

    $$w \leftarrow w + \frac{\eta_s}{S} \sum_k (w_k - w), \qquad
      c \leftarrow c + \frac{1}{N} \sum_k (c_k^+ - c_k)$$

    All clients count alike, as in the paper. While the variates are zero it is
    `build_fed_avg(..., weighting="uniform")`.

    `next` is `(<STATE@SERVER,{BATCH*}@CLIENTS,{WEIGHTS}@CLIENTS> ->
    <STATE@SERVER,METRICS@SERVER,{WEIGHTS}@CLIENTS>)`: what clients keep is handed in,
    and handed back for the next time that they take part. A real client would keep it
    to itself, and send only $c_k^+ - c_k$; so do the clients of a cluster in `run`.

    Args:
        model: What is trained.
        num_clients: N, all clients there are, whether they take part or not.
        client_learning_rate: η, a number, or a function of the rounds finished.
        server_learning_rate: η_s.
        local_epochs: Passes over a client's batches in one round.
        seed: Of the initial weights.
        aggregator: None: an aggregator would clip or hide the updates, and the changes
            of the variates, which tell the same, would reach the server as they are.

    Raises:
        ProcessError: `num_clients` is no whole number of at least 1.
        ProcessError: if there is an aggregator.

    Source: S. P. Karimireddy et al., "SCAFFOLD: Stochastic Controlled Averaging for
    Federated Learning", ICML 2020, Algorithm 1.
    """
    number(
        num_clients,
        "num_clients >= 1, a whole number",
        ProcessError,
        summary="SCAFFOLD has to know how many clients there are",
        expected="num_clients >= 1, those that wait included",
        do="len(data)",
    )
    _check_no_aggregator(aggregator)
    local = LocalTrainingConfig(
        build_sgd(client_learning_rate),
        local_epochs,
        "uniform",
        against_drift,
        memory=variates(client_learning_rate),
    )
    server, mean = build_sgd(server_learning_rate), mean_variate(num_clients)
    made = build_averaging_process("SCAFFOLD", model, local, server, seed, mean)
    return replace(made, num_clients=int(num_clients))


def _check_no_aggregator(aggregator: object) -> None:
    if aggregator is not None:
        raise ProcessError(
            "SCAFFOLD takes no aggregator: its clients send control variates, too",
            expected="no aggregator, as it would see the updates only",
            found=repr(aggregator),
            where="aggregator",
            do="build_fed_avg, build_fed_prox or one of build_fed_opt take one",
        )


def against_drift(gradients: Any, weights: Any, anchor: Any) -> Any:
    """Adds `c - c_k`, which is the anchor here, to every gradient of a client."""
    return map_structure(lambda g, a: g + a, gradients, anchor)


def variates(learning_rate: Rate) -> Memory:
    """$c_k$ at the clients, which are told c, and send $c_k^+ - c_k$, too."""

    def finish(update: Any, trained: Any, told: Any, own: Any) -> Any:
        rate = at_round(learning_rate, told.round_number)
        way = rate * tf.cast(trained.steps, tf.float32)
        # A client without a step has no gradient, and keeps its variate.
        new = map_structure(
            lambda u, c, c_k: tf.where(way == 0, c_k, c_k - c - u / way),
            update,
            told.common,
            own,
        )
        return OrderedDict(model=update, variate=difference(new, own)), new

    return Memory(
        begin=zeros_like,
        anchor=lambda weights, common, own: local_step(difference)(common, own),
        finish=finish,
    )


def mean_variate(num_clients: int) -> AggregatorFactory:
    """The mean of the updates; the state is c, the mean of the variates of all."""

    def move(common: Any, change: Any) -> Any:
        # A sum of no changes is 0.
        return map_structure(lambda c, d: c + d / num_clients, common, change)

    def build(sent: Any) -> Aggregator:
        initialize = at_server(zero(sent["variate"]))

        @aggregation(initialize, sent)
        def next_variate(common: Any, sent: Any, weights: Any) -> Any:
            moved = at_each(move, common, fl.federated_sum(sent.variate))
            update = fl.federated_mean(sent.model, weights)
            return AggregatorOutput(moved, update, nothing())

        return Aggregator(name, initialize, next_variate)

    name = f"mean_variate(num_clients={num_clients})"
    return AggregatorFactory(name, build)
