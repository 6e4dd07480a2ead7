# SPDX-License-Identifier: Apache-2.0
"""Lesson 09, all clients: the mean of what a model costs them."""

from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.lessons.evaluation import plain, program
from fedlearn_edu.course.lessons.evaluation.plain import a_batch, a_model
from fedlearn_edu.course.mistakes import gives, typed

_ASKED: Final = f"<model={program.MODEL}@SERVER,data={{{program.BATCH}*}}@CLIENTS>"


def _two() -> Any:
    return [[a_batch(1, 2), a_batch(3)], [a_batch(4, 5, 6)]]


def _three() -> Any:
    return [[a_batch(7)], [a_batch(8, 8)], [a_batch(9), a_batch(0, 1), a_batch(2)]]


def _losses(model: Any, data: Any) -> Any:
    return np.array([plain.summed(model, batches) for batches in data])


def _by_images(model: Any, data: Any) -> Any:
    images = [sum(len(each["y"]) for each in batches) for batches in data]
    return np.average(_losses(model, data), weights=images)


def _by_batches(model: Any, data: Any) -> Any:
    return np.average(_losses(model, data), weights=[len(each) for each in data])


def _per_batch(model: Any, data: Any) -> Any:
    return _losses(model, data).sum() / sum(len(batches) for batches in data)


FEDERATED_EVAL = Exercise(
    name="federated_eval",
    title="the mean over clients of what a model costs",
    points=15,
    want=wants.computation(f"({_ASKED} -> float32@SERVER)"),
    reference=program.federated_evaluation,
    cases=(
        Case("two clients", lambda: (a_model(1), _two())),
        Case("one client", lambda: (a_model(2), [[a_batch(3), a_batch(4)]])),
        Case("three clients, unequal", lambda: (a_model(3), _three())),
        Case("a client without batches", lambda: (a_model(1), [[a_batch(5)], []])),
    ),
    mistakes=(
        gives(
            "you added over the clients; take the mean",
            lambda model, data: _losses(model, data).sum(),
        ),
        gives(
            "you averaged over clients and over their batches; each client counts the "
            "same here",
            _per_batch,
        ),
        gives(
            "you weighted the clients by their images; here each counts the same",
            _by_images,
        ),
        gives(
            "you weighted the clients by their batches; here each counts the same",
            _by_batches,
        ),
        gives(
            "this is the loss of the worst client",
            lambda model, data: _losses(model, data).max(),
        ),
        gives(
            "this is the loss of the best client",
            lambda model, data: _losses(model, data).min(),
        ),
        gives(
            "you judged a model of zeros, not the one of the server",
            lambda model, data: _losses(a_model(0), data).mean(),
        ),
        gives(
            "you weighted the losses by themselves: give the mean one argument",
            lambda model, data: np.average(
                _losses(model, data), weights=_losses(model, data)
            ),
        ),
        typed(
            "the losses are still at the clients: take their mean",
            f"({_ASKED} -> {{float32}}@CLIENTS)",
        ),
        typed(
            "the server now holds every client's loss; it only needs their mean",
            f"({_ASKED} -> float32*@SERVER)",
        ),
        typed(
            "this returns the model; return what it costs",
            f"({_ASKED} -> {program.MODEL}@SERVER)",
            f"({_ASKED} -> {program.MODEL}@CLIENTS)",
        ),
    ),
    hints=(
        "Three moves: the model goes to the clients, each client judges it, "
        "the losses come back.",
        "`federated_broadcast(model)` is the model at the clients. "
        "`federated_map(f, [a, b])` gives both to f at each client.",
        "Fill the gaps:\n"
        "    losses = fl.federated_map(..., [fl.federated_broadcast(...), data])\n"
        "    return fl.federated_...(losses)",
    ),
)
