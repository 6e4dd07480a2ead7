# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""A learning process of four parts.

    distribute   the server's weights go to the clients
    work         each client trains, or measures
    aggregate    their updates become one
    finish       it becomes the next weights

Each is a measured process with a state of its own. Source: `tff.learning.templates`.
"""

from collections import OrderedDict
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, final

import fedlearn_edu as fl
from fedlearn_edu.errors import describe
from fedlearn_edu.former_names import answering, answers
from fedlearn_edu.learning.aggregators.base import nothing, stateless
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.rules import number
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.tff.learning.model_forms import ModelWeights
from fedlearn_edu.tff.learning.optimizers import optimizer_of
from fedlearn_edu.tff.learning.pure import Pure, pure
from fedlearn_edu.tff.templates import (
    IterativeProcess,
    MeasuredProcess,
    MeasuredProcessOutput,
)

# AutoGraph would warn of every lambda, and convert loops that are none.
as_it_is: Callable[[Any], Any] = tf.autograph.experimental.do_not_convert


@final
class ClientWeighting(Enum):
    """What a client's update weighs in the mean."""

    NUM_EXAMPLES = "num_examples"
    UNIFORM = "uniform"

    @classmethod
    def of(cls, given: Any) -> "ClientWeighting":
        """The member that is given, or called like the text that is given.

        Raises:
            ProcessError: if there is none.
        """
        for member in cls:
            if given in (member, member.value):
                return member
        raise ProcessError(
            "clients weigh as much as their examples, or all alike",
            expected="ClientWeighting.NUM_EXAMPLES or ClientWeighting.UNIFORM",
            found=describe(given),
            where="client_weighting",
        )


class ClientResult(NamedTuple):
    """What a client sends.

    Attributes:
        update: of the trained weights.
        update_weight: of the update in a mean.
    """

    update: Any
    update_weight: Any


class LearningAlgorithmState(NamedTuple):
    """What the server keeps from round to round: the weights, and each part's state."""

    global_model_weights: Any
    distributor: Any
    client_work: Any
    aggregator: Any
    finalizer: Any


class LearningProcessOutput(NamedTuple):
    """What the `next` of a learning process returns."""

    state: Any
    metrics: Any


class DistributionProcess(MeasuredProcess):
    """`next(state, weights@SERVER)`, with what is at the clients for a result."""


class ClientWorkProcess(MeasuredProcess):
    """`next(state, weights@CLIENTS, data@CLIENTS)`, with a `ClientResult`."""


class FinalizerProcess(MeasuredProcess):
    """`next(state, weights@SERVER, update@SERVER)`, with the next weights."""


@answers("tff.LearningProcess", others=False)
class LearningProcess(IterativeProcess):
    """A process that knows where its weights are."""

    def get_model_weights(self, state: Any) -> Any:
        """The weights of a state."""
        return state.global_model_weights

    def set_model_weights(self, state: Any, model_weights: Any) -> Any:
        """The state with other weights."""
        return state._replace(global_model_weights=model_weights)


def build_broadcast_process(model_weights_type: Any) -> DistributionProcess:
    """Sends the weights as they are."""

    @fl.federated_computation(
        fl.type_at_server(()), fl.type_at_server(model_weights_type)
    )
    def send(state: Any, value: Any) -> Any:
        return MeasuredProcessOutput(state, fl.federated_broadcast(value), nothing())

    return DistributionProcess(stateless(), send)


def build_model_delta_client_work(
    model_fn: Any,
    optimizer: Any,
    client_weighting: Any = ClientWeighting.NUM_EXAMPLES,
    proximal_strength: float = 0.0,
) -> ClientWorkProcess:
    r"""Trains on each batch in turn; the update is how far that went.

    With a `proximal_strength` $\mu$, $\mu (w - w_0)$ is added to each slope. An update
    that is not finite is sent as zeros, with weight 0.

    Args:
        model_fn: what `pure` takes.
        optimizer: of `tff.learning.optimizers`, or a function that makes one of Keras.
        client_weighting: one of `ClientWeighting`, or its name.
        proximal_strength: 0 for FedAvg.
    """
    model = model_fn if isinstance(model_fn, Pure) else pure(model_fn)
    opt = optimizer_of(optimizer, model.start.trainable)
    is_uniform = ClientWeighting.of(client_weighting) is ClientWeighting.UNIFORM
    number(proximal_strength, "proximal_strength >= 0", ProcessError)

    @fl.tf_computation(model.weights_type, fl.SequenceType(model.batch_type))
    def work(weights: Any, batches: Any) -> Any:
        start, kept = tuple(weights.trainable), tuple(weights.non_trainable)

        def learn(so_far: Any, batch: Any) -> Any:
            trainable, others, moments, sums, examples = so_far
            here = ModelWeights(trainable, others)
            slopes, count, sums, others = model.gradient(here, sums, batch)
            if proximal_strength:
                rows = zip(slopes, trainable, start, strict=True)
                slopes = tuple(s + proximal_strength * (w - a) for s, w, a in rows)
            moments, trainable = opt.next(moments, trainable, slopes)
            examples += tf.cast(count, tf.int64)
            return tuple(trainable), others, moments, sums, examples

        none = tf.constant(0, tf.int64)
        begin = start, kept, opt.initialize(start), model.zeros(), none
        after, _, _, sums, examples = batches.reduce(begin, as_it_is(learn))
        update = tuple(map(tf.subtract, after, start))
        weight = tf.constant(1.0) if is_uniform else tf.cast(examples, tf.float32)
        nothing = tf.nest.map_structure(tf.zeros_like, (update, weight)), model.zeros()
        sent, sums = _if(is_finite(update), ((update, weight), sums), nothing)
        return ClientResult(*sent), model.report(sums)

    return _training(model, work)


def is_finite(tensors: Any) -> Any:
    """Whether no number is NaN or infinite."""
    each = [tf.reduce_all(tf.math.is_finite(t)) for t in tf.nest.flatten(tensors)]
    return tf.reduce_all(each)


def _if(condition: Any, yes: Any, no: Any) -> Any:
    return tf.nest.map_structure(lambda y, n: tf.where(condition, y, n), yes, no)


def _training(model: Pure, work: Any) -> ClientWorkProcess:
    """From `work`, which returns a `ClientResult` and sums; measures all clients."""
    finalize = fl.tf_computation(model.finalize, work.type_signature.result[1])

    @fl.federated_computation(
        fl.type_at_server(()),
        fl.type_at_clients(model.weights_type),
        fl.type_at_clients(fl.SequenceType(model.batch_type)),
    )
    def next_work(state: Any, weights: Any, client_data: Any) -> Any:
        done = fl.federated_map(work, [weights, client_data])
        metrics = fl.federated_map(finalize, fl.federated_sum(done[1]))
        measured = fl.federated_zip(OrderedDict(train=metrics))
        return MeasuredProcessOutput(state, done[0], measured)

    return ClientWorkProcess(stateless(), next_work)


def build_apply_optimizer_finalizer(
    optimizer_fn: Any, model_weights_type: Any
) -> FinalizerProcess:
    """A step of an optimizer against the update, which is how far to go.

    An update that is not finite is left out; `update_non_finite` is then 1.
    """
    trainable = model_weights_type.trainable
    specs = tuple(tf.TensorSpec(t.shape, t.dtype) for t in trainable)
    opt = optimizer_of(optimizer_fn, specs)
    begin = fl.tf_computation(lambda: opt.initialize(specs))

    @fl.tf_computation(begin.type_signature.result, model_weights_type, trainable)
    def step(state: Any, weights: Any, update: Any) -> Any:
        update, before = tuple(update), tuple(weights.trainable)
        moved = opt.next(state, before, tuple(-part for part in update))
        is_fine = is_finite(update)
        moments, after = _if(is_fine, (moved[0], tuple(moved[1])), (state, before))
        after = tf.nest.pack_sequence_as(weights.trainable, after)
        measured = OrderedDict(update_non_finite=tf.cast(~is_fine, tf.int32))
        return moments, ModelWeights(after, weights.non_trainable), measured

    @fl.federated_computation
    def initialize() -> Any:
        return fl.federated_eval(begin, fl.SERVER)

    @fl.federated_computation(
        fl.type_at_server(begin.type_signature.result),
        fl.type_at_server(model_weights_type),
        fl.type_at_server(trainable),
    )
    def finish(state: Any, weights: Any, update: Any) -> Any:
        return MeasuredProcessOutput(*fl.federated_map(step, [state, weights, update]))

    return FinalizerProcess(initialize, finish)


def compose_learning_process(
    initial_model_weights_fn: Any,
    model_weights_distributor: Any,
    client_work: Any,
    model_update_aggregator: Any,
    model_finalizer: Any,
) -> LearningProcess:
    """A round of the four parts.

    Args:
        initial_model_weights_fn: `( -> WEIGHTS)`.
        model_weights_distributor: a `DistributionProcess`.
        client_work: a `ClientWorkProcess`.
        model_update_aggregator: an `AggregationProcess` with weights.
        model_finalizer: a `FinalizerProcess`.
    """
    parts = (
        model_weights_distributor,
        client_work,
        model_update_aggregator,
        model_finalizer,
    )
    data_type = client_work.next.type_signature.parameter[2]

    @fl.federated_computation
    def initialize() -> Any:
        weights = fl.federated_eval(initial_model_weights_fn, fl.SERVER)
        begins = [part.initialize() for part in parts]
        return fl.federated_zip(LearningAlgorithmState(weights, *begins))

    @fl.federated_computation(initialize.type_signature.result, data_type)
    def next_round(state: Any, client_data: Any) -> Any:
        weights = state.global_model_weights
        sent = model_weights_distributor.next(state.distributor, weights)
        done = client_work.next(state.client_work, sent.result, client_data)
        update, weight = done.result.update, done.result.update_weight
        made = model_update_aggregator.next(state.aggregator, update, weight)
        end = model_finalizer.next(state.finalizer, weights, made.result)
        outputs = sent, done, made, end
        after = LearningAlgorithmState(end.result, *(each.state for each in outputs))
        named = zip(LearningAlgorithmState._fields[1:], outputs, strict=True)
        measured = OrderedDict((name, each.measurements) for name, each in named)
        return LearningProcessOutput(
            fl.federated_zip(after), fl.federated_zip(measured)
        )

    return LearningProcess(initialize, next_round)


__all__ = [
    "ClientResult",
    "ClientWorkProcess",
    "DistributionProcess",
    "FinalizerProcess",
    "LearningAlgorithmState",
    "LearningProcess",
    "LearningProcessOutput",
    "build_apply_optimizer_finalizer",
    "build_broadcast_process",
    "build_model_delta_client_work",
    "compose_learning_process",
]


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []

__getattr__ = answering("fedlearn_edu.tff.learning.templates", __all__)
