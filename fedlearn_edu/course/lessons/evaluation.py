# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Lesson 09b: a federated evaluation, and what a loss was averaged over."""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.lessons.training import (
    BATCH,
    MODEL,
    a_batch,
    a_model,
    images,
    loss,
    softmax,
    three_batches,
    trained,
    unequal_batches,
)
from fedlearn_edu.course.mistakes import looks, raises, typed, usual


@cache
def local_eval() -> Any:
    """`(<MODEL,BATCH*> -> float32)`: the losses of a client's batches, added up."""
    given = softmax()

    @fl.federated_computation(given.MODEL_TYPE, given.LOCAL_DATA_TYPE)
    def local_eval(model: Any, all_batches: Any) -> Any:
        @fl.federated_computation(given.BATCH_TYPE)
        def loss_on(batch: Any) -> Any:
            return given.batch_loss(model, batch)

        return fl.sequence_sum(fl.sequence_map(loss_on, all_batches))

    return local_eval


@cache
def federated_evaluation() -> Any:
    """`(<MODEL@SERVER,{BATCH*}@CLIENTS> -> float32@SERVER)`: the mean over clients."""
    given, evaluate = softmax(), local_eval()

    @fl.federated_computation(
        fl.type_at_server(given.MODEL_TYPE), fl.type_at_clients(given.LOCAL_DATA_TYPE)
    )
    def federated_eval(model: Any, data: Any) -> Any:
        losses = fl.federated_map(evaluate, [fl.federated_broadcast(model), data])
        return fl.federated_mean(losses)

    return federated_eval


def summed(model: Any, batches: Any) -> float:
    """The losses of all batches, added up."""
    return float(sum(loss(model, batch) for batch in batches))


PARAMETER: Final = (
    "this brings a value of its own, which nobody holds: take the parameter that the "
    "server has, and broadcast it",
    raises("has no placement|federated_broadcast needs a federated value"),
)
BROADCAST: Final = (
    "a client takes what `fl.federated_broadcast` returns: the name itself is still "
    "the server's. `data` are at the clients, and need no broadcast",
    raises("are at several placements"),
)
"""Mistakes in any exercise in which a client uses what the server has."""

_EVAL: Final = f"<model={MODEL},all_batches={BATCH}*>"


LOCAL_EVAL = Exercise(
    name="local_eval",
    title="the loss of a model on all of a client's batches",
    points=10,
    want=wants.computation(
        f"({_EVAL} -> float32)", "(MODEL_TYPE, LOCAL_DATA_TYPE -> float32)"
    ),
    reference=local_eval,
    cases=(
        Case("three batches", lambda: (a_model(1), three_batches())),
        Case("one batch", lambda: (a_model(2), [a_batch(0, 1)])),
        Case("batches of unequal size", lambda: (a_model(3), unequal_batches())),
        Case("no batches: a loss of 0", lambda: (a_model(1), [])),
    ),
    mistakes=usual(
        "the sum of the losses is asked for, and no mean: `fl.sequence_sum`",
        lambda model, batches: summed(model, batches) / len(batches),
        lambda model, batches: summed(model, batches) / 10,
        raises("'sequence_mean'"),
        "this counts the batches",
        lambda model, batches: float(len(batches)),
        "you evaluated the model of zeros, not the captured `model`",
        lambda model, batches: summed(a_model(0), batches),
        "you trained before you evaluated; only evaluate",
        lambda model, batches: summed(trained(model, 0.1, batches), batches),
        "this has one loss for each batch; add them up with `sequence_sum`",
        typed(f"({_EVAL} -> float32*)"),
        raises("np.add"),
        "this returns the model; return its loss",
        typed(f"({_EVAL} -> {MODEL})"),
        "`sequence_sum` only adds up: give it `fl.sequence_map(loss_on, all_batches)`",
        raises("SumIncompatible|sequence_sum was called"),
        "`loss_on` gets one batch, of which the loss is `batch_loss(model, batch)`",
        raises("where: +batch_loss's argument|`local_eval` has no answer"),
        "`fl.sequence_map(loss_on, all_batches)` hands each `batch` to `loss_on`; "
        "the model is captured",
        raises("sequence_map (works|cannot)|sequence_reduce cannot|name 'batch' is"),
    ),
    hints=(
        "Two steps: the loss of every batch, then their sum. The model is captured, as "
        "the learning rate was in `local_train`.",
        "The text above names a function for each step: `fl.sequence_map` and "
        "`fl.sequence_sum`. What one batch needs is `batch_loss`, from lesson 9a.",
        "The form:\n"
        "    def loss_on(batch):\n"
        "        return batch_loss(...)\n"
        "\n"
        "    return fl.sequence_sum(fl.sequence_map(...))",
        "Nearly all of it. `sequence_map` takes the function first, the sequence "
        "second:\n"
        "    def loss_on(batch):\n"
        "        return batch_loss(model, batch)\n"
        "\n"
        "    return fl.sequence_sum(fl.sequence_map(...))",
    ),
)


_ASKED: Final = f"<model={MODEL}@SERVER,data={{{BATCH}*}}@CLIENTS>"


def _two_clients() -> Any:
    return [[a_batch(1, 2), a_batch(3)], [a_batch(4, 5, 6)]]


def _unequal_clients() -> Any:
    return [[a_batch(7)], [a_batch(8, 8)], [a_batch(9), a_batch(0, 1), a_batch(2)]]


def _losses(model: Any, data: Any) -> Any:
    return np.array([summed(model, batches) for batches in data])


def _weighted(weigh: Callable[[Any], float]) -> Callable[[Any, Any], Any]:
    """A mean over clients that do not count the same."""
    return lambda model, data: np.average(
        _losses(model, data), weights=list(map(weigh, data))
    )


FEDERATED_EVAL = Exercise(
    name="federated_eval",
    title="the mean over clients of their losses",
    points=15,
    want=wants.computation(
        f"({_ASKED} -> float32@SERVER)",
        "(MODEL_TYPE@SERVER, {LOCAL_DATA_TYPE}@CLIENTS -> float32@SERVER)",
    ),
    reference=federated_evaluation,
    cases=(
        Case("two clients", lambda: (a_model(1), _two_clients())),
        Case("one client", lambda: (a_model(2), [[a_batch(3), a_batch(4)]])),
        Case("three clients, unequal", lambda: (a_model(3), _unequal_clients())),
        Case("a client without batches", lambda: (a_model(1), [[a_batch(5)], []])),
    ),
    mistakes=usual(
        "you added over the clients; take the mean",
        lambda model, data: _losses(model, data).sum(),
        "you weighted the clients by their images; here each counts the same",
        _weighted(images),
        "the losses are still at the clients: take their mean",
        typed(f"({_ASKED} -> {{float32}}@CLIENTS)"),
        "the server now holds every client's loss; it only needs their mean",
        typed(f"({_ASKED} -> float32*@SERVER)"),
        "this returns the model; return its mean loss",
        typed(f"({_ASKED} -> {MODEL}@SERVER)", f"({_ASKED} -> {MODEL}@CLIENTS)"),
        "a client's part is `local_eval`: `batch_loss` and `loss_on` are for a batch, "
        "`local_train` trains, and `evaluate` is a whole evaluation",
        raises(r"where: +batch_loss|name 'loss_on'|takes 3: \[model, learning_rate"),
        raises("the function initialize"),
        looks(lambda answer: "loss_sum" in str(answer.type_signature.result)),
        "do not call `local_eval`: with `fl.federated_map(local_eval, [a, b])` each "
        "client does",
        raises("where: +local_eval's argument"),
        *PARAMETER,
        *BROADCAST,
    ),
    hints=(
        "Three steps: the model goes to the clients, each client evaluates it, the "
        "losses go back.",
        "The text above names one function for each step. What a client does is "
        "`local_eval`, from exercise 1; it takes a model and batches.",
        "The form:\n    losses = fl.federated_map(..., [..., data])\n    return ...",
        "Nearly all of it. What is at the clients, and has to become one number at the "
        "server?\n"
        "    sent = fl.federated_broadcast(model)\n"
        "    losses = fl.federated_map(local_eval, [sent, data])\n"
        "    return ...",
    ),
)


def _two_means(losses: Any, counts: Any) -> tuple[Any, Any]:
    return np.mean(losses), np.sum(counts * losses) / np.sum(counts)


def _both(answer: Any, losses: Any, counts: Any) -> Any:
    per_client, per_example = answer(losses, counts)
    return float(per_client), float(per_example)


def _gives_two(
    per_client: Callable[[Any, Any], Any] = lambda losses, counts: np.mean(losses),
    per_example: Callable[[Any, Any], Any] = lambda losses, counts: np.average(
        losses, weights=counts
    ),
) -> Callable[[Any, Any], Any]:
    """Two means, of which one can be a usual mistake."""
    return lambda losses, counts: (
        float(per_client(losses, counts)),
        float(per_example(losses, counts)),
    )


TWO_MEANS = Exercise(
    name="two_means",
    title="the loss per client, and per example",
    points=10,
    want=wants.function(2),
    reference=lambda: _two_means,
    cases=(
        Case(
            "two clients, with one image and three",
            (np.array([4.0, 1.0]), np.array([1, 3])),
            do=_both,
        ),
        Case(
            "three clients of the same size",
            (np.array([0.5, 2.0, 3.5]), np.array([7, 7, 7])),
            do=_both,
        ),
        Case(
            "a client with nearly all images",
            (np.array([0.1, 5.0, 6.0, 9.0]), np.array([970, 10, 10, 10])),
            do=_both,
        ),
        Case("a single client", (np.array([0.25]), np.array([12])), do=_both),
    ),
    mistakes=usual(
        "the two are swapped: the loss per client comes first",
        lambda losses, counts: _two_means(losses, counts)[::-1],
        "the second one counts each client the same, too: weight it by `counts`",
        _gives_two(per_example=lambda losses, counts: np.mean(losses)),
        "the first one is weighted, too: per client, each client counts the same",
        _gives_two(lambda losses, counts: np.average(losses, weights=counts)),
        "`counts` are only the weights: what is averaged are the losses",
        _gives_two(
            per_example=lambda losses, counts: np.average(counts, weights=losses)
        ),
        _gives_two(per_example=lambda losses, counts: np.mean(counts)),
        "the losses in the second one are not multiplied by `counts`",
        _gives_two(per_example=lambda losses, counts: np.sum(losses)),
        _gives_two(per_example=lambda losses, counts: np.sum(losses) / np.sum(counts)),
        "per client, divide the sum of `losses` by `len(losses)`; per example, that of "
        "`counts * losses` by `np.sum(counts)`, once",
        _gives_two(per_example=lambda losses, counts: np.mean(counts * losses)),
        _gives_two(per_example=lambda losses, counts: np.sum(counts * losses)),
        _gives_two(
            per_example=lambda losses, counts: np.mean(counts * losses) / np.sum(counts)
        ),
        _gives_two(lambda losses, counts: np.sum(losses)),
        _gives_two(lambda losses, counts: np.sum(losses) / 10),
        _gives_two(lambda losses, counts: np.sum(losses) / np.sum(counts)),
        _gives_two(
            lambda losses, counts: np.sum(losses),
            lambda losses, counts: np.sum(counts * losses),
        ),
        "`losses` are means already: multiply by `counts`, do not divide",
        _gives_two(per_example=lambda losses, counts: np.mean(losses / counts)),
        _gives_two(
            per_example=lambda losses, counts: np.sum(losses / counts) / np.sum(counts)
        ),
        "a weighted mean is `np.average(losses, weights=counts)`: its second argument "
        "is the axis, and `np.mean` takes no weights",
        raises("AxisError: axis: |argument 'weights'"),
        "these are arrays in one place: NumPy averages them, not `fl`",
        raises("federated_mean needs"),
        "two numbers are asked for: `return per_client, per_example`",
        raises("unpack|not iterable|could not convert string"),
        "two single numbers are asked for, and one of these is an array: add it up",
        raises(r"only .*(scalar|0-dim|length-1|size-1)"),
    ),
    hints=(
        "In the first mean every client counts once. In the second, a client counts as "
        "often as it has images.",
        "The formulas are above the exercise; `np.mean` is the first. The explorer's "
        "numbers are the first case: 2.5 and 1.75.",
        "The form:\n"
        "    per_client = ...\n"
        "    per_example = np.sum(...) / ...\n"
        "    return per_client, per_example",
        "Nearly all of it. A client's mean loss times its number of images is the sum "
        "of its losses:\n"
        "    per_client = np.mean(losses)\n"
        "    per_example = np.sum(counts * losses) / ...\n"
        "    return per_client, per_example",
    ),
)


LESSON: Final = Lesson(
    name="09b_federated_evaluation",
    title="How good is a model for everybody?",
    minutes=45,
    goals=(
        "let a client evaluate a model on all its data",
        "write a federated evaluation",
        "tell what a loss was averaged over, and when that fools you",
    ),
    needs="lesson 9a",
    exercises=(LOCAL_EVAL, FEDERATED_EVAL, TWO_MEANS),
    outcomes={"lone": "above 23", "halves": "double", "unequal": "about half"},
)
