# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The round that FedSGD, FedAvg and its variants share: broadcast, work, mean, step.

They differ in the work of a client, which is `local_training` for all but FedSGD, and
in the server's optimizer. SCAFFOLD, whose clients keep something, has a round of its
own.
"""

from typing import Any

import fedlearn_edu as fl
from fedlearn_edu.learning import server
from fedlearn_edu.learning.local_training import LocalPasses, build_client_round
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Optimizer
from fedlearn_edu.learning.process import (
    LearningProcess,
    Output,
    check_model,
    check_seed,
)


def build_averaging_process(
    name: str, model: Model, passes: LocalPasses, optimizer: Optimizer, seed: int
) -> LearningProcess:
    """Clients make passes over their batches; the server's optimizer takes the mean."""
    return LearningProcess(
        name=name,
        settings=f"{passes}, server {optimizer}, seed {seed}",
        model=model,
        initialize=build_initialize(model, optimizer, seed),
        next=build_next(model, build_client_round(model, passes), optimizer),
    )


def build_initialize(model: Model, optimizer: Optimizer, seed: int) -> fl.Computation:
    """`( -> STATE@SERVER)`."""
    check_model(model)
    check_seed(seed)
    begin = server.build_begin(model, optimizer, seed)

    @fl.federated_computation
    def initialize() -> Any:
        return fl.federated_eval(begin, fl.SERVER)

    return initialize


def build_next(
    model: Model, client_round: fl.Computation, optimizer: Optimizer
) -> fl.Computation:
    """`(<STATE@SERVER,{BATCH*}@CLIENTS> -> <STATE@SERVER,METRICS@SERVER>)`.

    Args:
        model: What is trained.
        client_round: `(<WEIGHTS,int32,BATCH*> -> CLIENT_RESULT)`.
        optimizer: Of the server.
    """
    state_type = server.build_begin(model, optimizer, 0).type_signature.result
    step = server.build_step(model, optimizer, state_type)
    report = server.build_report(model)

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
        metrics = fl.federated_map(report, [counts, update])
        state = fl.federated_map(step, [state, update, counts.examples])
        return Output(state, metrics)

    return next_round
