# SPDX-License-Identifier: Apache-2.0
"""Lesson 04: intrinsics, what they expand to, and one of your own."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import looks, raises, typed, usual
from fedlearn_edu.framework import SyncExecutionContext, derived, local_executor_factory

AT_CLIENTS: Final = fl.type_at_clients(np.float32)
_PAIRS: Final = "<degrees={float32}@CLIENTS,counts={float32}@CLIENTS>"


def _weighted_from_sums() -> Any:
    @fl.federated_computation(AT_CLIENTS, AT_CLIENTS)
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
    mistakes=usual(
        "you averaged without the weights",
        lambda d, w: np.mean(d),
        "you divided by the number of clients, not by the sum of the weights",
        lambda d, w: np.dot(d, w) / len(d),
        "this is the weighted total; nobody divided",
        np.dot,
        "the values went into the sum without their weights",
        lambda d, w: np.sum(d) / np.sum(w),
        "this is the sum of the values",
        lambda d, w: np.sum(d),
        "you multiplied the sums; each client has to multiply its own pair first",
        lambda d, w: np.sum(d) * np.sum(w),
        "this is upside down",
        lambda d, w: np.sum(w) / np.dot(d, w),
        "you divided by the sum of the values, not by that of the weights",
        lambda d, w: np.dot(d, w) / np.sum(d),
        "this is still at the clients: add it up at the server first",
        typed(f"({_PAIRS} -> {{float32}}@CLIENTS)"),
        "this asks `federated_mean`, which is what you are to rebuild; `federated_sum` "
        "will do",
        looks(_asks_for_a_mean),
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
    return fl.federated_computation(word, AT_CLIENTS)(values)


def _is_a_word(word: Any) -> bool:
    traced = fl.federated_computation(word, AT_CLIENTS)
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
    mistakes=usual(
        "the sign is the wrong way round: values above the mean come out positive",
        lambda values: np.mean(values) - values,
        "values below the mean have a negative distance here",
        lambda values: np.abs(values - np.mean(values)),
        "this is the mean itself; nobody subtracted it",
        lambda values: np.full(len(values), np.mean(values)),
        "this is the mean itself, at the server",
        np.mean,
        "you subtracted the sum, not the mean",
        lambda values: values - np.sum(values),
        "you divided by the mean: a distance is a difference",
        lambda values: values / np.mean(values),
        "this is the square of the distance",
        lambda values: (values - np.mean(values)) ** 2,
        "these are the values themselves",
        np.asarray,
        "each client subtracted its own value: what it needs comes from the server",
        np.zeros_like,
        "this is the distance to the midpoint; the mean of all is asked for",
        lambda values: values - (np.max(values) + np.min(values)) / 2,
        "nothing came back: is there a `return`?",
        raises("ReturnedNone"),
        "only what is at the server can be sent to all: take the mean first",
        raises("federated_broadcast works"),
        "the mean is still at the server: bring it to the clients with "
        "`federated_broadcast`",
        raises("several placements"),
        "the signature promises one value for each client, and your word gives one "
        "value for all: did each client subtract?",
        raises("Mismatch|not iterable"),
        "the line with `derived` is missing above your function, so it is no word of "
        "the language",
        looks(lambda answer: not hasattr(answer, "__wrapped__")),
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


TO_ONE: Final = "({float32}@CLIENTS -> float32@SERVER)"
Readings = Sequence[float]


@cache
def _pairs() -> SyncExecutionContext:
    return SyncExecutionContext(local_executor_factory(max_fanout=2))


def in_pairs(answer: Any, readings: Readings) -> Any:
    """Runs it with clients in groups of two: now `merge` is needed."""
    with _pairs():
        return answer(readings)


def halves(readings: Readings) -> tuple[Readings, Readings]:
    """The first group of two, and the last group, of three or four clients."""
    return readings[:2], readings[2:]


def _span_of() -> Any:
    pair = fl.parse_type("<high=float32,low=float32>")

    @fl.np_computation(pair, np.float32)
    def widen(seen: Any, reading: Any) -> Any:
        return {"high": max(seen["high"], reading), "low": min(seen["low"], reading)}

    @fl.np_computation(pair, pair)
    def join(one: Any, other: Any) -> Any:
        return {
            "high": max(one["high"], other["high"]),
            "low": min(one["low"], other["low"]),
        }

    difference = fl.np_computation(lambda seen: seen["high"] - seen["low"], pair)
    return fl.federated_computation(
        lambda readings: fl.federated_aggregate(
            readings, (-np.inf, np.inf), widen, join, difference
        ),
        AT_CLIENTS,
    )


def _span(readings: Readings) -> float:
    return max(readings) - min(readings)


def of_groups(wrong: Callable[[Readings, Readings], float]) -> Callable[..., float]:
    """What a wrong merge makes of the first group and the last."""
    return lambda readings: wrong(*halves(readings))


SPAN_OF = Exercise(
    name="span_of",
    title="from the coldest to the warmest client",
    points=10,
    want=wants.computation(TO_ONE),
    reference=_span_of,
    cases=(
        Case("three clients", ([-3.0, 6.0, 1.0],)),
        Case("all above zero", ([15.0, 24.0, 18.0],)),
        Case("all below zero", ([-2.0, -8.0],)),
        Case("one client", ([21.5],)),
        Case("in pairs, four clients", ([18.0, 20.0, 27.0, 24.0],), in_pairs),
        Case("in pairs, the extremes first", ([3.0, 30.0, 12.0, 14.0],), in_pairs),
        Case("nobody has any span", ([],)),
    ),
    mistakes=usual(
        "your zero is not neutral: 0 is itself higher or lower than some readings",
        lambda r: _span([*r, 0.0]),
        "this is the highest reading alone",
        max,
        "this is the lowest reading alone",
        min,
        "you subtracted the high from the low",
        lambda r: -_span(r),
        "this is the sum of both; a difference is asked for",
        lambda r: max(r) + min(r),
        "this is half of the difference",
        lambda r: _span(r) / 2,
        "high and low of your zero are swapped: nothing is higher than infinity",
        lambda r: np.inf,
        "`join` keeps its first pair, and forgets the other",
        of_groups(lambda a, b: _span(a)),
        "`join` keeps one of its pairs, here the second, and forgets the other",
        of_groups(lambda a, b: _span(b)),
        "`join` adds; the higher of two highs is asked for, and the lower low",
        of_groups(lambda a, b: _span(a) + _span(b)),
        "`join` takes the lower high and the higher low: it has to widen",
        of_groups(lambda a, b: min(max(a), max(b)) - max(min(a), min(b))),
        "`join` takes the middle; that does not widen",
        of_groups(lambda a, b: (_span(a) + _span(b)) / 2),
        "your zero is not neutral: some reading may lie beyond it",
        looks(lambda answer: not np.isneginf(answer([]))),
    ),
    hints=(
        "Which high is lower than every reading, so that the first one replaces it? "
        "And `join` does for two pairs what `widen` does for a reading.",
        "zero = (−∞, +∞); high = max of both highs; low = min of both lows; "
        "report = high − low.",
        "Fill the gaps:\n"
        "    nothing_seen = (-np.inf, ...)\n"
        "    # in join\n"
        '    return dict(high=max(one["high"], other["high"]), low=...)\n'
        "    # in difference\n"
        '    return seen["high"] - ...',
    ),
)


def _variance_of() -> Any:
    three = fl.parse_type("<n=float32,sum=float32,sum_of_squares=float32>")

    @fl.np_computation(three, np.float32)
    def note(sums: Any, x: Any) -> Any:
        return {
            "n": sums["n"] + 1,
            "sum": sums["sum"] + x,
            "sum_of_squares": sums["sum_of_squares"] + x * x,
        }

    @fl.np_computation(three, three)
    def both(one: Any, other: Any) -> Any:
        return {name: one[name] + other[name] for name in one}

    @fl.np_computation(three)
    def spread(sums: Any) -> Any:
        mean = sums["sum"] / sums["n"]
        return sums["sum_of_squares"] / sums["n"] - mean * mean

    return fl.federated_computation(
        lambda x: fl.federated_aggregate(x, (0.0, 0.0, 0.0), note, both, spread),
        AT_CLIENTS,
    )


def _from_sums(wrong: Callable[[float, float, float], float]) -> Callable[..., float]:
    return lambda x: wrong(len(x), np.sum(x), np.dot(x, x))


def _if_counted(more: int) -> Callable[..., float]:
    """The variance if n counts the first group of clients, and some more."""
    return lambda x: _variance(len(halves(x)[0]) + more, np.sum(x), np.dot(x, x))


def _variance(n: float, total: float, squares: float) -> float:
    return squares / n - (total / n) ** 2


VARIANCE_OF = Exercise(
    name="variance_of",
    title="the variance, from three sums",
    points=15,
    want=wants.computation(TO_ONE),
    reference=_variance_of,
    cases=(
        Case("three clients", ([1.0, 2.0, 6.0],)),
        Case("numbers below zero", ([-4.0, 4.0, -3.0, 1.0],)),
        Case("one client does not vary", ([3.0],)),
        Case("in pairs, four clients", ([1.0, 2.0, 4.0, 9.0],), in_pairs),
        Case("in pairs, three clients", ([2.0, 6.0, 10.0],), in_pairs),
    ),
    mistakes=usual(
        "this is the mean of the squares: the square of the mean has to go",
        _from_sums(lambda n, s, q: q / n),
        "this is the root of the variance, the standard deviation",
        np.std,
        "this is the mean",
        np.mean,
        "you divided by n − 1; here every client counts, so it is n",
        _from_sums(lambda n, s, q: (q - s * s / n) / max(n - 1, 1)),
        "the two terms are the wrong way round",
        lambda x: -np.var(x),
        "the squares were added up, and not divided by n",
        _from_sums(lambda n, s, q: q - (s / n) ** 2),
        "nobody divided by n",
        _from_sums(lambda n, s, q: q - s**2),
        "you subtracted the square of the sum, not that of the mean",
        _from_sums(lambda n, s, q: q / n - s**2),
        "the mean has to be squared",
        _from_sums(lambda n, s, q: q / n - s / n),
        "`note` adds x to the sum of squares; it should add x · x",
        _from_sums(lambda n, s, q: s / n - (s / n) ** 2),
        "this is n times the variance: divide by n at the end",
        lambda x: np.var(x) * len(x),
        "you squared the sum, and only then divided by n",
        _from_sums(lambda n, s, q: q / n - s**2 / n),
        "`both` keeps its first group, and forgets the other",
        of_groups(lambda a, b: float(np.var(a))),
        "`both` keeps its second group, and forgets the first",
        of_groups(lambda a, b: float(np.var(b))),
        "`both` forgets to add the n of the two groups",
        _if_counted(0),
        "`both` adds 1 to n; the other group may be more than one",
        _if_counted(1),
        "the mean is sum / n: put it in parentheses, and square all of it",
        _from_sums(lambda n, s, q: q / n - s / n**2),
        "`note` squares the sum so far; it should add x · x",
        lambda x: np.sum(x) ** 2 / len(x) - np.mean(x) ** 2,
    ),
    hints=(
        "Which three numbers do you need at the end? Start with the report, "
        "`spread`, and then ask how each of its numbers grows.",
        "n grows by 1, sum by x, sum_of_squares by x·x; two groups: add field by "
        "field; report: sum_of_squares/n − (sum/n)².",
        "Fill the gaps:\n"
        "    # in note\n"
        '    return dict(n=sums["n"] + 1, sum=..., sum_of_squares=...)\n'
        "    # in both\n"
        "    return {name: one[name] + ... for name in one}\n"
        "    # in spread\n"
        '    return sums["sum_of_squares"] / sums["n"] - ...',
    ),
)


LESSON: Final = Lesson(
    name="04_intrinsics",
    title="What does a mean expand to?",
    minutes=45,
    goals=(
        "expand a mean into the steps that are really run",
        "write an aggregation that gives the same result however clients are grouped",
        "add a word of your own to the language",
    ),
    needs="lessons 1 to 3",
    exercises=(WEIGHTED_FROM_SUMS, SPAN_OF, VARIANCE_OF, DISTANCE_TO_MEAN),
)
