# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The rounds in our language, as a learner writes and calls them.

A client's part can be written in several ways, which `FORMS` lists; the federated half
is the same. NumPy arrays go in and come out. Everything is traced anew for each row, so
that the time it takes can be seen; an evaluation is, when it is first asked for.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, final
from weakref import WeakKeyDictionary

import fedlearn_edu as fl
from benchmarks import library
from benchmarks.losses import LOSSES, descend
from benchmarks.models import Loop, Parameters, initial
from benchmarks.workloads import Workload
from fedlearn_edu import tf

_BATCH = fl.to_type(
    OrderedDict(
        x=tf.TensorSpec([None, 784], tf.float32), y=tf.TensorSpec([None], tf.int32)
    )
)
BATCHES = fl.SequenceType(_BATCH)


@final
@dataclass(frozen=True)
class Parts:
    """What one batch does to a model, from which a client's part is built."""

    model: fl.Type
    loss: fl.Computation
    step: fl.Computation


def parts(name: str) -> Parts:
    """Traces `(<MODEL,BATCH> -> float32)` and `(<MODEL,BATCH,float32> -> MODEL)`."""
    loss = LOSSES[name]
    specs = ((n, tf.TensorSpec(p.shape)) for n, p in initial(name).items())
    model_type = fl.to_type(OrderedDict(specs))

    @fl.tf_computation(model_type, _BATCH)
    def batch_loss(model: Any, batch: Any) -> Any:
        return loss(tuple(model.values()), batch["x"], batch["y"])

    @fl.tf_computation(model_type, _BATCH, tf.float32)
    def batch_train(model: Any, batch: Any, rate: Any) -> Any:
        arrays = tuple(model.values())
        stepped = descend(loss, arrays, batch["x"], batch["y"], rate)
        return OrderedDict(zip(model, stepped, strict=True))

    return Parts(model_type, batch_loss, batch_train)


# ---------------------------------------------------------------- a client's training


def _train_as_published(given: Parts) -> Any:
    """The rate is inserted into every element, as the tutorial does."""

    @fl.federated_computation(given.model, tf.float32, BATCHES)
    def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
        insert = fl.tf_computation(
            lambda batches, rate: batches.map(lambda batch: (batch, rate)),
            BATCHES,
            tf.float32,
        )
        pairs = insert(all_batches, learning_rate)

        @fl.federated_computation(given.model, pairs.type_signature.element)
        def step(model: Any, batch_and_rate: Any) -> Any:
            batch, rate = batch_and_rate
            return given.step(model, batch, rate)

        return fl.sequence_reduce(pairs, model, step)

    return local_train


def _train_by_sequence_operators(given: Parts) -> Any:
    """The function of one batch captures the rate."""

    @fl.federated_computation(given.model, tf.float32, BATCHES)
    def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
        @fl.federated_computation(given.model, _BATCH)
        def step(model: Any, batch: Any) -> Any:
            return given.step(model, batch, learning_rate)

        return fl.sequence_reduce(all_batches, model, step)

    return local_train


def _train_by_map_and_reduce(given: Parts) -> Any:
    """TensorFlow code alone: the rate goes into every element of a dataset."""

    @fl.tf_computation(given.model, tf.float32, BATCHES)
    def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
        pairs = all_batches.map(lambda batch: (batch, learning_rate))
        return pairs.reduce(model, lambda model, pair: given.step(model, *pair))

    return local_train


def _train_by_reduce(given: Parts) -> Any:
    """TensorFlow code alone: one `Dataset.reduce`."""

    @fl.tf_computation(given.model, tf.float32, BATCHES)
    def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
        return all_batches.reduce(
            model, lambda model, batch: given.step(model, batch, learning_rate)
        )

    return local_train


# ---------------------------------------------------------------- and its evaluation


def _evaluate_as_published(given: Parts) -> Any:
    @fl.federated_computation(given.model, BATCHES)
    def local_eval(model: Any, all_batches: Any) -> Any:
        insert = fl.tf_computation(
            lambda model, batches: batches.map(lambda batch: (model, batch)),
            given.model,
            BATCHES,
        )
        add = fl.tf_computation(lambda a, b: a + b, tf.float32, tf.float32)
        losses = fl.sequence_map(given.loss, insert(model, all_batches))
        return fl.sequence_reduce(losses, 0.0, add)

    return local_eval


def _evaluate_by_sequence_operators(given: Parts) -> Any:
    @fl.federated_computation(given.model, BATCHES)
    def local_eval(model: Any, all_batches: Any) -> Any:
        loss_on = fl.federated_computation(
            lambda batch: given.loss(model, batch), _BATCH
        )
        return fl.sequence_sum(fl.sequence_map(loss_on, all_batches))

    return local_eval


def _evaluate_by_map_and_reduce(given: Parts) -> Any:
    @fl.tf_computation(given.model, BATCHES)
    def local_eval(model: Any, all_batches: Any) -> Any:
        losses = all_batches.map(lambda batch: given.loss(model, batch))
        return losses.reduce(0.0, lambda total, loss: total + loss)

    return local_eval


def _evaluate_by_reduce(given: Parts) -> Any:
    @fl.tf_computation(given.model, BATCHES)
    def local_eval(model: Any, all_batches: Any) -> Any:
        return all_batches.reduce(
            0.0, lambda total, batch: total + given.loss(model, batch)
        )

    return local_eval


Form = tuple[Callable[[Parts], Any], Callable[[Parts], Any]]

FORMS: dict[str, Form] = {
    "tutorial": (_train_as_published, _evaluate_as_published),
    "operators": (_train_by_sequence_operators, _evaluate_by_sequence_operators),
    "map, reduce": (_train_by_map_and_reduce, _evaluate_by_map_and_reduce),
    "reduce": (_train_by_reduce, _evaluate_by_reduce),
}


# ---------------------------------------------------------------- everybody


def loop(
    workload: Workload, form: str, *, placed: bool, fuse: bool, max_fanout: int = 100
) -> Loop:
    """The federated half, on a stack of its own."""
    data = placed_data(workload) if placed else workload.batches
    context = library.stack(fuse=fuse, max_fanout=max_fanout)
    return loop_in(context, data, workload.model, form)


def loop_in(context: Any, data: Any, model: str, form: str) -> Loop:
    """The same in a context that is given, on data for it."""
    train_form, evaluate_form = FORMS[form]
    names = list(initial(model))
    given = parts(model)
    at_server, rate_type = map(fl.type_at_server, (given.model, tf.float32))
    local_train = train_form(given)

    @fl.federated_computation(at_server, rate_type, fl.type_at_clients(BATCHES))
    def federated_train(model: Any, learning_rate: Any, data: Any) -> Any:
        sent = [fl.federated_broadcast(model), fl.federated_broadcast(learning_rate)]
        return fl.federated_mean(fl.federated_map(local_train, [*sent, data]))

    @cache
    def evaluation() -> Any:
        local_eval = evaluate_form(given)

        @fl.federated_computation(at_server, fl.type_at_clients(BATCHES))
        def federated_eval(model: Any, data: Any) -> Any:
            sent = fl.federated_broadcast(model)
            return fl.federated_mean(fl.federated_map(local_eval, [sent, data]))

        return federated_eval

    def train(model: Parameters, rate: float) -> Parameters:
        with context:
            named = OrderedDict(zip(names, model, strict=True))
            return tuple(federated_train(named, rate, data).values())

    def evaluate(model: Parameters) -> float:
        federated_eval = evaluation()
        with context:
            named = OrderedDict(zip(names, model, strict=True))
            return float(federated_eval(named, data))

    return Loop(train, evaluate)


def fed_avg(workload: Workload) -> Loop:
    """The library's, in TensorFlow."""
    return library.loop(workload, library.stack(), placed_data(workload))


_PLACED: WeakKeyDictionary[Workload, fl.FederatedValue] = WeakKeyDictionary()


def placed_data(workload: Workload) -> fl.FederatedValue:
    """A workload's data, placed once for all rows, and gone when it is."""
    if workload not in _PLACED:
        _PLACED[workload] = fl.place(workload.batches, fl.CLIENTS, BATCHES)
    return _PLACED[workload]
