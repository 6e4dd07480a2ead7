# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Lesson 10: federated averaging, in the language and by hand, and who pays for it."""

from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any, Final, NoReturn, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.lessons.evaluation import BROADCAST, PARAMETER, summed
from fedlearn_edu.course.lessons.training import (
    BATCH,
    MODEL,
    a_batch,
    a_model,
    gradient,
    images,
    loss,
    moved,
    probabilities,
    right,
    scores,
    softmax,
    trained,
)
from fedlearn_edu.course.mistakes import looks, raises, returns, typed, usual
from fedlearn_edu.language.context_stack import Context


def _types() -> tuple[Any, Any, Any]:
    """Of the server's model, its learning rate, and the clients' data."""
    given = softmax()
    model, rate = map(fl.type_at_server, (given.MODEL_TYPE, np.float32))
    return model, rate, fl.type_at_clients(given.LOCAL_DATA_TYPE)


@cache
def federated_train() -> Any:
    """`(<MODEL@SERVER,float32@SERVER,{BATCH*}@CLIENTS> -> MODEL@SERVER)`: one round."""
    given = softmax()

    @fl.federated_computation(*_types())
    def federated_train(model: Any, learning_rate: Any, data: Any) -> Any:
        sent = [fl.federated_broadcast(model), fl.federated_broadcast(learning_rate)]
        return fl.federated_mean(fl.federated_map(given.local_train, [*sent, data]))

    return federated_train


@cache
def personalized() -> Any:
    """What the clients read with models of their own: the mean, and the least."""
    given, types = softmax(), _types()

    @fl.federated_computation(*types, types[-1])
    def personalized(model: Any, learning_rate: Any, data: Any, test: Any) -> Any:
        sent = [fl.federated_broadcast(model), fl.federated_broadcast(learning_rate)]
        own = fl.federated_map(given.local_train, [*sent, data])
        shares = fl.federated_map(given.share_read, [own, test])
        return fl.federated_mean(shares), fl.federated_min(shares)

    return personalized


@cache
def weighted_train() -> Any:
    """As `federated_train`, with each client's number of images as its weight."""
    given = softmax()

    @fl.federated_computation(*_types())
    def weighted_train(model: Any, learning_rate: Any, data: Any) -> Any:
        sent = [fl.federated_broadcast(model), fl.federated_broadcast(learning_rate)]
        trained = fl.federated_map(given.local_train, [*sent, data])
        return fl.federated_mean(trained, fl.federated_map(given.images_of, data))

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


def rounds_of(model: Any, data: Any, rates: Any, weigh: Weigh = alike) -> list[Any]:
    """The models before the first round, and after each."""
    models = [model]
    for rate in rates:
        models.append(a_round(models[-1], rate, data, weigh))
    return models


def decayed(rate: float, rounds: int, first: int = 0, by: float = 0.9) -> Any:
    """A learning rate for each round."""
    return rate * by ** np.arange(first, first + rounds)


ROUND: Final = (
    f"<model={MODEL}@SERVER,learning_rate=float32@SERVER,data={{{BATCH}*}}@CLIENTS>"
)

_ROUND: Final = (
    "(MODEL_TYPE@SERVER, float32@SERVER, {LOCAL_DATA_TYPE}@CLIENTS "
    "-> MODEL_TYPE@SERVER)"
)

_ALONE: Final = (
    "several things come back; a round returns the model alone",
    looks(lambda answer: isinstance(answer.type_signature.result, fl.StructType)),
)

_MINE: Final = (
    "this function was imported by its own name: write it without `fl.`",
    raises("has no '(local_train|share_read|images_of)'"),
)

FEDERATED_TRAIN = Exercise(
    name="federated_train",
    title="one round of federated averaging",
    points=15,
    want=wants.computation(f"({ROUND} -> {MODEL}@SERVER)", _ROUND),
    reference=federated_train,
    cases=(
        Case("two clients", lambda: (a_model(1), 0.03, two_clients())),
        Case("one client, a rate of 0", lambda: (a_model(0), 0.0, [[a_batch(3, 9)]])),
        Case("three clients, unequal", lambda: (a_model(2), 0.02, unequal_clients())),
        Case("a client without batches", lambda: (a_model(3), 0.5, [[a_batch(6)], []])),
    ),
    mistakes=usual(
        "you added up the models; `fl.federated_mean` divides by the number of clients",
        added,
        lambda model, rate, data: over(added(model, rate, data), 10),
        "these are two rounds; one is asked for",
        lambda model, rate, data: a_round(a_round(model, rate, data), rate, data),
        "you weighted the clients by their images; here each counts the same",
        lambda model, rate, data: a_round(model, rate, data, images),
        "the clients do not use the server's learning rate: theirs is 0.1. Broadcast "
        "it, as you do with the model",
        lambda model, rate, data: a_round(model, 0.1, data),
        "no client trained: the server has its own model back",
        lambda model, rate, data: model,
        "these are the clients' models, and they are still at the clients: take their "
        "mean",
        typed(f"({ROUND} -> {{{MODEL}}}@CLIENTS)"),
        "the server now holds every client's model; it only needs their mean",
        typed(f"({ROUND} -> {MODEL}*@SERVER)"),
        "this is a number about the models; a round returns a model",
        typed(f"({ROUND} -> float32@SERVER)"),
        "this was computed before, outside: train from the parameter `model`",
        typed(f"({ROUND} -> {MODEL})"),
        *_ALONE,
        *_MINE,
        *PARAMETER,
        *BROADCAST,
        "Python's `sum` adds up the parts of one model, weights and bias: the mean "
        "over clients is `fl.federated_mean`",
        raises(r"float32\[784,10\] and float32\[10\]"),
        "do not call `local_train`: with `fl.federated_map(local_train, [a, b, c])` "
        "each client does",
        raises("local_train misses|where: +local_train's argument"),
        "this is one model at the clients, and the same at all of them: return the "
        "mean of the trained ones, which is at the server, and do not send it",
        typed(f"({ROUND} -> {MODEL}@CLIENTS)"),
        "`batch_train` is a step on one batch, and a client has many: `local_train`",
        raises("where: +batch_train|name 'batch_train'"),
    ),
    hints=(
        "A round has three parts: the server sends, each client trains, the server "
        "takes the mean. What does `local_train` need that only the server has?",
        "`federated_eval` in lesson 9b is built in the same way, with `local_eval`. "
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


PERSONAL: Final = ROUND[:-1] + f",test={{{BATCH}*}}@CLIENTS>"
_TWO: Final = "<float32@SERVER,float32@SERVER>"


def read(model: Any, batches: Any) -> float:
    """The share of these images with the highest score at the right digit."""
    hits = [scores(model, b).argmax(axis=1) == np.asarray(b["y"]) for b in batches]
    return float(np.concatenate(hits).mean())


def _own(model: Any, rate: float, data: Any, test: Any) -> list[float]:
    """What each client's own model reads of its own test images."""
    own = [trained(model, rate, batches) for batches in data]
    return [read(each, batches) for each, batches in zip(own, test, strict=True)]


def _mean_and(worst: Any, shares: Callable[..., Any] = _own) -> Callable[..., Any]:
    """The mean, and another number, of what the clients read."""
    return lambda *inputs: (np.mean(shares(*inputs)), worst(shares(*inputs)))


def _mean_and_least(shares: Callable[..., Any]) -> Callable[..., Any]:
    return _mean_and(min, shares)


def _clients_with_test() -> Any:
    """Three clients, and test images, of which they know some."""
    data = [
        [a_batch(1, 2), a_batch(1, 2)],
        [a_batch(4, 5, 6)],
        [a_batch(9, 0), a_batch(7)],
    ]
    new = [a_batch(3, 0), a_batch(7, 8), a_batch(7, 3, 5, 8, 6)]
    return data, [[each[0], unknown] for each, unknown in zip(data, new, strict=True)]


PERSONALISED = Exercise(
    name="personalized",
    title="a model of its own for each client",
    points=10,
    want=wants.computation(
        f"({PERSONAL} -> {_TWO})",
        "(MODEL_TYPE@SERVER, float32@SERVER, {LOCAL_DATA_TYPE}@CLIENTS, "
        f"{{LOCAL_DATA_TYPE}}@CLIENTS -> {_TWO})",
    ),
    reference=personalized,
    cases=(
        Case("three clients", lambda: (a_model(6), 0.05, *_clients_with_test())),
        Case("another model", lambda: (a_model(4), 0.02, *_clients_with_test())),
        Case(
            "one client",
            lambda: (a_model(0), 0.05, [[a_batch(3)]], [[a_batch(3), a_batch(8)]]),
        ),
    ),
    mistakes=usual(
        "the two are swapped: the mean comes first",
        lambda *inputs: _mean_and(min)(*inputs)[::-1],
        "the second number is the lowest share: `federated_min`",
        _mean_and(max),
        _mean_and(np.mean),
        raises("(?s)iteration needs a structure.*float32.@CLIENTS"),
        "this is the shared model: each client has to train it first, with "
        "`local_train`",
        _mean_and_least(
            lambda model, rate, data, test: [read(model, each) for each in test]
        ),
        "you looked at the images they trained on: take `test`",
        _mean_and_least(lambda m, rate, data, test: _own(m, rate, data, data)),
        lambda m, rate, data, test: (
            np.mean(_own(m, rate, data, test)),
            min(_own(m, rate, data, data)),
        ),
        "the clients trained on their test images: train on `data`, read `test`",
        _mean_and_least(lambda m, rate, data, test: _own(m, rate, test, test)),
        "their models were averaged again: this is another round, and a shared model",
        _mean_and_least(
            lambda m, rate, data, test: [
                read(a_round(m, rate, data), each) for each in test
            ]
        ),
        "the shares are still at the clients: return their mean, and the lowest",
        typed(f"({PERSONAL} -> {{float32}}@CLIENTS)"),
        "no models are asked for: let each client read `test` with its own, by "
        "`share_read`, and take the mean and the lowest of the shares",
        looks(lambda answer: MODEL in str(answer.type_signature.result)),
        "`evaluate` is a whole evaluation, with a server; a client takes `share_read`",
        raises("the function initialize"),
        *_MINE,
        *BROADCAST,
        "two numbers at the server, without names, and nothing else are asked for: "
        "`return fl.federated_mean(shares), fl.federated_min(shares)`",
        looks(lambda answer: str(answer.type_signature.result) != _TWO),
    ),
    hints=(
        "A round without its last step: each client trains, and keeps its model. What "
        "is averaged are the shares of images that these models read.",
        "The first line is that of `federated_train`. Then `share_read` takes a model "
        "and batches; both are at the clients.",
        "Train, read, and two numbers for the server:\n"
        "    own = fl.federated_map(local_train, [...])\n"
        "    shares = fl.federated_map(share_read, [..., ...])\n"
        "    return fl.federated_mean(...), fl.federated_min(...)",
        "Whose images does a model read?\n"
        "    own = fl.federated_map(local_train, [*sent, data])\n"
        "    shares = fl.federated_map(share_read, [own, ...])\n"
        "    return fl.federated_mean(shares), fl.federated_min(shares)",
    ),
)


def _drawn(answer: Any) -> Any:
    from fedlearn_edu import viz

    return viz.draw_graph(answer)


WEIGHTED_TRAIN = Exercise(
    name="weighted_train",
    title="a round in which every image counts the same",
    points=10,
    want=wants.computation(f"({ROUND} -> {MODEL}@SERVER)", _ROUND),
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
        "`fl.federated_mean(trained, counts)` takes the plain counts, multiplies by "
        "them and divides by their sum: no other sum is needed, nor a product",
        lambda model, rate, data: added(model, rate, data, images),
        raises("federated_sum was called|at several placements|weighted_mean works on"),
        lambda model, rate, data: over(added(model, rate, data, images), len(data)),
        "the clients count by their batches here; let them count by their images",
        lambda model, rate, data: a_round(model, rate, data, len),
        "the weights are the second argument of the mean, and not part of the first",
        typed(f"({ROUND} -> <{MODEL},float32>@SERVER)"),
        "the weighted mean of the clients' models is asked for, and nothing else",
        looks(lambda answer: str(answer.type_signature.result) != f"{MODEL}@SERVER"),
        *_MINE,
        "the models come first, the counts second: `federated_mean(trained, counts)`",
        raises("(?s)one real number per client.*<weights"),
        "count the images of `data`: `fl.federated_map(images_of, data)`",
        raises(r"(?s)\(all_batches.*decorate the function|decorate.*\(all_batches"),
        raises("len.. needs a structure|has no 'sequence_"),
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


def mean_losses(models: Any, clients: Any) -> list[float]:
    """Of each model: the mean over clients of the sum over a client's batches."""
    return [float(np.mean([summed(m, batches) for batches in clients])) for m in models]


def _over_clients(parts: Any) -> Any:
    return np.mean(parts, axis=0)


def _models(
    clients: Any,
    rates: Any,
    train: Callable[..., Any] = trained,
    merge: Callable[[Any], Any] = _over_clients,
) -> list[Any]:
    """The models after each round, with a client's training and the server's mean."""
    models = [a_model(0)]
    for rate in rates:
        mine = [train(models[-1], rate, batches) for batches in clients]
        models.append({n: merge(np.stack([m[n] for m in mine])) for n in models[-1]})
    return models[1:]


def _losses(clients: Any, *how: Any, **kind: Any) -> list[float]:
    return mean_losses(_models(clients, *how, **kind), clients)


def _fed_avg_by_hand(clients: Any, learning_rate: float, rounds: int) -> list[float]:
    return _losses(clients, decayed(learning_rate, rounds))


def _trains(train: Callable[..., Any]) -> Callable[..., Any]:
    """A mistake in what a client does."""
    return lambda clients, rate, rounds: _losses(clients, decayed(rate, rounds), train)


def _shrinks(rates: Callable[[float, int], Any]) -> Callable[..., Any]:
    """A mistake in the rates of the rounds."""
    return lambda clients, rate, rounds: _losses(clients, rates(rate, rounds))


def _measures(measure: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A mistake in what is made of the models, the first one included."""
    return lambda clients, rate, rounds: measure(
        rounds_of(a_model(0), clients, decayed(rate, rounds)), clients
    )


def _one_after_the_other(clients: Any, rate: float, rounds: int) -> list[float]:
    """The clients share one array, so each begins where the one before it ended."""
    model, models = a_model(0), []
    for each in decayed(rate, rounds):
        for batches in clients:
            model = trained(model, each, batches)
        models.append(model)
    return mean_losses(models, clients)


def _chained(clients: Any, rate: float, rounds: int) -> list[float]:
    """Within a round each client begins where the one before it ended."""

    def after(model: Any, each: float) -> Any:
        ended = []
        for batches in clients:
            model = trained(model, each, batches)
            ended.append(model)
        return {n: np.mean([one[n] for one in ended], axis=0) for n in model}

    models = [a_model(0)]
    for each in decayed(rate, rounds):
        models.append(after(models[-1], each))
    return mean_losses(models[1:], clients)


def _after_each_batch(clients: Any, rate: float, rounds: int) -> list[float]:
    """All models on the way are averaged, not only the last ones."""

    def train(model: Any, each: float, batches: Any) -> Any:
        way = [trained(model, each, batches[:k]) for k in range(1, len(batches) + 1)]
        return {n: sum(one[n] for one in way) for n in model}

    batches = sum(map(len, clients))
    return _losses(
        clients, decayed(rate, rounds), train, lambda parts: parts.sum(axis=0) / batches
    )


def _believes(shares: Callable[..., Any]) -> Callable[..., Any]:
    """A client's training with something else than the softmax of the scores."""

    def train(model: Any, rate: float, batches: Any) -> Any:
        for batch in batches:
            errors = (shares(model, batch) - right(batch)) / len(batch["y"])
            slopes = np.float64(batch["x"]).T @ errors
            model = moved(model, {"weights": slopes, "bias": errors.sum(axis=0)}, -rate)
        return model

    return train


def _averages(
    images: Callable[[Any], Any] = lambda p: -np.log(p).mean(),
    batches: Callable[[list[Any]], Any] = sum,
    clients: Callable[[list[Any]], Any] = np.mean,
    shares: Callable[[Any, Any], Any] = probabilities,
    train: Callable[..., Any] = trained,
) -> Callable[..., Any]:
    """A mistake in what is made of the probabilities of the digits that are there."""

    def of(model: Any, batch: Any) -> Any:
        return images((right(batch) * shares(model, batch)).sum(axis=1))

    return lambda data, rate, rounds: [
        clients([batches([of(m, b) for b in each]) for each in data])
        for m in _models(data, decayed(rate, rounds), train)
    ]


def _divides_by(axis: int | None, less: int | None = None) -> Callable[..., Any]:
    """A mistake in the softmax, of the scores or of the scores less their maximum."""

    def shares(model: Any, batch: Any) -> Any:
        found = scores(model, batch)
        powers = np.exp(found - found.max(axis=less, keepdims=True))
        return powers / powers.sum(axis=axis)

    return _averages(shares=shares, train=_believes(shares))


def _without_mean(measure: Callable[[Any, float, Any], Any]) -> Callable[..., Any]:
    """The losses of the clients' models, and not of their mean."""

    def wrong(clients: Any, rate: float, rounds: int) -> Any:
        rates = decayed(rate, rounds)
        begun = rounds_of(a_model(0), clients, rates)[:-1]
        found = zip(begun, rates, strict=True)
        return [np.mean(measure(model, each, clients)) for model, each in found]

    return wrong


def _while_training(steps: int) -> Callable[..., Any]:
    """Each batch is measured after the steps before it, and so many more."""
    return _without_mean(
        lambda model, rate, clients: [
            sum(
                loss(trained(model, rate, own[: k + steps]), b)
                for k, b in enumerate(own)
            )
            for own in clients
        ]
    )


def _scaled(**factors: Callable[[Any], float]) -> Callable[..., Any]:
    """A mistake in how much of the gradient is taken, with the labels of a batch."""

    def train(model: Any, rate: float, batches: Any) -> Any:
        for batch in batches:
            slopes = gradient(model, batch)
            for name, factor in factors.items():
                slopes[name] = slopes[name] * factor(batch["y"])
            model = moved(model, slopes, -rate)
        return model

    return _trains(train)


def _shrinks_after(parts: Callable[[Any], Any]) -> Callable[..., Any]:
    """The rate shrinks with each of these parts of a client's batches."""

    def wrong(clients: Any, rate: float, rounds: int) -> Any:
        rates = (rate * 0.9**number for number in count())

        def train(model: Any, _: float, batches: Any) -> Any:
            for part in parts(batches):
                model = trained(model, next(rates), part)
            return model

        return _losses(clients, [rate] * rounds, train)

    return wrong


def _from_one_place(model: Any, rate: float, batches: Any) -> Any:
    """Every step begins at the server's model, and all are added up."""
    steps = [moved(model, gradient(model, batch), -rate) for batch in batches]
    return {n: model[n] + sum(one[n] - model[n] for one in steps) for n in model}


def _only_last_batch(model: Any, rate: float, batches: Any) -> Any:
    return trained(model, rate, batches[-1:])


@final
class _CalledError(Exception):
    """A computation was called where NumPy has to do."""


@final
class _NumPyOnly(Context):
    """In this block no computation runs."""

    has_placements = False

    def invoke(self, computation: Any, argument: Any) -> NoReturn:
        raise _CalledError(f"{computation.__name__} was called")


def _alone(answer: Any, *inputs: Any) -> Any:
    with _NumPyOnly():
        return answer(*inputs)


FED_AVG_BY_HAND = Exercise(
    name="fed_avg_by_hand",
    title="federated averaging, written from scratch",
    points=15,
    want=wants.function(3),
    reference=lambda: _fed_avg_by_hand,
    cases=(
        Case("two rounds", lambda: (two_clients(), 0.05, 2), _alone),
        Case("one round", lambda: (two_clients(), 0.1, 1), _alone),
        Case("three rounds", lambda: (two_clients(), 0.2, 3), _alone),
        Case("unequal clients", lambda: (unequal_clients(), 0.1, 2), _alone),
        Case("one client", lambda: ([[a_batch(4), a_batch(5, 6)]], 0.2, 2), _alone),
        Case("no rounds: no losses", lambda: (two_clients(), 0.1, 0), _alone),
    ),
    mistakes=usual(
        "this calls a computation (`local_train`, `evaluate`, …); in this exercise "
        "NumPy does all the work",
        raises("_CalledError"),
        "each client began where the one before it ended: every one begins with the "
        "server's model, in a `.copy()` if you change it with `-=`",
        _one_after_the_other,
        _chained,
        "one model per client: append it after its last batch",
        _after_each_batch,
        lambda clients, rate, rounds: mean_losses(
            rounds_of(a_model(0), clients, decayed(rate, rounds), len)[1:], clients
        ),
        "every round begins with zeros again; go on with the server's model",
        lambda clients, rate, rounds: mean_losses(
            [a_round(a_model(0), each, clients) for each in decayed(rate, rounds)],
            clients,
        ),
        "each loss is that of the model before the round; measure after the mean",
        _measures(lambda models, clients: mean_losses(models[:-1], clients)),
        "one loss too many: none is asked for before the first round",
        returns(lambda got, clients, rate, rounds: len(got) == rounds + 1),
        "this is the loss after the last round; return a list, one loss for each round",
        _measures(lambda models, clients: mean_losses(models[-1:], clients)[0]),
        _measures(lambda models, clients: mean_losses(models[-1:], clients)),
        "only the first loss came back: the `return` comes after the loop",
        _measures(lambda models, clients: mean_losses(models[1:2], clients)),
        "you went uphill: subtract the gradient",
        _shrinks(lambda rate, rounds: -decayed(rate, rounds)),
        "the learning rate of round k is `learning_rate * 0.9**k`, counted from 0",
        _shrinks(lambda rate, rounds: decayed(rate, rounds, by=1.0)),
        _shrinks(lambda rate, rounds: decayed(rate, rounds, first=1)),
        _shrinks(lambda rate, rounds: rate * 0.9 * np.arange(rounds)),
        _shrinks(lambda rate, rounds: rate * 0.9 * np.arange(1, rounds + 1)),
        "the learning rate shrinks after each round, not after each client or batch",
        _shrinks_after(lambda batches: [batches]),
        _shrinks_after(lambda batches: [[batch] for batch in batches]),
        "the models are added up; the server takes their mean",
        lambda clients, rate, rounds: _losses(
            clients, decayed(rate, rounds), merge=lambda parts: parts.sum(axis=0)
        ),
        "the softmax divides by the wrong sum: each image has its own, `axis=1` with "
        "`keepdims=True`",
        _divides_by(axis=None),
        _divides_by(axis=None, less=1),
        _divides_by(axis=0),
        "the scores are not probabilities yet: take the softmax",
        _trains(_believes(scores)),
        "the clients are weighted by their images; here each counts the same",
        lambda clients, rate, rounds: mean_losses(
            rounds_of(a_model(0), clients, decayed(rate, rounds), images)[1:], clients
        ),
        "the gradient is a mean over a batch's images, for the weights and for the "
        "bias: `x.T @ e / len(y)`, and `e.mean(axis=0)`",
        _scaled(weights=len, bias=len),
        _scaled(weights=len),
        _scaled(bias=len),
        "each step begins at the server's model: it has to begin where the step "
        "before it ended",
        _trains(_from_one_place),
        _trains(_only_last_batch),
        "the bias does not change: its gradient has ten numbers, `e.mean(axis=0)`",
        _scaled(bias=lambda labels: 0.0),
        "the sign of the loss: a logarithm of something below 1 is negative",
        _averages(lambda p: np.log(p).mean()),
        "you added up over the images of a batch; a batch's loss is their mean",
        _averages(lambda p: -np.log(p).sum()),
        "these are means over the batches; add up over the batches of a client",
        _averages(batches=np.mean),
        _averages(batches=list, clients=lambda each: np.concatenate(each).mean()),
        "take the logarithm for each image, and then the mean over the batch",
        _averages(lambda p: -np.log(np.mean(p))),
        "these are losses of clients' own models; after the mean, go over all clients "
        "once more with the new server model",
        _while_training(0),
        _while_training(1),
        _without_mean(lambda m, r, own: [summed(trained(m, r, b), b) for b in own]),
        _without_mean(
            lambda m, r, own: [summed(trained(m, r, own[-1]), b) for b in own]
        ),
        "take the mean over the clients: their sum, divided by `len(clients)`",
        _averages(clients=lambda each: sum(each) / 10),
        _averages(clients=sum),
        "these are models; return the loss of each",
        returns(lambda got, *_: len(got) > 0 and np.ndim(got[0]) != 0),
        returns(lambda got, *_: isinstance(got[0], dict | tuple)),
        "it is the other way round: `x.T @ e` has 784 rows of ten",
        raises(r"broadcast.*\(784,10\) \(10,784\)"),
        "`np.eye(10)[y]` makes the rows: `np.eye` takes the number of digits",
        raises("scalar index"),
        "the mean needs `axis=0`: weight by weight, over the clients",
        raises("enough dimensions|invalid index to scalar|too many indices"),
    ),
    hints=(
        "Four loops, one in the other: rounds, clients, batches, and then the clients "
        "again, for the loss. Write `probabilities(weights, bias, x)` first.",
        "`errors = p - np.eye(10)[y]` has a row for each image. The gradient for the "
        "weights is `x.T @ errors / len(y)`, that for the bias `errors.mean(axis=0)`.",
        "A round:\n"
        "    models = []\n"
        "    for batches in clients:\n"
        "        w, b = weights.copy(), bias.copy()\n"
        "        for batch in batches:\n"
        "            ...\n"
        "        models.append((w, b))\n"
        "    weights, bias = ...",
        "The mean of the models, and the loss; `loss(w, b, batch)` is yours to write:\n"
        "    weights = np.mean([w for w, b in models], axis=0)\n"
        "    bias = np.mean([b for w, b in models], axis=0)\n"
        "    each = [sum(loss(weights, bias, b) for b in batches) for ...]\n"
        "    losses.append(np.mean(each))",
    ),
)


LESSON: Final = Lesson(
    name="10_federated_averaging",
    title="Can ten clients that know one digit each learn all ten?",
    minutes=75,
    goals=(
        "write a round of federated averaging, and run many",
        "see who pays for a shared model, and what helps them",
        "write the whole method from scratch, in plain NumPy",
    ),
    needs="lessons 9a and 9b",
    exercises=(FEDERATED_TRAIN, PERSONALISED, WEIGHTED_TRAIN, FED_AVG_BY_HAND),
    outcomes={"mean-model": "one or two", "fives": "less well", "others": "none"},
)
