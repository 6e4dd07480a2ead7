# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""SCAFFOLD: clients keep control variates, which correct their drift."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import counted, short_traceback
from fedlearn_edu.former_names import answers
from fedlearn_edu.learning.aggregators.base import at_server
from fedlearn_edu.learning.arrays import inside, leaf_computation, local_computation, tf
from fedlearn_edu.learning.averaging import after_step, build_report
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.local_training import (
    LocalTrainingConfig,
    build_local_training,
    build_pack,
    difference,
)
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import (
    Optimizer,
    Rate,
    build_sgd,
    map_structure,
    zeros_like,
)
from fedlearn_edu.learning.process import (
    LearningProcess,
    OutputWithClients,
    check_model,
    check_whole_number,
)
from fedlearn_edu.learning.schedules import at_round


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
    check_whole_number("num_clients", num_clients)
    _check_no_aggregator(aggregator)
    check_model(model)
    check_whole_number("seed", seed)
    local = LocalTrainingConfig(
        build_sgd(client_learning_rate), local_epochs, "uniform", against_drift
    )
    optimizer, of = build_sgd(server_learning_rate), counted(num_clients, "client")
    client_round = _build_client_round(model, local, client_learning_rate)
    return LearningProcess(
        name="SCAFFOLD",
        settings=f"{local}, server {optimizer}, {of}, seed {seed}",
        model=model,
        initialize=at_server(_build_begin(model, optimizer, seed)),
        next=_build_next(model, optimizer, client_round, num_clients),
        initialize_client=_build_zero_variate(model),
        num_clients=int(num_clients),
    )


def _check_no_aggregator(aggregator: object) -> None:
    if aggregator is not None:
        raise ProcessError(
            "SCAFFOLD takes no aggregator: its clients send control variates, too",
            expected="no aggregator, as it would see the updates only",
            found=repr(aggregator),
            where="aggregator",
            do="build_fed_avg, build_fed_prox or one of build_fed_opt take one",
        )


@final
@answers("state")
@dataclass(frozen=True, eq=False)
class ScaffoldState:
    """What the server keeps from round to round.

    Attributes:
        weights: of the model, in the structure of `Model.weights_type`.
        variate: c, the mean of the variates of all clients.
        optimizer: the moments of the server's optimizer.
        round_number: `int32`, rounds finished: 0 before the first.
    """

    weights: Any
    variate: Any
    optimizer: Any
    round_number: Any


def against_drift(gradients: Any, weights: Any, anchor: Any) -> Any:
    """Adds `c - c_k`, which is the anchor here, to every gradient of a client."""
    return map_structure(lambda g, a: g + a, gradients, anchor)


def _build_zero_variate(model: Model) -> fl.Computation:
    @leaf_computation
    def zero_variate() -> Any:
        return zeros_like(model.initialize(0))

    return zero_variate


def _build_begin(model: Model, optimizer: Optimizer, seed: int) -> fl.Computation:
    @leaf_computation
    def begin() -> Any:
        weights = model.initialize(seed)
        moments = optimizer.initialize(weights)
        return ScaffoldState(weights, zeros_like(weights), moments, tf.constant(0))

    return begin


def _build_client_round(
    model: Model, local: LocalTrainingConfig, learning_rate: Rate
) -> fl.Computation:
    """`(<WEIGHTS,c=WEIGHTS,int32,BATCH*,c_k=WEIGHTS> -> <sent,variate,change>)`."""
    weights_type = model.weights_type
    train = build_local_training(model, local)
    trained_type = train.type_signature.result
    pack = inside(build_pack(model, local, trained_type))
    drift = inside(leaf_computation(difference, weights_type, weights_type))
    renew = inside(_build_renewal(weights_type, trained_type, learning_rate))
    train = inside(train)

    @local_computation(
        weights_type,
        weights_type,
        np.int32,
        fl.SequenceType(model.batch_type),
        weights_type,
    )
    def client_round(
        weights: Any, common: Any, number: Any, batches: Any, own: Any
    ) -> Any:
        trained = train(weights, drift(common, own), number, batches)
        variate = renew(weights, trained, common, own, number)
        sent = pack(weights, trained)
        return OrderedDict(sent=sent, variate=variate, change=drift(variate, own))

    return client_round


def _build_renewal(
    weights_type: fl.Type, trained_type: fl.Type, learning_rate: Rate
) -> fl.Computation:
    """`(<w,LOCAL_TRAINING,c,c_k,int32> -> WEIGHTS)`: the client's next variate."""

    @leaf_computation(weights_type, trained_type, weights_type, weights_type, np.int32)
    def renew(weights: Any, trained: Any, common: Any, own: Any, number: Any) -> Any:
        way = at_round(learning_rate, number) * tf.cast(trained.steps, tf.float32)
        # A client without a step has no gradient, and keeps its variate.
        return map_structure(
            lambda w, w_k, c, c_k: tf.where(way == 0, c_k, c_k - c + (w - w_k) / way),
            weights,
            trained.weights,
            common,
            own,
        )

    return renew


def _build_next(
    model: Model, optimizer: Optimizer, client_round: fl.Computation, num_clients: int
) -> fl.Computation:
    state_type = _build_begin(model, optimizer, 0).type_signature.result
    step = _build_step(model, optimizer, state_type, num_clients)
    report = build_report(model)

    @fl.federated_computation(
        fl.type_at_server(state_type),
        fl.type_at_clients(fl.SequenceType(model.batch_type)),
        fl.type_at_clients(model.weights_type),
    )
    def next_round(state: Any, data: Any, client_states: Any) -> Any:
        weights = fl.federated_broadcast(state.weights)
        common = fl.federated_broadcast(state.variate)
        number = fl.federated_broadcast(state.round_number)
        work = fl.federated_map(
            client_round, [weights, common, number, data, client_states]
        )
        update = fl.federated_mean(work.sent.update, work.sent.weight)
        counts = fl.federated_sum(work.sent.counts)
        change = fl.federated_sum(work.change)
        return OutputWithClients(
            fl.federated_map(step, [state, update, change, counts.examples]),
            fl.federated_map(report, [counts, update]),
            work.variate,
        )

    return next_round


def _build_step(
    model: Model, optimizer: Optimizer, state: fl.Type, num_clients: int
) -> fl.Computation:
    @leaf_computation(state, model.weights_type, model.weights_type, np.int32)
    def step(state: Any, mean_update: Any, change: Any, examples: Any) -> Any:
        # A sum of no changes is 0.
        share = map_structure(lambda c, d: c + d / num_clients, state.variate, change)
        stepped = after_step(optimizer, state, mean_update, examples)
        return ScaffoldState(variate=share, **stepped)

    return step
