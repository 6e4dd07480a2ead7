# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The rounds in our language, as a learner writes and calls them.

A client's part is written in two forms; the federated half is the same. NumPy arrays go
in and come out. Everything is traced anew for each row, so that the time it takes can
be seen; an evaluation is, when it is first asked for.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import fedlearn_edu as fl
from benchmarks import library
from benchmarks.in_tensorflow import descend, loss_of
from benchmarks.models import Loop, Parameters, initial
from benchmarks.workloads import Workload
from fedlearn_edu import tf

_BATCH = fl.to_type(
    OrderedDict(
        x=tf.TensorSpec([None, 784], tf.float32), y=tf.TensorSpec([None], tf.int32)
    )
)
BATCHES = fl.SequenceType(_BATCH)
_MODEL = fl.to_type(
    OrderedDict((name, tf.TensorSpec(part.shape)) for name, part in initial().items())
)


def _batch_parts() -> tuple[Any, Any]:
    """Traces `(<MODEL,BATCH> -> float32)` and `(<MODEL,BATCH,float32> -> MODEL)`."""

    @fl.tf_computation(_MODEL, _BATCH)
    def batch_loss(model: Any, batch: Any) -> Any:
        return loss_of(tuple(model.values()), batch["x"], batch["y"])

    @fl.tf_computation(_MODEL, _BATCH, tf.float32)
    def batch_train(model: Any, batch: Any, rate: Any) -> Any:
        arrays = tuple(model.values())
        stepped = descend(loss_of, arrays, batch["x"], batch["y"], rate)
        return OrderedDict(zip(model, stepped, strict=True))

    return batch_loss, batch_train


# ------------------------------------------------------------------ a client's part


def _train_as_published(batch_train: Any) -> Any:
    """The rate is inserted into every element, as the tutorial does."""

    @fl.federated_computation(_MODEL, tf.float32, BATCHES)
    def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
        insert = fl.tf_computation(
            lambda batches, rate: batches.map(lambda batch: (batch, rate)),
            BATCHES,
            tf.float32,
        )
        pairs = insert(all_batches, learning_rate)

        @fl.federated_computation(_MODEL, pairs.type_signature.element)
        def step(model: Any, batch_and_rate: Any) -> Any:
            batch, rate = batch_and_rate
            return batch_train(model, batch, rate)

        return fl.sequence_reduce(pairs, model, step)

    return local_train


def _evaluate_as_published(batch_loss: Any) -> Any:
    @fl.federated_computation(_MODEL, BATCHES)
    def local_eval(model: Any, all_batches: Any) -> Any:
        insert = fl.tf_computation(
            lambda model, batches: batches.map(lambda batch: (model, batch)),
            _MODEL,
            BATCHES,
        )
        add = fl.tf_computation(lambda a, b: a + b, tf.float32, tf.float32)
        losses = fl.sequence_map(batch_loss, insert(model, all_batches))
        return fl.sequence_reduce(losses, 0.0, add)

    return local_eval


def _train_by_operators(batch_train: Any) -> Any:
    """The function of one batch captures the rate."""

    @fl.federated_computation(_MODEL, tf.float32, BATCHES)
    def local_train(model: Any, learning_rate: Any, all_batches: Any) -> Any:
        @fl.federated_computation(_MODEL, _BATCH)
        def step(model: Any, batch: Any) -> Any:
            return batch_train(model, batch, learning_rate)

        return fl.sequence_reduce(all_batches, model, step)

    return local_train


def _evaluate_by_operators(batch_loss: Any) -> Any:
    @fl.federated_computation(_MODEL, BATCHES)
    def local_eval(model: Any, all_batches: Any) -> Any:
        loss_on = fl.federated_computation(
            lambda batch: batch_loss(model, batch), _BATCH
        )
        return fl.sequence_sum(fl.sequence_map(loss_on, all_batches))

    return local_eval


Form = tuple[Callable[[Any], Any], Callable[[Any], Any]]

AS_PUBLISHED: Form = _train_as_published, _evaluate_as_published
BY_OPERATORS: Form = _train_by_operators, _evaluate_by_operators


# ------------------------------------------------------------------ everybody


def loop(workload: Workload, form: Form, *, placed: bool, fuse: bool) -> Loop:
    """The federated half, on a stack of its own."""
    data = placed_data(workload) if placed else workload.batches
    return loop_in(library.stack(fuse=fuse), data, form)


def loop_in(context: Any, data: Any, form: Form) -> Loop:
    """The same in a context that is given, on data for it."""
    train_form, evaluate_form = form
    names, (batch_loss, batch_train) = list(initial()), _batch_parts()
    at_server, rate_type = map(fl.type_at_server, (_MODEL, tf.float32))
    local_train = train_form(batch_train)

    @fl.federated_computation(at_server, rate_type, fl.type_at_clients(BATCHES))
    def federated_train(model: Any, learning_rate: Any, data: Any) -> Any:
        sent = [fl.federated_broadcast(model), fl.federated_broadcast(learning_rate)]
        return fl.federated_mean(fl.federated_map(local_train, [*sent, data]))

    @cache
    def evaluation() -> Any:
        local_eval = evaluate_form(batch_loss)

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
