# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Federated averaging and evaluation as processes of four parts.

Source: `tff.learning.algorithms`.
"""

from collections import OrderedDict
from typing import Any

import fedlearn_edu as fl
from fedlearn_edu.errors import describe
from fedlearn_edu.former_names import answering
from fedlearn_edu.learning.aggregators.base import nothing, stateless
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.tff.aggregators import MeanFactory, UnweightedMeanFactory
from fedlearn_edu.tff.aggregators.factory import (
    WeightedAggregationFactory,
    with_weights,
)
from fedlearn_edu.tff.learning.optimizers import build_sgdm
from fedlearn_edu.tff.learning.pure import Pure, pure
from fedlearn_edu.tff.learning.templates import (
    ClientResult,
    ClientWeighting,
    ClientWorkProcess,
    FinalizerProcess,
    LearningProcess,
    as_it_is,
    build_apply_optimizer_finalizer,
    build_broadcast_process,
    build_model_delta_client_work,
    compose_learning_process,
)
from fedlearn_edu.tff.templates import AggregationProcess, MeasuredProcessOutput


def build_weighted_fed_avg(  # noqa: PLR0913 (TFF's arguments)
    model_fn: Any,
    client_optimizer_fn: Any,
    server_optimizer_fn: Any = None,
    *,
    client_weighting: Any = ClientWeighting.NUM_EXAMPLES,
    model_distributor: Any = None,
    model_aggregator: Any = None,
    metrics_aggregator: Any = None,
    proximal_strength: float = 0.0,
    **loop: Any,
) -> LearningProcess:
    """Federated averaging, weighted by examples.

    Args:
        model_fn: a function that makes a model, or a `FunctionalModel`.
        client_optimizer_fn: of `tff.learning.optimizers`, or a function that makes one
            of Keras.
        server_optimizer_fn: the same; without it, the mean update is added as it is.
        client_weighting: `NUM_EXAMPLES` or `UNIFORM`.
        model_distributor: a `DistributionProcess`; a broadcast without it.
        model_aggregator: a factory; `MeanFactory()` without it.
        metrics_aggregator: metrics are summed over clients, then finalized; there is no
            other way here.
        proximal_strength: of FedProx.
        **loop: `use_experimental_simulation_loop` or `loop_implementation`: how TFF
            loops over batches. Here all run in one call.

    Raises:
        ProcessError: if an argument is not of these.
    """
    _check_rest(metrics_aggregator, loop)
    model = pure(model_fn)
    start = fl.tf_computation(model.initial_weights)
    weights_type: Any = start.type_signature.result
    factory = model_aggregator or MeanFactory()
    _check_weighted(factory, client_weighting)
    server = server_optimizer_fn or build_sgdm(1.0)
    return compose_learning_process(
        start,
        model_distributor or build_broadcast_process(weights_type),
        build_model_delta_client_work(
            model, client_optimizer_fn, client_weighting, proximal_strength
        ),
        with_weights(factory, weights_type.trainable),
        build_apply_optimizer_finalizer(server, weights_type),
    )


def build_unweighted_fed_avg(
    model_fn: Any,
    client_optimizer_fn: Any,
    server_optimizer_fn: Any = None,
    *,
    model_aggregator: Any = None,
    **rest: Any,
) -> LearningProcess:
    """Federated averaging in which all clients weigh the same."""
    return build_weighted_fed_avg(
        model_fn,
        client_optimizer_fn,
        server_optimizer_fn,
        client_weighting=ClientWeighting.UNIFORM,
        model_aggregator=model_aggregator or UnweightedMeanFactory(),
        **rest,
    )


def build_weighted_fed_prox(
    model_fn: Any,
    proximal_strength: float,
    client_optimizer_fn: Any,
    *args: Any,
    **rest: Any,
) -> LearningProcess:
    """FedProx: clients are pulled back to where they began."""
    rest["proximal_strength"] = proximal_strength
    return build_weighted_fed_avg(model_fn, client_optimizer_fn, *args, **rest)


def build_unweighted_fed_prox(
    model_fn: Any,
    proximal_strength: float,
    client_optimizer_fn: Any,
    *args: Any,
    **rest: Any,
) -> LearningProcess:
    """FedProx in which all clients weigh the same."""
    rest["proximal_strength"] = proximal_strength
    return build_unweighted_fed_avg(model_fn, client_optimizer_fn, *args, **rest)


def _check_weighted(factory: Any, client_weighting: Any) -> None:
    is_uniform = ClientWeighting.of(client_weighting) is ClientWeighting.UNIFORM
    if not is_uniform and not isinstance(factory, WeightedAggregationFactory):
        raise ProcessError(
            "this aggregator would leave the clients' weights out",
            expected="a factory with weights, such as MeanFactory()",
            found=describe(factory),
            where="model_aggregator",
            do="build_unweighted_fed_avg(…), in which all clients are alike",
        )


def _check_rest(metrics_aggregator: Any, loop: dict[str, Any]) -> None:
    unknown = set(loop) - {"use_experimental_simulation_loop", "loop_implementation"}
    if unknown:
        raise TypeError(f"unexpected arguments: {', '.join(sorted(unknown))}")
    if metrics_aggregator is not None:
        raise ProcessError(
            "metrics are aggregated in one way here",
            expected="no metrics_aggregator: sums over clients, then the finalizers",
            found=repr(metrics_aggregator),
        )


def _local_evaluation(model: Pure) -> Any:
    """`(<WEIGHTS,BATCH*> -> SUMS)`."""

    @fl.tf_computation(model.weights_type, fl.SequenceType(model.batch_type))
    def evaluate(weights: Any, batches: Any) -> Any:
        def count(sums: Any, batch: Any) -> Any:
            return model.forward(weights, sums, batch, training=False)[2]

        return model.report(batches.reduce(model.zeros(), as_it_is(count)))

    return evaluate


def build_fed_eval(
    model_fn: Any,
    model_distributor: Any = None,
    metrics_aggregation_process: Any = None,
    **loop: Any,
) -> LearningProcess:
    """A process that trains nothing: metrics of this round, and of all so far."""
    _check_rest(metrics_aggregation_process, loop)
    model = pure(model_fn)
    start = fl.tf_computation(model.initial_weights)
    weights_type = start.type_signature.result
    return compose_learning_process(
        start,
        model_distributor or build_broadcast_process(weights_type),
        _evaluating_work(model),
        _nothing_to_average(),
        _keeping_finalizer(model),
    )


def _evaluating_work(model: Pure) -> ClientWorkProcess:
    local = _local_evaluation(model)
    sums_type = local.type_signature.result
    finalize = fl.tf_computation(model.finalize, sums_type)
    zeros = fl.tf_computation(lambda: ((), model.report(model.zeros())))

    @fl.tf_computation(zeros.type_signature.result, sums_type)
    def add(state: Any, more: Any) -> Any:
        pairs = zip(*map(tf.nest.flatten, (state[1], more)), strict=True)
        return (), tf.nest.pack_sequence_as(state[1], [a + b for a, b in pairs])

    @fl.federated_computation
    def initialize() -> Any:
        return fl.federated_eval(zeros, fl.SERVER)

    @fl.federated_computation(
        initialize.type_signature.result,
        fl.type_at_clients(model.weights_type),
        fl.type_at_clients(fl.SequenceType(model.batch_type)),
    )
    def work(state: Any, weights: Any, client_data: Any) -> Any:
        now = fl.federated_sum(fl.federated_map(local, [weights, client_data]))
        state = fl.federated_map(add, [state, now])
        found = OrderedDict(
            current_round_metrics=fl.federated_map(finalize, now),
            total_rounds_metrics=fl.federated_map(finalize, state[1]),
        )
        sent = fl.federated_value(ClientResult((), ()), fl.CLIENTS)
        measured = fl.federated_zip(OrderedDict(eval=fl.federated_zip(found)))
        return MeasuredProcessOutput(state, sent, measured)

    return ClientWorkProcess(initialize, work)


def _nothing_to_average() -> AggregationProcess:
    """What `MeanFactory` would make for `<>` and `<>`."""

    @fl.federated_computation
    def initialize() -> Any:
        both = OrderedDict(value_sum_process=nothing(), weight_sum_process=nothing())
        return fl.federated_zip(both)

    none = fl.type_at_clients(())

    @fl.federated_computation(initialize.type_signature.result, none, none)
    def leave(state: Any, value: Any, weight: Any) -> Any:
        measured = OrderedDict(mean_value=nothing(), mean_weight=nothing())
        return MeasuredProcessOutput(state, nothing(), fl.federated_zip(measured))

    return AggregationProcess(initialize, leave)


def _keeping_finalizer(model: Pure) -> FinalizerProcess:
    none = fl.type_at_server(())

    @fl.federated_computation(none, fl.type_at_server(model.weights_type), none)
    def keep(state: Any, weights: Any, update: Any) -> Any:
        return MeasuredProcessOutput(state, weights, nothing())

    return FinalizerProcess(stateless(), keep)


def build_federated_evaluation(model_fn: Any, **loop: Any) -> Any:
    """`(<WEIGHTS@SERVER,{BATCH*}@CLIENTS> -> <eval=METRICS>@SERVER)`.

    Source: `tff.learning.build_federated_evaluation`.
    """
    for name in ("broadcast_process", "model_distributor", "metrics_aggregator"):
        _check_rest(loop.pop(name, None), {})
    _check_rest(None, loop)
    model = pure(model_fn)
    local = _local_evaluation(model)
    finalize = fl.tf_computation(model.finalize, local.type_signature.result)

    @fl.federated_computation(
        fl.type_at_server(model.weights_type),
        fl.type_at_clients(fl.SequenceType(model.batch_type)),
    )
    def evaluate(server_model_weights: Any, federated_dataset: Any) -> Any:
        weights = fl.federated_broadcast(server_model_weights)
        sums = fl.federated_sum(fl.federated_map(local, [weights, federated_dataset]))
        return fl.federated_zip(OrderedDict(eval=fl.federated_map(finalize, sums)))

    return evaluate


__all__ = [
    "build_fed_eval",
    "build_unweighted_fed_avg",
    "build_unweighted_fed_prox",
    "build_weighted_fed_avg",
    "build_weighted_fed_prox",
]


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []

__getattr__ = answering("fedlearn_edu.tff.learning.algorithms", __all__)
