# SPDX-License-Identifier: Apache-2.0
"""Lesson 10: one round of federated averaging, and many of them."""

from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Attempt, Case, Exercise, Mistake
from fedlearn_edu.course.lessons.averaging import plain, program
from fedlearn_edu.course.lessons.averaging.plain import (
    a_round,
    decayed,
    rounds_of,
    two_clients,
    unequal_clients,
)
from fedlearn_edu.course.lessons.evaluation.plain import a_batch, a_model
from fedlearn_edu.course.lessons.evaluation.program import BATCH, MODEL
from fedlearn_edu.course.mistakes import gives, raises, typed

ROUND: Final = (
    f"<model={MODEL}@SERVER,learning_rate=float32@SERVER,data={{{BATCH}*}}@CLIENTS>"
)

FEDERATED_TRAIN = Exercise(
    name="federated_train",
    title="one round of federated averaging",
    points=15,
    want=wants.computation(f"({ROUND} -> {MODEL}@SERVER)"),
    reference=program.federated_train,
    cases=(
        Case("two clients", lambda: (a_model(1), 0.03, two_clients())),
        Case("one client", lambda: (a_model(0), 0.05, [[a_batch(3, 9)]])),
        Case("three clients, unequal", lambda: (a_model(2), 0.02, unequal_clients())),
        Case("a client without batches", lambda: (a_model(3), 0.5, [[a_batch(6)], []])),
    ),
    mistakes=(
        gives("you added the models up; take their mean", plain.added),
        gives(
            "every client trained twice in a round",
            lambda model, rate, data: a_round(
                model, rate, [batches + batches for batches in data]
            ),
        ),
        gives(
            "you weighted the clients by their images; here each counts the same",
            lambda model, rate, data: a_round(model, rate, data, plain.images),
        ),
        gives(
            "you weighted the clients by their batches; here each counts the same",
            lambda model, rate, data: a_round(model, rate, data, len),
        ),
        gives(
            "the clients do not use the server's learning rate: theirs is 0.1. "
            "Broadcast it, as you do with the model",
            lambda model, rate, data: a_round(model, 0.1, data),
        ),
        gives(
            "the clients began with a model of zeros, not with that of the server",
            lambda model, rate, data: a_round(plain.zeros(), rate, data),
        ),
        gives(
            "nobody trained: the server has its own model back",
            lambda model, rate, data: model,
        ),
        typed(
            "these are the clients' models, and they are still at the clients: "
            "take their mean",
            f"({ROUND} -> {{{MODEL}}}@CLIENTS)",
        ),
        typed(
            "the server now holds every client's model; it only needs their mean",
            f"({ROUND} -> {MODEL}*@SERVER)",
        ),
        typed(
            "this is a loss; a round returns a model", f"({ROUND} -> float32@SERVER)"
        ),
        typed(
            "this is one model at the clients, and the same at all of them: return the "
            "mean of the trained ones, which is at the server, and do not send it",
            f"({ROUND} -> {MODEL}@CLIENTS)",
        ),
    ),
    hints=(
        "It is built like `federated_eval`, with `local_train` in place of "
        "`local_eval`. What does `local_train` need that only the server has?",
        "Broadcast the model and the learning rate, map `local_train` over three "
        "things, take the mean of the models.",
        "Fill the gaps:\n"
        "    sent = [fl.federated_broadcast(model), fl.federated_broadcast(...)]\n"
        "    trained = fl.federated_map(local_train, [*sent, ...])\n"
        "    return fl.federated_...(trained)",
    ),
)


def _miscounted(attempt: Attempt) -> bool:
    return isinstance(attempt.got, list) and len(attempt.got) != attempt.inputs[3] + 1


def _restarted(model: Any, data: Any, rate: float, rounds: int) -> Any:
    made = [a_round(model, each, data) for each in decayed(rate, rounds)]
    return [model, *made]


TRAIN_ROUNDS = Exercise(
    name="train_rounds",
    title="rounds with a learning rate that shrinks",
    points=10,
    want=wants.function(4),
    reference=program.train_rounds,
    cases=(
        Case("two rounds", lambda: (a_model(0), two_clients(), 0.03, 2)),
        Case("one round", lambda: (a_model(1), two_clients(), 0.02, 1)),
        Case("three rounds", lambda: (a_model(2), [[a_batch(4)]], 0.05, 3)),
        Case("no rounds: the model it got", lambda: (a_model(3), [], 0.5, 0)),
    ),
    mistakes=(
        gives(
            "the learning rate never shrinks: times 0.9 after each round",
            lambda m, d, rate, rounds: rounds_of(m, d, decayed(rate, rounds, by=1.0)),
        ),
        gives(
            "the learning rate shrinks too early: the first round has all of it",
            lambda m, d, rate, rounds: rounds_of(m, d, decayed(rate, rounds, first=1)),
        ),
        gives(
            "the learning rate grows: multiply by 0.9, do not divide",
            lambda m, d, rate, rounds: rounds_of(
                m, d, decayed(rate, rounds, by=1 / 0.9)
            ),
        ),
        gives(
            "the learning rate shrinks by more in each round: 0.9**k times the *first* "
            "rate, or 0.9 times the last one",
            lambda m, d, rate, rounds: rounds_of(
                m, d, np.cumprod([rate, *decayed(1.0, rounds - 1, first=1)])
            ),
        ),
        gives(
            "the learning rate goes by factors: times 0.9, not minus 0.9",
            lambda m, d, rate, rounds: rounds_of(m, d, rate - 0.9 * np.arange(rounds)),
        ),
        gives(
            "this is 0.9 times the number of the round; each further round has the "
            "rate of the one before, times 0.9",
            lambda m, d, rate, rounds: rounds_of(
                m, d, rate * 0.9 * np.arange(1, rounds + 1)
            ),
        ),
        gives(
            "every round has the rate 0.1; use `learning_rate`",
            lambda m, d, rate, rounds: rounds_of(m, d, [0.1] * rounds),
        ),
        gives(
            "every round began anew with the first model; go on with the last one",
            _restarted,
        ),
        gives(
            "this is the last model; return the list of all",
            lambda m, d, rate, rounds: rounds_of(m, d, decayed(rate, rounds))[-1],
        ),
        gives(
            "the model before the first round is missing",
            lambda m, d, rate, rounds: rounds_of(m, d, decayed(rate, rounds))[1:],
        ),
        Mistake(
            "count the models: one for each round, and the first one before them; the "
            "`return` comes after the loop",
            _miscounted,
        ),
        gives(
            "all models are the first one: what do you keep?",
            lambda model, data, rate, rounds: [model] * (rounds + 1),
        ),
        raises(
            "`federated_train` takes the model, then the learning rate, then the data",
            "Mismatch|Cardinality|Conversion",
        ),
    ),
    hints=(
        "A list that begins with `model`, and a loop. Each round starts from the last "
        "model of the list.",
        "Round 1 has the rate r, round 2 has 0.9 · r, round 3 has 0.81 · r.",
        "Fill the gaps:\n"
        "    models = [model]\n"
        "    for _ in range(rounds):\n"
        "        models.append(federated_train(models[-1], ..., data))\n"
        "        learning_rate *= ...\n"
        "    return models",
    ),
)
