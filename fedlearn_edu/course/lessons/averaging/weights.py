# SPDX-License-Identifier: Apache-2.0
"""Lesson 10: a round in which every image counts the same, not every client."""

from typing import Any

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.lessons.averaging import plain, program
from fedlearn_edu.course.lessons.averaging.plain import (
    a_round,
    images,
    two_clients,
    unequal_clients,
)
from fedlearn_edu.course.lessons.averaging.rounds import ROUND
from fedlearn_edu.course.lessons.evaluation.plain import a_batch, a_model
from fedlearn_edu.course.lessons.evaluation.program import MODEL
from fedlearn_edu.course.mistakes import gives, typed


def _by_few(batches: Any) -> float:
    return 1 / images(batches)


WEIGHTED_TRAIN = Exercise(
    name="weighted_train",
    title="a round in which every image counts the same",
    points=15,
    want=wants.computation(f"({ROUND} -> {MODEL}@SERVER)"),
    reference=program.weighted_train,
    cases=(
        Case("unequal clients", lambda: (a_model(1), 0.03, unequal_clients())),
        Case("two clients", lambda: (a_model(0), 0.02, two_clients())),
        Case("one client", lambda: (a_model(2), 0.05, [[a_batch(3, 9)]])),
        Case("a client without images", lambda: (a_model(3), 0.5, [[a_batch(6)], []])),
    ),
    mistakes=(
        gives(
            "you averaged without weights of their own: each client counts the same",
            a_round,
        ),
        gives(
            "you weighted by the number of batches, and not of images",
            lambda model, rate, data: a_round(model, rate, data, len),
        ),
        gives(
            "you multiplied by the weights and added up, but did not divide by their "
            "sum: `federated_mean` takes the weights and does both",
            lambda model, rate, data: plain.added(model, rate, data, images),
        ),
        gives("you added the models up; take their weighted mean", plain.added),
        gives(
            "those with few images count most: the weight is the number of images",
            lambda model, rate, data: a_round(model, rate, data, _by_few),
        ),
        gives(
            "the weights are squared: they were used twice",
            lambda model, rate, data: a_round(
                model, rate, data, lambda batches: images(batches) ** 2
            ),
        ),
        gives(
            "the clients do not use the server's learning rate: theirs is 0.1",
            lambda model, rate, data: a_round(model, 0.1, data, images),
        ),
        gives(
            "nobody trained: the server has its own model back",
            lambda model, rate, data: model,
        ),
        typed(
            "these are the clients' models, and they are still at the clients: "
            "take their weighted mean",
            f"({ROUND} -> {{{MODEL}}}@CLIENTS)",
        ),
        typed(
            "this is a number of images; return the mean of the models",
            f"({ROUND} -> float32@SERVER)",
            f"({ROUND} -> {{float32}}@CLIENTS)",
        ),
        typed(
            "the server now holds every client's model; it only needs their mean",
            f"({ROUND} -> {MODEL}*@SERVER)",
        ),
    ),
    hints=(
        "As in `federated_train`, and `federated_mean` has a second argument.",
        "w = Σ n_k · w_k / Σ n_k, with n_k images at client k: "
        "`federated_map(images_of, data)`.",
        "Fill the gaps:\n"
        "    sent = [fl.federated_broadcast(model), fl.federated_broadcast(...)]\n"
        "    trained = fl.federated_map(local_train, [*sent, data])\n"
        "    weights = fl.federated_map(..., data)\n"
        "    return fl.federated_mean(trained, ...)",
    ),
)
