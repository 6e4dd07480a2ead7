# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Lesson 10: federated averaging, from one round to all that is published of it."""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.capabilities import has_tensorflow
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.lessons.training import (
    BATCH,
    BATCH_TYPE,
    CLIENT_DATA_TYPE,
    FLOAT64,
    LOCAL_DATA_TYPE,
    MODEL,
    MODEL_TYPE,
    SERVER_MODEL_TYPE,
    a_batch,
    a_model,
    images,
    in_right,
    local_train,
    scores,
    trained,
    without_bias,
)
from fedlearn_edu.course.mistakes import looks, raises, returns, typed, usual

SERVER_RATE_TYPE = fl.type_at_server(np.float32)


@cache
def federated_train() -> Any:
    """`(<MODEL@SERVER,float32@SERVER,{BATCH*}@CLIENTS> -> MODEL@SERVER)`: one round."""
    train = local_train()

    @fl.federated_computation(SERVER_MODEL_TYPE, SERVER_RATE_TYPE, CLIENT_DATA_TYPE)
    def federated_train(model: Any, learning_rate: Any, data: Any) -> Any:
        sent = [fl.federated_broadcast(model), fl.federated_broadcast(learning_rate)]
        return fl.federated_mean(fl.federated_map(train, [*sent, data]))

    return federated_train


@cache
def train_rounds() -> Callable[..., Any]:
    """The models before the first round, and after each."""
    train = federated_train()

    def train_rounds(model: Any, data: Any, learning_rate: float, rounds: int) -> Any:
        models = [model]
        for number in range(rounds):
            models.append(train(models[-1], learning_rate * 0.9**number, data))
        return models

    return train_rounds


@cache
def batch_hits() -> Any:
    """`(<MODEL,BATCH> -> float32)`: how many images are read correctly."""
    return fl.np_computation(
        lambda model, batch: np.float32(_hits(model, batch).sum()),
        MODEL_TYPE,
        BATCH_TYPE,
    )


@cache
def weighted_train() -> Any:
    """As `federated_train`, with each client's number of images as its weight."""
    train = local_train()
    count = fl.np_computation(lambda batch: np.float32(len(batch["y"])), BATCH_TYPE)

    @fl.federated_computation(LOCAL_DATA_TYPE)
    def images_of(all_batches: Any) -> Any:
        return fl.sequence_sum(fl.sequence_map(count, all_batches))

    @fl.federated_computation(SERVER_MODEL_TYPE, SERVER_RATE_TYPE, CLIENT_DATA_TYPE)
    def weighted_train(model: Any, learning_rate: Any, data: Any) -> Any:
        sent = [fl.federated_broadcast(model), fl.federated_broadcast(learning_rate)]
        trained = fl.federated_map(train, [*sent, data])
        return fl.federated_mean(trained, fl.federated_map(images_of, data))

    return weighted_train


Weigh = Callable[[Any], float]


def alike(batches: Any) -> float:
    """Every client counts the same."""
    return 1.0


def added(model: Any, rate: float, data: Any, weigh: Weigh = alike) -> Any:
    """The sum of the clients' models, each times its weight."""
    found = [(weigh(batches), trained(model, rate, batches)) for batches in data]
    return {name: sum(weight * one[name] for weight, one in found) for name in model}


def a_round(model: Any, rate: float, data: Any, weigh: Weigh = alike) -> Any:
    """The model after a round of federated averaging."""
    total = sum(weigh(batches) for batches in data)
    return over(added(model, rate, data, weigh), total)


def over(model: Any, number: float) -> Any:
    """A model, all its numbers divided by this one."""
    return {name: part / number for name, part in model.items()}


def two_clients() -> Any:
    """Two clients, three batches, five images."""
    return [[a_batch(1, 2), a_batch(3)], [a_batch(4, 5)]]


def unequal_clients() -> Any:
    """Three clients of one, two and six images, in one, one and three batches."""
    return [
        [a_batch(7)],
        [a_batch(8, 8)],
        [a_batch(9), a_batch(0, 1, 5), a_batch(2, 6)],
    ]


def rounds_of(model: Any, data: Any, rates: Any) -> list[Any]:
    """The models before the first round, and after each."""
    models = [model]
    for rate in rates:
        models.append(a_round(models[-1], rate, data))
    return models


def decayed(rate: float, rounds: int, first: int = 0, by: float = 0.9) -> Any:
    """A learning rate for each round."""
    return rate * by ** np.arange(first, first + rounds)


ROUND: Final = (
    f"<model={MODEL}@SERVER,learning_rate=float32@SERVER,data={{{BATCH}*}}@CLIENTS>"
)

FEDERATED_TRAIN = Exercise(
    name="federated_train",
    title="one round of federated averaging",
    points=15,
    want=wants.computation(f"({ROUND} -> {MODEL}@SERVER)"),
    reference=federated_train,
    cases=(
        Case("two clients", lambda: (a_model(1), 0.03, two_clients())),
        Case("one client", lambda: (a_model(0), 0.05, [[a_batch(3, 9)]])),
        Case("three clients, unequal", lambda: (a_model(2), 0.02, unequal_clients())),
        Case("a client without batches", lambda: (a_model(3), 0.5, [[a_batch(6)], []])),
    ),
    mistakes=usual(
        "you added the models up; take their mean",
        added,
        "you divided by 10, but a program does not know how many clients there will be",
        lambda model, rate, data: over(added(model, rate, data), 10),
        "every client trained twice in a round",
        lambda model, rate, data: a_round(
            model, rate, [batches + batches for batches in data]
        ),
        "you weighted the clients by their images; here each counts the same",
        lambda model, rate, data: a_round(model, rate, data, images),
        "you weighted the clients by their batches; here each counts the same",
        lambda model, rate, data: a_round(model, rate, data, len),
        "the clients do not use the server's learning rate: theirs is 0.1. Broadcast "
        "it, as you do with the model",
        lambda model, rate, data: a_round(model, 0.1, data),
        "the clients began with a model of zeros, not with that of the server",
        lambda model, rate, data: a_round(a_model(0), rate, data),
        "nobody trained: the server has its own model back",
        lambda model, rate, data: model,
        "these are the clients' models, and they are still at the clients: take their "
        "mean",
        typed(f"({ROUND} -> {{{MODEL}}}@CLIENTS)"),
        "the server now holds every client's model; it only needs their mean",
        typed(f"({ROUND} -> {MODEL}*@SERVER)"),
        "this is a loss; a round returns a model",
        typed(f"({ROUND} -> float32@SERVER)"),
        "this is one model at the clients, and the same at all of them: return the "
        "mean of the trained ones, which is at the server, and do not send it",
        typed(f"({ROUND} -> {MODEL}@CLIENTS)"),
        "the data are at the clients already, and stay there: broadcast only what the "
        "server has",
        raises("federated_broadcast works on"),
        "`batch_train` is a step on one batch, and a client has many: `local_train`",
        raises("where: +batch_train"),
    ),
    hints=(
        "A round has three parts: the server sends, each client trains, the server "
        "receives a mean. What does `local_train` need that only the server has?",
        "`federated_eval` in lesson 09b is built in the same way, with `local_eval`. "
        "Here the model and the learning rate are broadcast, and `local_train` takes "
        "three arguments.",
        "Broadcast, map, mean:\n"
        "    sent = [fl.federated_broadcast(...), fl.federated_broadcast(...)]\n"
        "    trained = fl.federated_map(local_train, [*sent, ...])\n"
        "    return fl.federated_mean(...)",
        "Only the clients' own argument is missing:\n"
        "    model = fl.federated_broadcast(model)\n"
        "    learning_rate = fl.federated_broadcast(learning_rate)\n"
        "    trained = fl.federated_map(local_train, [model, learning_rate, ...])\n"
        "    return fl.federated_mean(trained)",
    ),
)


TRAIN_ROUNDS = Exercise(
    name="train_rounds",
    title="rounds with a learning rate that shrinks",
    points=10,
    want=wants.function(4),
    reference=train_rounds,
    cases=(
        Case("two rounds", lambda: (a_model(0), two_clients(), 0.03, 2)),
        Case("one round", lambda: (a_model(1), two_clients(), 0.02, 1)),
        Case("three rounds", lambda: (a_model(2), [[a_batch(4)]], 0.05, 3)),
        Case("no rounds: the model it got", lambda: (a_model(3), [], 0.5, 0)),
    ),
    mistakes=usual(
        "the learning rate never shrinks: times 0.9 after each round",
        lambda m, d, rate, rounds: rounds_of(m, d, decayed(rate, rounds, by=1.0)),
        "the learning rate shrinks too early: the first round has all of it",
        lambda m, d, rate, rounds: rounds_of(m, d, decayed(rate, rounds, first=1)),
        "the learning rate grows: multiply by 0.9, do not divide",
        lambda m, d, rate, rounds: rounds_of(m, d, decayed(rate, rounds, by=1 / 0.9)),
        "the learning rate shrinks by more in each round: 0.9**k times the *first* "
        "rate, or 0.9 times the last one",
        lambda m, d, rate, rounds: rounds_of(
            m, d, np.cumprod([rate, *decayed(1.0, rounds - 1, first=1)])
        ),
        "the learning rate goes by factors: times 0.9, not minus 0.9",
        lambda m, d, rate, rounds: rounds_of(m, d, rate - 0.9 * np.arange(rounds)),
        "this is 0.9 times the number of the round; each further round has the rate of "
        "the one before, times 0.9",
        lambda m, d, rate, rounds: rounds_of(
            m, d, rate * 0.9 * np.arange(1, rounds + 1)
        ),
        "this is 0.9 times the number of rounds before, so the first round has the "
        "rate 0: it has all of it, each further one 0.9 times that of the one before",
        lambda m, d, rate, rounds: rounds_of(m, d, rate * 0.9 * np.arange(rounds)),
        "every round has the rate 0.1; use `learning_rate`",
        lambda m, d, rate, rounds: rounds_of(m, d, [0.1] * rounds),
        "every round began anew with the first model; go on with the last one",
        lambda m, d, rate, rounds: [
            m,
            *(a_round(m, each, d) for each in decayed(rate, rounds)),
        ],
        "only the first client trained: `federated_train` takes the data of all",
        lambda m, d, rate, rounds: rounds_of(m, d[:1], decayed(rate, rounds)),
        "this is the last model; return the list of all",
        lambda m, d, rate, rounds: rounds_of(m, d, decayed(rate, rounds))[-1],
        "the model before the first round is missing",
        lambda m, d, rate, rounds: rounds_of(m, d, decayed(rate, rounds))[1:],
        "count the models: one for each round, and the first one before them; the "
        "`return` comes after the loop",
        returns(
            lambda got, *inputs: isinstance(got, list) and len(got) != inputs[3] + 1
        ),
        "all models are the first one: what do you keep?",
        lambda model, data, rate, rounds: [model] * (rounds + 1),
        "`federated_train` takes the model, then the learning rate, then the data",
        raises("Mismatch|Cardinality|Conversion"),
    ),
    hints=(
        "Keep a list of models, and start each round from the last one in it.",
        "Your `federated_train` runs a round. Its learning rate is r in the first "
        "round, 0.9 · r in the second, 0.81 · r in the third.",
        "A list, and a loop:\n"
        "    models = [model]\n"
        "    for _ in range(rounds):\n"
        "        models.append(federated_train(..., ..., data))\n"
        "        learning_rate *= ...\n"
        "    return models",
        "Only the model with which a round starts is missing:\n"
        "    models = [model]\n"
        "    for _ in range(rounds):\n"
        "        models.append(federated_train(..., learning_rate, data))\n"
        "        learning_rate *= 0.9\n"
        "    return models",
    ),
)


_ASKED: Final = f"<model={MODEL},batch={BATCH}>"


def a_batch_of(*right: int, wrong: int) -> Any:
    """Images, of which `a_model(1)` reads those correctly that have a 1 in `right`."""
    batch = a_batch(*range(len(right)))
    guesses = scores(a_model(1), batch).argmax(axis=1)
    labels = np.where(np.asarray(right) == 1, guesses, (guesses + wrong) % 10)
    return {"x": batch["x"], "y": labels.astype(np.int32)}


def _hits(model: Any, batch: Any) -> Any:
    return scores(model, batch).argmax(axis=1) == np.asarray(batch["y"])


def _reads(guess: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """Whether an answer counts all of ten images whose labels are these guesses.

    One batch of ten, because an answer may read rows of ten scores as columns.
    """

    def like(answer: Any) -> bool:
        model, batch = a_model(1), a_batch(*range(10))
        labels = guess(scores(model, batch)).astype(np.int32)
        return float(answer(model, {**batch, "y": labels})) == len(labels)

    return like


def _hits_with(scores: str, hits: str) -> str:
    """The answer with gaps, in the language of the cell where it is written."""
    if has_tensorflow():
        return (
            f"    guesses = tf.argmax({scores}, axis=1, output_type=tf.int32)\n"
            "    hits = tf.cast(guesses == ..., tf.float32)\n"
            f"    return tf.reduce_sum({hits})"
        )
    return (
        f"    guesses = np.argmax({scores}, axis=1)\n"
        "    hits = np.float32(guesses == ...)\n"
        f"    return np.sum({hits})"
    )


BATCH_HITS = Exercise(
    name="batch_hits",
    title="how many images of a batch are read correctly",
    points=10,
    want=wants.computation(f"({_ASKED} -> float32)"),
    reference=batch_hits,
    cases=(
        Case("three of four", lambda: (a_model(1), a_batch_of(1, 1, 0, 1, wrong=8))),
        Case("none of two", lambda: (a_model(1), a_batch_of(0, 0, wrong=4))),
        Case("two of five", lambda: (a_model(1), a_batch_of(0, 1, 0, 0, 1, wrong=2))),
        Case("one of one", lambda: (a_model(1), a_batch_of(1, wrong=1))),
    ),
    mistakes=usual(
        "this is the share; return the count, for counts can be added up",
        lambda model, batch: float(_hits(model, batch).mean()),
        "you counted the images that are read wrongly",
        lambda model, batch: float((~_hits(model, batch)).sum()),
        "you counted all images, right or wrong",
        lambda model, batch: float(len(batch["y"])),
        "you added up belief; count the images whose highest score is right",
        lambda model, batch: float(in_right(model, batch).sum()),
        'you added up guesses, not hits: compare them with `batch["y"]`',
        lambda model, batch: float(scores(model, batch).argmax(axis=1).sum()),
        "you took the lowest score for the guess: `argmax`, not `argmin`",
        looks(_reads(lambda scores: scores.argmin(axis=1))),
        "you looked for the image that has most of a digit: each image is a row, so "
        "its highest score is along `axis=1`",
        looks(_reads(lambda scores: scores.argmax(axis=0))),
        "the bias is missing in the scores",
        lambda model, batch: float(_hits(without_bias(model), batch).sum()),
        "this is always zero: what is compared with what?",
        lambda *_: 0.0,
        "this is a hit or a miss for each image; add them up",
        typed(
            f"({_ASKED} -> float32[?])",
            f"({_ASKED} -> bool[?])",
            f"({_ASKED} -> int32[?])",
        ),
        "a whole number: convert the hits to float32 before you add them up, for the "
        "server has to average later",
        typed(f"({_ASKED} -> int32)", f"({_ASKED} -> int64)"),
        FLOAT64,
        typed(f"({_ASKED} -> float64)"),
        "`argmax` makes int64 where labels are int32: `output_type=tf.int32`",
        raises("int64 beside int32"),
        "true and false cannot be added up: `tf.cast(…, tf.float32)` first",
        raises("DataType bool"),
        'compare the guesses with `batch["y"]`, which is one label for each image',
        raises("int64 beside float32|int32 beside float32"),
    ),
    hints=(
        "Three steps: the digit with the highest score, whether it is the right one, "
        "how often that is so.",
        "`argmax` of `scores` gives the guesses, one for each row. `guesses == ...` is "
        "true where two agree; as a float32 that is 1.0, and 0.0 elsewhere.",
        "Guesses, hits, their sum:\n" + _hits_with("...", "..."),
        "Only what the guesses are compared with is missing:\n"
        + _hits_with("scores", "hits"),
    ),
)


def _drawn(answer: Any) -> Any:
    from fedlearn_edu import viz

    return viz.draw_graph(answer)


WEIGHTED_TRAIN = Exercise(
    name="weighted_train",
    title="a round in which every image counts the same",
    points=10,
    want=wants.computation(f"({ROUND} -> {MODEL}@SERVER)"),
    reference=weighted_train,
    cases=(
        Case("unequal clients", lambda: (a_model(1), 0.03, unequal_clients())),
        Case("two clients", lambda: (a_model(0), 0.02, two_clients())),
        Case("one client", lambda: (a_model(2), 0.05, [[a_batch(3, 9)]])),
        Case("a client without images", lambda: (a_model(3), 0.5, [[a_batch(6)], []])),
    ),
    mistakes=usual(
        "you averaged without weights of their own: each client counts the same",
        a_round,
        "you weighted by the number of batches, and not of images",
        lambda model, rate, data: a_round(model, rate, data, len),
        "you multiplied by the weights and added up, but did not divide by their sum: "
        "`federated_mean` takes the weights and does both",
        lambda model, rate, data: added(model, rate, data, images),
        "you multiplied by the weights, but divided by the number of clients: "
        "`federated_mean` takes the weights, and divides by their sum",
        lambda model, rate, data: over(added(model, rate, data, images), len(data)),
        "you added the models up; take their weighted mean",
        added,
        "those with few images count most: the weight is the number of images",
        lambda model, rate, data: a_round(
            model, rate, data, lambda batches: 1 / images(batches)
        ),
        "the weights are squared: they were used twice",
        lambda model, rate, data: a_round(
            model, rate, data, lambda batches: images(batches) ** 2
        ),
        "the clients do not use the server's learning rate: theirs is 0.1",
        lambda model, rate, data: a_round(model, 0.1, data, images),
        "nobody trained: the server has its own model back",
        lambda model, rate, data: model,
        "these are the clients' models, and they are still at the clients: take their "
        "weighted mean",
        typed(f"({ROUND} -> {{{MODEL}}}@CLIENTS)"),
        "this is a number of images; return the mean of the models",
        typed(f"({ROUND} -> float32@SERVER)", f"({ROUND} -> {{float32}}@CLIENTS)"),
        "the server now holds every client's model; it only needs their mean",
        typed(f"({ROUND} -> {MODEL}*@SERVER)"),
        "the weights stay at the clients, a number for each: do not add them up",
        raises("weighted_mean works on"),
    ),
    hints=(
        "The round is there already. What is missing is a number for each client: how "
        "much its model counts.",
        "`images_of`, above, counts the images of one client; `federated_map` applies "
        "it to all. `federated_mean` takes weights as its second argument.",
        "A weighted mean:\n"
        "    weights = fl.federated_map(..., ...)\n"
        "    return fl.federated_mean(..., weights)",
        "Only the function is missing:\n"
        "    weights = fl.federated_map(..., data)\n"
        "    return fl.federated_mean(trained, weights)",
    ),
    reward=lambda answer: _drawn(answer),
)


LESSON: Final = Lesson(
    name="10_federated_averaging",
    title="Can ten clients that know one digit each learn all ten?",
    minutes=45,
    goals=(
        "write a round of federated averaging, and run many",
        "count what a model reads, client by client",
        "decide whose data count how much, and see who pays for it",
    ),
    needs="lessons 09a and 09b",
    exercises=(FEDERATED_TRAIN, TRAIN_ROUNDS, BATCH_HITS, WEIGHTED_TRAIN),
    outcomes={"mean-model": "3 in 4", "fives": "less well"},
)
