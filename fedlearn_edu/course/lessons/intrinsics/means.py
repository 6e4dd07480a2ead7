# SPDX-License-Identifier: Apache-2.0
"""A weighted mean taken apart, and a word for the distance to the mean."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, looks, raises, typed
from fedlearn_edu.framework import derived

_AT_CLIENTS: Final = fl.type_at_clients(np.float32)
_PAIRS: Final = "<degrees={float32}@CLIENTS,counts={float32}@CLIENTS>"


def _weighted_from_sums() -> Any:
    @fl.federated_computation(_AT_CLIENTS, _AT_CLIENTS)
    def weighted_from_sums(degrees: Any, counts: Any) -> Any:
        return fl.federated_sum(degrees * counts) / fl.federated_sum(counts)

    return weighted_from_sums


def _asks_for_a_mean(answer: Any) -> bool:
    text = answer.to_text()
    return "federated_mean" in text or "federated_weighted_mean" in text


WEIGHTED_FROM_SUMS = Exercise(
    name="weighted_from_sums",
    title="a weighted mean from sums",
    points=10,
    want=wants.computation(f"({_PAIRS} -> float32@SERVER)"),
    reference=_weighted_from_sums,
    cases=(
        Case("two clients", ([10.0, 20.0], [1.0, 3.0])),
        Case("a client that does not count", ([4.0, 7.0, 99.0], [2.0, 4.0, 0.0])),
        Case("one client", ([-6.5], [3.0])),
        Case("is written without federated_mean", do=_asks_for_a_mean),
    ),
    mistakes=(
        gives("you averaged without the weights", lambda d, w: np.mean(d)),
        gives(
            "you divided by the number of clients, not by the sum of the weights",
            lambda d, w: np.dot(d, w) / len(d),
        ),
        gives("this is the weighted total; nobody divided", np.dot),
        gives(
            "the values went into the sum without their weights",
            lambda d, w: np.sum(d) / np.sum(w),
        ),
        gives("this is the sum of the values", lambda d, w: np.sum(d)),
        gives(
            "you multiplied the sums; each client has to multiply its own pair first",
            lambda d, w: np.sum(d) * np.sum(w),
        ),
        gives("this is upside down", lambda d, w: np.sum(w) / np.dot(d, w)),
        gives(
            "you divided by the sum of the values, not by that of the weights",
            lambda d, w: np.dot(d, w) / np.sum(d),
        ),
        typed(
            "this is still at the clients: add it up at the server first",
            f"({_PAIRS} -> {{float32}}@CLIENTS)",
        ),
        looks(
            "this asks `federated_mean`, which is what you are to rebuild; "
            "`federated_sum` will do",
            _asks_for_a_mean,
        ),
    ),
    hints=(
        "What does each client have to send? Look again at what the explorer adds up.",
        "Σ count · degrees is a `federated_sum` of a product, Σ count is another "
        "`federated_sum`. Divide one by the other.",
        "Fill both gaps:\n"
        "    total = fl.federated_sum(... * counts)\n"
        "    return total / fl.federated_sum(...)",
    ),
)


def _distance_to_mean() -> Any:
    # Not of the learner's name: a second definition would replace the first one.
    @derived("({T}@CLIENTS -> {T}@CLIENTS)")
    def distance_to_the_mean(value: Any) -> Any:
        return value - fl.federated_broadcast(fl.federated_mean(value))

    return distance_to_the_mean


def _run(word: Any, values: Sequence[float]) -> Any:
    return fl.federated_computation(word, _AT_CLIENTS)(values)


def _is_a_word(word: Any) -> bool:
    traced = fl.federated_computation(word, _AT_CLIENTS)
    return f"{word.__name__}(" in traced.to_text()


DISTANCE_TO_MEAN = Exercise(
    name="distance_to_mean",
    title="a word for the distance to the mean",
    points=10,
    want=wants.function(1),
    reference=_distance_to_mean,
    cases=(
        Case("three clients", ([1.0, 2.0, 6.0],), _run),
        Case("numbers below zero", ([-4.0, 0.0, 1.0, -1.0],), _run),
        Case("one client is the mean", ([21.5],), _run),
        Case("is an intrinsic", do=_is_a_word),
    ),
    mistakes=(
        gives(
            "the sign is the wrong way round: values above the mean come out positive",
            lambda values: np.mean(values) - values,
        ),
        gives(
            "values below the mean have a negative distance here",
            lambda values: np.abs(values - np.mean(values)),
        ),
        gives(
            "this is the mean itself; nobody subtracted it",
            lambda values: np.full(len(values), np.mean(values)),
        ),
        gives("this is the mean itself, at the server", np.mean),
        gives(
            "you subtracted the sum, not the mean",
            lambda values: values - np.sum(values),
        ),
        gives(
            "you divided by the mean: a distance is a difference",
            lambda values: values / np.mean(values),
        ),
        gives(
            "this is the square of the distance",
            lambda values: (values - np.mean(values)) ** 2,
        ),
        gives("these are the values themselves", np.asarray),
        gives(
            "each client subtracted its own value: what it needs comes from the server",
            np.zeros_like,
        ),
        gives(
            "this is the distance to the midpoint; the mean of all is asked for",
            lambda values: values - (np.max(values) + np.min(values)) / 2,
        ),
        raises("nothing came back: is there a `return`?", "ReturnedNone"),
        raises(
            "only what is at the server can be sent to all: take the mean first",
            "federated_broadcast works",
        ),
        raises(
            "the mean is still at the server: bring it to the clients with "
            "`federated_broadcast`",
            "several placements",
        ),
        raises(
            "the signature promises one value for each client, and your word gives one "
            "value for all: did each client subtract?",
            "Mismatch|not iterable",
        ),
        looks(
            "the line with `derived` is missing above your function, so it is no word "
            "of the language",
            lambda answer: not hasattr(answer, "__wrapped__"),
        ),
    ),
    hints=(
        "Three moves: to the server, back to the clients, and one subtraction there.",
        "distance = value − broadcast(mean(value)). "
        "The cell above the exercise has the second half.",
        "Complete the body:\n"
        '    @framework.derived("({T}@CLIENTS -> {T}@CLIENTS)")\n'
        "    def distance_to_mean(value):\n"
        "        mean = fl.federated_mean(value)\n"
        "        return value - fl.federated_...(mean)",
    ),
)
