# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Federated averaging: clients train copies of the model, the server averages them.

`build_fed_avg` is the algorithm as published; `fed_opt` and `fed_prox` build on the
general form below, `averaging`, in which either side's optimizer and a correction of
the clients' gradients can be chosen.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.learning import server
from fedlearn_edu.learning.local_training import (
    Correction,
    build_local_training,
    difference,
    uncorrected,
)
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Optimizer, Rate, build_sgd
from fedlearn_edu.learning.process import LearningProcess, Output, check_weighting


def build_fed_avg(
    model: Model,
    client_learning_rate: Rate = 0.1,
    server_learning_rate: Rate = 1.0,
    *,
    local_epochs: int = 1,
    weighting: str = "examples",
    seed: int = 0,
) -> LearningProcess:
    r"""Federated averaging, FedAvg.

    From the server's $w$, client k takes a step $w_k \leftarrow w_k - \eta \nabla
    f(w_k; b)$ for each of its batches $b$, in `local_epochs` passes. Then

    $$w \leftarrow w + \eta_s \sum_k \frac{n_k}{\sum_j n_j} (w_k - w)$$

    With the server's rate $\eta_s = 1$ that is the mean of the clients' models.

    Args:
        model: What is trained.
        client_learning_rate: η, a number, or a function of the round's number.
        server_learning_rate: η_s.
        local_epochs: Passes over a client's batches in one round, the paper's E; how
            large a batch is (B) is up to the data.
        weighting: `"examples"`, where $n_k$ counts examples, or `"uniform"`, where it
            is 1 for every client that has any.
        seed: Of the initial weights.

    Source: B. McMahan et al., "Communication-Efficient Learning of Deep Networks from
    Decentralized Data", AISTATS 2017, Algorithm 1; `build_weighted_fed_avg` and
    `build_unweighted_fed_avg` of `tff.learning.algorithms`.
    """
    client, server_side = (
        build_sgd(client_learning_rate),
        build_sgd(server_learning_rate),
    )
    passes = LocalPasses(client, local_epochs, weighting)
    return averaging("FedAvg", model, passes, server_side, seed)


@final
@dataclass(frozen=True)
class LocalPasses:
    """What clients do in a round, and what their updates weigh.

    Attributes:
        optimizer: of every client; its moments begin anew in each round.
        local_epochs: passes over a client's batches.
        weighting: `"examples"` or `"uniform"`.
        correct: changes each gradient; the anchor is the server's model.
        correction: in words, for `LearningProcess.settings`.
    """

    optimizer: Optimizer
    local_epochs: int = 1
    weighting: str = "examples"
    correct: Correction = uncorrected
    correction: str = ""

    def __str__(self) -> str:
        parts = [
            f"client {self.optimizer}",
            f"{self.local_epochs} local epoch{'s' if self.local_epochs > 1 else ''}",
            f"weighted by {self.weighting}"
            if self.weighting == "examples"
            else "clients weighted alike",
        ]
        return ", ".join([*parts, *filter(None, [self.correction])])


def averaging(
    name: str, model: Model, passes: LocalPasses, optimizer: Optimizer, seed: int
) -> LearningProcess:
    """The general form: clients make passes, the server's optimizer takes their mean."""
    begin = server.build_begin(model, optimizer, seed)
    state_type = begin.type_signature.result
    client_round = build_client_round(model, passes)
    step = server.build_step(model, optimizer, state_type)
    report = server.build_report(model)

    @fl.federated_computation
    def initialize() -> Any:
        return fl.federated_eval(begin, fl.SERVER)

    @fl.federated_computation(
        fl.type_at_server(state_type),
        fl.type_at_clients(fl.SequenceType(model.batch_type)),
    )
    def next_round(state: Any, data: Any) -> Any:
        weights = fl.federated_broadcast(state.weights)
        number = fl.federated_broadcast(state.round_number)
        work = fl.federated_map(client_round, [weights, number, data])
        update = fl.federated_mean(work.update, work.weight)
        counts = fl.federated_sum(work.counts)
        metrics = fl.federated_map(
            report, [counts.loss_sum, counts.examples, counts.clients, update]
        )
        return Output(fl.federated_map(step, [state, update]), metrics)

    settings = f"{passes}, server {optimizer}, seed {seed}"
    return LearningProcess(name, settings, model, initialize, next_round)


def build_client_round(model: Model, passes: LocalPasses) -> fl.Computation:
    """`(<WEIGHTS,int32,BATCH*> -> <update=WEIGHTS,weight=float32,counts=COUNTS>)`."""
    check_weighting(passes.weighting)
    train = build_local_training(
        model, passes.optimizer, passes.local_epochs, passes.correct
    )
    pack = _build_pack(model, passes, train.type_signature.result)

    @fl.federated_computation(
        model.weights_type, np.int32, fl.SequenceType(model.batch_type)
    )
    def client_round(weights: Any, number: Any, batches: Any) -> Any:
        return pack(weights, train(weights, weights, number, batches))

    return client_round


def _build_pack(model: Model, passes: LocalPasses, training: fl.Type) -> fl.Computation:
    """What a client sends: how far it went, and what that weighs."""

    @fl.tf_computation(model.weights_type, training)
    def pack(weights: Any, trained: Any) -> Any:
        tf = fl.tf
        examples = trained.examples // passes.local_epochs
        weigh = examples if passes.weighting == "examples" else tf.minimum(examples, 1)
        return OrderedDict(
            update=difference(trained.weights, weights),
            weight=tf.cast(weigh, tf.float32),
            counts=OrderedDict(
                loss_sum=trained.loss_sum / float(passes.local_epochs),
                examples=examples,
                clients=tf.constant(1),
            ),
        )

    return pack
