# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The round that FedSGD, FedAvg and its variants share: broadcast, work, mean, step.

They differ in the work of a client, which is `local_training` for all but FedSGD, and
in the server's optimizer. SCAFFOLD, whose clients keep something, has a round of its
own, and shares `build_report`.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.former_names import answers
from fedlearn_edu.learning.aggregation import THE_MEAN, Aggregation
from fedlearn_edu.learning.aggregators.base import Factory
from fedlearn_edu.learning.arrays import l2_norm, leaf_computation, tf
from fedlearn_edu.learning.local_training import (
    COUNTS_TYPE,
    LocalTrainingConfig,
    build_client_round,
)
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Optimizer, map_structure
from fedlearn_edu.learning.process import (
    LearningProcess,
    Output,
    OutputWithClients,
    Poison,
    check_model,
    check_whole_number,
)


@final
@answers("state")
@dataclass(frozen=True, eq=False)
class ServerState:
    """What the server keeps from round to round.

    Attributes:
        weights: of the model, in the structure of `Model.weights_type`.
        optimizer: the moments of the server's optimizer.
        round_number: `int32`, rounds finished: 0 before the first.
    """

    weights: Any
    optimizer: Any
    round_number: Any


def build_averaging_process(
    name: str,
    model: Model,
    local: LocalTrainingConfig,
    optimizer: Optimizer,
    seed: int,
    aggregator: Factory | None = None,
) -> LearningProcess:
    """Clients make passes over their batches; the server's optimizer takes the mean.

    Or, instead of the mean, what this aggregator makes of the updates.
    """
    check_model(model)
    aggregation = Aggregation.of(aggregator, model)
    client_round = build_client_round(model, local)
    build = partial(build_next, model, client_round, optimizer, aggregation)
    return LearningProcess(
        name=name,
        settings=f"{local}, server {optimizer}, seed {seed}{aggregation.in_words}",
        model=model,
        initialize=build_initialize(model, optimizer, seed, aggregation),
        next=build(),
        initialize_client=aggregation.initialize_client,
        poisoned_next=build if aggregation.initialize_client is None else None,
        mechanism=aggregation.mechanism,
    )


def build_initialize(
    model: Model, optimizer: Optimizer, seed: int, aggregation: Aggregation = THE_MEAN
) -> fl.Computation:
    """`( -> STATE@SERVER)`."""
    return aggregation.initialize(build_begin(model, optimizer, seed))


def build_next(
    model: Model,
    client_round: fl.Computation,
    optimizer: Optimizer,
    aggregation: Aggregation = THE_MEAN,
    poison: Poison | None = None,
) -> fl.Computation:
    """`(<STATE@SERVER,{BATCH*}@CLIENTS> -> <STATE@SERVER,METRICS@SERVER>)`.

    What clients keep for the aggregator is a third argument and a third result.

    Args:
        model: What is trained.
        client_round: `(<WEIGHTS,int32,BATCH*> -> CLIENT_RESULT)`.
        optimizer: Of the server.
        aggregation: What the server makes of the clients' updates.
        poison: What attackers do; then `next` takes `{int32}@CLIENTS`, too.
    """
    initialize = build_initialize(model, optimizer, 0, aggregation)
    state_type: Any = initialize.type_signature.result
    state_type = state_type.member
    step = build_step(model, optimizer, state_type)
    report = build_report(model)

    keeps = aggregation.initialize_client

    def one_round(
        state: Any, data: Any, attackers: Any = None, client_states: Any = None
    ) -> Any:
        weights = fl.federated_broadcast(state.weights)
        number = fl.federated_broadcast(state.round_number)
        if poison and poison.data:
            data = fl.federated_map(poison.data, [data, attackers])
        work = fl.federated_map(client_round, [weights, number, data])
        sent = work.update
        if poison and poison.update:
            sent = fl.federated_map(
                poison.update, [sent, work.weight, weights, number, attackers]
            )
        made = aggregation.combine(state, sent, work.weight, client_states)
        counts = fl.federated_sum(work.counts)
        metrics = fl.federated_map(report, [counts, made.update])
        size = aggregation.step_size(counts.examples)
        state = fl.federated_map(step, [state, made.update, size])
        state = aggregation.finish_state(state, made, size)
        metrics = aggregation.finish_metrics(metrics, made)
        if keeps is None:
            return Output(state, metrics)
        return OutputWithClients(state, metrics, made.client_states)

    batches = fl.SequenceType(model.batch_type)
    types = [fl.type_at_server(state_type), fl.type_at_clients(batches)]
    if poison is not None:
        types.append(fl.type_at_clients(np.int32))
    elif keeps is not None:
        types.append(fl.type_at_clients(keeps.type_signature.result))
    return _traced(one_round, types, is_poisoned=poison is not None)


def _traced(
    one_round: Callable[..., Any], types: Sequence[fl.Type], *, is_poisoned: bool
) -> fl.Computation:
    """The round as a computation, whose arguments have names."""

    def next_round(state: Any, data: Any) -> Any:
        return one_round(state, data)

    def poisoned_round(state: Any, data: Any, attackers: Any) -> Any:
        return one_round(state, data, attackers)

    def remembering_round(state: Any, data: Any, client_states: Any) -> Any:
        return one_round(state, data, None, client_states)

    if len(types) == 2:
        return fl.federated_computation(next_round, *types)
    chosen = poisoned_round if is_poisoned else remembering_round
    return fl.federated_computation(chosen, *types)


def build_begin(model: Model, optimizer: Optimizer, seed: int) -> fl.Computation:
    """`( -> STATE)`: the model's weights under the seed, and no round done."""
    check_model(model)
    check_whole_number("seed", seed)

    @leaf_computation
    def begin() -> Any:
        weights = model.initialize(seed)
        return ServerState(weights, optimizer.initialize(weights), tf.constant(0))

    return begin


def build_step(model: Model, optimizer: Optimizer, state: fl.Type) -> fl.Computation:
    """`(<STATE,WEIGHTS,int32> -> STATE)`: one step in the direction of the mean update.

    The number counts the examples of the round. With none there is no mean, and the
    state stays as it is.
    """

    @leaf_computation(state, model.weights_type, np.int32)
    def step(state: Any, mean_update: Any, examples: Any) -> Any:
        return replace(state, **after_step(optimizer, state, mean_update, examples))

    return step


def after_step(
    optimizer: Optimizer, state: Any, mean_update: Any, examples: Any
) -> dict[str, Any]:
    """The fields of the server's state that a step changes."""
    against, number = map_structure(lambda u: -u, mean_update), state.round_number
    moments, weights = optimizer.step(
        state.optimizer, state.weights, against, number, examples
    )
    number = number + tf.minimum(examples, 1)
    return {"weights": weights, "optimizer": moments, "round_number": number}


def build_report(model: Model) -> fl.Computation:
    """`(<COUNTS,WEIGHTS> -> METRICS)`: the metrics of a round.

    `loss_per_example` is the mean over all examples of all clients, each by the weights
    it met; `update_norm` is the L2 norm of the mean update, all weights together. In a
    round without examples the mean loss is NaN and the norm 0.
    """
    counts_type = fl.StructType(COUNTS_TYPE)

    @leaf_computation(counts_type, model.weights_type)
    def report(counts: Any, update: Any) -> Any:
        examples = tf.cast(counts["examples"], tf.float32)
        length = tf.cast(l2_norm(tf.nest.flatten(update)), tf.float32)
        return OrderedDict(
            loss_per_example=counts["loss_sum"] / examples,
            examples=counts["examples"],
            clients=counts["clients"],
            update_norm=tf.where(examples > 0.0, length, 0.0),
        )

    return report
