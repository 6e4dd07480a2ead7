# SPDX-License-Identifier: Apache-2.0
"""Two aggregations: the span of the readings, and their variance."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, looks
from fedlearn_edu.framework import SyncExecutionContext, local_executor_factory

_TO_ONE: Final = "({float32}@CLIENTS -> float32@SERVER)"
_AT_CLIENTS: Final = fl.type_at_clients(np.float32)
Readings = Sequence[float]


@cache
def _pairs() -> SyncExecutionContext:
    return SyncExecutionContext(local_executor_factory(max_fanout=2))


def _in_pairs(answer: Any, readings: Readings) -> Any:
    """Runs it with clients in groups of two: now `merge` is needed."""
    with _pairs():
        return answer(readings)


def _halves(readings: Readings) -> tuple[Readings, Readings]:
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
        _AT_CLIENTS,
    )


def _span(readings: Readings) -> float:
    return max(readings) - min(readings)


def _of_groups(wrong: Callable[[Readings, Readings], float]) -> Callable[..., float]:
    return lambda readings: wrong(*_halves(readings))


SPAN_OF = Exercise(
    name="span_of",
    title="from the coldest to the warmest client",
    points=10,
    want=wants.computation(_TO_ONE),
    reference=_span_of,
    cases=(
        Case("three clients", ([-3.0, 6.0, 1.0],)),
        Case("all above zero", ([15.0, 24.0, 18.0],)),
        Case("all below zero", ([-2.0, -8.0],)),
        Case("one client", ([21.5],)),
        Case("in pairs, four clients", ([18.0, 20.0, 27.0, 24.0],), _in_pairs),
        Case("in pairs, the extremes first", ([3.0, 30.0, 12.0, 14.0],), _in_pairs),
        Case("nobody has any span", ([],)),
    ),
    mistakes=(
        gives(
            "your zero is not neutral: 0 is itself higher or lower than some readings",
            lambda r: _span([*r, 0.0]),
        ),
        gives("this is the highest reading alone", max),
        gives("this is the lowest reading alone", min),
        gives("you subtracted the high from the low", lambda r: -_span(r)),
        gives(
            "this is the sum of both; a difference is asked for",
            lambda r: max(r) + min(r),
        ),
        gives("this is half of the difference", lambda r: _span(r) / 2),
        gives(
            "high and low of your zero are swapped: nothing is higher than infinity",
            lambda r: np.inf,
        ),
        gives(
            "`join` keeps its first pair, and forgets the other",
            _of_groups(lambda a, b: _span(a)),
        ),
        gives(
            "`join` keeps its second pair, and forgets the first",
            _of_groups(lambda a, b: _span(b)),
        ),
        gives(
            "`join` adds; the higher of two highs is asked for, and the lower low",
            _of_groups(lambda a, b: _span(a) + _span(b)),
        ),
        gives(
            "`join` takes the lower high and the higher low: it has to widen",
            _of_groups(lambda a, b: min(max(a), max(b)) - max(min(a), min(b))),
        ),
        gives(
            "`join` takes the middle; that does not widen",
            _of_groups(lambda a, b: (_span(a) + _span(b)) / 2),
        ),
        looks(
            "your zero is not neutral: some reading may lie beyond it",
            lambda answer: not np.isneginf(answer([])),
        ),
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
        _AT_CLIENTS,
    )


def _from_sums(wrong: Callable[[float, float, float], float]) -> Callable[..., float]:
    return lambda x: wrong(len(x), np.sum(x), np.dot(x, x))


def _count_of_one_group(readings: Readings) -> float:
    n = len(_halves(readings)[0])
    return float(np.dot(readings, readings) / n - (np.sum(readings) / n) ** 2)


VARIANCE_OF = Exercise(
    name="variance_of",
    title="the variance, from three sums",
    points=15,
    want=wants.computation(_TO_ONE),
    reference=_variance_of,
    cases=(
        Case("three clients", ([1.0, 2.0, 6.0],)),
        Case("numbers below zero", ([-4.0, 4.0, -3.0, 1.0],)),
        Case("one client does not vary", ([3.0],)),
        Case("in pairs, four clients", ([1.0, 2.0, 4.0, 9.0],), _in_pairs),
        Case("in pairs, three clients", ([2.0, 6.0, 10.0],), _in_pairs),
    ),
    mistakes=(
        gives(
            "this is the mean of the squares: the square of the mean has to go",
            _from_sums(lambda n, s, q: q / n),
        ),
        gives("this is the root of the variance, the standard deviation", np.std),
        gives("this is the mean", np.mean),
        gives(
            "you divided by n − 1; here every client counts, so it is n",
            _from_sums(lambda n, s, q: (q - s * s / n) / max(n - 1, 1)),
        ),
        gives("the two terms are the wrong way round", lambda x: -np.var(x)),
        gives(
            "the squares were added up, and not divided by n",
            _from_sums(lambda n, s, q: q - (s / n) ** 2),
        ),
        gives("nobody divided by n", _from_sums(lambda n, s, q: q - s**2)),
        gives(
            "you subtracted the square of the sum, not that of the mean",
            _from_sums(lambda n, s, q: q / n - s**2),
        ),
        gives("the mean has to be squared", _from_sums(lambda n, s, q: q / n - s / n)),
        gives(
            "`note` adds x to the sum of squares; it should add x · x",
            _from_sums(lambda n, s, q: s / n - (s / n) ** 2),
        ),
        gives(
            "this is n times the variance: divide by n at the end",
            lambda x: np.var(x) * len(x),
        ),
        gives(
            "you squared the sum, and only then divided by n",
            _from_sums(lambda n, s, q: q / n - s**2 / n),
        ),
        gives(
            "`both` keeps its first group, and forgets the other",
            _of_groups(lambda a, b: float(np.var(a))),
        ),
        gives(
            "`both` keeps its second group, and forgets the first",
            _of_groups(lambda a, b: float(np.var(b))),
        ),
        gives("`both` forgets to add the n of the two groups", _count_of_one_group),
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
