# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The parts of a round that averages: what algorithms from FedSGD to SCAFFOLD share.

They differ in the work of a client (`local_training.py`), in the server's optimizer,
and in the aggregator. How the parts make a round is in `rounds.py`.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import fedlearn_edu as fl
from fedlearn_edu.former_names import answers
from fedlearn_edu.learning.aggregators import mean
from fedlearn_edu.learning.aggregators.base import (
    Aggregator,
    Factory,
    at_each,
    make,
    metrics_type,
    state_type,
)
from fedlearn_edu.learning.aggregators.checks import check_factory
from fedlearn_edu.learning.arrays import l2_norm, leaf_computation, tf
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.history import COLUMNS, COSTS
from fedlearn_edu.learning.local_training import (
    LocalTrainingConfig,
    build_client_round,
    build_first_memory,
)
from fedlearn_edu.learning.models import Model
from fedlearn_edu.learning.optimizers import Optimizer, map_structure
from fedlearn_edu.learning.process import LearningProcess, check_model
from fedlearn_edu.learning.pytree import flatten, rebuild
from fedlearn_edu.learning.rounds import Round, Told, is_nothing, parameter_types
from fedlearn_edu.rules import number

ROUND_METRICS = ("loss_per_example", "examples", "clients", "update_norm")
"""What every averaging round reports of itself."""

_TAKEN = frozenset({*ROUND_METRICS, *COLUMNS, *COSTS, "epsilon"})


@final
@answers("state")
@dataclass(frozen=True, eq=False)
class ServerState:
    """What the server keeps from round to round.

    Attributes:
        weights: of the model, in the structure of `Model.weights_type`.
        optimizer: the moments of the server's optimizer.
        round_number: `int32`, rounds finished: 0 before the first.
        aggregator: the state of the aggregator, `<>` for the mean; in SCAFFOLD the
            server's variate c.
    """

    weights: Any
    optimizer: Any
    round_number: Any
    aggregator: Any = ()


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
    words = f"{local}, server {optimizer}, seed {seed}"
    work, memory = build_client_round(model, local), build_first_memory(model, local)
    return compose(name, words, model, work, optimizer, seed, aggregator, memory)


def compose(  # noqa: PLR0913, PLR0917 (a setting for each part)
    name: str,
    settings: str,
    model: Model,
    work: fl.Computation,
    optimizer: Optimizer,
    seed: int = 0,
    aggregator: Factory | None = None,
    first_memory: fl.Computation | None = None,
) -> LearningProcess:
    """A process whose clients do any work of the type that `build_client_round` has.

    Args:
        name: Of the algorithm.
        settings: In words.
        model: What is trained.
        work: `(<TOLD,BATCH*,KEPT> -> CLIENT_RESULT)`.
        optimizer: Of the server; it takes what the aggregator makes of the updates for
            a gradient with its sign turned.
        seed: Of the initial weights.
        aggregator: Of what clients send; `None` for `mean()`.
        first_memory: `( -> KEPT)`; `None` where clients keep nothing.
    """
    check_model(model)
    summary = "a seed gives the same weights again and again"
    number(seed, "seed, a whole number", ProcessError, summary=summary)
    sent: Any = work.type_signature.result
    kept = parameter_types(work)[2]
    made = _aggregator(aggregator, sent["update"], model.weights_type)
    initialize = _build_initialize(model, optimizer, seed, made)
    parts = Round(
        distribute=_build_distribute(kept),
        work=work,
        aggregator=made,
        finish=_build_step(model, optimizer, made, initialize, sent["counts"]),
        report=_build_report(model, made, sent["counts"]),
    )
    told = "" if made.name == "mean()" else f", aggregator {made.name}"
    return LearningProcess(
        name=name,
        settings=settings + told,
        model=model,
        initialize=initialize,
        next=parts.program(),
        initialize_client=made.initialize_client
        or (None if is_nothing(kept) else first_memory),
        mechanism=made.mechanism,
        round=parts,
    )


def _aggregator(factory: Factory | None, sent: fl.Type, update: fl.Type) -> Aggregator:
    """The aggregator of what these clients send, to an update of the weights.

    Raises:
        ProcessError: if it is no factory of aggregators, or measures something by a
            name that the round itself uses.
    """
    factory = mean() if factory is None else factory
    check_factory(factory, "aggregator")
    aggregator = make(factory, sent, update)
    for name in metrics_type(aggregator).names():
        if name in _TAKEN:
            raise ProcessError(
                "a metric of an aggregator needs a name of its own",
                expected=f"none of {', '.join(sorted(_TAKEN))}",
                found=name,
                where=f"the metrics of {aggregator.name}",
            )
    return aggregator


def _build_initialize(
    model: Model, optimizer: Optimizer, seed: int, aggregator: Aggregator
) -> fl.Computation:
    """`( -> STATE@SERVER)`: the model's weights under the seed, and no round done."""

    def begin_with(kept: Any) -> Any:
        weights = model.initialize(seed)
        return ServerState(weights, optimizer.initialize(weights), tf.constant(0), kept)

    @leaf_computation
    def begin() -> Any:
        return begin_with(())

    @fl.federated_computation
    def initialize() -> Any:
        if is_nothing(state_type(aggregator)):
            return fl.federated_eval(begin, fl.SERVER)
        return at_each(begin_with, aggregator.initialize())

    return initialize


def _build_distribute(kept: fl.Type) -> Callable[[Any], Told]:
    """Clients are told the model; what the aggregator keeps, if they keep such, too."""

    def distribute(state: Any) -> Told:
        weights = fl.federated_broadcast(state.weights)
        number = fl.federated_broadcast(state.round_number)
        if is_nothing(kept):
            return Told(weights, number)
        return Told(weights, number, fl.federated_broadcast(state.aggregator))

    return distribute


def _build_step(
    model: Model,
    optimizer: Optimizer,
    aggregator: Aggregator,
    initialize: fl.Computation,
    counts: fl.Type,
) -> fl.Computation:
    """`(<STATE,WEIGHTS,AGGREGATOR_STATE,COUNTS> -> STATE)`: one step of the optimizer.

    In a round without examples there is no mean, and the state stays as it is. But
    noise is added in any case: a round without a step would say that nobody came.
    """
    adds_noise = aggregator.mechanism is not None
    placed: Any = initialize.type_signature.result
    state: fl.Type = placed.member

    @leaf_computation(state, model.weights_type, state_type(aggregator), counts)
    def step(state: Any, update: Any, kept: Any, counts: Any) -> Any:
        examples, number = counts["examples"], state.round_number
        size = tf.maximum(examples, 1) if adds_noise else examples
        moments, weights = optimizer.step(
            state.optimizer,
            state.weights,
            map_structure(lambda u: -u, update),
            number,
            size,
        )
        before, after = flatten(state.aggregator), flatten(kept)
        chosen = {
            path: tf.where(size > 0, after[path], before[path]) for path in before
        }
        kept = rebuild(state.aggregator, chosen)
        return ServerState(weights, moments, number + tf.minimum(size, 1), kept)

    return step


def _build_report(
    model: Model, aggregator: Aggregator, counts: fl.Type
) -> fl.Computation:
    """`(<COUNTS,WEIGHTS,METRICS> -> METRICS)`: those of a round, then the aggregator's.

    `loss_per_example` is the mean over all examples of all clients, each by the weights
    it met; `update_norm` is the L2 norm of the mean update, all weights together. In a
    round without examples the mean loss is NaN and the norm 0.
    """

    @leaf_computation(counts, model.weights_type, metrics_type(aggregator))
    def report(counts: Any, update: Any, measured: Any) -> Any:
        examples = tf.cast(counts["examples"], tf.float32)
        length = tf.cast(l2_norm(tf.nest.flatten(update)), tf.float32)
        return OrderedDict(
            loss_per_example=counts["loss_sum"] / examples,
            examples=counts["examples"],
            clients=counts["clients"],
            update_norm=tf.where(examples > 0.0, length, 0.0),
            **flatten(measured),
        )

    return report
